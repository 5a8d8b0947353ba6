from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from code_rlvr.errors import DataError
from code_rlvr.health import HealthThresholds
from code_rlvr.report.html import build_report, render_report
from code_rlvr.report.run_state import read_state
from code_rlvr.report.sources import Source
from code_rlvr.runs import RunFolder
from tests.synthetic_run import make_run, record

HOSTILE = (
    "</pre></script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "{{ 7 * 7 }} <!-- \x1b[31m \u202e \ud800"
)


class Page(HTMLParser):
    """What is in a page: its text outside scripts and styles, its tags, its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(html)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag if tag in ("script", "style") else self._inside
        if tag == "script" and dict(attrs).get("type") != "application/json":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = "" if tag == self._inside else self._inside

    def handle_data(self, data: str) -> None:
        if self._inside == "script" and self.tags[-1][1].get("type") != "application/json":
            self.scripts[-1] += data
        elif not self._inside:
            self.words.append(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return make_run(tmp_path_factory.mktemp("runs") / "quickstart")


@pytest.fixture(scope="module")
def page(run: RunFolder) -> Page:
    return Page(build_report(run).read_text(encoding="utf-8"))


def report_of(run: RunFolder) -> Page:
    return Page(build_report(run).read_text(encoding="utf-8"))


def test_report_is_one_file_of_less_than_two_megabytes(run: RunFolder) -> None:
    report = build_report(run)
    assert report == run.report
    assert report.stat().st_size < 2_000_000
    assert not list(run.path.glob("*.unfinished"))


def test_report_has_every_part_of_a_run(page: Page) -> None:
    for expected in (
        "Held-out Pass@1 (T = 1) rose from",
        "PPO with a critic (GAE)",
        "80 of 80",
        "verl 0.9.1",
        "Held-out problems",
        "paraphrase and parameter",
        "Unseen families",
        "KL to the reference",
        "Responses cut off",
        "update critic",
        "compile error",
        "SyntaxError: expected ':'",
        "Print the sum of those that are divisible by",
        "critic/vf_explained_var",
        "Tests passed by data source",
        "Actor loss",
        "Critic loss",
        "Value explained variance",
        "Clip fraction",
        "Gradient norm of the actor",
        "Response length",
        "Advantages",
        "update weights",
        "Made-up CPU, 2 cores, 7.8 GiB",
        "0123456789ab",
        "train.parquet, 10 problems, sha256",
        "1 setting differs from the preset laptop",
        "No sign of trouble was found in training",
    ):
        assert expected in page.text, expected
    assert "What is missing here" not in page.text
    assert "What became of 10 training problems" in page.text
    assert sum(tag == "article" for tag, _ in page.tags) > 40  # samples
    assert sum(attrs.get("role") == "img" for _, attrs in page.tags) == 21


def test_page_refers_to_nothing_outside_itself(page: Page) -> None:
    for tag, attrs in page.tags:
        assert not {"src", "srcset"} & attrs.keys(), tag
        assert (attrs.get("href") or "data:,") == "data:,", tag
        assert "url(" not in (attrs.get("style") or "")


def test_policy_allows_exactly_the_scripts_of_the_page(page: Page) -> None:
    policy = next(attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in page.scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


def test_hostile_text_is_shown_as_text_wherever_it_comes_from(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=3, heldout=120)
    evil = record(3, "RUNTIME_ERROR", 2, random.Random(0))
    evil |= dict.fromkeys(("problem_id", "data_source", "stderr"), HOSTILE)
    evil |= {
        "response": f"{HOSTILE}\n```python\nprint('{HOSTILE}')\n```",
        "tests": [HOSTILE],
        "verdict": HOSTILE,
    }
    for file in run.verdicts.iterdir():
        file.unlink()
    (run.verdicts / "step_3.jsonl").write_text(json.dumps(evil) + "\n", encoding="utf-8")
    with run.metrics.open("a", encoding="utf-8") as file:
        names = [HOSTILE, f"val-aux/{HOSTILE}/accepted/mean@1", f"reward/by_source/{HOSTILE}/pass_rate"]
        file.write(json.dumps({"step": 3, "data": dict.fromkeys(names, 0.5)}) + "\n")
    run.command.write_text("python " + HOSTILE.encode("utf-8", "replace").decode(), encoding="utf-8")
    config = json.loads(run.config.read_text(encoding="utf-8"))
    run.config.write_text(json.dumps({**config, "model": HOSTILE, HOSTILE: HOSTILE}), encoding="utf-8")
    (run.path / "start.json").write_text(json.dumps({"preset": HOSTILE, "machine": {"cpu": HOSTILE}}), encoding="utf-8")
    page = report_of(run)
    assert len(page.scripts) == 5  # Bokeh, its log level, the drawing, the painting, the filters
    assert not [tag for tag, attrs in page.tags if tag == "img" or "onerror" in attrs]
    assert page.text.count("<script>document.title='owned'</script>") >= 7
    assert "⟨U+202E⟩" in page.text
    assert "49" not in page.text.split("responses with their verdicts")[1].split("All metrics")[0]


def test_damaged_run_shows_what_is_left_and_says_what_is_lost(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=12, planned=80, heldout=120)
    lines = run.metrics.read_bytes().splitlines(keepends=True)
    run.metrics.write_bytes(b"".join([*lines[:5], b"\xff\xfe{\n", *lines[6:-1], lines[-1][:40]]))
    run.command.unlink()
    run.config.write_text("[1, 2", encoding="utf-8")
    (run.eval / "after" / "heldout.json").write_text('{"version": 1', encoding="utf-8")
    (run.eval / "before" / "unseen.json").unlink()
    with (run.verdicts / "step_12.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 12, "verdict": "ACC')
    text = report_of(run).text
    for loss in (
        "metrics.jsonl: 2 of 13 lines cannot be read (lines 6, 13)",
        "metrics.jsonl has no metrics of step 5.",
        "command.txt cannot be read",
        "config.json is not a JSON object.",
        "eval/after/heldout.json cannot be read as scores",
        "eval/before/unseen.json is missing",
        "verdicts: 1 line cannot be read (step_12.jsonl).",
    ):
        assert loss in text
    assert "Held-out Pass@1 (greedy) rose from" in text
    assert "KL to the reference" in text
    assert "not evaluated" in text


def test_evaluations_with_other_settings_are_not_compared(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, heldout=120)
    for name in ("heldout", "heldout_greedy", "unseen"):
        file = run.eval / "after" / f"{name}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "seed": 1}), encoding="utf-8")
    text = report_of(run).text
    assert "The evaluations before and after training cannot be compared." in text
    assert "heldout: no difference is shown, because the two evaluations differ in seed" in text


def test_lost_samples_are_said(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, evaluated=False)
    with run.metrics.open("a", encoding="utf-8") as file:
        file.write('{"step": 2, "data": {"reward/unjudged": 0.015625}}\n')
    assert "Samples were lost in step 2: up to 1.6% of a step was never scored" in report_of(run).text


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_run_of_a_few_steps_has_a_report(tmp_path: Path, steps: int) -> None:
    assert "accepted" in report_of(make_run(tmp_path / "run", steps=steps, evaluated=False)).text


def test_empty_folder_has_a_report_that_claims_nothing(tmp_path: Path) -> None:
    page = report_of(RunFolder(tmp_path))
    assert "There is no evaluation before or after training. No score was logged during training either." in page.text
    assert page.scripts == []


def test_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not the folder of a run"):
        build_report(RunFolder(tmp_path / "nowhere"))


def test_prompts_are_found_after_the_folder_was_moved(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=4, evaluated=False)
    moved = RunFolder(run.path.rename(tmp_path / "moved"))
    assert "Print the sum of those that are divisible by" in report_of(moved).text


def test_metrics_file_alone_has_a_report(tmp_path: Path) -> None:
    file = tmp_path / "verl.jsonl"
    lines = [
        {"step": step, "data": {"critic/score/mean": 0.1 + step / 50, "actor/pg_loss": -0.1, "actor/entropy": 0.5}}
        for step in range(1, 31)
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in lines) + '{"step": 31, "da', encoding="utf-8")
    page = Page(render_report(read_state(Source("of a friend", file), HealthThresholds())))
    assert page.text.startswith("of a friend")
    assert "The training score went from 0.14 to 0.68" in page.text
    assert "verl.jsonl: 1 of 31 lines cannot be read (line 31)" in page.text
    assert "checks could not be made, for lack of a metric" in page.text
    assert "not recorded" not in page.text
    assert "from a file of metrics" in page.text
    assert sum(attrs.get("role") == "img" for _, attrs in page.tags) == 3


def test_older_run_says_what_it_did_not_record(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, evaluated=False)
    for name in ("data.json", "start.json", "versions.json"):
        (run.path / name).unlink()
    page = report_of(run)
    assert page.text.count("not recorded") == 5
    assert "1 setting differs from the defaults" in page.text
    assert "What is missing here" not in page.text


def test_damaged_start_and_data_do_not_stop_a_report(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, evaluated=False)
    (run.path / "data.json").write_text('{"train": 7, "validation": {"sha256": 3}}', encoding="utf-8")
    (run.path / "start.json").write_text('{"machine": [], "commit": {"sha": ', encoding="utf-8")
    assert "not recorded" in report_of(run).text


def test_sudden_jump_stands_near_the_top_with_samples_beside_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=60, evaluated=False)
    lines = [json.loads(line) for line in run.metrics.read_text(encoding="utf-8").splitlines()]
    for line in lines[1:]:
        line["data"] |= dict.fromkeys(("reward/score", "reward/pass_rate"), 0.1 if line["step"] < 30 else 0.9)
    run.metrics.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    text = report_of(run).text
    assert "danger in training: The score jumped" in text
    finding = text.split("Health")[1].split("Reward")[0]
    for expected in ("Likely causes", "What to try", "are these honest solutions?", "accepted"):
        assert expected in finding
