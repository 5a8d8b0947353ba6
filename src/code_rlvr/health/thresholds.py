"""Thresholds of the health rules and of the phases: all of them settings.

Set them in the `[health]` table of a TOML file, or one by one as ``health.NAME=VALUE``.

Covered: names, meanings, bounds, defaults.  Not covered: what the rules make of them (`RULES`).
"""

from __future__ import annotations

from pydantic import Field

from code_rlvr.config import Section


class HealthThresholds(Section):
    """From where on a signal counts; a step is one training step that was logged."""

    window: int = Field(5, ge=2, le=100)
    """Steps that a median is taken over, at least; a twentieth of the run where that is more, but 50 at most."""
    patience: int = Field(15, ge=2, le=10_000)
    """Steps that a run is given before what it lacks is held against it."""
    noise_z: float = Field(4.0, ge=1, le=10)
    """Standard deviations by which a change has to exceed its sampling noise; more are asked for in longer runs."""

    stuck_score: float = Field(0.002, ge=0, le=0.5)
    """A pass rate (or score) of at most this counts as zero."""
    jump_rise: float = Field(0.25, gt=0, le=1)
    """Rise of the score from one window to the next that is sudden, as a share of the range of scores."""
    jump_ratio: float = Field(3.0, ge=1, le=100)
    """How many times the rise of the windows beside it a sudden rise has to be; steady learning is as fast before."""
    jump_fit: float = Field(0.8, gt=0, le=1)
    """Squared errors of two levels as a share of those of a line: what fits a line as well was steady learning."""
    jump_sure: float = Field(0.6, gt=0, le=1)
    """The same share below which a jump is a danger."""
    collapse_share: float = Field(0.5, gt=0, lt=1)
    """Share of its best window that the score has to keep."""
    collapse_fall: float = Field(0.1, gt=0, le=1)
    """Least fall that is a collapse, as a share of the range of scores."""
    format_low: float = Field(0.5, gt=0, lt=1)
    """Share of responses with a closed code block that has to be reached."""
    no_signal_high: float = Field(0.8, gt=0, le=1)
    """Share of prompts all of whose samples earn the same that is high."""
    no_signal_danger: float = Field(0.95, gt=0, le=1)
    """The same share from where on next to nothing is learned, where there is no critic."""
    lost_danger: float = Field(0.05, gt=0, le=1)
    """Share of samples never scored that is a danger, over a window; any lost sample is a warning."""
    held_out_fall: float = Field(0.05, gt=0, le=1)
    """Fall of the held-out score from its best that counts, as a share of the range of scores."""
    held_out_points: int = Field(5, ge=3, le=1000)
    """Validations that it takes to tell a fall from chance."""

    kl_high: float = Field(0.2, gt=0, le=100)
    """KL to the reference, in nats per token, that is high if it came fast."""
    kl_growth: float = Field(3.0, gt=1, le=1000)
    """Growth of that KL over `patience` steps that is fast."""
    kl_far: float = Field(1.0, gt=0, le=1000)
    """KL to the reference, in nats per token, that is high however slowly it came."""
    entropy_share: float = Field(0.1, gt=0, lt=1)
    """Share of its first value that the entropy has to keep."""
    solved_score: float = Field(0.9, gt=0, le=1)
    """Score, as a share of the range of scores, from where on the problems are solved: then little entropy, groups
    without a signal and a critic that explains nothing are what one expects."""
    explosion_factor: float = Field(10.0, gt=1, le=1e6)
    """How many times its usual size a loss or gradient norm has to be."""
    loss_floor: float = Field(1.0, gt=0, le=1e6)
    """A loss smaller than this, whatever its sign, has not exploded."""
    grad_norm_floor: float = Field(10.0, gt=0, le=1e9)
    """A gradient norm smaller than this has not exploded; it is measured before it is clipped."""
    disagreement_high: float = Field(0.02, gt=0, le=1)
    """Mean distance of a token's probability in sampler and trainer that is high; 0.003 was measured with
    bfloat16 and vLLM."""
    disagreement_danger: float = Field(0.1, gt=0, le=1)
    """The same distance from where on the trainer learns from another model's samples."""

    length_growth: float = Field(1.5, gt=1, le=100)
    """How many times their first length responses may grow to while the score rises."""
    cut_off_high: float = Field(0.3, gt=0, le=1)
    """Share of responses cut at the longest length allowed that is high."""
    cut_off_danger: float = Field(0.6, gt=0, le=1)
    """The same share from where on it decides what is learned."""

    critic_patience: int = Field(30, ge=4, le=10_000)
    """Steps that a critic is given to become better than a constant."""
    critic_low: float = Field(0.05, ge=-1, lt=1)
    """Explained variance that it has to reach by then."""
    critic_danger: float = Field(-0.5, ge=-1000, lt=1)
    """Explained variance below which it harms more than it helps."""

    phase_rise: float = Field(0.1, gt=0, le=1)
    """Rise of the share of closed code blocks, or of the score, that makes a phase."""
    phase_done: float = Field(0.9, gt=0.5, lt=1)
    """Share of a rise after which what is left of it is diminishing returns."""
    phase_flat_steps: float = Field(0.15, gt=0, lt=1)
    """Share of the run that diminishing returns take, at least."""
