"""Corrupted test images: ten kinds of noise, blur, weather, contrast and geometry, with a seed.

Each has severities 1 to 5.  Strengths are shares of the value range or of the side.  Those of blurs
are pixels of a 32 x 32 image and grow with the square root of the side, as the details of an 8 x 8
digit are as large as its pixels.  The kinds follow the families of Hendrycks & Dietterich 2019
(arXiv 1903.12261) with other strengths, so scores do not compare with those on CIFAR-10-C.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from flatviz.checks import Count, Seed, check_count
from flatviz.core import Data, Pixels, generator, public, saved_rng
from flatviz.words import check_choice


def _randn(x: Tensor, source: torch.Generator) -> Tensor:
    return torch.randn(x.shape, generator=source, dtype=torch.float32).to(x)


def _rand(x: Tensor, source: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(shape or x.shape, generator=source, dtype=torch.float32).to(x)


def _signs(x: Tensor, source: torch.Generator, *shape: int) -> Tensor:
    return (_rand(x, source, *shape) < 0.5).to(x) * 2 - 1


def gaussian_noise(x: Tensor, std: float, source: torch.Generator) -> Tensor:
    """Add noise to every value."""
    return x + std * _randn(x, source)


def impulse_noise(x: Tensor, share: float, source: torch.Generator) -> Tensor:
    """Set a share of the values to 0 or 1."""
    hit = _rand(x, source) < share
    white = _rand(x, source) < 0.5
    return torch.where(hit, white.to(x), x)


def _pixels(x: Tensor, strength: float) -> float:
    """Convert a blur's strength, given for 32 x 32 images, to pixels of these images."""
    return strength * (x.shape[-1] / 32) ** 0.5


def _kernel(x: Tensor, radius: float) -> Tensor:
    """Compute squared distances from the middle of a square kernel of `radius` pixels."""
    reach = max(1, int(radius + 0.999))
    side = torch.arange(-reach, reach + 1, dtype=x.dtype, device=x.device) ** 2
    return side[:, None] + side


def _blurred(x: Tensor, kernel: Tensor) -> Tensor:
    """Convolve each channel with one square kernel, with edges repeated."""
    channels = x.shape[1]
    reach = len(kernel) // 2
    weight = (kernel / kernel.sum()).expand(channels, 1, *kernel.shape)
    wide = F.pad(x, [reach] * 4, mode="replicate")
    return F.conv2d(wide, weight, groups=channels)


def gaussian_blur(x: Tensor, strength: float, _: torch.Generator) -> Tensor:
    """Blur by a Gaussian."""
    sigma = _pixels(x, strength)
    squares = _kernel(x, 3 * sigma)
    return _blurred(x, torch.exp(-squares / (2 * sigma**2)))


def defocus_blur(x: Tensor, strength: float, _: torch.Generator) -> Tensor:
    """Blur by a disc with a soft edge."""
    radius = _pixels(x, strength)
    distance = _kernel(x, radius).sqrt()
    return _blurred(x, (radius + 0.5 - distance).clamp(0, 1))


def fog(x: Tensor, strength: float, source: torch.Generator) -> Tensor:
    """Mix in a mist of several scales, which lowers contrast."""
    n, _, height, width = x.shape
    mist = x.new_zeros(n, 1, height, width)
    for scale in (2, 4, 8):
        rough = _rand(x, source, n, 1, scale, scale)
        smooth = F.interpolate(rough, (height, width), mode="bicubic", align_corners=False)
        mist = mist + smooth / scale
    mist = mist / mist.amax((1, 2, 3), keepdim=True)
    return (1 - strength) * x + strength * (0.3 + 0.7 * mist)


def brightness(x: Tensor, shift: float, _: torch.Generator) -> Tensor:
    """Make all values larger."""
    return x + shift


def contrast(x: Tensor, share: float, _: torch.Generator) -> Tensor:
    """Draw all values towards the image's mean."""
    mean = x.mean((1, 2, 3), keepdim=True)
    return share * x + (1 - share) * mean


def pixelate(x: Tensor, coarser: float, _: torch.Generator) -> Tensor:
    """Average larger pixels."""
    sides = list(x.shape[2:])
    small = [max(1, round(side / coarser)) for side in sides]
    coarse = F.interpolate(x, small, mode="area")
    return F.interpolate(coarse, sides, mode="nearest")


def translate(x: Tensor, share: float, source: torch.Generator) -> Tensor:
    """Shift each image by a share of its side, in a random diagonal direction."""
    return affine(x, shift=share * _signs(x, source, len(x), 2))


def rotate(x: Tensor, angle: float, source: torch.Generator) -> Tensor:
    """Rotate each image to one side or the other."""
    return affine(x, angle=angle * _signs(x, source, len(x)))


def affine(x: Tensor, *, angle: Tensor | float = 0.0, shift: Tensor | None = None) -> Tensor:
    """Rotate by `angle` (radians) and shift by `shift` (N, 2), in shares of the side.

    Places from outside get the value of the edge.
    """
    angle = torch.as_tensor(angle, dtype=x.dtype, device=x.device).expand(len(x))
    cos = angle.cos()
    sin = angle.sin()
    move = x.new_zeros(len(x), 2) if shift is None else -2 * shift
    across = torch.stack([cos, -sin, move[:, 0]], 1)
    down = torch.stack([sin, cos, move[:, 1]], 1)
    matrices = torch.stack([across, down], 1)
    grid = F.affine_grid(matrices, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


KINDS = (
    gaussian_noise,
    impulse_noise,
    gaussian_blur,
    defocus_blur,
    fog,
    brightness,
    contrast,
    pixelate,
    translate,
    rotate,
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
    if float(x.min()) < 0 or float(x.max()) > 1:
        raise ValueError(
            "corrupt needs images with values from 0 to 1, got values"
            f" {float(x.min()):g} to {float(x.max()):g}: scale them"
        )
    with saved_rng():
        changed = apply(x, STRENGTHS[kind][severity - 1], generator(seed))
    changed = changed.clamp(0, 1).to(x.dtype)
    if pixels is None:
        return replace(data, x=changed)
    return replace(data, x=replace(pixels, bytes=(changed * 255).round().byte()))
