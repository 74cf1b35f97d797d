"""Dense float64 truth about a network: one flat vector of parameters, Jacobians, finite differences."""

import torch
from torch.func import functional_call, jacrev


def parameters_of(model):
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def outputs_of(model, inputs):
    """The outputs as a function of the flat vector of parameters."""
    names = [(name, parameter.shape) for name, parameter in model.named_parameters()]
    sizes = [shape.numel() for _, shape in names]

    def outputs(vector):
        parts = zip(names, vector.split(sizes), strict=True)
        return functional_call(model, {name: part.reshape(shape) for (name, shape), part in parts}, (inputs,))

    return outputs


def gradient(model, loss, inputs):
    """What backpropagation says."""
    gradients = torch.autograd.grad(loss(model(inputs)), list(model.parameters()))
    return torch.cat([part.reshape(-1) for part in gradients])


def central_differences(function, point, *, step=1e-5):
    """The derivatives of a function by each coordinate, in the last dimension."""
    columns = []
    for direction in torch.eye(len(point), dtype=point.dtype):
        ahead, behind = function(point + step * direction), function(point - step * direction)
        columns.append((ahead - behind) / (2 * step))
    return torch.stack(columns, dim=-1)


def gradient_by_differences(model, loss, inputs):
    outputs = outputs_of(model, inputs)
    return central_differences(lambda vector: loss(outputs(vector)), parameters_of(model))


def hessian_of(model, loss, inputs):
    outputs = outputs_of(model, inputs)
    return jacrev(jacrev(lambda vector: loss(outputs(vector))))(parameters_of(model))


def gauss_newton_of(model, loss, inputs):
    """Jᵀ H_L J with the Jacobian of all outputs of all examples, row by row."""
    outputs, here = outputs_of(model, inputs), parameters_of(model)
    shape = outputs(here).shape
    jacobian = jacrev(outputs)(here).reshape(-1, len(here))
    bend = jacrev(jacrev(lambda z: loss(z.reshape(shape))))(outputs(here).reshape(-1))
    return jacobian.T @ bend @ jacobian


def matrix_of(product, size):
    """The matrix behind a product, column by column."""
    return torch.stack([product(column) for column in torch.eye(size, dtype=torch.float64)], dim=1)


SIZES = {
    "trace": lambda matrix: float(matrix.trace()),
    "frobenius": lambda matrix: float(matrix.norm()),
    "spectral": lambda matrix: float(torch.linalg.eigvalsh(matrix)[-1]),
}


def damped(a, g, *, gamma, norm="trace"):
    """Return A + π c I and G + c/π I as they are defined, of two matrices that are not 0."""
    size, (of_inputs, of_outputs) = SIZES[norm], (torch.eye(len(each)).to(each) for each in (a, g))
    pi = ((size(a) / size(of_inputs)) / (size(g) / size(of_outputs))) ** 0.5
    return a + pi * gamma * of_inputs, g + gamma / pi * of_outputs
