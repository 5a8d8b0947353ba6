"""The package is light to import, and what it promises is there."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import code_rlvr


def test_importing_the_package_imports_nothing_heavy() -> None:
    source = (
        "import sys, code_rlvr\n"
        "heavy = {'torch', 'verl', 'ray', 'transformers', 'vllm', 'numpy', 'pyarrow', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)


def test_a_report_is_made_without_what_trains() -> None:
    source = (
        "import sys, code_rlvr.report.html, code_rlvr.report.compare, code_rlvr.report.watch\n"
        "heavy = {'torch', 'verl', 'ray', 'transformers', 'vllm'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
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
