"""`flatviz doctor`: installed packages and working parts, with a fix for the rest."""

import importlib
import importlib.metadata
import platform
from collections.abc import Callable
from functools import partial

# Packages, with the versions that flatviz needs
PACKAGES = {
    "numpy": "",
    "scikit-learn": "",
    "plotly": ">=6.1,<8",
    "tqdm": "",
    "loss-landscapes": "",
}
LAB_FIX = 'pip install "flatviz[lab]"'
BOTH_FIX = "pip uninstall -y torch torchvision, then install both in one command from one place"


def work() -> int:
    """Report what is installed and what works, with a fix for the rest.

    The status is 1 if `flatviz tour` cannot run.
    """
    version = importlib.import_module("flatviz").__version__
    print(
        f"flatviz {version}, Python {platform.python_version()}, {platform.platform()}\n\nfor"
        " flatviz tour"
    )
    tour = [
        _line("torch", _torch, "pip install torch torchvision"),
        _line("torchvision", _torchvision, BOTH_FIX),
        *(
            _line(name, partial(_version, name), f'pip install "{name}{bounds}"')
            for name, bounds in PACKAGES.items()
        ),
        _line("cache", _cache, "set FLATVIZ_CACHE to a folder of yours"),
    ]
    print("\nfor flatviz lab (optional)")
    lab = [
        _line(name, partial(_version, name), LAB_FIX)
        for name in ("jupyterlab", "ipywidgets", "anywidget", "jupytext")
    ]
    lab.append(_line("widgets", _widgets, f"{LAB_FIX}, then restart the kernel"))
    print("\nflatviz tour:", "ready" if all(tour) else "cannot run, see the lines with ✗")
    print("flatviz lab: ", "ready" if all(tour + lab) else "not ready, see the lines with ✗")
    return 0 if all(tour) else 1


def _line(name: str, state: Callable[[], str], fix: str) -> bool:
    """Print what `state` finds, or its error and the fix; return whether there was no error."""
    try:
        print(f"  ✓ {name}: {state()}")
        return True
    except Exception as error:  # a broken build raises anything
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        print(f"  ✗ {name}: {'does not import: ' * (state is _torch)}{first}\n      fix: {fix}")
        return False


def _version(name: str) -> str:
    importlib.import_module("sklearn" if name == "scikit-learn" else name.replace("-", "_"))
    return importlib.metadata.version(name)


def _torch() -> str:
    torch = importlib.import_module("torch")
    build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "CPU build"
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    device = (
        f"{', '.join(names)}: --device auto takes it for large networks"
        if names
        else "none, computing on the CPU"
    )
    return f"{torch.__version__}, {build}, {torch.get_num_threads()} threads\n  ✓ GPU: {device}"


def _torchvision() -> str:
    torch, torchvision = (importlib.import_module(name) for name in ("torch", "torchvision"))
    # An operator that torchvision lacks beside another version of torch
    torchvision.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
    return torchvision.__version__


def _cache() -> str:
    # It loads torch, which may be broken
    folder = importlib.import_module("flatviz.storage.cache").cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".doctor").write_text("")
    (folder / ".doctor").unlink()
    return f"{folder} (FLATVIZ_CACHE moves it)"


def _widgets() -> str:
    importlib.import_module("anywidget").AnyWidget().close()
    return "can be made"
