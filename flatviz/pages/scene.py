"""Parts shared by every figure of a family: scales, references, sentences, pixels."""

import base64
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import computed
from flatviz.plots.basin import LEVEL, above_center, basin_scale
from flatviz.plots.color import ColorScale
from flatviz.plots.inputs import class_words
from flatviz.plots.radius import columns_of, trend, values_of
from flatviz.plots.theme import style
from flatviz.private import cached_property
from flatviz.results import Family

# Through each member's center
PLANES = {
    "sharpest": "sharpest directions",
    "around": "random directions",
}
REFERENCES = ("sgd", "vi")  # drawn beside whatever is selected
FEW = 10  # draws in the article
LEVELS = 254  # of a probability as one byte, so within 1 / 508 of what it was; 255: diverged


@dataclass(frozen=True)
class Scene:
    """Scales, references and sentences shared by every picture of a family."""

    family: Family

    @cached_property
    def references(self) -> dict[str, int]:
        """Method -> member, of the methods drawn beside the selected one."""
        there = [m for m in REFERENCES if m in self.family.methods]
        return {m: self.family.index(m) for m in there}

    def beside(self, part: str) -> dict[str, Any]:
        """Return one part of each reference, such as its prediction."""
        return {m: getattr(self.family[i], part) for m, i in self.references.items()}

    @cached_property
    def colors(self) -> dict:
        """Loss scale of all surfaces and samples.

        It is that of the shared surface, so that members fitted later share it.
        """
        scale = ColorScale.over(computed(self.family.surface).values)
        return dict(color_range=(scale.lo, scale.hi), log=scale.log)

    @cached_property
    def rises(self) -> dict[str, tuple[float, float]]:
        """Range of colours of each kind of basin, shared by all members."""
        members = [self.family[i] for i in self.family.distinct]
        ends = {}
        for plane in PLANES:
            basins = [above_center(getattr(member, plane)) for member in members]
            scale = basin_scale(basins)
            ends[plane] = scale.lo, scale.hi
        return ends

    @cached_property
    def words(self) -> dict[str, str]:
        """Texts that a caption may name, each computed from the results that the figures show.

        label: of the surface; share: of variance that its plane holds; radius: meaning of each
        method's radius; class 1, class 2, name 2: of a class, in a sentence and alone.
        """
        surface = computed(self.family.surface)
        explained = surface.plane.explained
        trends = [trend(self.family, method) for method in columns_of(self.family)]
        texts = {
            "label": surface.label,
            "share": f" ({100 * sum(explained):.0f} % of it)" if explained else "",
            "level": f"{LEVEL:g}",
            "radius": ". ".join(trends),
            "seeds": self._seeds(),
            "sure": self._sure(),
        }
        if computed(self.family[0].prediction).has_classes:
            texts |= self._classes()
        return texts

    def _classes(self) -> dict[str, str]:
        names = computed(self.family[0].prediction).classes
        words = class_words(self.family)
        last = len(words) - 1
        second = min(1, last)
        third = min(2, last)
        return {"class 1": words[second], "class 2": words[third], "name 2": names[third]}

    def _sure(self) -> str:
        """Describe by how much confidence exceeds accuracy, with few draws and all, by radius.

        The radii are both ends of SA-BMA's.
        """
        n = self.family.n_draws
        members = [m for m in self.family if m.method == "sabma"]
        if n <= FEW or not members or computed(members[0].prediction).bins is None:
            return ""
        texts = []
        first_and_last = members[:: max(1, len(members) - 1)]
        for member in first_and_last:
            bins = computed(computed(member.prediction).bins)
            count, sure, right = bins.double().nan_to_num().unbind(-1)
            excess = (count * (sure - right)).sum(-1) / count.sum(-1)
            few = 100 * float(excess[FEW - 1])
            many = 100 * float(excess[-1])
            points = f"{few:+.1f} points with {FEW} draws and {many:+.1f} with {n}"
            texts.append(f"{points} at radius {member.radius:g}")
        return (
            " ECE is low where confidence equals accuracy; confidence less accuracy:"
            f" {', '.join(texts)}."
        )

    def _seeds(self) -> str:
        n = values_of(self.family, "lambda1").shape[1]
        if n == 1:
            return "One seed: what looks like a trend may be noise."
        return (
            f"Lines: means over {n} seeds of the noise of fit and draws; bands: from the lowest to"
            " the highest of them."
        )


def pixels_of(family: Family, rows: Tensor) -> dict[str, object]:
    """Return images at these rows of the test split, as text: rows, shape of one, and bytes.

    The shape is (H, W) or (H, W, 3).
    """
    at = torch.searchsorted(family.images["index"], rows)
    pixels = family.images["pixels"][at]
    shape = list(pixels.shape[1:])
    return {"rows": rows.tolist(), "shape": shape, "pixels": _as_text(pixels)}


def member_images(family: Family, i: int) -> dict[str, object]:
    """Return member i's images at every ensemble size, and each draw's probabilities.

    pool: (P), rows of the test split that it shows at any size; labels: theirs.
    shown: shown[n - 1] are places in the pool of those shown at ensemble size n.
    nats: their disagreement.
    probs: of draw, image of the pool and class, as bytes of `LEVELS`.
    """
    prediction = computed(family[i].prediction)
    places = family[i].maps["shown"]
    nats = family[i].maps["nats"]
    pool = places.unique()
    outputs = prediction.outputs[:, pool]
    probs = outputs.log_softmax(-1).exp().cpu()
    levels = (probs * LEVELS).round().nan_to_num(nan=LEVELS + 1)
    return {
        "pool": pool.tolist(),
        "labels": computed(prediction.y)[pool].tolist(),
        "shown": torch.searchsorted(pool, places).tolist(),
        "nats": [[round(value, 3) for value in row] for row in nats.tolist()],
        "n_draws": prediction.n_draws,
        "classes": list(prediction.classes),
        "color": style(family[i].method).color,
        "probs": _as_text(levels.to(torch.uint8)),
    }


def _as_text(values: Tensor) -> str:
    content = values.contiguous().numpy().tobytes()
    return base64.b64encode(content).decode()
