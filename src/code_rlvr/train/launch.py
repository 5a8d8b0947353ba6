"""Runs verl's PPO trainer as a supervised child process and follows it to its end.

Covered: a clean folder or a resume, the environment and command of the trainer, a line for each step,
bounds in time, one clear message when it fails, nothing left running.  Not covered: what verl does
inside; see `overrides` for its configuration and `verl_cpu` for machines without a GPU.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_rlvr.errors import DataError, TrainingError, UsageError
from code_rlvr.runs import RunFolder, StepMetrics, read_metrics
from code_rlvr.train import checkpoints, preflight
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.console import step_lines
from code_rlvr.train.data_used import describe_data
from code_rlvr.train.early_warnings import EarlyWarnings, not_finite
from code_rlvr.train.metrics_tail import MetricsTail
from code_rlvr.train.overrides import STOP_FILE, verl_overrides
from code_rlvr.train.resolve import resolve
from code_rlvr.train.run_lock import lock_run
from code_rlvr.train.start_facts import record_start
from code_rlvr.train.supervise import SupervisedCommand, new_scratch
from code_rlvr.train.versions import installed_versions

POLL_S = 0.1
LOG_TAIL_LINES = 15

Say = Callable[[str], None]
"""Shows one line to the person who started the run."""


@dataclass(frozen=True)
class TrainResult:
    """A finished training run.

    Args:
        run: Its folder.
        steps: Training steps done, those before a resume included.
        last: The metrics of the last step.
    """

    run: RunFolder
    steps: int
    last: StepMetrics


def train(
    config: TrainConfig,
    *,
    resume: bool = False,
    say: Say = print,
    skip: Collection[str] = (),
    preset: str | None = None,
) -> TrainResult:
    """Train until `config.trainer.steps`, or raise.

    Args:
        config: The run.
        resume: Go on from the last checkpoint of this run.
        say: Gets each line to show.
        skip: Names of checks before the start that are left out; see `preflight`.
        preset: Name of the preset that `config` was made from, for the record; a resume keeps the one on record.

    Raises:
        UsageError: The run exists already and `resume` is not set, or there is nothing to resume.
        PreflightError: The machine or the inputs are not fit; nothing was started.
        TrainingError: The trainer failed, hung, or lost too many samples.
    """
    preflight.require_known(skip)
    config = resolve(config)
    preflight.check_training(config, skip)
    with lock_run(config.run):
        start_step = _prepare_folder(config, resume)
        record_start(config.run.start, preset, config.trainer.device, resume=resume)
        return _run(config, start_step, say)


def _prepare_folder(config: TrainConfig, resume: bool) -> int:
    """Make or check the run's folder; return the step to start from."""
    run = config.run
    last = checkpoints.last_step(run)
    data = describe_data(config)
    if resume:
        _require_same_start(config, data)
    elif last is None and run.command.exists() and not _has_trained(run):
        checkpoints.clear_unfinished(run)  # a start that failed, or was interrupted: nothing is lost
    if last is None and (resume or run.command.exists()):
        raise UsageError(
            f"{run.path} has no checkpoint to go on from; choose another name=, or remove it and start anew"
        )
    if run.command.exists() and not resume:
        raise UsageError(f"{run.path} holds a run already; go on with it by --resume, or choose another name=")
    if last is not None and last >= config.trainer.steps:
        raise UsageError(f"{run.path} has been trained for {last} steps already; raise trainer.steps to go on")
    run.logs.mkdir(parents=True, exist_ok=True)
    run.verdicts.mkdir(exist_ok=True)
    run.config.write_text(config.model_dump_json(indent=2) + "\n", encoding="utf-8")
    run.data.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    run.versions.write_text(json.dumps(installed_versions(), indent=2) + "\n", encoding="utf-8")
    if last is not None:
        checkpoints.set_aside_later_verdicts(run, last)
    return last or 0


def _has_trained(run: RunFolder) -> bool:
    return run.metrics.is_file() and any(metrics.step > 0 for metrics in read_metrics(run.metrics))


def _require_same_start(config: TrainConfig, data: dict[str, Any]) -> None:
    """Refuse to go on with another model or other problems: the run would no longer say what it was trained on."""
    run = config.run
    before = json.loads(run.config.read_bytes()) if run.config.is_file() else {}
    model = Path(before.get("model") or config.model)
    if model.exists() and model.resolve() != Path(config.model).resolve():
        raise UsageError(
            f"{run.path} was trained from {model}; start a new run from {config.model}, with another name="
        )
    known = json.loads(run.data.read_bytes()) if run.data.is_file() else data
    if known["train"]["sha256"] != data["train"]["sha256"]:
        raise UsageError(
            f"{run.path} was trained on another {known['train']['file']} than {config.data.train_file} is now; go on "
            "with that, or start a new run, with another name="
        )


def _run(config: TrainConfig, start_step: int, say: Say) -> TrainResult:
    run = config.run
    attempt = 1 + len(list(run.logs.glob("verl_metrics.*.jsonl")))
    segment = run.logs / f"verl_metrics.{attempt}.jsonl"
    (run.logs / STOP_FILE).unlink(missing_ok=True)
    scratch = new_scratch()
    environment = _environment(config, segment)
    words = verl_overrides(config, ray_dir=scratch, environment=environment)
    command = [sys.executable, "-m", "verl.trainer.main_ppo", *words]
    run.command.write_text(shlex.join(command) + "\n", encoding="utf-8")
    warnings = EarlyWarnings(config.health, config.trainer.steps, _earlier_steps(run, start_step))
    follower = _Follower(config, MetricsTail(segment, run.metrics), warnings, say)
    say(f"starting Ray and verl takes about a minute; their output goes to {_log(run)}")
    with SupervisedCommand(command, _log(run), {**os.environ, **environment}, scratch) as trainer:
        while (code := trainer.poll()) is None:
            if not follower.read() and follower.silent_s > follower.bound_s:
                raise TrainingError(_hung_message(run, follower))
            time.sleep(POLL_S)
    follower.read()
    done = follower.last.step if follower.last else start_step
    if code != 0 or done < config.trainer.steps or follower.last is None:
        raise TrainingError(_failure_message(run, code, done, config.trainer.steps))
    return TrainResult(run, done, follower.last)


def _earlier_steps(run: RunFolder, start_step: int) -> list[StepMetrics]:
    """What was logged up to the step that a resume goes on from; nothing if it cannot be read: a run can do without."""
    try:
        logged = read_metrics(run.metrics) if start_step else []
    except DataError:
        return []
    return [metrics for metrics in logged if metrics.step <= start_step]


class _Follower:
    """Shows each step as it is logged and keeps time."""

    def __init__(self, config: TrainConfig, tail: MetricsTail, warnings: EarlyWarnings, say: Say) -> None:
        self._config = config
        self._tail = tail
        self._say = say
        self._heard = time.monotonic()
        self._warnings = warnings
        self.last: StepMetrics | None = None

    @property
    def silent_s(self) -> float:
        return time.monotonic() - self._heard

    @property
    def bound_s(self) -> float:
        trainer = self._config.trainer
        return trainer.start_timeout_s if self.last is None else trainer.step_timeout_s

    def read(self) -> bool:
        """Show what is new; return whether there was anything.

        Raises:
            TrainingError: A metric is no number, and the run is to end then.
        """
        fresh = self._tail.read_new()
        for metrics in fresh:
            for line in step_lines(metrics, self._config.trainer.steps):
                self._say(line)
            self.last = metrics
            broken = not_finite(metrics)
            if broken and self._config.trainer.stop_on_nan:
                raise TrainingError(f"{broken}: the run was ended" + _resume_hint(self._config.run))
            for line in self._warnings.look(metrics):
                self._say(line)
        if fresh:
            self._heard = time.monotonic()
        return bool(fresh)


def _environment(config: TrainConfig, segment: Path) -> dict[str, str]:
    """What verl's processes need in their environment; nothing secret, since it may stand in the command line."""
    env = {
        "VERL_FILE_LOGGER_PATH": str(segment.resolve()),
        "TENSORBOARD_DIR": str(config.run.path.resolve() / "tensorboard"),
        "WANDB_DIR": os.environ.get("WANDB_DIR", str(config.run.path.resolve())),
        "HF_HUB_OFFLINE": os.environ.get("HF_HUB_OFFLINE", "1"),
        "RAY_DEDUP_LOGS": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if config.trainer.device == "cpu":
        env |= {
            "VERL_USE_EXTERNAL_MODULES": "code_rlvr.train.verl_cpu.plugin",
            "VERL_PLATFORM": "cpu",
            "VERL_ENGINE_DEVICE": "cuda",  # the registry's name of the FSDP engine
            # Ray checks its logical GPUs against this list, real or not.
            "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(config.trainer.gpus_per_node))),
            # Threads of one process wait for each other by spinning, which costs most where other processes
            # are busy, and here they are: one thread each. Ranks are the way to use more cores.
            "OMP_NUM_THREADS": "1",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        }
    else:
        env["VERL_USE_EXTERNAL_MODULES"] = "code_rlvr.train.verl_gpu"
    return env


def _log(run: RunFolder) -> Path:
    return run.logs / "verl.log"


def _hung_message(run: RunFolder, follower: _Follower) -> str:
    phase = "while starting" if follower.last is None else f"since step {follower.last.step}"
    bound = "trainer.start_timeout_s" if follower.last is None else "trainer.step_timeout_s"
    return (
        f"the trainer has shown no sign of life for {follower.silent_s:.0f} s {phase} and was ended "
        f"({bound}={follower.bound_s:.0f}); its log is {_log(run)}" + _resume_hint(run)
    )


def _failure_message(run: RunFolder, code: int, done: int, steps: int) -> str:
    stop_file = run.logs / STOP_FILE
    if stop_file.exists():
        return f"training stopped after step {done}: {stop_file.read_text(encoding='utf-8').strip()}"
    tail = _log(run).read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return (
        f"the trainer ended with exit code {code} after step {done} of {steps}; the end of {_log(run)}:\n"
        + "\n".join(tail)
        + _resume_hint(run)
    )


def _resume_hint(run: RunFolder) -> str:
    last = checkpoints.last_step(run)
    if last is None:
        return ""
    return f"\nIts last checkpoint is step {last}; go on with: code-rlvr train --resume {run.path}"
