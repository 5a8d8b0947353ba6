"""Measures training steps on a GPU: seconds of each phase, and the most memory in use, for several settings.

    python benchmarks/gpu.py --steps 10 --cap-gib 24 \\
        --variant "as it is:" --variant "no log probabilities:-- actor_rollout_ref.rollout.calculate_log_probs=false" \\
        -- --preset single-gpu-0.5b --config run.toml

Each variant is a run of `code-rlvr train` with the words behind `--` and its own, one after another, each in a run
folder of its own below `--runs-dir`.  Seconds are medians over the steps but the first `--warm-up` ones.  Memory is
what `nvidia-smi` shows in use on the first card, sampled twice a second, less what was in use before.  With
`--cap-gib`, a process of ours holds all other memory of that card meanwhile, so that a run which needs more fails as it
would on a smaller card.  The run sees the whole card nevertheless: `rollout.gpu_memory_share` is a share of that, and
what saves memory has to be named (`actor.offload=true` and its like).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from code_rlvr.runs import RunFolder, read_metrics

PHASES = ("gen", "old_log_prob", "ref", "values", "adv", "update_critic", "update_actor", "update_weights", "step")
NVIDIA_SMI = ["nvidia-smi", "--id=0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
HOLD = """
import sys, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(free - int(float(sys.argv[1]) * 2**30), dtype=torch.uint8, device="cuda")
print("held", flush=True)
sys.stdin.read()
"""


def used_gib() -> float:
    """Memory in use on the first card."""
    return float(subprocess.run(NVIDIA_SMI, capture_output=True, text=True, check=True).stdout) / 1024


@contextmanager
def capped(gib: float | None) -> Iterator[None]:
    """Leave so much of the card to others; all of it with None."""
    if gib is None:
        yield
        return
    command = [sys.executable, "-c", HOLD, str(gib)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            if holder.stdout.readline() != b"held\n":
                raise SystemExit("the rest of the card could not be held; is something else running on it?")
            yield
        finally:
            holder.stdin.close()


class Peak:
    """The most memory in use while a block runs, over what was in use before."""

    def __enter__(self) -> Peak:
        """Begin to look."""
        self._before = used_gib()
        self.gib = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            self.gib = max(self.gib, used_gib() - self._before)


def run_variant(name: str, words: list[str], options: argparse.Namespace) -> str:
    """Train with one variant; return its row."""
    given, behind = words, []
    if "--" in words:
        given, behind = words[: words.index("--")], words[words.index("--") + 1 :]
    run = f"gpu-{int(time.time())}-{''.join(c if c.isalnum() else '-' for c in name)}"
    command = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "train", *options.train, *given]
    command += [f"name={run}", f"runs_dir={options.runs_dir}", f"trainer.steps={options.steps}"]
    command += ["--", *([] if options.save else ["trainer.save_freq=-1"]), *behind]
    with Peak() as peak:
        code = subprocess.run(command, check=False).returncode
    if code:
        return f"| {name} | ended with {code} |" + " |" * len(PHASES) + f" {peak.gib:.1f} |"
    steps = [
        step.data for step in read_metrics(RunFolder(options.runs_dir / run).metrics) if step.step > options.warm_up
    ]
    medians = [statistics.median(step.get(f"timing_s/{phase}", 0.0) for step in steps) for phase in PHASES]
    tokens = statistics.median(step["perf/total_num_tokens"] for step in steps)
    return f"| {name} | " + " | ".join(f"{value:.2f}" for value in medians) + f" | {tokens:,.0f} | {peak.gib:.1f} |"


def main() -> None:
    """Run every variant and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", metavar="NAME:WORDS", help="settings on top, maybe '-- words'")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm-up", type=int, default=2, help="steps that are not counted")
    parser.add_argument("--cap-gib", type=float, help="how much of the card a run may use")
    parser.add_argument("--save", action="store_true", help="save checkpoints, as the preset says")
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"))
    parser.add_argument("train", nargs="+", help="behind '--': words for code-rlvr train")
    options = parser.parse_args()
    rows = []
    with capped(options.cap_gib):
        for variant in options.variant or ["as it is:"]:
            name, _, words = variant.partition(":")
            rows.append(run_variant(name, words.split(), options))
            print(rows[-1], flush=True)
    columns = ["variant", *PHASES, "tokens", "GiB"]
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    print("\n".join(rows))


if __name__ == "__main__":
    main()
