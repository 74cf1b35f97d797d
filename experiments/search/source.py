"""The comparison that these experiments read, and where it was published."""

from collections.abc import Mapping
from typing import Final

from experiments.compared import files
from experiments.experiment import Size
from experiments.factorized.source import THESIS

SOURCE: Final = THESIS
FILES: Final = files("search/table")
GRID, RANDOM, PUBLISHED, DEFAULT = "grid", "random", "thesis", "adaptive"
BIASED: Final = {
    PUBLISHED: "biased random search as published",
    DEFAULT: "our default of biased random search",
}
HERE: Final[Mapping[Size, str]] = {
    "small": "The autoencoder 64-32-6-32-64 on the 1,500 training digits: logistic hidden units and "
    "outputs, a linear code, 100 updates by stochastic gradient descent with batches of 50, from uniform "
    "weights of variance α/(n_in + n_out). The rate (0.002 to 200) and α (0.01 to 300) are searched on "
    "logarithmic scales. What is trained on is half the squared error, so a rate here is twice one there; "
    "what counts is the whole squared error of all training digits after the last update. Each strategy has "
    "a hundred searches of 100 trials. Every search is an ordinary study of one comparison; the four "
    "strategies of a replicate share its seed, and the best config of each search is trained once more with "
    "a fresh seed.",
    "full": "The autoencoder 784-1000-500-250-30-250-500-1000-784 of the thesis on the 60,000 training "
    "images of MNIST, logistic but for the code, 100 updates by stochastic gradient descent with batches of "
    "200, 100 searches of 100 trials by each strategy. Its ranges, batches and grid are not told; these are "
    "ours.",
}
