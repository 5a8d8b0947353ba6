"""The report in a real browser: charts are drawn, nothing else may run, colours follow the mode."""

from __future__ import annotations

import json
import random
import re
from html import unescape
from pathlib import Path

import pytest
from PIL import ImageColor

from code_rlvr.report.html import build_report
from code_rlvr.report.palette import TONES
from tests.browser import CHROMIUM, browse, colours, take_picture
from tests.synthetic_run import make_run, record

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = make_run(tmp_path_factory.mktemp("runs") / "quickstart", heldout=120)
    # Accepted late and only just: sure to be among the programs that are shown.
    evil = record(80, "ACCEPTED", 2, random.Random(0)) | {"response": HOSTILE, "pass_rate": 0.5}
    with (run.verdicts / "step_80.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(evil) + "\n")
    return build_report(run)


@pytest.mark.parametrize("dark", [False, True])
def test_charts_are_drawn_and_painted_although_only_our_scripts_may_run(
    tmp_path: Path, report: Path, dark: bool
) -> None:
    page = browse(tmp_path, report, "--dump-dom", dark=dark)
    assert f'data-painted="{"dark" if dark else "light"}"' in page
    assert page.count('class="bk-Figure"') == 10


def test_text_of_a_model_stays_text(tmp_path: Path, report: Path) -> None:
    page = browse(tmp_path, report, "--dump-dom", dark=False)
    assert re.search(r"<title>(.*?)</title>", page)[1] == "quickstart · training report"  # type: ignore[index]
    assert HOSTILE in unescape(re.sub(r"<[^>]*>", "", page))
    assert "<img" not in page


@pytest.mark.parametrize("dark", [False, True])
def test_page_and_curves_have_the_colours_of_the_mode(tmp_path: Path, report: Path, dark: bool) -> None:
    picture = take_picture(tmp_path, report, 1280, 4200, dark=dark)
    seen = colours(picture)
    for name in (
        "page",
        "surface",
        "ink",
        "accent",
        "verdict-accepted",
        "verdict-wrong_answer",
        "stage-generate",
    ):
        tone = TONES[name]
        assert ImageColor.getrgb(tone.dark if dark else tone.light) in seen, name
    for name in ("accent", "verdict-accepted", "verdict-wrong_answer", "stage-generate"):
        tone = TONES[name]
        assert ImageColor.getrgb(tone.light if dark else tone.dark) not in seen, name


def test_nothing_sticks_out_on_a_phone(tmp_path: Path, report: Path) -> None:
    width, margin = 390, 14
    picture = take_picture(tmp_path, report, width, 9_000, dark=False)
    assert colours(picture, (width - margin, 0, width, 9_000)) == {ImageColor.getrgb(TONES["page"].light)}
    assert ImageColor.getrgb(TONES["accent"].light) in colours(picture)
