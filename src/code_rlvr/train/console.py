"""What a person sees of a training run: one line for each step, in a fixed order.

The numbers are the run's own metrics (see the metric catalogue); this only chooses and formats them.
"""

from __future__ import annotations

from code_rlvr.runs import StepMetrics

VALIDATION_ACCEPTED = "/accepted/mean@1"


def step_lines(metrics: StepMetrics, total_steps: int) -> list[str]:
    """Return the lines to show for one step: training, validation, or both.

    Args:
        metrics: What was logged for the step.
        total_steps: Length of the run.
    """
    head = f"[step {metrics.step}/{total_steps}]"
    lines = []
    if "reward/score" in metrics.data:
        lines.append(f"{head} train | {_training(metrics.data)}")
    if any(key.endswith(VALIDATION_ACCEPTED) for key in metrics.data):
        lines.append(f"{head} validation | {_validation(metrics.data)}")
    return lines


def _training(data: dict[str, float]) -> str:
    parts = [
        f"score {data['reward/score']:.2f}",
        f"pass_rate {data['reward/pass_rate']:.2f}",
        f"format {data['reward/format']:.2f}",
        f"kl {data.get('actor/reward_kl_penalty', float('nan')):.3f}",
        f"{data['reward/samples']:.0f} samples",
    ]
    if data["reward/unjudged"] > 0:
        parts.append(f"unjudged {data['reward/unjudged']:.1%}")
    verify = f" (verify {data['timing_s/verify']:.1f})" if "timing_s/verify" in data else ""
    parts.append(f"{data['timing_s/step']:.1f} s{verify}")
    return " | ".join(parts)


def _validation(data: dict[str, float]) -> str:
    sources = {key.split("/")[1]: value for key, value in data.items() if key.endswith(VALIDATION_ACCEPTED)}
    return " | ".join(f"pass@1 {value:.2f} ({source})" for source, value in sorted(sources.items()))
