"""The momentum of the literature with the one of torch.optim.SGD.

SGD keeps b ← μ b + g and moves by θ ← θ - lr b: a heavy ball whose velocity does not know the learning rate.
Two other forms differ from it only where the learning rate or the momentum changes; here they are.
"""

import torch
from torch.optim import SGD

from worker.training.schedules import Schedule


def with_rate_in_velocity(momentum: Schedule, rate: Schedule) -> Schedule:
    """Return the momentum with which SGD does m ← μ m - lr g, θ ← θ + m, Polyak's heavy ball.

    There the velocity keeps the rates at which it was gathered. As m = -lr b, the momentum of b at update t
    is μ lr(t-1) / lr(t). The rate must never be 0.
    """

    def scheduled(update: int) -> float:
        before = rate(max(update - 1, 0))
        return momentum(update) * before / rate(update)

    return scheduled


@torch.no_grad()
def change_nesterov_momentum(optimizer: SGD, momentum: float) -> None:
    """Change μ between two updates without moving the iterate.

    SGD with nesterov=True holds the weights ahead of the iterate θ, at θ + μ v with v = -lr b, where the next
    gradient is taken. Another μ is another point ahead, so that v ← μ v - lr ∇h(θ + μ v), θ ← θ + v holds
    with every update's own μ.
    """
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            buffer = optimizer.state[parameter].get("momentum_buffer")
            if buffer is not None:
                parameter.sub_(buffer, alpha=group["lr"] * (momentum - group["momentum"]))
        group["momentum"] = momentum
