"""`flatviz doctor`: installed packages and working parts, with a fix for the rest."""

import importlib
import importlib.metadata
import platform
from collections.abc import Mapping

BOTH = "pip uninstall -y torch torchvision, then install both in one command from one place"
INSTALL = 'pip install "{}"'
LAB_FIX = 'pip install "flatviz[lab]", then restart the kernel'
# What a command needs, with the fix of each
TOUR = {
    "torch": "pip install torch torchvision",
    "torchvision": BOTH,
    "numpy": INSTALL.format("numpy"),
    "scikit-learn": INSTALL.format("scikit-learn"),
    "plotly": INSTALL.format("plotly>=6.1,<8"),
    "tqdm": INSTALL.format("tqdm"),
    "loss-landscapes": INSTALL.format("loss-landscapes"),
    "cache": "set FLATVIZ_CACHE to a folder of yours",
}
LAB = dict.fromkeys(("jupyterlab", "ipywidgets", "anywidget", "jupytext", "widgets"), LAB_FIX)


def work() -> int:
    """Report what is installed and what works, with a fix for the rest.

    The status is 1 if `flatviz tour` cannot run.
    """
    version = importlib.import_module("flatviz").__version__
    print(f"flatviz {version}, Python {platform.python_version()}, {platform.platform()}")
    tour = _all_work("flatviz tour", TOUR)
    lab = _all_work("flatviz lab (optional)", LAB)
    print("\nflatviz tour:", "ready" if tour else "cannot run, see the lines with ✗")
    print("flatviz lab: ", "ready" if tour and lab else "not ready, see the lines with ✗")
    return 0 if tour else 1


def _all_work(command: str, fixes: Mapping[str, str]) -> bool:
    """Print a line for each part that a command needs, with the fix of a broken one."""
    print(f"\nfor {command}")
    works = True
    for name, fix in fixes.items():
        try:
            print(f"  ✓ {name}: {_state(name)}")
        except Exception as error:  # a broken build raises anything
            lines = str(error).strip().splitlines() or [type(error).__name__]
            print(f"  ✗ {name}: {lines[0]}\n      fix: {fix}")
            works = False
    return works


def _state(name: str) -> str:
    """Try a part; return its version, or where it is."""
    if name == "cache":
        # It loads torch, which may be broken
        folder = importlib.import_module("flatviz.storage.cache").cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".doctor").write_text("")
        (folder / ".doctor").unlink()
        return f"{folder} (FLATVIZ_CACHE moves it)"
    if name == "widgets":
        importlib.import_module("anywidget").AnyWidget().close()
        return "can be made"
    imported_as = "sklearn" if name == "scikit-learn" else name.replace("-", "_")
    module = importlib.import_module(imported_as)
    if name == "torch":
        cuda = module.cuda
        gpus = [cuda.get_device_name(i) for i in range(cuda.device_count())]
        return f"{module.__version__}, GPU: {', '.join(gpus) or 'none, computing on the CPU'}"
    if name == "torchvision":
        # An operator that it lacks beside another version of torch
        torch = importlib.import_module("torch")
        module.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
    return importlib.metadata.version(name)
