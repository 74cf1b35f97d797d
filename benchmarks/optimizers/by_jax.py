"""One training by kfac-jax with all that it adapts, in its environment."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import kfac_jax
import numpy as np
import optax

from benchmarks.optimizers import course
from benchmarks.optimizers.problems import Read

Params = list[tuple[jax.Array, jax.Array]]
WARM = 7  # steps in which all is compiled, and which are then forgotten


def convolved(values: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
    """Return a convolution that keeps the sides of images."""
    order = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(values, weight, (1, 1), "SAME", dimension_numbers=order) + bias


def pooled(values: jax.Array) -> jax.Array:
    """Return the largest of each 2 x 2 values."""
    return jax.lax.reduce_window(values, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


LAYERS: dict[str, Callable[..., jax.Array]] = {
    "sigmoid": jax.nn.sigmoid,
    "image": lambda values, *shape: values.reshape(-1, *shape).transpose(0, 2, 3, 1),
    "rectifier": jax.nn.relu,
    "pooling": pooled,
    "flat": lambda values: values.transpose(0, 3, 1, 2).reshape(len(values), -1),
}
"""Of those without weights; images have their channels last here."""


def first(problem: Read) -> Params:
    """Return torch's weights as jax wants them."""
    pairs = zip(problem.weights[::2], problem.weights[1::2], strict=True)
    return [
        (jnp.asarray(weight.transpose(2, 3, 1, 0) if weight.ndim == 4 else weight.T), jnp.asarray(bias))
        for weight, bias in pairs
    ]


def outputs(problem: Read, params: Params, values: jax.Array) -> jax.Array:
    """Return the logits."""
    pairs = iter(params)
    for kind, *settings in problem.layers:
        if kind == "linear":
            weight, bias = next(pairs)
            values = values @ weight + bias
        elif kind == "convolution":
            values = convolved(values, *next(pairs))
        else:
            values = LAYERS[kind](values, *settings)
    return values


def criterion(problem: Read) -> Callable[[Params, tuple[jax.Array, jax.Array]], jax.Array]:
    """Return the loss of a batch, registered with kfac-jax."""

    def of_batch(params: Params, batch: tuple[jax.Array, jax.Array]) -> jax.Array:
        inputs, targets = batch
        logits = outputs(problem, params, inputs)
        if problem.classifies:
            kfac_jax.register_softmax_cross_entropy_loss(logits, targets)
            return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()
        kfac_jax.register_multi_bernoulli_predictive_distribution(logits, targets)
        return optax.sigmoid_binary_cross_entropy(logits, targets).sum(axis=-1).mean()

    return of_batch


def optimizer_of(of_batch: Callable[..., jax.Array], settings: dict[str, Any]) -> kfac_jax.Optimizer:
    """Return it with rate, momentum and damping found, as in its own example of autoencoders."""
    return kfac_jax.Optimizer(
        value_and_grad_func=jax.value_and_grad(of_batch),
        l2_reg=0.0,
        use_adaptive_learning_rate=True,
        use_adaptive_momentum=True,
        use_adaptive_damping=True,
        damping_adaptation_decay=0.95,
        min_damping=1e-5,
        num_burnin_steps=0,
        **settings,
    )


def main() -> None:
    """Train as the command line says."""
    asked, problem = course.wanted()
    of_batch = criterion(problem)
    optimizer, key = optimizer_of(of_batch, asked.settings), jax.random.PRNGKey(0)
    inputs, targets = problem.train
    start = (jnp.asarray(inputs[: problem.batch]), jnp.asarray(targets[: problem.batch]))
    params = state = None

    def begin() -> None:
        nonlocal params, state
        params = first(problem)
        state = optimizer.init(params, key, start)

    def update(inputs: np.ndarray, targets: np.ndarray) -> None:
        nonlocal params, state, key
        key, own = jax.random.split(key)
        batch = (jnp.asarray(inputs), jnp.asarray(targets))
        params, state, _ = optimizer.step(params, state, own, batch=batch)
        jax.block_until_ready(params)

    begin()
    for _ in range(WARM):
        update(inputs[: problem.batch], targets[: problem.batch])
    begin()
    judged = jax.jit(of_batch)
    course.run(asked, problem, update, lambda *batch: float(judged(params, batch)))


if __name__ == "__main__":
    main()
