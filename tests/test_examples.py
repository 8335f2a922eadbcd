"""Every example in a docstring runs and prints what it says; every public verb has one."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest
import torch
from every_verb import public_names

import flatviz as fv
from flatviz.core.seeds import saved_rng

ROOT = Path(__file__).resolve().parent.parent / "flatviz"
FILES = sorted(p for p in ROOT.rglob("*.py") if ">>> " in p.read_text(encoding="utf-8"))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_run_and_print_what_they_say(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # an example that saves a file leaves none behind
    module = importlib.import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"))
    with saved_rng():
        result = doctest.testmod(module, optionflags=FLAGS, extraglobs={"fv": fv, "torch": torch})
    assert result.attempted and not result.failed


@pytest.mark.parametrize(("name", "value"), public_names().items())
def test_every_public_verb_has_a_runnable_example(name, value):
    assert not inspect.isfunction(value) or ">>> " in inspect.getdoc(value), f"help(fv.{name}) shows no example"
