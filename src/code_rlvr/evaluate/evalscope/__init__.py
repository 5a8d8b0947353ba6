"""EvalScope's own evaluation of a model, with programs judged in our sandbox and results in our form.

| module | in which process | what it does |
|---|---|---|
| `run` | ours | the command: models in, scores and comparisons out |
| `rows` | ours | benchmarks as files that EvalScope reads |
| `process` | ours | starts EvalScope, watches it, says why it ended |
| `served` | ours | vLLM behind an OpenAI-compatible address on this machine |
| `results` | ours | EvalScope's predictions, reviews and report, as our samples |
| `job` | both | what one process is to do |
| `worker` | EvalScope's | does it |
| `adapters` | EvalScope's | its benchmarks, registered once more with our judge |

Covered: HumanEval, LiveCodeBench, GSM8K.  Not covered: EvalScope's other benchmarks, its own sandbox, its hubs.
"""

PINNED_EVALSCOPE = "1.14.1"
"""The version that this package drives."""
