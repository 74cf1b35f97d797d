"""The thesis that these experiments are of."""

from typing import Final

THESIS: Final = (
    "Thomas George, *Factorized second order methods in neural networks*, master's thesis, "
    "Université de Montréal, 2017"
)
