"""Settings of a training run; every field has its meaning and unit as its docstring.

The defaults are the quickstart's: a model of a million parameters on a CPU.  `configs/` has presets for GPUs.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from code_rlvr.config import Section
from code_rlvr.health import HealthThresholds
from code_rlvr.reward import PolicyName, RewardPolicy
from code_rlvr.runs import RunFolder
from code_rlvr.types import Limits
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.sandbox import Isolation


class DataConfig(Section):
    """Which problems to train on; verl's parquet, as `code-rlvr prepare` writes it."""

    train_file: str = ""
    """Parquet of training problems; the quickstart makes its own."""
    validation_file: str = ""
    """Parquet of validation problems."""
    max_prompt_tokens: int = Field(64, ge=1)
    """Longest prompt; longer ones are left out."""
    max_response_tokens: int = Field(64, ge=1)
    """Longest response; a longer one is cut and usually fails to compile."""


class ActorConfig(Section):
    """The model that is trained, and how."""

    lr: float = Field(2e-4, gt=0)
    """Learning rate of AdamW."""
    lr_warmup_steps: int = Field(4, ge=0)
    """Steps over which the learning rate rises to `lr`."""
    mini_batch: int = Field(32, ge=1)
    """Prompts per update; divides the batch."""
    micro_batch: int = Field(32, ge=1)
    """Samples per forward pass of one rank; bounds memory."""
    micro_batch_tokens: int | None = Field(None, ge=0)
    """Tokens per forward pass of one rank, in place of `micro_batch`: samples are packed without padding. With 0, it is
    32,768 where a GPU's memory holds that with nothing saved (a small model waits for Python between small passes), and
    16,384 elsewhere."""
    lora_rank: int = Field(0, ge=0)
    """Rank of the low-rank adapters trained in place of the weights (arXiv:2106.09685); 0 trains the weights."""
    lora_alpha: int = Field(32, ge=1)
    """Adapters count `lora_alpha / lora_rank` times."""
    offload: bool | None = None
    """Keep weights and optimizer in the machine's memory while others use the GPU: slow; when unset, only if the GPU's
    memory does not suffice."""
    gradient_checkpointing: bool | None = None
    """Compute activations twice rather than keep them: less memory, a third more time; when unset, only if needed."""
    fused_logits: bool = False
    """Log-probabilities and entropy without holding the logits of a whole batch; much less memory."""
    compile_layers: bool = True
    """Compile the decoder layers of actor, critic and reference, on GPUs: faster passes, and a first step that is some
    twenty seconds longer. For models of the kinds Llama, Mistral, Qwen2 and Qwen3 with packed samples
    (`micro_batch_tokens`), without flash-attn and adapters; others run as they are, and `logs/verl.log` names a model
    whose layers cannot be compiled."""
    clip_ratio: float = Field(0.2, gt=0)
    """PPO's clip range of the probability ratio (Schulman et al. 2017, arXiv:1707.06347)."""
    entropy_coeff: float = Field(0.0, ge=0)
    """Weight of the entropy bonus."""


class CriticConfig(Section):
    """The value model; only GAE has one."""

    model: str = ""
    """What it starts from; the model to train when empty."""
    lr: float = Field(5e-4, gt=0)
    """Learning rate of AdamW."""
    offload: bool | None = None
    """As for the actor."""


class ReferenceConfig(Section):
    """The model as it was, which the KL penalty is measured against."""

    offload: bool | None = None
    """Keep its weights in the machine's memory while they are not needed; when unset, only if needed."""


class AlgorithmConfig(Section):
    """How rewards become advantages."""

    estimator: Literal["gae", "grpo"] = "gae"
    """`gae`: PPO with a critic (arXiv:1506.02438); `grpo`: group-relative, no critic (arXiv:2402.03300)."""
    gamma: float = Field(1.0, ge=0, le=1)
    """Discount per token; 1, because only the whole program is rewarded."""
    lam: float = Field(1.0, ge=0, le=1)
    """GAE's trade-off between bias and variance."""
    kl_coef: float = Field(0.001, ge=0)
    """Weight of the KL penalty to the reference, taken from the reward of each token."""


class RolloutConfig(Section):
    """How samples are drawn in training."""

    engine: Literal["hf", "vllm"] = "hf"
    """`hf`: transformers, for a CPU; `vllm`: a GPU."""
    samples_per_prompt: int = Field(1, ge=1)
    """Responses to each prompt; GRPO needs at least 2."""
    temperature: float = Field(1.0, gt=0)
    """Sampling temperature in training."""
    tensor_parallel: int = Field(1, ge=1)
    """GPUs that share one copy of the model when sampling; for vLLM."""
    gpu_memory_share: float = Field(0.4, gt=0, lt=1)
    """Share of each GPU's memory that vLLM takes, weights and cache; it gives them back while the model is trained."""
    cuda_graphs: bool = True
    """Replay recorded kernels when sampling: a longer start, faster steps; for vLLM."""
    workers: int = Field(1, ge=1)
    """Processes that carry prompts to the engine and responses to the reward; a hundred prompts or so each."""


class RewardConfig(Section):
    """How verdicts become rewards, and what a program may use."""

    file: str = ""
    """A Python file with a `compute_score` of your own, which has to return the keys of ours; ours when empty."""
    policy: PolicyName = "pass_rate"
    """`pass_rate`: share of tests passed; `binary`: all or nothing; `tiered`: format, compiling and tests."""
    format_weight: float = 0.05
    """For `tiered`: worth of a response whose code stands in a closed fence."""
    compile_weight: float = 0.05
    """For `tiered`: worth of a program that compiles."""
    tests_weight: float = 0.9
    """For `tiered`: worth of passing every test."""
    max_tests: int | None = Field(None, ge=1)
    """Judge at most this many tests of a problem, the same ones for every response; all when unset."""
    time_limit_s: float = Field(1.0, gt=0)
    """CPU seconds per test, where the problem names none."""
    memory_limit_mib: int = Field(256, ge=32)
    """Memory per test, where the problem names none."""
    deadline_s: float = Field(120.0, gt=0)
    """Wall seconds for all tests of one program together; more where right programs need longer."""
    timeouts_before_stop: int | None = Field(None, ge=1)
    """After so many tests over time or over memory the rest of a program's tests count as failed without being run: an
    endless program with many tests would hold up the step.  A program that passes never meets this."""
    workers: int = Field(2, ge=1)
    """Programs judged at the same time, over all reward processes."""
    python: str | None = None
    """Interpreter for solutions, e.g. of an environment with packages that they may use; our own when unset."""
    judge_url: str = Field("", pattern=r"^(https?://[^/@\s]+(/[^@?\s]*)?)?$")
    """Judge programs by a server, `code-rlvr serve`, e.g. `http://judge:8377`; on this machine when empty.  `workers`,
    `python` and `isolation` are then the server's.  Its token comes from the environment, `CODE_RLVR_TOKEN`."""
    isolation: Isolation = "full"
    """`process` only where the kernel permits no system call filters and the model is trusted; see docs/security.md."""

    @model_validator(mode="after")
    def _check_weights(self) -> RewardConfig:
        self.policy_settings()
        return self

    def policy_settings(self) -> RewardPolicy:
        """Return the policy with its weights.

        Raises:
            ConfigError: Form would be worth more than function.
        """
        return RewardPolicy(self.policy, self.format_weight, self.compile_weight, self.tests_weight)

    def limits(self) -> Limits:
        """Return what a program may use."""
        return Limits(
            cpu_s=self.time_limit_s,
            memory_mib=self.memory_limit_mib,
            deadline_s=self.deadline_s,
            timeouts_before_stop=self.timeouts_before_stop,
        )

    def keywords(self) -> dict[str, Any]:
        """Return these settings as `reward.compute_score` takes them, in plain values."""
        return {
            "policy": dataclasses.asdict(self.policy_settings()),
            "limits": dataclasses.asdict(self.limits()),
            "max_tests": self.max_tests,
            "workers": self.workers,
            "python": self.python,
            "isolation": self.isolation,
            "judge_url": self.judge_url or None,
        }

    def judge(self) -> Judge:
        """Return a judge with these settings, to be closed."""
        return Judge(self.workers, self.limits(), python=self.python, isolation=self.isolation)


class TrainerConfig(Section):
    """Length, batch and bookkeeping of a run."""

    steps: int = Field(60, ge=1)
    """Training steps; a resumed run goes on to this number."""
    epochs: int | None = Field(None, ge=1)
    """Passes over the training problems; `steps` wins where it is set."""
    batch: int = Field(64, ge=1)
    """Prompts per step."""
    save_every: int = Field(10, ge=1)
    """Steps between checkpoints; the last step always saves one."""
    keep_checkpoints: int = Field(2, ge=1)
    """Newest checkpoints kept on disk."""
    validate_every: int = Field(20, ge=1)
    """Steps between validations."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the model lives."""
    gpus_per_node: int = Field(1, ge=1)
    """Ranks on each node; on a CPU one process each."""
    nodes: int = Field(1, ge=1)
    """Machines of the Ray cluster."""
    ray_address: str | None = None
    """An existing Ray cluster, e.g. `auto`; a cluster of this machine alone is started when unset."""
    loggers: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """Where the metrics go besides the console and `metrics.jsonl`."""
    stop_on_nan: bool = True
    """End the run when a loss, a gradient or the score is no number; nothing is learned from there on."""
    start_timeout_s: float = Field(600, gt=0)
    """Longest wait for the first sign of training; a model that hangs while loading ends here."""
    step_timeout_s: float = Field(600, gt=0)
    """Longest wait between two signs of life after that."""

    @property
    def ranks(self) -> int:
        """GPUs of all nodes, which are the processes that train; on a CPU, the processes."""
        return self.gpus_per_node * self.nodes


class TrainConfig(Section):
    """One training run."""

    name: str = Field("run", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Folder below `runs_dir`."""
    runs_dir: str = "runs"
    """Folder that holds all runs."""
    seed: int = Field(0, ge=0)
    """Seed of data order, sampling and initial values."""
    model: str = ""
    """The model to train: a Hugging Face folder, or a name on the hub."""
    data: DataConfig = DataConfig()
    actor: ActorConfig = ActorConfig()
    critic: CriticConfig = CriticConfig()
    reference: ReferenceConfig = ReferenceConfig()
    algorithm: AlgorithmConfig = AlgorithmConfig()
    rollout: RolloutConfig = RolloutConfig()
    reward: RewardConfig = RewardConfig()
    trainer: TrainerConfig = TrainerConfig()
    health: HealthThresholds = HealthThresholds()
    verl: tuple[str, ...] = ()
    """Words for verl's own configuration, which come last and win; `--` on the command line adds to them."""

    @model_validator(mode="after")
    def _check_batches(self) -> TrainConfig:
        if self.trainer.batch % self.actor.mini_batch:
            raise ValueError(
                f"trainer.batch ({self.trainer.batch}) must be a multiple of actor.mini_batch ({self.actor.mini_batch})"
            )
        per_rank = self.actor.mini_batch * self.rollout.samples_per_prompt
        ranks = self.trainer.ranks
        if self.actor.micro_batch_tokens is None and per_rank % (ranks * self.actor.micro_batch):
            raise ValueError(
                f"actor.mini_batch × rollout.samples_per_prompt ({per_rank}) must be a multiple of "
                f"ranks × actor.micro_batch ({ranks} × {self.actor.micro_batch}); verl would fail in mid-step"
            )
        if self.algorithm.estimator == "grpo" and self.rollout.samples_per_prompt < 2:
            raise ValueError("algorithm.estimator=grpo needs rollout.samples_per_prompt of at least 2")
        return self

    @property
    def run(self) -> RunFolder:
        """Folder of this run."""
        return RunFolder(Path(self.runs_dir) / self.name)
