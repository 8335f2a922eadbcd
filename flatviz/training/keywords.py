"""Keywords that fits share.

Each with its type, its default and its meaning, in one place (PEP 692).

A fit takes them as `**how: Unpack[Trained]`.  `defaults(settings)` gives it a signature and a
docstring in which they stand one by one, and fills in what a call leaves out: `settings` of the
method, tuned for the kind of network, then the defaults here.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    TypedDict,
    TypeVar,
    get_args,
    get_type_hints,
)

from flatviz.checks import (
    Count,
    Momentum,
    NonNegative,
    Positive,
    Rate,
    Several,
    Statistics,
    Whole,
    check_file,
)
from flatviz.core import Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.training.gradient import Ascent, Training
from flatviz.training.perturb import QUIRKS, Blocks, Mode, Switch, Unit

P = ParamSpec("P")  # a line each: type checkers read no tuple of them
R = TypeVar("R")
Settings = Mapping[str, Any]  # keywords of a fit by name
Checkpoint = Annotated[str | Path, check_file] | None


@dataclass(frozen=True)
class Run:
    """Settings of one fit as its driver reads them.

    Args:
        label: Shown beside its progress, and in errors.
        seed: Fixes minibatches and noise.
        checkpoint: Path to save to and resume from.
        progress: Who watches.
        batch_size: Examples a minibatch; None, all of them.
        training: How minibatches pass, and when it stops early.
    """

    label: str = "training"
    seed: int = 0
    checkpoint: str | Path | None = None
    progress: Progress = False
    batch_size: int | None = None
    training: Training = Training()

    @classmethod
    def of(cls, label: str, seed: int, how: Settings) -> "Run":
        """Build it from the keywords that a fit shares with others."""
        training = how.get("training") or Training()
        return cls(label, seed, how["checkpoint"], how["progress"], how.get("batch_size"), training)

    def check_no_validation(self, why: str) -> None:
        """Raise ValueError where there is validation data and `why` it is of no use."""
        if self.training.validation is not None:
            n = len(self.training.validation)
            raise ValueError(
                f"training.validation must be None for {self.label}, got {n} examples: {why}"
            )


class About(NamedTuple):
    """Meaning of a keyword, and its default where a method's settings have none."""

    text: str
    default: Any = None


Kept = Annotated[Momentum, About("Share of the last step that the next one keeps.")]


class Resumed(TypedDict, total=False):
    """Checkpoint and progress of a run."""

    checkpoint: Annotated[Checkpoint, About("Path to save to and resume from.")]
    progress: Annotated[
        Progress,
        About("True, None (where a terminal watches) or a function(done, total, label).", False),
    ]


class Judged(Resumed, total=False):
    """The loss of the labels."""

    likelihood: Annotated[
        Likelihood,
        About("As in `nll`: of classes, labels of 0 or 1, targets with noise.", "categorical"),
    ]


class Minibatches(Judged, total=False):
    """Gradients of minibatches."""

    lr: Annotated[Rate, About("The first learning rate; it falls to 0 along half a cosine.")]
    weight_decay: Annotated[NonNegative, About("wd; it stands for the prior N(0, 1 / (N wd)).")]
    batch_size: Annotated[Count | None, About("Examples a minibatch; None, all of them.")]
    training: Annotated[
        Training | None, About("`Training(...)`: precision, accumulation, early stopping.")
    ]


class FlatSeeking(TypedDict, total=False):
    """The flat-seeking version of a method."""

    ascent: Annotated[
        Ascent | None,
        About("`SAM(radius)` and the like: gradients at w + e, two a step, a flat-seeking fit."),
    ]


class Normalised(TypedDict, total=False):
    """Statistics that BatchNorm normalises with."""

    batchnorm: Annotated[
        Statistics,
        About(
            '"frozen": BatchNorm statistics of the net; "train": of each batch; `result.buffers`,'
            " which `predict` uses, then has those of the data at each draw or the average, for SGD"
            " and VI those that training collected.",
            "frozen",
        ),
    ]


class Descending(Minibatches, total=False):
    """Momentum, for a number of steps."""

    steps: Annotated[Count, About("Minibatches.")]
    momentum: Kept


class Trained(Descending, FlatSeeking, total=False):
    """SGD with momentum, which `SAM` makes flat-seeking."""


class Epochs(Minibatches, FlatSeeking, total=False):
    """Momentum, for a number of epochs."""

    momentum: Kept
    lr: Annotated[Rate, About("The first learning rate; it falls along half a cosine.")]


LARGE = dict(
    batch_size=64
)  # of a tail on a source task, where SWAG begins; in `METHODS` it has that of the few-shot task


class Tail(Minibatches, FlatSeeking, Normalised, total=False):
    """SGD at a constant rate, one snapshot of the weights an epoch."""

    snapshots: Annotated[
        Several, About("Epochs T, two and the rank at least; 20 as in SWAG's paper.")
    ]
    lr: Annotated[
        Rate,
        About(
            "The constant rate, 0.05 because `pretrain` ends there: the tail goes on where it"
            " stopped."
        ),
    ]
    momentum: Kept
    batch_size: Annotated[
        Count | None,
        About("Examples a minibatch, few enough for noise: 10 of a few-shot task's hundred."),
    ]


class Chain(Minibatches, FlatSeeking, Normalised, total=False):
    """Draws of a stochastic-gradient chain."""

    n_draws: Annotated[Count, About("Draws over all chains, (n_draws, D).")]
    lr: Annotated[
        Rate,
        About("The step; above 2 / curvature a chain diverges, and a narrow prior is curvature."),
    ]
    temperature: Annotated[
        NonNegative, About("T of exp(-U / T); 1 is Bayes, less is colder, 0 leaves the noise out.")
    ]
    prior: Annotated[
        Gaussian | None,
        About("Over the D treated weights, as of `transfer`, in place of weight decay."),
    ]
    batch_size: Annotated[
        Count | None,
        About("Examples a minibatch; None (all), for the noise of small ones heats a chain."),
    ]


class Thinned(Chain, total=False):
    """Draws at equal distances along a chain."""

    burn_in: Annotated[Whole, About("Steps before the first draw.")]
    thin: Annotated[Count, About("Steps from one draw to the next.")]


class Particles(Descending, Chain, total=False):
    """Draws that move together."""

    n_draws: Annotated[Several, About("S, the particles, all of which are draws.")]
    lr: Annotated[
        Rate,
        About(
            "The step; a particle far from the others follows the gradient at its place by the"
            " share 1 / S of it."
        ),
    ]


class Variational(Descending, Normalised, total=False):
    """Natural-gradient steps of a Gaussian q."""

    kl_weight: Annotated[
        NonNegative, About("T of exp(-N L(w) / T) prior(w); 1 is Bayes, 0 leaves the prior out.")
    ]
    mc_samples: Annotated[
        Count | None,
        About("Draws of q a step; None: 8, of a large network 1 and a rate of 1 at most.", 1),
    ]
    lr: Annotated[
        Rate,
        About(
            "Of natural gradients, falling along half a cosine: 1 to 2; beyond, fits can diverge."
        ),
    ]
    weight_decay: Annotated[NonNegative, About("Acts on the mean only.")]


class FromPrior(Variational, total=False):
    """The same from a Gaussian that is given."""

    start: Annotated[
        Gaussian | None, About("Where q starts, a Gaussian of any rank; None: the prior.")
    ]
    start_scale: Annotated[
        Positive,
        About("Factor on its standard deviations: from a wide start gradients are mostly noise."),
    ]


class Perturbed(FromPrior, total=False):
    """The ascent of SA-BMA."""

    mode: Annotated[
        Mode,
        About("The perturbation, see `perturb`; it is never of a reduced precision.", "kl_exact"),
    ]
    blocks: Annotated[
        Blocks, About("Which parts of q the perturbation moves: means, widths, factor.", "mean+std")
    ]
    joint: Annotated[bool, About("Whether blocks share one normaliser.", True)]
    damping: Annotated[
        NonNegative | None,
        About("Added to the Fisher matrix before it is inverted; None: see `perturb`."),
    ]
    switches: Annotated[tuple[Switch, ...], About("Quirks of the released code.", QUIRKS)]
    radius_unit: Annotated[
        Unit, About('"mode", that of `mode`; "kl", the exact sqrt(2 KL) in every mode.', "mode")
    ]


def defaults(
    settings: Settings, batchnorm: Settings | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public fit with `**how`.

    Show the keywords one by one in signature and help, and fill in those left out.

    Args:
        settings: The defaults of this method, tuned on the digits, also of keywords that it names
            itself.
        batchnorm: Those of a net with BatchNorm, where they are others.
    """
    other = (
        {}
        if batchnorm is None
        else {name: value for name, value in batchnorm.items() if settings[name] != value}
    )

    def decorated(verb: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(verb)
        (shared,) = get_args(get_type_hints(verb)["how"])
        about = {name: hint.__metadata__[-1] for name, hint in shared.__annotations__.items()}
        plain = get_type_hints(
            shared
        )  # without rules, for readers: the boundary reads those of `verb` and `shared`
        usual = {name: entry.default for name, entry in about.items()} | dict(settings)
        parameters = [
            p.replace(default=settings.get(n, p.default))
            for n, p in signature.parameters.items()
            if n != "how"
        ]
        names = sorted(
            about, key=lambda name: (name not in settings, name in Resumed.__annotations__)
        )
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters += [
            inspect.Parameter(name, kind, default=usual[name], annotation=plain[name])
            for name in names
        ]

        @functools.wraps(verb)
        def filled(*args: P.args, **given: P.kwargs) -> R:
            net = args[0] if args else given["net"]
            for name, value in (
                usual | (other if isinstance(net, Net) and net.has_batchnorm else {})
            ).items():
                given.setdefault(name, value)
            return verb(*args, **given)

        vars(filled).update(__signature__=signature.replace(parameters=parameters))
        filled.__doc__ = _documented(
            verb.__doc__ or "", {name: about[name].text for name in names}, other
        )
        return public(filled)

    return decorated


def _documented(doc: str, texts: Mapping[str, str], other: Mapping[str, Any]) -> str:
    """`doc` with a line for each shared keyword in place of that of `**how`."""
    before, _, after = inspect.cleandoc(doc).partition("    **how: ")  # as Python 3.13 stores it
    lines = [f"    {name}: {text}" for name, text in texts.items()]
    if other:
        listed = ", ".join(f"{name} {value}" for name, value in other.items())
        lines.append(f"The default of a net with BatchNorm: {listed}.")
    return before + "\n".join(lines) + "\n" + after.partition("\n")[2]
