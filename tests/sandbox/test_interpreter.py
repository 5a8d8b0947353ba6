"""The interpreter for solutions: what they may import, and which may be named."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from code_rlvr import ConfigError, Judge, Limits, Tests, Verdict
from code_rlvr.cli import app
from code_rlvr.verifier.interpreter import find_interpreter

PRINTS_A = Tests.stdio([""], ["a"])


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with a package of its own."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "contest_helpers.py").write_text("letter = 'a'\n")
    return folder / "bin" / "python"


def test_solutions_may_import_what_contest_judges_offer(judge: Judge) -> None:
    source = "import numpy\nprint('a' if numpy.arange(5).sum() == 10 else 'b')"
    assert judge.judge(source, PRINTS_A).accepted


@pytest.mark.parametrize("package", ["pytest", "pydantic", "code_rlvr", "pip", "pyarrow"])
def test_anything_else_of_this_environment_is_for_solutions_not_installed(package: str, judge: Judge) -> None:
    source = f"try:\n    import {package}\nexcept ModuleNotFoundError:\n    print('a')"
    assert judge.judge(source, PRINTS_A).accepted


@pytest.mark.skipif(not importlib.util.find_spec("pandas"), reason="pandas is not installed")
def test_an_offered_package_that_could_use_one_that_is_not_does_without(judge: Judge) -> None:
    assert judge.judge("import pandas\nprint('a' * pandas.Series([1]).sum())", PRINTS_A).accepted


def test_solutions_run_on_the_interpreter_that_is_named(environment: Path) -> None:
    with Judge(workers=1, python=environment) as judge:
        assert judge.judge("import contest_helpers\nprint(contest_helpers.letter)", PRINTS_A).accepted
        assert judge.judge("import numpy", PRINTS_A).verdict is Verdict.RUNTIME_ERROR
        tests = Tests.assertions(["for i in range(3):\n    assert f(i) == [i]"])
        assert judge.judge("def f(x): return [x]", tests).accepted


def test_interpreter_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    about = json.dumps({"version": [3, 8], "prefix": "/usr", "paths": {}})
    old.write_text(f"#!/bin/sh\necho '{about}'\n")
    old.chmod(0o755)
    with pytest.raises(ConfigError, match=r"is Python 3\.8; solutions need 3\.9"):
        find_interpreter(old)


def test_packages_of_the_interpreter_below_an_environment_cannot_be_read() -> None:
    source = """
import itertools, os, sys
folder = os.path.join(os.path.dirname(os.__file__), "site-packages")
for place, _, names in itertools.islice(os.walk(folder), 1000):  # there can be tens of thousands of files
    for name in names[:3]:
        try:
            open(os.path.join(place, name)).close()
            print("b", place, name)
        except OSError:
            pass
print("a")
"""
    with Judge(workers=1, limits=Limits(cpu_s=20, wall_s=60)) as judge:  # a disk that nobody read yet takes seconds
        assert judge.judge(source, PRINTS_A).accepted


def test_doctor_finds_every_layer_that_is_active_and_tries_them() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)}
    assert findings["layer seccomp"]["state"] == "ok"
    attempts = [finding for name, finding in findings.items() if name.startswith("attempt")]
    assert len(attempts) >= 6
    assert findings["attempt to start a process"]["detail"] == "refused"


def test_doctor_says_what_is_wrong_and_ends_with_1() -> None:
    result = CliRunner().invoke(app, ["doctor", "--python", "/nowhere/python"])
    assert result.exit_code == 1
    assert "cannot run solutions" in " ".join(result.stdout.split())
