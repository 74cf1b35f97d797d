"""Where the networks of surfaces.npz were trained: the nodes of the grid."""

from pathlib import Path

KEPT = Path(__file__).with_name("surfaces.npz")
DATA_SETS = ("wine", "breast_cancer", "digits", "diabetes")
RULES = ("sgd", "momentum", "adam")
DECAYS = (0.01, 0.0316, 0.1, 0.316, 1.0)  # of the velocity, in each step of momentum; equal in log
WIDTHS = (4, 8, 16, 32)
RATES = tuple(10 ** (-4 + k / 2) for k in range(13))
SCALES = tuple(10 ** (-2 + k / 2) for k in range(9))  # of the initial weights
SEEDS = (1, 2, 3)
