"""The documentation: links lead somewhere, commands exist, generated pages are current, both READMEs say the same.

Covered: README, its Chinese version, the changelog and the guide; the site, where Sphinx is installed.  Not covered:
links to other sites, and whether what is said is true.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from code_rlvr.config import load_config
from code_rlvr.errors import ConfigError
from code_rlvr.quickstart import QuickstartConfig
from code_rlvr.reference.__main__ import main as write_reference
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.presets import find_preset

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
GUIDE = sorted(DOCS.rglob("*.md"))
PAGES = [ENGLISH, CHINESE, ROOT / "CHANGELOG.md", *GUIDE]
COMMAND_PAGE = DOCS / "reference" / "cli.md"
PLACEHOLDER = re.compile(r"…|\.\.\.|<|[A-Z]{3,}|\[")
"""What a command for the eye has and a command to type has not."""

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def flat(page: Path) -> Iterator[Token]:
    for token in tokens(page):
        yield token
        yield from token.children or ()


def targets(page: Path) -> list[str]:
    """Where the links and pictures of a page lead."""
    found = [token.attrGet("href") or token.attrGet("src") for token in flat(page)]
    return [str(target) for target in found if target]


def anchors(page: Path) -> set[str]:
    """The anchors that code hosts and the site give to the headings of a page."""
    found: dict[str, int] = {}
    stream = tokens(page)
    for opening, content in itertools.pairwise(stream):
        if opening.type == "heading_open":
            text = "".join(part.content for part in content.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
    return {f"{slug}-{number}" if number else slug for slug, last in found.items() for number in range(last + 1)}


def broken_links(page: Path) -> list[str]:
    """Links of a page to files or headings of this repository that are not there."""
    broken = []
    for target in targets(page):
        url = urlsplit(target)
        file = page.parent / unquote(url.path) if url.path else page
        if url.scheme in ("http", "https"):
            continue
        if not file.exists() or (url.fragment and unquote(url.fragment) not in anchors(file)):
            broken.append(target)
    return broken


@every_page
def test_every_link_to_a_file_or_heading_leads_there(page: Path) -> None:
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `heading`, with more\n\n## Twice\n\n## Twice\n", encoding="utf-8")
    good = "[a](other.md) [b](other.md#a-heading-with-more) [c](other.md#twice-1) [d](#here) [e](https://example.org/x)"
    bad = "[f](absent.md) [g](other.md#absent) [h](#absent) ![i](absent.png) [j](other.md#twice-2) [k](ftp:x)"
    page = tmp_path / "page.md"
    page.write_text(f"# Here\n\n{good}\n\n| {bad} |\n|---|\n\n```\n[l](in-code.md)\n```\n", encoding="utf-8")
    assert broken_links(page) == ["absent.md", "other.md#absent", "#absent", "absent.png", "other.md#twice-2", "ftp:x"]


def test_the_start_page_lists_every_page_of_the_guide_once() -> None:
    listed = [target for target in targets(DOCS / "index.md") if target.endswith(".md")]
    assert sorted(listed) == [str(page.relative_to(DOCS)) for page in GUIDE if page.name != "index.md"]


def test_reference_pages_are_up_to_date(tmp_path: Path) -> None:
    write_reference(tmp_path)
    written = sorted(tmp_path.iterdir())
    assert [page.name for page in written] == ["cli.md", "config.md"]
    for page in written:
        assert (DOCS / "reference" / page.name).read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), (
            "write it anew: python -m code_rlvr.reference docs/reference"
        )


def typed_commands(page: Path) -> list[list[str]]:
    """Our commands in the blocks of a page that show a terminal, as words from the command's name on."""
    found = []
    for token in tokens(page):
        if token.type == "fence" and token.info in ("console", "sh", "bash"):
            for line in token.content.replace("\\\n", " ").splitlines():
                if re.match(r"(\$ )?\S*\bcode-rlvr [a-z]", line):
                    found.append(shlex.split(line.removeprefix("$ "), comments=True)[1:])
    return found


def options() -> dict[str, set[str]]:
    """The options of each command, as the page of commands has them."""
    sections = COMMAND_PAGE.read_text(encoding="utf-8").split("\n## `code-rlvr ")[1:]
    return {
        section.partition("`")[0]: set(re.findall(r"^\* `(--[a-z-]+)", section, re.MULTILINE)) for section in sections
    }


def wrong_words(words: list[str]) -> list[str]:
    """The command, or those of its options, that do not exist."""
    name, *rest = words
    known = options()
    if name not in known:
        return [name]
    ours = rest[: rest.index("--")] if "--" in rest else rest
    found = [word.strip("[]").partition("=")[0] for word in ours if re.match(r"\[?--[a-z]", word)]
    return [option for option in found if option not in known[name]]


@every_page
def test_every_command_and_option_exists(page: Path) -> None:
    assert [(words, wrong) for words in typed_commands(page) if (wrong := wrong_words(words))] == []


@pytest.mark.parametrize(
    "line", ["code-rlvr trian --preset x", "code-rlvr train --presets x", "code-rlvr eval m [--om"]
)
def test_wrong_commands_are_found(line: str) -> None:
    assert len(wrong_words(shlex.split(line)[1:])) == 1


def load_settings(words: list[str]) -> None:
    """Read the settings of a command as it does; a file that its reader has yet to write counts as empty.

    Raises:
        ConfigError: One does not exist, or has no such value.
    """
    ours = words[: words.index("--")] if "--" in words else words
    after = dict(itertools.pairwise(ours))
    preset, file = after.get("--preset"), ROOT / after.get("--config", "absent")
    model: type[TrainConfig] | type[QuickstartConfig] = QuickstartConfig if words[0] == "quickstart" else TrainConfig
    settings = [word for word in ours[1:] if re.match(r"[a-z]+(\.\w+)*=", word)]
    load_config(model, file if file.exists() else None, settings, base=find_preset(preset) if preset else None)


@every_page
def test_every_setting_of_a_run_exists_and_fits(page: Path) -> None:
    for words in typed_commands(page):
        if words[0] in ("train", "doctor", "quickstart") and not PLACEHOLDER.search(" ".join(words)):
            load_settings(words)


@pytest.mark.parametrize(
    "line",
    ["train --preset single-gpu", "train trainer.step=3", "doctor --set actor.lr=-1", "quickstart starter.trian=6"],
)
def test_wrong_settings_are_found(line: str) -> None:
    with pytest.raises(ConfigError):
        load_settings(shlex.split(line))


def test_the_example_of_the_reward_policies_gives_the_numbers_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = DOCS / "reference" / "reward.md"
    example = tmp_path / "example.py"
    example.write_text(next(token.content for token in tokens(page) if token.info == "python"), encoding="utf-8")
    runpy.run_path(str(example), run_name="__main__")
    printed = {}
    for line in capsys.readouterr().out.splitlines():
        name, policy, score, tests_run = line.rsplit(" ", 3)
        printed[name, policy] = float(score), float(tests_run)
    row = r"^\| ([\w ,]+) \| [A-Z_]+ \| ([\d.]+) \| ([\d.]+) \((\d)\) \| ([\d.]+) \|$"
    rows = re.findall(row, page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name, *_ in rows} == {name for name, _ in printed}
    for name, pass_rate, binary, binary_run, tiered in rows:
        assert printed[name, "pass_rate"][0] == float(pass_rate)
        assert printed[name, "binary"] == (float(binary), float(binary_run))
        assert printed[name, "tiered"][0] == pytest.approx(float(tiered), abs=1e-9)


def fence_outline(token: Token) -> object:
    """What a translation must not change: code without its comments, and of a tree of files the names."""
    if token.info:
        return token.info, [re.sub(r"\s+#.*", "", line) for line in token.content.splitlines()]
    return re.findall(r"\S+(?:\.py|/)(?=\s)", token.content) or token.content


def outline(page: Path) -> list[object]:
    """Headings, code, rows of tables, items, links and numbers of a page, in order."""
    found: list[object] = []
    numbers: list[str] = []
    links: list[str] = []
    for token in flat(page):
        if token.type in ("heading_open", "tr_close", "list_item_open"):
            found += [sorted(numbers), sorted(links), token.tag]
            numbers, links = [], []
        elif token.type == "fence":
            found.append(fence_outline(token))
        elif token.type in ("text", "code_inline"):
            numbers += re.findall(r"[+-]?\d[\d,.]*\d|[+-]?\d", token.content)
        target = token.attrGet("href") or token.attrGet("src")
        if target and target not in (ENGLISH.name, CHINESE.name):
            links.append(str(target))
    return [*found, sorted(numbers), sorted(links)]


def test_the_chinese_readme_says_what_the_english_one_says() -> None:
    assert outline(CHINESE) == outline(ENGLISH)


def test_the_tree_of_files_names_every_folder_of_the_package() -> None:
    tree = next(token.content for token in tokens(ENGLISH) if token.content.startswith("src/code_rlvr/\n"))
    named = re.findall(r"(?m)(?:^ +|  )(\w+)/(?=\s)", tree)
    package = ROOT / "src" / "code_rlvr"
    folders = [file.parent.name for file in package.rglob("__init__.py") if file.parent != package]
    assert sorted(named) == sorted(folders)


def test_each_readme_leads_to_the_other() -> None:
    assert targets(ENGLISH)[0] == CHINESE.name
    assert targets(CHINESE)[0] == ENGLISH.name


def test_a_number_that_differs_between_the_readmes_is_found(tmp_path: Path) -> None:
    changed = tmp_path / "README.md"
    text = CHINESE.read_text(encoding="utf-8")
    number = re.search(r"\*\*0\.\d+", text)
    assert number is not None
    changed.write_text(text.replace(number[0], number[0] + "1", 1), encoding="utf-8")
    assert outline(changed) != outline(CHINESE)


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    words = ["-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", str(source), str(out)]
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs code-rlvr[docs]")
def test_the_site_is_built_without_a_warning_and_needs_no_network(tmp_path: Path) -> None:
    built = build(DOCS, tmp_path)
    assert (built.returncode, built.stderr) == (0, "")
    start = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"https?:", start)
    for page in GUIDE:
        assert (tmp_path / page.relative_to(DOCS).with_suffix(".html")).is_file()


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs code-rlvr[docs]")
@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("[a](absent.md)", "absent.md"),
        ("[a](index.md#absent)", "absent"),
        ("[a](../absent/folder)", "absent/folder"),
    ],
)
def test_the_site_is_refused_with_a_broken_link(line: str, warning: str, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copy(DOCS / "conf.py", source)
    (source / "index.md").write_text(f"# Start\n\n{line}\n", encoding="utf-8")
    built = build(source, tmp_path / "out")
    assert built.returncode != 0
    assert warning in built.stderr


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs code-rlvr[docs]")
def test_the_site_is_refused_with_a_page_that_no_list_has(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copy(DOCS / "conf.py", source)
    (source / "index.md").write_text("# Start\n\n## Pages\n\n- [one](one.md)\n", encoding="utf-8")
    (source / "one.md").write_text("# One\n", encoding="utf-8")
    assert build(source, tmp_path / "first").returncode == 0
    (source / "two.md").write_text("# Two\n", encoding="utf-8")
    built = build(source, tmp_path / "second")
    assert built.returncode != 0
    assert "two.md" in built.stderr
