"""The report in a real browser: charts are drawn, nothing else may run, colours follow the mode."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from PIL import Image, ImageColor

from code_rlvr.report.html import build_report
from code_rlvr.report.palette import TONES
from tests.synthetic_run import make_run, record

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=8000",
]
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


def browse(tmp_path: Path, page: Path, *options: str, dark: bool) -> str:
    """Open the page in a fresh profile; return what the browser prints."""
    assert CHROMIUM is not None
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    command = [CHROMIUM, *FLAGS, scheme, f"--user-data-dir={tmp_path / 'profile'}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def take_picture(tmp_path: Path, page: Path, width: int, height: int, *, dark: bool) -> Image.Image:
    file = tmp_path / "page.png"
    browse(tmp_path, page, f"--screenshot={file}", f"--window-size={width},{height}", dark=dark)
    return Image.open(file).convert("RGB")


def colours(picture: Image.Image, box: tuple[int, int, int, int] | None = None) -> set[tuple[int, ...]]:
    part = picture.crop(box) if box else picture
    return {colour for _, colour in part.getcolors(maxcolors=part.width * part.height)}


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
