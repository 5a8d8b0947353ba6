"""Every metric that a run logs, with unit, direction and meaning.

`describe` looks a name up; `catalogue_markdown` writes ``docs/metrics.md``.  A name that is not here is shown
in the report, marked as unknown; a test refuses it.  Update the page with::

    python -m code_rlvr.report.catalogue > docs/metrics.md
"""

from __future__ import annotations

from functools import cache

from code_rlvr.report import catalogue_reward, catalogue_rollout, catalogue_trainer
from code_rlvr.report.metric import Direction, Metric, MetricGroup

__all__ = ["CATALOGUE", "Direction", "Metric", "MetricGroup", "catalogue_markdown", "describe"]

CATALOGUE: tuple[MetricGroup, ...] = (
    *catalogue_reward.GROUPS,
    *catalogue_trainer.GROUPS,
    *catalogue_rollout.GROUPS,
)
"""All entries, in the order of the page; no name fits two of them."""


@cache
def describe(name: str) -> Metric | None:
    """Look up a metric.

    Args:
        name: As it stands in ``metrics.jsonl``, e.g. ``val-aux/starter/accepted/mean@1``.

    Returns:
        Its entry, or None if the catalogue has none.
    """
    for group in CATALOGUE:
        for metric in group.metrics:
            if metric.matches(name):
                return metric
    return None


def catalogue_markdown() -> str:
    """Return the catalogue as a page of documentation."""
    lines = [
        "# Metrics",
        "",
        "Every number that a run writes to `metrics.jsonl`, at each step. This page is generated from the",
        "catalogue in `code_rlvr.report`; a test refuses a logged name that is not in it.",
        "",
        "`{a,b}` stands for either name, `<source>` for a data source, `<key>` for a key of the reward",
        "function, `<n>` for a number of samples. A *share* is a number from 0 to 1. *Better* says which way",
        "is better, with a dash where neither is in itself.",
    ]
    for group in CATALOGUE:
        lines += ["", f"## {group.title}", ""]
        lines += [group.note, ""] if group.note else []
        lines += ["| Metric | Unit | Better | Meaning |", "|---|---|---|---|"]
        lines += [_markdown_row(metric) for metric in group.metrics]
    return "\n".join(lines) + "\n"


def _markdown_row(metric: Metric) -> str:
    better = {Direction.HIGHER: "higher", Direction.LOWER: "lower", Direction.NEITHER: "–"}[metric.direction]
    return f"| `{metric.pattern}` | {metric.unit} | {better} | {metric.meaning} |"


if __name__ == "__main__":
    print(catalogue_markdown(), end="")
