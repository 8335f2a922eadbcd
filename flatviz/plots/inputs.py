"""Uncertainty over the plane of inputs."""

import plotly.graph_objects as go

from flatviz.checks import known
from flatviz.plots.theme import INK, MUTED, Figure, axes_of, figure, layout_of, numbers, panels, points, style
from flatviz.results import Family

CLASSES = ("#0072B2", "#D55E00")  # of the two classes' points
MAP = [[0.0, "#2b6ca3"], [0.5, "#f7f7f7"], [1.0, "#c2571a"]]  # probability of class 1, white where it is open
GAP = 0.04


def plot_input_maps(family: Family, i: int) -> Figure:
    """Class probabilities over the plane of inputs: VI, member i, HMC, with the training points; follows the ensemble size."""
    shown = family.inputs
    vi = family.index("vi") if "vi" in family.methods else i
    drawn = [("vi", family[vi].maps["probs"][-1], False), (family[i].method, family[i].maps["probs"][-1], True)]
    drawn += [("hmc", shown["reference"], False)] if "reference" in shown else []
    classes = class_words(family)
    alt = f"probability of {classes[1]} over the plane of inputs: VI, the selected posterior, and HMC as reference"
    fig = figure(f"Probability of {classes[1]} over the inputs", alt, showlegend=False)
    for k, (method, probs, follows) in enumerate(drawn):
        axis = axes_of(k)
        bar = dict(title=dict(text="probability", side="right"), thickness=14, outlinewidth=0)
        look = dict(zmin=0, zmax=1, colorscale=MAP, showscale=k == len(drawn) - 1, colorbar=bar, name=style(method).label)
        place = dict(x=numbers(shown["a"]), y=numbers(shown["b"]), z=numbers(probs))
        lines = dict(contours=dict(start=0.05, end=0.95, size=0.1), line=dict(width=0.5, color="rgba(255,255,255,0.6)"))
        trace = go.Contour(**place, **look, **lines, **axis, hovertemplate="(%{x:.2f}, %{y:.2f}): %{z:.2f}<extra></extra>")
        if follows:
            fig.add_live(trace, sizes={"z": family[i].maps["probs"]})
        else:
            fig.add_trace(trace)
        for c, color in enumerate(CLASSES):
            at = shown["x"][shown["y"] == c]
            marker = dict(color=color, size=8, symbol=("circle", "square")[c], line=dict(color="#fefefe", width=1.5))
            fig.add_trace(points(at, "markers", classes[c], marker=marker, **axis))
    for k, ((method, *_), domain) in enumerate(zip(drawn, panels(len(drawn), GAP))):
        on, name = axes_of(k), style(method).label
        x, y = dict(domain=domain, title="input 1", constrain="domain"), dict(showticklabels=k == 0, constrain="domain")
        fig.update_layout(layout_of(k, x, y | dict(scaleanchor=on["xaxis"])))
        where = dict(x=0.5, xanchor="center", xref=f"{on['xaxis']} domain", yref=f"{on['yaxis']} domain", yshift=6)
        path = fig.add_text(name, font=dict(color=MUTED if method == "hmc" else INK), **where)
        if k == 1:
            fig.follow({f"{path}.text": name}, rows="all")
    fig.update_layout(yaxis_title="input 2")
    lost = "" if bool(family[i].maps["probs"].isfinite().any()) else "diverged:<br>no probability<br>is a number"
    fig.note(lost, x="x2 domain", y="y2 domain")
    return fig


def class_words(family: Family) -> tuple[str, ...]:
    """Name the task's classes in a sentence: their names, or "class 1"."""
    prediction = known(family[0].prediction)
    return tuple(name if c < len(prediction.class_names) else f"class {name}" for c, name in enumerate(prediction.classes))
