"""Public names that load when first used (PEP 562).

`import flatviz` loads no torch, and completion shows every name.
"""

import importlib.util  # nothing else, as this file is all that `import flatviz` loads


def lazy(package: str, homes: dict[str, str], rooms: str = "") -> tuple:
    """Return a package's `__getattr__`, `__dir__` and `__all__`, so that public names load late.

    Args:
        package: The package's `__name__`.
        homes: Module, below the package -> the names that it defines.  No module has the name of
            one of them: once imported, it would replace the name.
        rooms: Subpackages among the public names.
    """
    where = {}
    for module, defined in homes.items():
        for name in defined.split():
            where[name] = f"{package}.{module}"
    names = sorted([*where, *rooms.split()])

    def advice(name: str) -> str:
        # tools ask for the first, Python for the second before it imports it
        if name.startswith("_") or importlib.util.find_spec(f"{package}.{name}"):
            return ""
        for room in rooms.split():
            if name in getattr(importlib.import_module(f"{package}.{room}"), "__all__", ()):
                return f": it is {package}.{room}.{name}"
        words = importlib.import_module("flatviz.words")
        return words.HABITS.get(name) or words.did_you_mean(name, names)

    def load(name: str) -> object:
        if name in rooms.split():
            return importlib.import_module(f"{package}.{name}")
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice(name)}")
        try:
            return getattr(importlib.import_module(where[name]), name)
        except ModuleNotFoundError as error:
            # A fault of ours, not a package that is absent
            if (error.name or "flatviz").split(".")[0] == "flatviz":
                raise
            text = (
                f'{package}.{name} needs {error.name}: pip install "flatviz[lab]" (in a clone: pip'
                ' install ".[lab]")'
            )
            raise ModuleNotFoundError(text, name=error.name) from error

    return load, lambda: names, names
