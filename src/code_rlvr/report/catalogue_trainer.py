"""Catalogue entries about the trainer: policy, critic, time and throughput.

All of them are verl's, under verl's names, but for two of our sampler under Time.
Source: verl 0.9.1, ``trainer/ppo/metric_utils.py`` and ``core_algos.py``.
"""

from __future__ import annotations

from code_rlvr.report.metric import Direction, Metric, MetricGroup

HIGHER, LOWER, NEITHER = Direction.HIGHER, Direction.LOWER, Direction.NEITHER

POLICY = MetricGroup(
    "Policy (actor)",
    (
        Metric(
            "actor/reward_kl_penalty",
            "nats per token",
            NEITHER,
            "KL of the policy to the reference, log p(actor) - log p(reference) on the sampled tokens: how "
            "far training has moved the model. An estimate; chance can make it negative when it is small.",
        ),
        Metric("actor/reward_kl_penalty_coeff", "1", NEITHER, "Weight of that KL in the reward of each token."),
        Metric("actor/kl_loss", "nats per token", NEITHER, "KL to the reference where it is part of the loss."),
        Metric("actor/kl_coef", "1", NEITHER, "Weight of the KL in the loss."),
        Metric(
            "actor/entropy",
            "nats per token",
            NEITHER,
            "Entropy of the next token, before the step's updates. A fast fall to 0 ends exploration.",
        ),
        Metric(
            "actor/entropy_loss",
            "nats per token",
            NEITHER,
            "The same entropy, during the updates; with `actor.entropy_coeff` only.",
        ),
        Metric("actor/ppo_kl", "nats per token", NEITHER, "KL of the policy that sampled to the updated one."),
        Metric("actor/pg_loss", "1", NEITHER, "PPO's clipped policy loss; its level says little."),
        Metric("actor/loss", "1", NEITHER, "All that the actor minimises."),
        Metric("actor/pg_clipfrac", "share", NEITHER, "Tokens whose probability ratio was clipped."),
        Metric("actor/pg_clipfrac_lower", "share", NEITHER, "Tokens clipped by the second bound (dual-clip PPO)."),
        Metric("{actor,critic}/grad_norm", "1", NEITHER, "Norm of the gradient before it is clipped."),
        Metric("{actor,critic}/lr", "1", NEITHER, "Learning rate."),
        Metric(
            "critic/score/{mean,max,min}",
            "reward",
            HIGHER,
            "Score of a sample, over the batch; empty responses left out.",
        ),
        Metric("critic/rewards/{mean,max,min}", "reward", HIGHER, "Score of a sample less its KL penalty."),
        Metric(
            "critic/advantages/{mean,max,min}",
            "1",
            NEITHER,
            "Advantages of tokens, whitened by the estimator.",
        ),
        Metric(
            "critic/returns/{mean,max,min}",
            "reward",
            NEITHER,
            "Returns of tokens: what the critic should predict.",
        ),
    ),
)

CRITIC = MetricGroup(
    "Value model (critic)",
    (
        Metric("critic/vf_loss", "reward²", LOWER, "Clipped squared error of the values."),
        Metric("critic/loss", "reward²", LOWER, "All that the critic minimises."),
        Metric("critic/vf_clipfrac", "share", NEITHER, "Tokens where the clipped value error was the larger one."),
        Metric("critic/vpred_mean", "reward", NEITHER, "Mean predicted value, during the updates."),
        Metric(
            "critic/values/{mean,max,min}",
            "reward",
            NEITHER,
            "Predicted values of tokens, before the updates.",
        ),
        Metric(
            "critic/vf_explained_var",
            "share",
            HIGHER,
            "Variance of the returns that the values explain; 0 is as good as a constant, below 0 is worse.",
        ),
    ),
)

TIME = MetricGroup(
    "Time and throughput",
    (
        Metric("timing_s/step", "s", LOWER, "The whole step, a checkpoint included, validation left out."),
        Metric("timing_s/gen", "s", LOWER, "Until all responses of the step are there."),
        Metric(
            "timing_s/verify",
            "s",
            LOWER,
            "The wait for verdicts that is left after the models' passes; what was judged before costs no time.",
        ),
        Metric(
            "rollout/generate_s/total",
            "s",
            LOWER,
            "Seconds of decoding of the step's samples, added up.",
        ),
        Metric("timing_s/reward", "s", LOWER, "Scoring by a reward model; not used here."),
        Metric("timing_s/old_log_prob", "s", LOWER, "Log-probabilities of the samples under the current policy."),
        Metric("timing_s/ref", "s", LOWER, "Log-probabilities under the reference."),
        Metric("timing_s/values", "s", LOWER, "Predictions of the critic."),
        Metric("timing_s/adv", "s", LOWER, "KL penalty, returns and advantages."),
        Metric("timing_s/{update_actor,update_critic}", "s", LOWER, "Gradient steps of that model."),
        Metric("timing_s/update_weights", "s", LOWER, "Copying the new weights into the sampler."),
        Metric("timing_s/save_checkpoint", "s", LOWER, "Writing a checkpoint, in the steps that have one."),
        Metric("timing_s/testing", "s", LOWER, "Validation, in the steps that have one."),
        Metric("timing_s/dump_rollout_generations", "s", LOWER, "Writing the rollouts to disk, where asked for."),
        Metric(
            "timing_per_token_ms/gen",
            "ms per token",
            LOWER,
            "`timing_s/gen` by the response tokens of the batch.",
        ),
        Metric(
            "timing_per_token_ms/{ref,values,adv,update_actor,update_critic}",
            "ms per token",
            LOWER,
            "The same stage's time by all tokens of the batch.",
        ),
        Metric("perf/time_per_step", "s", LOWER, "verl's copy of `timing_s/step`."),
        Metric("perf/total_num_tokens", "tokens", NEITHER, "Prompt and response tokens of the batch."),
        Metric("perf/throughput", "tokens per s", HIGHER, "Tokens of the batch by the step's time and by ranks."),
        Metric(
            "perf/mfu/{actor,critic}",
            "share",
            HIGHER,
            "Of the device's peak arithmetic that updates used; 0 on a CPU.",
        ),
        Metric(
            "{actor,critic}/perf/{max_memory_allocated_gb,max_memory_reserved_gb}",
            "GiB",
            LOWER,
            "Peak memory of the device; on a CPU the present memory of the training process.",
        ),
        Metric("{actor,critic}/perf/cpu_memory_used_gb", "GiB", LOWER, "Memory in use on the whole machine."),
    ),
)

BOOKKEEPING = MetricGroup(
    "Bookkeeping",
    (
        Metric("training/global_step", "steps", NEITHER, "Number of the step, from 1."),
        Metric("training/epoch", "epochs", NEITHER, "Number of the pass over the problems, from 0."),
    ),
)

GROUPS = (POLICY, CRITIC, TIME, BOOKKEEPING)
