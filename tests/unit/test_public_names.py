"""The package is light to import, and what it promises is there."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import code_rlvr

TRAINS = {"torch", "verl", "ray", "transformers", "vllm"}
REPORT = "code_rlvr.report.html, code_rlvr.report.compare, code_rlvr.report.watch"


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("code_rlvr", {*TRAINS, "numpy", "pyarrow", "pandas"}),
        ("code_rlvr.usable_model", TRAINS),
        (REPORT, TRAINS),
    ],
    ids=["package", "model folders", "report"],
)
def test_what_needs_nothing_heavy_imports_nothing_heavy(modules: str, heavy: set[str]) -> None:
    source = f"import sys, {modules}\nassert not {heavy!r} & set(sys.modules), {heavy!r} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)


@pytest.mark.parametrize("name", code_rlvr.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    assert getattr(code_rlvr, name).__doc__


def test_public_names_are_in_order() -> None:
    assert [*code_rlvr.__all__] == sorted(code_rlvr.__all__)


@pytest.mark.parametrize(
    "error", [code_rlvr.TestsFormatError("wrong", field="inputs", row=3), code_rlvr.Unjudged("broken")]
)
def test_errors_survive_pickling(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), str(error))


def test_package_says_that_it_is_typed() -> None:
    from importlib.resources import files

    assert files("code_rlvr").joinpath("py.typed").is_file()
