"""`write_page`: what an audit found as one HTML file that opens from disk.

As in the report of a run, a content security policy names each script and forbids everything else, and text from
the data set is escaped and made visible.

Covered: what the page shows.  Not covered: drawing (`plots`), layout (``template.html.jinja``).
"""

from __future__ import annotations

import json
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from code_rlvr.audit.finding import STATEMENT_CHARS
from code_rlvr.audit.plots import make_plots
from code_rlvr.audit.result import AuditResult, Group
from code_rlvr.errors import DataError
from code_rlvr.report.html import content_security_policy, embed, read_asset
from code_rlvr.report.palette import TONES, css_variables
from code_rlvr.report.visible import make_visible
from code_rlvr.whole_file import whole_file
from code_rlvr.words import counted

EXAMPLES = 20  # of each finding
SOURCES = 15  # data sources that are named
_ID_CHARS = 200


def require_usable_page(file: Path) -> None:
    """Refuse a place that the page cannot go to, before anything is audited.

    Raises:
        DataError: There is no folder for it, or it is no file.
    """
    if not file.parent.is_dir():
        raise DataError(f"--html {file}: there is no folder {file.parent}; make it first")
    if file.exists() and (not file.is_file() or file.suffix not in (".html", ".htm")):
        raise DataError(f"--html {file} exists and is no page; name a file that ends in .html")


def write_page(file: Path, result: AuditResult) -> None:
    """Write the page; it appears whole or not at all, in place of an older one.

    Raises:
        DataError: It cannot be written.
    """
    text = render_page(result)
    try:
        with whole_file(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {file}: {error.strerror}") from None


def render_page(result: AuditResult) -> str:
    """Return the page as HTML."""
    plots = make_plots(result.statistics)
    scripts, drawings = embed([plot.drawing for plot in plots])
    context = {
        "name": make_visible(result.problems.path.resolve().name, _ID_CHARS),
        "conclusion": result.conclusion(),
        "facts": _facts(result),
        "groups": [_table_row(group, result.statistics.problems) for group in result.groups()],
        "notes": _notes(result),
        "shares": [
            ("Data sources", _shares(dict(result.statistics.sources.most_common()))),
            ("Kinds of tests", _shares(dict(result.statistics.kinds.most_common()))),
        ],
        "plots": plots,
        "drawings": drawings,
        "tones": Markup(json.dumps([list(tone) for tone in TONES.values()])),
        "scripts": [Markup(script) for script in scripts],
        "policy": content_security_policy(scripts),
        "css": Markup(css_variables() + read_asset("report.css")),
        "version": metadata.version("code-rlvr"),
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = (files("code_rlvr.audit") / "template.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(template).render(context)


def _facts(result: AuditResult) -> list[tuple[str, str]]:
    numbers = result.statistics
    facts = [("Problems", f"{numbers.problems:,}"), ("With a defect", f"{len(result.defective):,}")]
    facts += [("Suspect beside them", f"{result.suspects:,}")]
    if numbers.references:
        passed = numbers.references_accepted / numbers.references
        facts.append(("References that pass", f"{passed:.1%} of {numbers.references:,}"))
        solved = numbers.with_accepted / numbers.with_references
        facts.append(("Problems with one that passes", f"{solved:.1%} of {numbers.with_references:,}"))
    facts += [(f"SHA-256 of {file.path.name}", file.sha256) for file in result.problems.files]
    return [(name, make_visible(value, _ID_CHARS)) for name, value in facts]


def _notes(result: AuditResult) -> list[str]:
    notes = [] if result.ran else ["No program was run: what trivial programs score is predicted."]
    if result.interrupted:
        notes.append(f"The audit was interrupted after {counted(result.statistics.problems, 'problem')}.")
    notes += [f"Not audited: {name}: {why}" for name, why in result.unaudited[:EXAMPLES]]
    notes += [f"Solutions without a problem: {name}" for name in result.unmatched[:EXAMPLES]]
    return [make_visible(note, 500) for note in notes]


def _table_row(group: Group, problems: int) -> dict[str, Any]:
    return {
        "code": group.code,
        "severity": group.severity,
        "meaning": group.meaning,
        "problems": f"{group.problems:,}",
        "share": f"{group.problems / problems:.1%}",
        "more": f"{len(group.found) - EXAMPLES:,}" if len(group.found) > EXAMPLES else "",
        "examples": [
            {
                "problem_id": make_visible(one.problem_id, _ID_CHARS),
                "evidence": make_visible(one.finding.evidence, 1_000),
                "statement": make_visible(one.statement, STATEMENT_CHARS),
            }
            for one in group.found[:EXAMPLES]
        ],
    }


def _shares(counts: dict[str, int]) -> list[tuple[str, str, float]]:
    """Name, count and percentage of each, the smaller ones together."""
    total = sum(counts.values())
    named = list(counts.items())[:SOURCES]
    rest = total - sum(number for _, number in named)
    named += [(f"{len(counts) - SOURCES} more", rest)] if rest else []
    return [
        (make_visible(name, 80) or "(none)", f"{number:,}", round(100 * number / total, 1)) for name, number in named
    ]
