"""Olivetti: 40 faces, ten pictures each. FACES: the same, turned and enlarged at random, 25 x 25 pixels."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import affine_grid, grid_sample

from worker.datasets.cache import kept
from worker.datasets.dataset import Array, Content, ordered
from worker.datasets.files import Wanted, checksum
from worker.datasets.formats import damaged, npz

VERSION: Final = 1  # of what is made of the pictures: another one makes what is kept anew
SEED: Final = 25
PEOPLE, PICTURES, SIDE = 40, 10, 64
LEARNED, HELD_BACK = 25, 5  # people; the other 10 are for the test
SMALL: Final = 25  # pixels of a side
DEGREES: Final = 90  # a face is turned by at most so many, to either side
ENLARGED: Final = (1.4, 1.8)
PUBLISHED: Final = "b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794"  # SHA-256
WANTED: Final = Wanted(
    title="Olivetti",
    forms=(("olivettifaces.mat",), ("olivetti.npz",)),
    obtain=(
        "olivettifaces.mat is at https://ndownloader.figshare.com/files/5976027; an .npz file has x, 400 "
        "upright images of 64 x 64 bytes, and y, the person from 0 to 39."
    ),
)


@dataclass(frozen=True, eq=False)
class Album:
    """Ten pictures of each person, in [0, 1]: (person, picture, row, column)."""

    pictures: Tensor
    origin: str


def olivetti(folder: Path) -> Content:
    """Return the pictures, to be told apart by person. Raises DataAbsent, DataDamaged."""
    return _people(_album(WANTED.found(folder)))


def synthetic_olivetti() -> Content:
    """Return drawn faces, to be told apart by person."""
    return _people(synthetic())


def faces(folder: Path, *, variants: int) -> Content:
    """Return so many variants of each picture, to be reconstructed. Raises DataAbsent, DataDamaged."""
    files = WANTED.found(folder)
    key = f"faces-{variants}-v{VERSION}-{checksum(files)[:16]}"
    return kept(key, lambda: _augmented(_album(files), variants))


def synthetic_faces(*, variants: int) -> Content:
    """Return so many variants of each picture of a drawn face, to be reconstructed."""
    return kept(f"faces-{variants}-v{VERSION}-synthetic", lambda: _augmented(synthetic(), variants))


def _album(files: tuple[Path, ...]) -> Album:
    """Return the pictures of a file. Raises DataDamaged."""
    (file,) = files
    images, people = _matlab(file) if file.suffix == ".mat" else npz(file, ("x", "y")).values()
    shape = (PEOPLE * PICTURES, SIDE, SIDE)
    if images.dtype != np.uint8 or images.shape != shape or people.shape != shape[:1]:
        raise damaged(
            file, "as 400 pictures of 64 x 64 bytes", f"it has {images.dtype} of shape {images.shape}"
        )
    if (np.bincount(people.astype(np.int64), minlength=PEOPLE) != PICTURES).any():
        raise damaged(file, "as faces", f"it has not {PICTURES} pictures of each of {PEOPLE} people")
    sorted_by_person = images[np.argsort(people, kind="stable")].reshape(PEOPLE, PICTURES, SIDE, SIDE)
    verdict = "the published file" if checksum(files) == PUBLISHED else "not the published file"
    origin = f"Olivetti faces from {file.name} (SHA-256 {checksum(files)}): {verdict}."
    return Album(torch.tensor(sorted_by_person).float() / 255, origin)


def _matlab(file: Path) -> tuple[Array, Array]:
    """Return upright pictures and people: a column of the file is a picture, column by column."""
    try:
        from scipy.io import loadmat  # which takes time, and one form of one data set is in need of it

        columns = loadmat(file, variable_names=["faces"])["faces"]
        images = columns.T.reshape(-1, SIDE, SIDE).transpose(0, 2, 1)
    except Exception as error:  # the reader raises whatever it stumbles over
        raise damaged(file, "as a MATLAB file with a matrix `faces`", error) from error
    return images, np.arange(len(images)) // PICTURES


def _people(album: Album) -> Content:
    """Return 6 pictures of each person to train on, 2 held back and 2 to test with."""
    taken = [ordered(PICTURES, SEED + person) for person in range(PEOPLE)]
    shuffled = torch.stack([pictures[order] for pictures, order in zip(album.pictures, taken, strict=True)])
    inputs = (
        shuffled.transpose(0, 1).reshape(-1, 1, SIDE, SIDE).numpy()
    )  # a picture of each, another of each ...
    classes = np.tile(np.arange(PEOPLE), PICTURES)
    train = 8 * PEOPLE
    arrays = {
        "train_inputs": inputs[:train],
        "train_targets": classes[:train],
        "test_inputs": inputs[train:],
        "test_targets": classes[train:],
    }
    return Content(arrays=arrays, held_back=2 * PEOPLE, origin=album.origin)


def _augmented(album: Album, variants: int) -> Content:
    """Return variants of the pictures, each pixel with mean 0 and variance 1 over those trained on."""
    chance = Generator().manual_seed(SEED)
    people = album.pictures[torch.randperm(PEOPLE, generator=chance)].split(
        [LEARNED, HELD_BACK, PEOPLE - LEARNED - HELD_BACK]
    )
    learned, held_back, test = (_shuffled(some.flatten(0, 1), variants, chance) for some in people)
    deviation, mean = torch.std_mean(learned, dim=0, correction=0)
    for part in (learned, held_back, test):
        part.sub_(mean).div_(deviation)
    arrays = {
        "train_inputs": torch.cat([learned, held_back])[:, None].numpy(),
        "test_inputs": test[:, None].numpy(),
    }
    origin = f"{album.origin} {variants} variants of each picture (seed {SEED}), split by person."
    return Content(arrays=arrays, held_back=len(held_back), origin=origin)


def _shuffled(pictures: Tensor, variants: int, chance: Generator) -> Tensor:
    """Return variants of all pictures in a random order."""
    made = torch.empty(len(pictures) * variants, SMALL, SMALL)
    for rows, picture in zip(
        torch.randperm(len(made), generator=chance).split(variants), pictures, strict=True
    ):
        made[rows] = varied(picture, variants, chance)
    return made


def varied(picture: Tensor, count: int, chance: Generator) -> Tensor:
    """Return a picture turned and enlarged at random, cropped to its frame and sampled at 25 x 25 points."""
    angle = torch.deg2rad(DEGREES * (2 * torch.rand(count, generator=chance) - 1))
    low, high = ENLARGED
    shrunk = 1 / (low + (high - low) * torch.rand(count, generator=chance))
    return _sampled(picture, angle, shrunk)


def _sampled(picture: Tensor, angle: Tensor, shrunk: Tensor) -> Tensor:
    """Return the picture at the points of the small frame, which is turned and shrunk about the middle."""
    cos, sin, still = shrunk * angle.cos(), shrunk * angle.sin(), torch.zeros_like(angle)
    rows = torch.stack([cos, -sin, still, sin, cos, still], dim=1).view(-1, 2, 3)
    points = affine_grid(rows, [len(rows), 1, SMALL, SMALL], align_corners=False)
    pictures = picture.expand(len(rows), 1, SIDE, SIDE)
    return grid_sample(pictures, points, padding_mode="border", align_corners=False)[:, 0]


# Of a drawn face: the middle (x, y) and the width and height of each blob, and how bright it is.
OUTLINE, EYES = ((0, 0, 16, 20, 0.8),), ((-8, -6, 3, 2, -0.5), (8, -6, 3, 2, -0.5))
NOSE, MOUTH = ((0, 3, 2, 5, 0.2),), ((0, 12, 6, 2, -0.4),)


def synthetic() -> Album:
    """Return drawn faces: five Gaussian blobs, of other places and sizes for each person and picture."""
    chance = Generator().manual_seed(SEED)
    blobs = torch.tensor([*OUTLINE, *EYES, *NOSE, *MOUTH], dtype=torch.float32)
    person = torch.randn(PEOPLE, 1, *blobs.shape, generator=chance)
    picture = torch.randn(PEOPLE, PICTURES, *blobs.shape, generator=chance)
    x, y, width, height, bright = (person + 0.4 * picture).unbind(dim=-1)
    centres = torch.arange(SIDE) + 0.5 - SIDE / 2
    across = _bell(centres, blobs[:, 0] + 1.5 * x, blobs[:, 2] * torch.exp(0.15 * width))
    along = _bell(centres, blobs[:, 1] + 1.5 * y, blobs[:, 3] * torch.exp(0.15 * height))
    strength = blobs[:, 4] * torch.exp(0.15 * bright)
    drawn = torch.einsum("pibr,pibc,pib->pirc", along, across, strength).clamp(0, 1)
    return Album(drawn, f"Synthetic faces (seed {SEED}).")


def _bell(centres: Tensor, middle: Tensor, width: Tensor) -> Tensor:
    return torch.exp(-((centres - middle[..., None]) / width[..., None]).square() / 2)
