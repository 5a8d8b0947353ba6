"""Catalogue entries about what was sampled: lengths, and how far sampler and trainer agree on it.

All but `rollout/truncated` are verl's.
Source: verl 0.9.1, ``trainer/ppo/metric_utils.py``, ``rollout_corr_helper.py``,
``trainer/ppo/v1/trainer_base.py``.
"""

from __future__ import annotations

from code_rlvr.report.metric import Direction, Metric, MetricGroup

HIGHER, LOWER, NEITHER = Direction.HIGHER, Direction.LOWER, Direction.NEITHER

LENGTHS = MetricGroup(
    "Lengths",
    (
        Metric("response_length/{mean,max,min}", "tokens", NEITHER, "Length of the responses."),
        Metric("rollout/truncated", "share", LOWER, "Responses cut at the longest length allowed; ours, not verl's."),
        Metric(
            "response_length/clip_ratio",
            "share",
            NEITHER,
            "Responses as long as the longest one of the batch; for those cut off see `rollout/truncated`.",
        ),
        Metric(
            "response_length_non_aborted/{mean,max,min}",
            "tokens",
            NEITHER,
            "Length of the responses that are not empty.",
        ),
        Metric(
            "response_length_non_aborted/clip_ratio",
            "share",
            NEITHER,
            "The same among those not empty.",
        ),
        Metric("response/aborted_ratio", "share", LOWER, "Empty responses."),
        Metric("prompt_length/{mean,max,min}", "tokens", NEITHER, "Length of the prompts."),
        Metric("prompt_length/clip_ratio", "share", NEITHER, "Prompts as long as the longest one of the batch."),
        Metric(
            "global_seqlen/{min,max,mean,minmax_diff}",
            "tokens",
            NEITHER,
            "Tokens of one rank, in the order of the data.",
        ),
        Metric(
            "global_seqlen/{balanced_min,balanced_max}",
            "tokens",
            NEITHER,
            "Tokens of one rank, after balancing.",
        ),
        Metric(
            "{num_turns,training/num_turns}/{mean,max,min}",
            "turns",
            NEITHER,
            "Turns of a chat; 2 without tools.",
        ),
    ),
)

AGREEMENT = MetricGroup(
    "Agreement of sampler and trainer",
    (
        Metric(
            "training/rollout_probs_diff_valid",
            "0 or 1",
            NEITHER,
            "Whether the four metrics below mean anything.",
        ),
        Metric(
            "training/rollout_probs_diff_{max,mean,std}",
            "probability",
            LOWER,
            "Distance of a token's probability in the sampler from that in the trainer; large is a fault.",
        ),
        Metric(
            "training/rollout_actor_probs_pearson_corr",
            "correlation",
            HIGHER,
            "Of the same two probabilities.",
        ),
        Metric(
            "rollout_corr/{kl,k3_kl}",
            "nats per token",
            LOWER,
            "KL of the sampler to the trainer, two estimators.",
        ),
        Metric(
            "rollout_corr/{training_ppl,rollout_ppl}",
            "1",
            NEITHER,
            "Perplexity of the responses, for trainer or sampler.",
        ),
        Metric("rollout_corr/{training_log_ppl,rollout_log_ppl}", "nats per token", NEITHER, "Its logarithm."),
        Metric(
            "rollout_corr/{log_ppl_diff,log_ppl_diff_max,log_ppl_diff_min}",
            "nats per token",
            NEITHER,
            "Log-perplexity of a response in the trainer less that in the sampler; 0 is agreement.",
        ),
        Metric("rollout_corr/log_ppl_abs_diff", "nats per token", LOWER, "Its absolute value."),
        Metric(
            "rollout_corr/ppl_ratio",
            "1",
            NEITHER,
            "Perplexity of the trainer over the sampler's; 1 is agreement.",
        ),
        Metric(
            "rollout_corr/{chi2_token,chi2_seq}",
            "1",
            LOWER,
            "χ² of the trainer to the sampler, by token or response.",
        ),
        Metric(
            "training/off_policy/trajectory_spans/{mean,max,min}",
            "versions",
            NEITHER,
            "Models that made a response.",
        ),
        Metric(
            "training/off_policy/{trajectory_staleness,trajectory_staleness_worst}/{mean,max,min}",
            "versions",
            LOWER,
            "Updates between the model that made a response (newest, oldest) and the one that learns.",
        ),
        Metric(
            "training/rollout_failure/evicted_samples",
            "prompts",
            LOWER,
            "Prompts given up: their rollout failed.",
        ),
    ),
)

GROUPS = (LENGTHS, AGREEMENT)
