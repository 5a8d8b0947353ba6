"""The process that EvalScope runs in: `python -m code_rlvr.evaluate.evalscope.worker JOB.json`.

Covered: from a job to a call of `run_task` for each benchmark.  Not covered: the environment that it needs, and what
becomes of its output (`process`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from code_rlvr.errors import CodeRlvrError
from code_rlvr.evaluate.evalscope.job import MODEL_ID, PREFIX, Job, Piece

FAILED = 3
"""Exit code after one of our errors, which the file `Job.failure` tells."""


def main(job_file: str) -> int:
    """Do a job.

    Returns:
        The exit code.
    """
    job = Job.model_validate_json(Path(job_file).read_bytes())
    try:
        _run(job)
    except CodeRlvrError as error:
        job.failure.write_text(json.dumps({"kind": type(error).__name__, "message": str(error)}), encoding="utf-8")
        return FAILED
    return 0


def _run(job: Job) -> None:
    with job.judging.judge() as judge:
        # Seconds to import, and the judge says first what is wrong with it.
        from evalscope import TaskConfig, run_task  # noqa: PLC0415

        from code_rlvr.evaluate.evalscope.adapters import register_benchmarks  # noqa: PLC0415

        register_benchmarks(judge)
        for piece in job.pieces:
            run_task(TaskConfig(**task_settings(job, piece)))


def task_settings(job: Job, piece: Piece) -> dict[str, Any]:
    """EvalScope's settings for one benchmark."""
    name = PREFIX + piece.benchmark
    resumed = (piece.folder / "predictions").is_dir()
    return {
        "model_id": MODEL_ID,
        **(_served(job) if job.api_url else _loaded(job)),
        "datasets": [name],
        "dataset_args": {
            name: {"local_path": str(piece.rows), **({} if job.system_role else _without_system_role(name))}
        },
        "dataset_hub": "local",
        "repeats": job.samples,
        "eval_batch_size": job.batch,
        "seed": job.seed,
        "work_dir": str(piece.folder),
        "use_cache": str(piece.folder) if resumed else None,
        "rerun_review": resumed,  # else a server on another port would count as another evaluation, and be refused
        "no_timestamp": True,
    }


def _without_system_role(name: str) -> dict[str, str | None]:
    from evalscope.api.registry import BENCHMARK_REGISTRY  # noqa: PLC0415  as above

    benchmark = BENCHMARK_REGISTRY[name]
    if not benchmark.system_prompt:
        return {}
    return {"system_prompt": None, "prompt_template": f"{benchmark.system_prompt}\n\n{benchmark.prompt_template}"}


def _served(job: Job) -> dict[str, Any]:
    # No seed: EvalScope would send the same with every sample of a problem, and get the same answer.
    sampling = {"temperature": job.temperature, "top_p": job.top_p, "max_tokens": job.max_new_tokens}
    return {"model": job.model, "eval_type": "openai_api", "api_url": job.api_url, "generation_config": sampling}


def _loaded(job: Job) -> dict[str, Any]:
    import torch  # noqa: PLC0415  a server needs none

    gpu = torch.cuda.is_available()
    sampling: dict[str, Any] = {"max_tokens": job.max_new_tokens, "do_sample": job.temperature > 0}
    if job.temperature > 0:
        sampling.update(temperature=job.temperature, top_p=job.top_p, top_k=0)  # 0 is all; else the folder's own
    return {
        "model": job.model,
        "eval_type": "llm_ckpt",
        # A CPU computes slowly in half precision, which is EvalScope's default.
        "model_args": {"precision": "auto" if gpu else "float32", "device_map": "cuda" if gpu else "cpu"},
        "generation_config": sampling,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
