"""Corrupted test images: ten kinds of noise, blur, weather, contrast and geometry, with a seed.

Each has severities 1 to 5.  Strengths are shares of the value range or of the side.  Those of blurs
are pixels of a 32 x 32 image and grow with the square root of the side, as the details of an 8 x 8
digit are as large as its pixels.  The kinds follow the families of Hendrycks & Dietterich 2019
(arXiv 1903.12261) with other strengths, so scores do not compare with those on CIFAR-10-C.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from flatviz.checks import Count, Seed, check_count
from flatviz.core import Data, Pixels, generator, public, saved_rng
from flatviz.words import check_choice

Apply = Callable[[Tensor, float, torch.Generator], Tensor]


def _randn(x: Tensor, source: torch.Generator) -> Tensor:
    return torch.randn(x.shape, generator=source, dtype=torch.float32).to(x)


def _rand(x: Tensor, source: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(shape or x.shape, generator=source, dtype=torch.float32).to(x)


def _impulse(x: Tensor, share: float, source: torch.Generator) -> Tensor:
    hit = _rand(x, source) < share
    white = _rand(x, source) < 0.5
    return torch.where(hit, white.to(x), x)


def _pixels(x: Tensor, strength: float) -> float:
    """Convert a blur's strength, given for 32 x 32 images, to pixels of these images."""
    return strength * (x.shape[-1] / 32) ** 0.5


def _kernel(x: Tensor, radius: float) -> Tensor:
    """Compute squared distances from the middle of a square kernel of `radius` pixels."""
    reach = max(1, int(radius + 0.999))
    side = torch.arange(-reach, reach + 1, dtype=x.dtype, device=x.device)
    return side[:, None] ** 2 + side[None, :] ** 2


def _blurred(x: Tensor, kernel: Tensor) -> Tensor:
    """Convolve each channel with one kernel (h, w), with edges repeated."""
    kernel = (kernel / kernel.sum()).expand(x.shape[1], 1, *kernel.shape)
    pad = [kernel.shape[-1] // 2] * 2 + [kernel.shape[-2] // 2] * 2
    return F.conv2d(F.pad(x, pad, mode="replicate"), kernel, groups=x.shape[1])


def _gaussian_blur(x: Tensor, strength: float, _: torch.Generator) -> Tensor:
    sigma = _pixels(x, strength)
    return _blurred(x, torch.exp(-_kernel(x, 3 * sigma) / (2 * sigma**2)))


def _defocus(x: Tensor, strength: float, _: torch.Generator) -> Tensor:
    radius = _pixels(x, strength)
    # A disc with a soft edge
    return _blurred(x, (radius + 0.5 - _kernel(x, radius).sqrt()).clamp(0, 1))


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
    grid = F.affine_grid(torch.stack([across, down], 1), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


def _fog(x: Tensor, strength: float, source: torch.Generator) -> Tensor:
    """Mix in a mist of several scales, which lowers contrast."""
    n, _, height, width = x.shape
    mist = x.new_zeros(n, 1, height, width)
    for scale in (2, 4, 8):
        rough = _rand(x, source, n, 1, scale, scale)
        smooth = F.interpolate(rough, (height, width), mode="bicubic", align_corners=False)
        mist = mist + smooth / scale
    mist = mist / mist.flatten(1).amax(1)[:, None, None, None]
    return (1 - strength) * x + strength * (0.3 + 0.7 * mist)


def _pixelate(x: Tensor, coarser: float, _: torch.Generator) -> Tensor:
    small = [max(1, round(side / coarser)) for side in x.shape[2:]]
    coarse = F.interpolate(x, small, mode="area")
    return F.interpolate(coarse, list(x.shape[2:]), mode="nearest")


def _signs(x: Tensor, source: torch.Generator, *shape: int) -> Tensor:
    return (_rand(x, source, *shape) < 0.5).to(x) * 2 - 1


CORRUPTIONS: dict[str, tuple[tuple[float, ...], Apply]] = {  # strength at each severity
    "gaussian_noise": ((0.04, 0.08, 0.12, 0.18, 0.26), lambda x, s, g: x + s * _randn(x, g)),
    "impulse_noise": ((0.01, 0.03, 0.06, 0.11, 0.18), _impulse),
    "gaussian_blur": ((0.8, 1.1, 1.4, 1.8, 2.4), _gaussian_blur),
    "defocus_blur": ((1.4, 1.8, 2.3, 2.9, 3.8), _defocus),
    "fog": ((0.15, 0.28, 0.4, 0.52, 0.65), _fog),
    "brightness": ((0.08, 0.16, 0.25, 0.35, 0.48), lambda x, s, g: x + s),
    "contrast": (
        (0.75, 0.55, 0.4, 0.27, 0.17),
        lambda x, s, g: s * x + (1 - s) * x.mean((1, 2, 3), True),
    ),
    "pixelate": ((1.15, 1.4, 1.9, 2.7, 4.0), _pixelate),
    "translate": (
        (0.04, 0.08, 0.12, 0.17, 0.23),
        lambda x, s, g: affine(x, shift=s * _signs(x, g, len(x), 2)),
    ),
    "rotate": (
        (0.09, 0.17, 0.28, 0.42, 0.6),
        lambda x, s, g: affine(x, angle=s * _signs(x, g, len(x))),
    ),
}


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
    strengths, apply = CORRUPTIONS[check_choice(kind, tuple(CORRUPTIONS), "kind")]
    if check_count(severity, "severity") > 5:
        raise ValueError(f"severity must be a whole number from 1 to 5, got {severity}")
    # Corrupt the bytes, before mean and std
    kept = data.x if isinstance(data.x, Pixels) else None
    x = data.x if kept is None else Pixels(kept.bytes)[:]
    if not isinstance(x, Tensor):
        raise ValueError(
            f"corrupt needs images in memory, got {data!r}: take a subset with"
            " fv.datasets.data_from"
        )
    if x.ndim != 4 or not x.is_floating_point() or float(x.min()) < 0 or float(x.max()) > 1:
        span = f", values {float(x.min()):g} to {float(x.max()):g}" if x.numel() else ""
        raise ValueError(
            f"corrupt needs images (N, C, H, W) with values from 0 to 1, got {tuple(x.shape)}"
            f" {x.dtype}{span}"
        )
    with saved_rng():
        changed = apply(x, strengths[severity - 1], generator(seed))
    changed = changed.clamp(0, 1).to(x.dtype)
    return replace(
        data, x=changed if kept is None else replace(kept, bytes=(changed * 255).round().byte())
    )
