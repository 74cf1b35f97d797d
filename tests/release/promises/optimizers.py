"""With `optimizers`: steps of K-FAC on torch alone, without anything of the service."""

import sys
from importlib.util import find_spec

import torch

from optimizers import KFAC, CrossEntropy

torch.manual_seed(0)
inputs = torch.randn(64, 5)
targets = (inputs[:, 0] > 0).long()
model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = KFAC(model, CrossEntropy())
losses = [optimizer.step(inputs, targets).loss for _ in range(20)]
assert losses[-1] < losses[0] / 2, losses
assert not {"thiessen", "app", "worker", "pydantic", "httpx"} & set(sys.modules)
assert not [name for name in ("fastapi", "sqlalchemy", "sklearn", "psutil") if find_spec(name)]
