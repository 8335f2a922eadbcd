"""`flatviz doctor`: what is installed, what works, and the exact fix for what does not."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
from collections.abc import Iterator

import click

# distribution, module, what needs it, how to get it; the first group is what `flatviz tour` needs
CORE = [
    ("numpy", "numpy", "everything", "pip install numpy"),
    ("scikit-learn", "sklearn", "the digits", "pip install scikit-learn"),
    ("plotly", "plotly", "every figure", 'pip install "plotly>=6.1,<8"'),
    ("tqdm", "tqdm", "progress bars", "pip install tqdm"),
    ("loss-landscapes", "loss_landscapes", "flatviz.bridges", "pip install loss-landscapes"),
]
LAB = [
    ("jupyterlab", "jupyterlab", "flatviz lab", 'pip install "flatviz[lab]"'),
    ("ipywidgets", "ipywidgets", "lab, explore", 'pip install "flatviz[lab]"'),
    ("anywidget", "anywidget", "lab, explore", 'pip install "flatviz[lab]"'),
    ("jupytext", "jupytext", "editing the notebooks' sources", 'pip install "flatviz[lab]"'),
]
CPU_BUILD = (
    "For a machine without an NVIDIA card PyTorch has a CPU build of a few hundred MB instead of several GB. Its command is on "
    "https://pytorch.org/get-started/locally: choose your system, Pip, Python, CPU, and install torch AND torchvision "
    "with that one command, before flatviz. Taking the two from different places breaks torchvision."
)


@click.command(epilog="Example: flatviz doctor")
def command() -> int:
    """Say what is installed, what works, what runs where, and how to mend the rest; status 1 if `flatviz tour` cannot run."""
    print(
        f"flatviz {importlib.import_module('flatviz').__version__}, Python {platform.python_version()}, {platform.platform()}"
    )
    broken = not all([*_torch(), *_packages("for flatviz tour", CORE), _cache()])
    lab_works = all([*_packages("for flatviz lab (optional)", LAB), _widgets()])
    print("\nflatviz tour:", "cannot run, see the lines with ✗" if broken else "ready")
    print("flatviz lab: ", "ready" if lab_works and not broken else "not ready, see the lines with ✗")
    return 1 if broken else 0


def _torch() -> Iterator[bool]:
    try:
        import torch
    except Exception as error:  # a broken build raises anything
        yield _line(False, "torch", f"does not import: {_first(error)}", "pip install torch torchvision")
        return
    flavour = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "CPU build"
    yield _line(True, "torch", f"{torch.__version__}, {flavour}, {torch.get_num_threads()} threads")
    if torch.cuda.is_available():
        names = ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
        few = f"{importlib.import_module('flatviz.core.devices').FEW:,}"
        _line(True, "GPU", f"{names}: --device auto takes it for networks of {few} multiply-adds an example or more,")
        print("      and the CPU for smaller ones, which are faster there (digits, moons); --device cuda takes it for all")
    elif torch.version.cuda:
        _line(True, "GPU", "none seen by this CUDA build, computing on the CPU")
        print(f"      To save disk: {CPU_BUILD}")
    else:
        _line(True, "GPU", "not with a CPU build, computing on the CPU")
    try:
        import torchvision
        from torchvision.ops import nms  # the operator that a mismatched pair lacks

        nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
        yield _line(True, "torchvision", torchvision.__version__)
    except ImportError as error:
        yield _line(
            False, "torchvision", f"does not import: {_first(error)}", "pip install torch torchvision, both in one command"
        )
    except Exception as error:
        fix = "pip uninstall -y torch torchvision, then install both in one command from one place"
        yield _line(False, "torchvision", f"does not match torch: {_first(error)}", fix)


def _packages(title: str, packages: list[tuple[str, str, str, str]]) -> Iterator[bool]:
    print(f"\n{title}")
    for distribution, module, use, fix in packages:
        try:
            importlib.import_module(module)
            yield _line(True, distribution, importlib.metadata.version(distribution))
        except Exception as error:
            yield _line(False, distribution, f"needed for {use}: {_first(error)}", fix)


def _widgets() -> bool:
    try:
        import anywidget
        from plotly.graph_objects import FigureWidget

        anywidget.AnyWidget().close()
        FigureWidget().close()
    except Exception as error:
        return _line(
            False, "widgets", f"cannot be made: {_first(error)}", 'pip install "flatviz[lab]", then restart the kernel'
        )
    return _line(True, "widgets", "can be made")


def _cache() -> bool:
    try:
        folder = importlib.import_module("flatviz.storage.cache").cache_folder()  # loads torch, which may be broken
    except Exception as error:
        return _line(False, "cache", _first(error), "set FLATVIZ_CACHE to a folder of yours")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        return _line(False, "cache", f"{folder} cannot be written: {_first(error)}", "set FLATVIZ_CACHE to a folder of yours")
    return _line(True, "cache", f"{folder} (FLATVIZ_CACHE moves it)")


def _line(good: bool, name: str, state: str, fix: str = "") -> bool:
    print(f"  {'✓' if good else '✗'} {name}: {state}")
    if fix:
        print(f"      fix: {fix}")
    return good


def _first(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
