"""The page of an audit in a real browser: charts are drawn, a data set's text stays text."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from code_rlvr.audit.page import write_page
from code_rlvr.audit.run import AuditSettings, audit
from tests.browser import CHROMIUM, browse

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


def row(number: int, **more: Any) -> dict[str, Any]:
    tests = {"inputs": ["1\n", "2\n", "3\n"], "outputs": [f"{number}\n", f"{2 * number}\n", f"{3 * number}\n"]}
    statement = f"Read a number and print {number} times that number."
    return {"problem_id": f"p{number}", "prompt": statement, "ground_truth": tests, **more}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    rows = [row(number) for number in range(2, 30)]
    rows += [row(31, prompt=f"{HOSTILE} ![picture](x.png)", data_source=HOSTILE), row(32, ground_truth=HOSTILE)]
    (folder / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = audit(folder / "set.jsonl", AuditSettings(run=False), Console(file=io.StringIO()))
    write_page(folder / "page.html", result)
    return folder / "page.html"


@pytest.mark.parametrize("dark", [False, True])
def test_charts_are_drawn_although_only_our_scripts_may_run(tmp_path: Path, page: Path, dark: bool) -> None:
    shown = browse(tmp_path, page, "--dump-dom", dark=dark)
    assert f'data-painted="{"dark" if dark else "light"}"' in shown
    assert shown.count('class="bk-Figure"') >= 3


def test_text_of_a_data_set_stays_text(tmp_path: Path, page: Path) -> None:
    shown = browse(tmp_path, page, "--dump-dom", dark=False)
    assert "owned" not in shown.partition("<title>")[2].partition("</title>")[0]
    assert "tests_malformed" in shown
    assert "<img" not in shown
