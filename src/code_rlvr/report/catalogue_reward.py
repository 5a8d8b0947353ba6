"""Catalogue entries about rewards: of the training batch, and of validation.

The training means come from our sampler, over exactly the samples that are trained on.  verl makes the
validation names from the data source and the keys of the reward function.
"""

from __future__ import annotations

from code_rlvr.report.metric import Direction, Metric, MetricGroup

HIGHER, LOWER, NEITHER = Direction.HIGHER, Direction.LOWER, Direction.NEITHER

_KEYS = {
    "score": ("reward", HIGHER, "The reward that the run's policy makes of the verdicts; what PPO is given."),
    "pass_rate": ("share", HIGHER, "Tests passed, of all tests of the problem."),
    "format": ("share", HIGHER, "Samples with their program in a closed code block, as the prompt asks."),
    "compiled": ("share", HIGHER, "Samples with a program that compiles."),
    "accepted": ("share", HIGHER, "Samples that passed every test: Pass@1."),
    "no_code": ("share", LOWER, "Samples without any program in them."),
    "compile_error": ("share", LOWER, "Samples with a program that does not compile."),
    "runtime_error": ("share", LOWER, "Samples whose first failed test ended in an exception or a signal."),
    "wrong_answer": ("share", LOWER, "Samples whose first failed test ended with a wrong result."),
    "time_limit": ("share", LOWER, "Samples whose first failed test ran out of time."),
    "memory_limit": ("share", LOWER, "Samples whose first failed test ran out of memory."),
    "output_limit": ("share", LOWER, "Samples whose first failed test printed more than is allowed."),
    "tests_run": ("tests", NEITHER, "Tests that were run; fewer than there are where judging stopped early."),
    "judge_s": ("s", LOWER, "Wall time that the judge spent on a sample, queueing left out."),
}
"""Keys of the reward function: unit, direction, meaning."""

REWARD = MetricGroup(
    "Rewards of the training batch",
    (
        *(Metric(f"reward/{key}", *about) for key, about in _KEYS.items()),
        Metric("reward/unjudged", "share", LOWER, "Samples asked for but never scored; in no other metric."),
        Metric("reward/samples", "samples", NEITHER, "Scored samples: what the means are over."),
        Metric("reward/judge_s/total", "s", LOWER, "Judging time of all samples, added up over workers."),
        Metric("reward/judge_s/{p50,p95}", "s", LOWER, "Judging time that half, 19 in 20 of the samples stay below."),
        *(Metric(f"reward/by_source/<source>/{key}", *_KEYS[key]) for key in ("score", "pass_rate", "accepted")),
        Metric(
            "reward/groups_without_signal",
            "share",
            LOWER,
            "Prompts all of whose samples earned the same, so that GRPO learns nothing from them.",
        ),
    ),
    note="From our sampler: means over exactly the samples that the step trains on.",
)

VALIDATION = MetricGroup(
    "Validation",
    (
        *(Metric(f"{{val-core,val-aux}}/<source>/{key}/mean@<n>", *about) for key, about in _KEYS.items()),
        Metric("{val-core,val-aux}/<source>/reward/mean@<n>", "reward", HIGHER, "verl's copy of the score."),
        Metric(
            "{val-core,val-aux}/<source>/{acc,acc_success_only}/mean@<n>",
            "share",
            HIGHER,
            "`acc` of reward functions that have such a key; ours has `accepted` in its place.",
        ),
        Metric(
            "val-aux/<source>/<key>/std@<n>",
            "as the key",
            NEITHER,
            "Standard deviation over the samples of a problem.",
        ),
        Metric(
            "{val-core,val-aux}/<source>/<key>/{best,worst,maj}@<n>/{mean,std}",
            "as the key",
            NEITHER,
            "Best, worst or majority of n samples, drawn again with replacement: a bootstrap, not pass@k.",
        ),
        Metric("val-aux/num_turns/{mean,max,min}", "turns", NEITHER, "Turns of a chat; 2 without tools."),
    ),
    note="From verl, for each data source: means over the validation problems, n samples of each.",
)

GROUPS = (REWARD, VALIDATION)
