"""The rules as a page of documentation, made from the rules themselves.  Update it with::

    python -m code_rlvr.health.page > docs/health.md

Covered: every rule, every threshold, the phases.  Not covered: findings about a run (the report).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from code_rlvr.health import phases
from code_rlvr.health.diagnosis import RULES
from code_rlvr.health.rule import Rule
from code_rlvr.health.thresholds import HealthThresholds

INTRODUCTION = """\
# Is the run healthy?

The report looks for these signs in `metrics.jsonl`, ours or that of verl alone. Each finding names its steps and
values, what it usually comes from, and what to try. A **danger** means that the run or its result is probably lost
unless something changes; a **warning** is worth a look. No finding means that no rule fired, not that the model is
good: that is what [evaluation](evaluate.md) is for. Rules whose metrics were not logged are named in the report as not
applied.

Signs are looked for in medians over windows of steps. A change of the score has to exceed what chance makes of the
number of samples in a step (`reward/samples`) and what the scatter of the curve shows, whichever is larger; small
batches therefore hide what large ones show. Steps may be missing, and of a resumed run the later values count. In a run
of fewer steps than a rule waits for, only what needs no waiting is said: a metric that is no number, samples that were
lost.

Tests plant each fault in invented runs with the noise of sampling and ask for it at its steps; others ask that of 200
invented healthy runs, of 1 to 1,000 steps and of 8 to 1,024 samples a step, none raises a danger. Of 3,000 more such
runs 4 raised a warning and one a danger; of 600 that were looked at after every step, as training does, 30 raised a
warning at some step and 4 a danger (`benchmarks/health.py`, at 63a4c86). The
[published run](results/qwen2.5-coder-0.5b-mbpp/README.md) on a GPU, 36 steps of 256 samples, raises nothing, at none of
its steps.

Training looks at the run in the same way: after every step at first, and after 200 steps every hundredth part of the
run. What it finds is said once, when it was there at 2 looks in a row, a danger at 5; a metric that is no number and
lost samples at once; what comes again, more than `patience` steps later, is said again. Form that is not learned is
given four times `patience` steps, or half of the planned steps where these are fewer, for it may still come; it is a
danger only in the last third of the planned steps.

This page is generated from the rules; `python -m code_rlvr.health.page` writes it.
"""

PHASES = """\
## Phases

A run often goes through three phases, which the report marks on the curves; it may lack any of them.

| phase | from | to |
|---|---|---|
| format | the first step | `phase_done` of the rise of the share of closed code blocks, which is `phase_rise` or more |
| writing | the first tenth of the score's rise, and the form is learned | `phase_done` of the score's rise |
| diminishing returns | the end of that rise | the last step, if the rise has lost half of its pace or more |

Diminishing returns take `phase_flat_steps` of the run or more, and so many steps that chance would not hide a rise that
went on; a score that falls again is none.
"""

HOW_TO_SET = """\
## Thresholds

Each is a setting, in the table `[health]` of a TOML file or as `health.NAME=VALUE`:

```toml
[health]
kl_high = 0.5      # a large model with a small learning rate may go farther
patience = 30
```

Shares of the range of scores refer to 0 to 1, or to what was seen (`critic/score/min`, `critic/score/max`) where that
goes beyond.
"""

_SETTING = re.compile(
    r"\b(?:data|actor|critic|reference|algorithm|rollout|reward|trainer|actor_rollout_ref)\.[a-z_.]*[a-z](?:=[^\s,;)]+)?"
)


def page() -> str:
    """Return the page, as Markdown."""
    lines = [INTRODUCTION, "## Rules", "", "| rule | signal | fires when |", "|---|---|---|"]
    lines += [f"| [{rule.title}](#{_anchor(rule)}) | {_signals(rule)} | {rule.fires} |" for rule in RULES]
    for rule in RULES:
        lines += ["", *_section(rule)]
    lines += ["", PHASES, HOW_TO_SET, "| threshold | default | meaning | rules |", "|---|---|---|---|", *_thresholds()]
    return "\n".join(lines) + "\n"


def _section(rule: Rule) -> Iterator[str]:
    yield f"### {rule.title}"
    yield ""
    yield f"`{rule.key}`" + ("; the report shows samples of these steps beside it." if rule.show_samples else ".")
    if rule.silent_beside:
        titles = {other.key: other.title for other in RULES}
        others = " or ".join(f'"{titles[key]}"' for key in rule.silent_beside)
        yield f"It says nothing about steps of {others}, of which it would be a consequence."
    yield ""
    yield "Likely causes:"
    yield ""
    yield from (f"- {cause}" for cause in rule.causes)
    yield ""
    yield "What to try:"
    yield ""
    yield from (f"- {mark_settings(what)}" for what in rule.tries)


def mark_settings(text: str) -> str:
    """Set the names of settings as code."""
    parts = text.split("`")  # every other part is code already
    return "`".join(_SETTING.sub(r"`\g<0>`", part) if index % 2 == 0 else part for index, part in enumerate(parts))


def _signals(rule: Rule) -> str:
    joint = " or " if rule.any_need else " and "
    return joint.join(f"`{names[0]}`" for names in rule.needs)


def _anchor(rule: Rule) -> str:
    return re.sub(r"[^a-z0-9 -]", "", rule.title.lower()).replace(" ", "-")


def _thresholds() -> Iterator[str]:
    for name, field in HealthThresholds.model_fields.items():
        users = [f"`{rule.key}`" for rule in RULES if name in rule.thresholds]
        users += ["phases"] if name in phases.THRESHOLDS else []
        meaning = " ".join((field.description or "").split())
        yield f"| `{name}` | {field.default:g} | {meaning} | {', '.join(users)} |"


if __name__ == "__main__":
    print(page(), end="")
