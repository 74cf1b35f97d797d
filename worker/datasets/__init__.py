"""Data sets, as tensors."""
