"""The report in a real browser: charts are drawn, filters work, nothing else may run, colours follow the mode."""

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
from tests.browser import CHROMIUM, browse, colours, open_tab, take_picture
from tests.synthetic_run import make_run, record

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

FIGURES = 21
SAMPLES = "[...document.querySelectorAll('#samples > .program')]"

TIPS = "[...document.querySelectorAll('.bk-Tooltip')].map((one) => one.shadowRoot)"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = make_run(tmp_path_factory.mktemp("runs") / "quickstart", heldout=120)
    # Accepted late and only just: sure to be among the programs that are shown.  The problem is sure to be in the map.
    evil = record(80, "ACCEPTED", 2, random.Random(0)) | {
        "response": HOSTILE,
        "pass_rate": 0.5,
        "problem_id": HOSTILE,
    }
    with (run.verdicts / "step_80.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(evil) + "\n")
    return build_report(run)


@pytest.mark.parametrize("dark", [False, True])
def test_charts_are_drawn_and_painted_although_only_our_scripts_may_run(
    tmp_path: Path, report: Path, dark: bool
) -> None:
    page = browse(tmp_path, report, "--dump-dom", dark=dark)
    assert f'data-painted="{"dark" if dark else "light"}"' in page
    assert page.count('class="bk-Figure"') == FIGURES


def test_text_of_a_model_stays_text(tmp_path: Path, report: Path) -> None:
    page = browse(tmp_path, report, "--dump-dom", dark=False)
    assert re.search(r"<title>(.*?)</title>", page)[1] == "quickstart · training report"  # type: ignore[index]
    assert HOSTILE in unescape(re.sub(r"<[^>]*>", "", page))
    assert "<img" not in page


@pytest.mark.parametrize("dark", [False, True])
def test_page_and_curves_have_the_colours_of_the_mode(tmp_path: Path, report: Path, dark: bool) -> None:
    picture = take_picture(tmp_path, report, 1280, 6400, dark=dark)
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


def test_page_asks_for_nothing_and_complains_of_nothing(tmp_path: Path, report: Path) -> None:
    with open_tab(tmp_path, report, 1280) as tab:
        drawn = tab.run("document.querySelectorAll('.bk-Figure').length")
    assert drawn == FIGURES
    asked = [one["request"]["url"] for one in tab.parameters("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert tab.parameters("Log.entryAdded") == []
    assert tab.parameters("Runtime.exceptionThrown") == []
    assert {one["type"] for one in tab.parameters("Runtime.consoleAPICalled")} <= {"log", "info", "debug"}


def choose(name: str, value: str) -> str:
    """JavaScript that makes a choice as a reader does, and gives what is left."""
    return f"""(() => {{
        const field = document.querySelector("[name={name}]");
        field.value = {json.dumps(value)};
        field.dispatchEvent(new Event("input", {{ bubbles: true }}));
        const shown = {SAMPLES}.filter((card) => card.checkVisibility());
        return shown.map((card) => [card.dataset.verdict, Number(card.dataset.step), card.textContent]);
    }})()"""


def test_filters_show_what_fits_and_say_how_many(tmp_path: Path, report: Path) -> None:
    with open_tab(tmp_path, report, 1280) as tab:
        everything = tab.run(choose("verdict", ""))
        wrong = tab.run(choose("verdict", "wrong answer"))
        early_and_wrong = tab.run(choose("when", "early"))
        status = tab.run("document.getElementById('sample-count').textContent")
        nothing = tab.run(choose("words", "no such words"))
        none = tab.run("document.getElementById('sample-count').textContent")
        tab.run(choose("verdict", ""))
        tab.run(choose("words", "SyntaxError expected"))
        last_step = tab.run(choose("when", "80"))
    assert {one[0] for one in wrong} == {"wrong answer"}
    assert len(wrong) == sum(one[0] == "wrong answer" for one in everything)
    assert 0 < len(early_and_wrong) < len(wrong)
    assert all(step <= 27 for _, step, _ in early_and_wrong)
    assert status == f"{len(early_and_wrong)} of {len(everything)} samples shown."
    assert (nothing, none) == ([], "No sample fits.")
    assert last_step
    assert all(step == 80 and "SyntaxError: expected" in text for _, step, text in last_step)


def test_tip_of_the_map_shows_a_problem_as_text(tmp_path: Path, report: Path) -> None:
    with open_tab(tmp_path, report, 1280) as tab:
        box = tab.run(
            "(() => { const map = [...document.querySelectorAll('.chart')].pop(); map.scrollIntoView();"
            " return map.querySelector('.bk-Figure').getBoundingClientRect().toJSON(); })()"
        )
        tips = set()
        for down in range(6, int(box["height"]) - 36, 3):
            tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=box["right"] - 30, y=box["top"] + down)
            tab.run("new Promise((r) => setTimeout(r, 60))")
            tips.add(tab.run(f"{TIPS}.map((tip) => tip.textContent).join()"))
            assert tab.run(f"{TIPS}.some((tip) => tip.querySelector('img, script'))") is False
        title = tab.run("document.title")
    assert any(HOSTILE[:60] in tip and "1 of 1 solved" in tip for tip in tips), tips
    assert title == "quickstart · training report"


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_sticks_out_on_a_phone(tmp_path: Path, report: Path, dark: bool) -> None:
    with open_tab(tmp_path, report, 390, dark=dark) as tab:
        tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert tab.run("[document.documentElement.scrollWidth, document.body.scrollWidth]") == [390, 390]
    width, margin = 390, 14
    picture = take_picture(tmp_path, report, width, 14_000, dark=dark)
    page = TONES["page"].dark if dark else TONES["page"].light
    assert colours(picture, (width - margin, 0, width, 14_000)) == {ImageColor.getrgb(page)}
