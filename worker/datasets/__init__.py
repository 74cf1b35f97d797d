"""Data sets, as tensors: `load(name)` returns one, `names()` says which there are."""

from worker.datasets.catalogue import load, names
from worker.datasets.dataset import DataAbsent, DataDamaged, Dataset, Part

__all__ = ["DataAbsent", "DataDamaged", "Dataset", "Part", "load", "names"]
