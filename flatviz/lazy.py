"""Public names that load when first used: `attach` reads them from the stub of a package.

`import flatviz` loads no torch, and completion shows every name.
"""

import importlib.util

import lazy_loader


def attach(package: str, file: str) -> tuple:
    """Return a package's `__getattr__`, `__dir__` and `__all__`, so that public names load late.

    They are the imports of the `__init__.pyi` beside `file`, which editors and type checkers read.

    Args:
        package: The package's `__name__`.
        file: Its `__file__`.
    """
    load, names, exported = lazy_loader.attach_stub(package, file)

    def advice(name: str) -> str:
        # tools ask for the first, Python for the second before it imports it
        if name.startswith("_") or importlib.util.find_spec(f"{package}.{name}"):
            return ""
        for room in exported if package == "flatviz" else ():
            if importlib.util.find_spec(f"{package}.{room}"):
                found = getattr(importlib.import_module(f"{package}.{room}"), "__all__", ())
                if name in found:
                    return f": it is {package}.{room}.{name}"
        words = importlib.import_module("flatviz.words")
        return words.habit(name) or words.did_you_mean(name, exported)

    def named(name: str) -> object:
        if name not in exported:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice(name)}")
        try:
            return load(name)
        except ModuleNotFoundError as error:
            # A fault of ours, not a package that is absent
            if (error.name or "flatviz").split(".")[0] == "flatviz":
                raise
            text = (
                f'{package}.{name} needs {error.name}: pip install "flatviz[lab]" (in a clone: pip'
                ' install ".[lab]")'
            )
            raise ModuleNotFoundError(text, name=error.name) from error

    return named, names, exported
