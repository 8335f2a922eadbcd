"""Corrupted test images: ten kinds of noise, blur, weather, contrast and geometry, with a seed.

Each has severities 1 to 5.  Strengths are shares of the value range or of the side.  Those of blurs
are pixels of a 32 x 32 image and grow with the square root of the side, as the details of an 8 x 8
digit are as large as its pixels.  The kinds follow the families of Hendrycks & Dietterich 2019
(arXiv 1903.12261) with other strengths, so scores do not compare with those on CIFAR-10-C.
"""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from flatviz.checks import Count, Seed, check_count
from flatviz.core import Data, Pixels, generator, public, saved_rng
from flatviz.words import check_choice


class Corruption(NamedTuple):
    """Images (N, C, H, W) in 0..1 to corrupt, the strength, and the source of random numbers."""

    images: Tensor
    strength: float
    source: torch.Generator

    def gaussian_noise(self) -> Tensor:
        """Add noise to every value."""
        x = self.images
        noise = torch.randn(x.shape, generator=self.source, dtype=torch.float32)
        return x + self.strength * noise.to(x)

    def impulse_noise(self) -> Tensor:
        """Set a share of the values to 0 or 1."""
        x = self.images
        hit = self._uniform(*x.shape) < self.strength
        white = self._uniform(*x.shape) < 0.5
        return torch.where(hit, white.to(x), x)

    def gaussian_blur(self) -> Tensor:
        """Blur by a Gaussian."""
        sigma = self._pixels
        squares = self._squared_distances(3 * sigma)
        kernel = torch.exp(-squares / (2 * sigma**2))
        return self._blurred(kernel)

    def defocus_blur(self) -> Tensor:
        """Blur by a disc with a soft edge."""
        radius = self._pixels
        distances = self._squared_distances(radius).sqrt()
        kernel = (radius + 0.5 - distances).clamp(0, 1)
        return self._blurred(kernel)

    def fog(self) -> Tensor:
        """Mix in a mist of several scales, which lowers contrast."""
        x = self.images
        n, _, height, width = x.shape
        mist = x.new_zeros(n, 1, height, width)
        for scale in (2, 4, 8):
            rough = self._uniform(n, 1, scale, scale)
            smooth = F.interpolate(rough, (height, width), mode="bicubic")
            mist = mist + smooth / scale
        thickest = mist.amax((1, 2, 3), keepdim=True)
        mist = 0.3 + 0.7 * (mist / thickest)
        return (1 - self.strength) * x + self.strength * mist

    def brightness(self) -> Tensor:
        """Make all values larger."""
        return self.images + self.strength

    def contrast(self) -> Tensor:
        """Draw all values towards the image's mean."""
        mean = self.images.mean((1, 2, 3), keepdim=True)
        return self.strength * self.images + (1 - self.strength) * mean

    def pixelate(self) -> Tensor:
        """Average larger pixels."""
        sides = list(self.images.shape[2:])
        small = [max(1, round(side / self.strength)) for side in sides]
        coarse = F.interpolate(self.images, small, mode="area")
        return F.interpolate(coarse, sides, mode="nearest")

    def translate(self) -> Tensor:
        """Shift each image by a share of its side, in a random diagonal direction."""
        shift = self.strength * self._signs(len(self.images), 2)
        return affine(self.images, shift=shift)

    def rotate(self) -> Tensor:
        """Rotate each image to one side or the other."""
        angle = self.strength * self._signs(len(self.images))
        return affine(self.images, angle=angle)

    def _uniform(self, *shape: int) -> Tensor:
        numbers = torch.rand(shape, generator=self.source, dtype=torch.float32)
        return numbers.to(self.images)

    def _signs(self, *shape: int) -> Tensor:
        positive = self._uniform(*shape) < 0.5
        return positive.to(self.images) * 2 - 1

    @property
    def _pixels(self) -> float:
        """Strength of a blur, given for 32 x 32 images, in pixels of these images."""
        return self.strength * (self.images.shape[-1] / 32) ** 0.5

    def _squared_distances(self, radius: float) -> Tensor:
        """Compute squared distances from the middle of a square kernel of `radius` pixels."""
        reach = max(1, int(radius + 0.999))
        steps = torch.arange(-reach, reach + 1).to(self.images)
        squares = steps**2
        return squares[:, None] + squares

    def _blurred(self, kernel: Tensor) -> Tensor:
        """Convolve each channel with one square kernel, with edges repeated."""
        channels = self.images.shape[1]
        reach = len(kernel) // 2
        kernel = kernel / kernel.sum()
        weight = kernel.expand(channels, 1, *kernel.shape)
        wide = F.pad(self.images, [reach] * 4, mode="replicate")
        return F.conv2d(wide, weight, groups=channels)


def affine(x: Tensor, *, angle: Tensor | float = 0.0, shift: Tensor | None = None) -> Tensor:
    """Rotate by `angle` (radians) and shift by `shift` (N, 2), in shares of the side.

    Places from outside get the value of the edge.
    """
    angle = torch.as_tensor(angle, dtype=x.dtype, device=x.device)
    angle = angle.expand(len(x))
    cos = angle.cos()
    sin = angle.sin()
    move = x.new_zeros(len(x), 2) if shift is None else -2 * shift
    across = torch.stack([cos, -sin, move[:, 0]], 1)
    down = torch.stack([sin, cos, move[:, 1]], 1)
    matrices = torch.stack([across, down], 1)
    grid = F.affine_grid(matrices, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


KINDS = (
    Corruption.gaussian_noise,
    Corruption.impulse_noise,
    Corruption.gaussian_blur,
    Corruption.defocus_blur,
    Corruption.fog,
    Corruption.brightness,
    Corruption.contrast,
    Corruption.pixelate,
    Corruption.translate,
    Corruption.rotate,
)
CORRUPTIONS = {kind.__name__: kind for kind in KINDS}
# Strengths of each kind at severities 1 to 5
STRENGTHS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@public
def corrupt(data: Data, kind: str, severity: Count, *, seed: Seed) -> Data:
    """Apply one kind of corruption to the images of `data`; labels stay.

    Args:
        data: Images (N, C, H, W) with values from 0 to 1, or in bytes; bytes stay bytes.
        kind: A key of `CORRUPTIONS`: noise, blur, weather-like, digital or geometric.
        severity: 1 (hardly seen) to 5 (a person still reads most digits).
        seed: Draws noise, directions and places.

    Returns:
        A `Data` of the same shape, values clipped to 0..1.

    Raises:
        ValueError: For an unknown kind, a severity out of range, or inputs that are no such images.

    Example:
        >>> import torch, flatviz as fv
        >>> images = fv.Data(torch.full((2, 1, 8, 8), 0.5), torch.tensor([0, 1]))
        >>> noisy = fv.datasets.corrupt(images, "gaussian_noise", 3, seed=0)
        >>> round(float((noisy.x - images.x).std()), 2)
        0.13
    """
    apply = CORRUPTIONS[check_choice(kind, tuple(CORRUPTIONS), "kind")]
    if check_count(severity, "severity") > 5:
        raise ValueError(f"severity must be a whole number from 1 to 5, got {severity}")
    pixels = data.x if isinstance(data.x, Pixels) else None
    x = data.x if pixels is None else pixels[:]
    if not isinstance(x, Tensor) or x.ndim != 4 or not x.is_floating_point():
        raise ValueError(f"corrupt needs floating images (N, C, H, W) or bytes, got {data!r}")
    lowest = float(x.min())
    highest = float(x.max())
    if lowest < 0 or highest > 1:
        raise ValueError(
            "corrupt needs images with values from 0 to 1, got values"
            f" {lowest:g} to {highest:g}: scale them"
        )
    strength = STRENGTHS[kind][severity - 1]
    with saved_rng():
        changed = apply(Corruption(x, strength, generator(seed)))
    changed = changed.clamp(0, 1).to(x.dtype)
    if pixels is None:
        return replace(data, x=changed)
    in_bytes = (changed * 255).round().byte()
    return replace(data, x=replace(pixels, bytes=in_bytes))
