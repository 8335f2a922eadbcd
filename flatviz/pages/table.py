"""The numbers of a measured family as a table of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from flatviz.plots.theme import short, style
from flatviz.results import Family, Prediction


def family_rows(family: Family) -> list[dict[str, str]]:
    """A row a posterior: scores with all draws on the test split, eigenvalues as mean and range over draws.

    Radius 0 of SAM and SA-BMA, where that is VI, is VI's row.
    """
    rows = []
    for i in range(len(family)):
        if any(family[i].posterior is earlier for earlier in family.posterior[:i]):
            continue
        values = torch.stack([s.values for s in family[i].spectrum])
        first = values[:, 0]
        spread = f" ({three(first.min())} to {three(first.max())})" if len(first) > 1 else ""
        rows.append(
            {
                "method": style(family[i].method).label,
                "radius": short(family[i].radius) if len(family.radii(family[i].method)) > 1 else "",
                **score_texts(family[i].prediction),
                "λ1": f"{three(first.mean())}{spread}",
                "λ1/λ5": three((first / values[:, -1]).mean()),
            }
        )
    return rows


def score_texts(prediction: Prediction) -> dict[str, str]:
    """Number of draws and the scores of all of them."""
    scores = {k: float(v[-1]) for k, v in prediction.scores.items()}
    return {
        "draws": str(prediction.n_draws),
        "accuracy": f"{100 * scores['accuracy']:.1f} %",
        "NLL": f"{scores['nll']:.3f}",
        "ECE": f"{scores['ece']:.3f}",
        "Brier": f"{scores['brier']:.3f}",
    }


def three(value: float | torch.Tensor) -> str:
    """A measured number in three digits, zeros at its end included, so that a column reads evenly."""
    return f"{float(value):#.3g}".rstrip(".")


def text_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows as lines of a terminal: the first column to the left, the rest to the right."""
    heads = list(rows[0])
    widths = [max(len(h), *(len(r[h]) for r in rows)) for h in heads]

    def line(cells: Sequence[str]) -> str:
        padded = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))]
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), line(["-" * w for w in widths]), *(line([r[h] for h in heads]) for r in rows)])
