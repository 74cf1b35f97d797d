"""More cases to train on than there are: copies of images, each shifted and turned at random."""

import torch
from torch import Generator, Tensor
from torch.nn.functional import affine_grid, grid_sample

from worker.datasets.dataset import Part


def with_copies(
    part: Part, shape: tuple[int, ...], chance: Generator, *, copies: int, shift: float, turn: float
) -> Part:
    """Return the cases, and so many copies of each after them.

    A copy is shifted by up to `shift` pixels on each axis and turned by up to `turn` degrees, to either side,
    all equally likely. `shape` is that of an image: channels, rows, columns.
    """
    images = part.inputs.view(-1, *shape).repeat(copies, *[1] * len(shape))
    drawn = 2 * torch.rand(3, len(images), generator=chance) - 1
    angle, down, right = torch.tensor([turn, shift, shift])[:, None] * drawn
    made = moved(images, angle=angle, down=down, right=right).flatten(1)
    return Part(torch.cat([part.inputs, made]), part.targets.repeat(copies + 1))


def moved(images: Tensor, *, angle: Tensor, down: Tensor, right: Tensor) -> Tensor:
    """Return images turned counter-clockwise by degrees about their middle, then shifted by pixels.

    Between pixels it is linear; what comes in from outside is 0.
    """
    count, _, rows, columns = images.shape
    cos, sin, stretch = torch.deg2rad(angle).cos(), torch.deg2rad(angle).sin(), rows / columns
    x, y = -2 * right / columns, -2 * down / rows  # an image is 2 wide and 2 high here, whatever its shape
    across = [cos, -sin * stretch, cos * x - sin * stretch * y]
    along = [sin / stretch, cos, sin / stretch * x + cos * y]
    whence = torch.stack([*across, *along], dim=1).view(count, 2, 3)
    points = affine_grid(whence, list(images.shape), align_corners=False)
    return grid_sample(images, points, padding_mode="zeros", align_corners=False)
