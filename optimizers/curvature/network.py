"""A model on one batch, as one function of its parameters that is the same in every pass.

Curvature products ask for the outputs at many parameters, or for parts of the batch. Two kinds of layers
would answer differently each time, and are held:

- Batch normalisation couples the cases. Its mean and variance are taken once, over the whole batch, and are
  constants afterwards: no derivative goes through them, and cases, or chunks of them, can be told apart.
- Dropout draws one mask, once, for the whole batch. Dropout called as a function draws from torch's global
  stream of the CPU, which every pass finds in the same state: the same mask, if the batch is not chunked.

No buffer of the model is changed. The parameters are the model's own, not copies: what is computed here
belongs to the weights as they are, until they change.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import batch_norm
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from optimizers.curvature.vectors import Params

Masks = dict[str, list[Tensor]]  # by module, in the order of its calls
Statistics = dict[str, list[tuple[Tensor, Tensor]]]  # mean and variance of each channel
Forward = Callable[[Tensor], Tensor]


@final
class Network:
    """The outputs of a model on a batch, as a function of the parameters that are trained."""

    def __init__(self, model: nn.Module, inputs: Tensor) -> None:
        self.inputs = inputs
        self.params: Params = {
            name: parameter.detach()
            for name, parameter in model.named_parameters()
            if parameter.requires_grad
        }
        self.is_recurrent = any(isinstance(module, nn.RNNBase) for module in model.modules())
        self.model = model
        self._places = _places(model)
        self._updated: Params = {}
        self._seed = int(torch.randint(2**62, ()))  # so that the next network draws other masks
        self.masks: Masks = {}  # one row per case, as the inputs
        self._statistics: Statistics = {}
        self._record()

    @property
    def couples_cases(self) -> bool:
        """Whether batch normalisation makes the outputs of a case depend on the others, as trained."""
        return bool(self._statistics)

    def __call__(self, params: Mapping[str, Tensor], rows: slice = slice(None)) -> Tensor:
        """Return the outputs for some rows of the batch."""
        with self.same_draws():
            return self.apply(params, self.inputs[rows], self.masks_of(rows))

    def trained(self, params: Mapping[str, Tensor]) -> Tensor:
        """Return the outputs as ordinary training has them, with dropout's masks held.

        Batch normalisation takes the statistics at these parameters, and derivatives go through them. What
        becomes of its running statistics, and of all other buffers, is the model's after `keep_buffers`.
        """
        modules = dict(self.model.named_modules())
        held = {modules[name]: _masked(iter(masks)) for name, masks in self.masks.items()}
        self._updated = self._copies()
        with self.same_draws(), forwards_replaced(held):
            return self._outputs(params, self.inputs, self._updated)

    def keep_buffers(self) -> None:
        """Give the model the buffers of the last `trained` pass: once in a step, if it is taken."""
        for name, buffer in self.model.named_buffers():
            buffer.copy_(self._updated[name])

    def masks_of(self, rows: slice) -> Masks:
        """Return the dropout masks of some rows."""
        return {name: [mask[rows] for mask in masks] for name, masks in self.masks.items()}

    def apply(self, params: Mapping[str, Tensor], inputs: Tensor, masks: Masks) -> Tensor:
        """Return the outputs for any inputs, with the masks that belong to them."""
        modules = dict(self.model.named_modules())
        held: dict[nn.Module, Forward] = {
            **{modules[name]: _masked(iter(of_module)) for name, of_module in masks.items()},
            **{
                modules[name]: _normalised(modules[name], iter(of_module))
                for name, of_module in self._statistics.items()
            },
        }
        with forwards_replaced(held):
            return self._outputs(params, inputs, self._copies())

    def one(self, params: Mapping[str, Tensor], row: Tensor, masks: Masks) -> Tensor:
        """Return the outputs of one case, without the dimension of the batch."""
        alone = {name: [mask[None] for mask in of_module] for name, of_module in masks.items()}
        return self.apply(params, row[None], alone)[0]

    @contextmanager
    def same_draws(self) -> Iterator[None]:
        """Have torch's global stream give one pass the draws of every other, and put it back afterwards."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self._seed)
            yield

    def _record(self) -> None:
        recorders: dict[nn.Module, Forward] = {}
        for name, module in self.model.named_modules():
            if isinstance(module, _DropoutNd) and module.training:
                recorders[module] = _drawing(module, self.masks.setdefault(name, []))
            if isinstance(module, _BatchNorm) and _couples_cases(module):
                recorders[module] = _measuring(module, self._statistics.setdefault(name, []))
        if recorders:
            with forwards_replaced(recorders), torch.no_grad(), self.same_draws():
                self._outputs(self.params, self.inputs, self._copies())

    def _copies(self) -> Params:
        # Anew for each pass: what torch.func transforms may write to its own tensors alone.
        return {name: buffer.clone() for name, buffer in self.model.named_buffers()}

    def _outputs(self, params: Mapping[str, Tensor], inputs: Tensor, buffers: Params) -> Tensor:
        known = {**params, **buffers}
        given = {place: known[name] for place, name in self._places.items() if name in known}
        # The faster kernels of attention have no second derivatives, nor derivatives case by case.
        with sdpa_kernel(SDPBackend.MATH):
            outputs: Tensor = functional_call(self.model, given, (inputs,), tie_weights=False)
        return outputs


def _places(model: nn.Module) -> dict[str, str]:
    """Return the name of each parameter and buffer by every place in which a layer has it.

    A layer that is itself in two places counts once: for two, torch would not give back what it took out.
    """
    names = {tensor: name for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
    return {
        f"{path}.{own}" if path else own: names[tensor]
        for path, layer in model.named_modules()
        for tensors in (layer.named_parameters, layer.named_buffers)
        for own, tensor in tensors(recurse=False, remove_duplicate=False)
    }


@contextmanager
def constant_statistics(model: nn.Module) -> Iterator[None]:
    """Have batch normalisation hold the mean and variance of each batch constant, and move no running ones.

    For a pass whose gradients are to tell the cases apart: no derivative goes through what couples them.
    """
    coupling = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    with forwards_replaced({module: _measuring(module, []) for module in coupling if _couples_cases(module)}):
        yield


def _couples_cases(module: _BatchNorm) -> bool:
    return module.training or module.running_mean is None


def _drawing(module: nn.Module, masks: list[Tensor]) -> Forward:
    def forward(inputs: Tensor) -> Tensor:
        masks.append(type(module).forward(module, torch.ones_like(inputs)))
        return inputs * masks[-1]

    return forward


def _masked(masks: Iterator[Tensor]) -> Forward:
    return lambda inputs: inputs * next(masks)


def _measuring(module: _BatchNorm, statistics: list[tuple[Tensor, Tensor]]) -> Forward:
    def forward(inputs: Tensor) -> Tensor:
        others = [dim for dim in range(inputs.dim()) if dim != 1]
        constant = inputs.detach()
        statistics.append((constant.mean(dim=others), constant.var(dim=others, correction=0)))
        return _normalised(module, iter(statistics[-1:]))(inputs)

    return forward


def _normalised(module: _BatchNorm, statistics: Iterator[tuple[Tensor, Tensor]]) -> Forward:
    def forward(inputs: Tensor) -> Tensor:
        mean, variance = next(statistics)
        return batch_norm(inputs, mean, variance, module.weight, module.bias, eps=module.eps)

    return forward


@contextmanager
def forwards_replaced(replaced: Mapping[nn.Module, Callable[..., Any]]) -> Iterator[None]:
    """Have these layers compute something else while the context is open."""
    # An attribute of the instance hides the method of the class, so that the layer itself never runs.
    with ExitStack() as undo:
        for module, forward in replaced.items():
            undo.callback(_give_back, module, module.__dict__.get("forward"))
            module.__dict__["forward"] = forward
        yield


def _give_back(module: nn.Module, own: Callable[..., Any] | None) -> None:
    if own is None:
        module.__dict__.pop("forward", None)
    else:
        module.__dict__["forward"] = own
