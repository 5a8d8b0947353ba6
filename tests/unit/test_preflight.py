"""What is said before a run starts, instead of after a minute of loading."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from code_rlvr.config import load_config
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import (
    ConfigError,
    DataError,
    ModelError,
    PreflightError,
    TestsFormatError,
    Unjudged,
    VersionMismatch,
)
from code_rlvr.ground_truth import Tests
from code_rlvr.train import preflight
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.fit_gpu import fit_gpu
from code_rlvr.train.preflight import (
    check_training,
    cluster,
    examine,
    gpu,
    inputs,
    judging,
    machine,
    prompts,
    settings,
)
from code_rlvr.train.presets import find_preset, preset_names
from code_rlvr.train.versions import check_companions
from code_rlvr.types import Problem
from code_rlvr.verifier.judge import Judge

PROBLEM = Problem("p1", "Print 1.", Tests.stdio([""], ["1"]), "toy")


def test_too_little_memory_is_said_with_what_is_free_and_what_is_needed() -> None:
    with pytest.raises(PreflightError, match=r"GiB of memory is free, the run needs about 1000000\.0 GiB"):
        machine.check_memory(1e6)


def test_a_gpu_run_without_a_compiler_or_pythons_headers_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(machine.sysconfig, "get_paths", lambda _scheme: {"include": str(tmp_path)})
    with pytest.raises(PreflightError, match="apt-get install gcc"):
        machine.check_compiler()
    compiler = tmp_path / "clang"
    compiler.touch(mode=0o755)
    assert machine.check_compiler() == str(compiler)
    monkeypatch.setenv("CC", "zig cc")
    assert machine.check_compiler() == "zig cc"
    (tmp_path / "Python.h").unlink()
    with pytest.raises(PreflightError, match=r"Python\.h is missing.*python3-dev"):
        machine.check_compiler()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trainer.device=cpu"], "none needed"),
        (["trainer.device=cuda", "trainer.ray_address=auto"], "the cluster's machines"),
    ],
)
def test_a_compiler_is_looked_for_where_gpus_are(words: list[str], said: str) -> None:
    assert said in preflight.CHECKS["compiler"](load_config(TrainConfig, None, words))


def test_too_little_disk_is_said_even_for_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="GiB of disk is free"):
        machine.check_disk(tmp_path / "runs" / "new", 1e6)
    machine.check_disk(tmp_path / "runs" / "new", 0.001)


def test_prepared_data_passes(tmp_path: Path) -> None:
    write_parquet(tmp_path / "train.parquet", [PROBLEM] * 4, split="train")
    assert inputs.check_data(tmp_path / "train.parquet", minimum=4) == "4"


def test_of_many_tests_a_sample_over_the_whole_file_is_parsed_and_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "train.parquet"
    write_parquet(file, [replace(PROBLEM, problem_id=f"p{number}") for number in range(256 * 8)], split="train")
    with pq.ParquetFile(file) as parquet:
        monkeypatch.setattr(inputs, "PARSED_MIB", inputs.tests_mib(parquet) / 3.5)
        assert [row for row, _, _ in inputs.rows_to_parse(parquet)] == [*range(256), *range(1024, 1280)]
    assert inputs.check_data(file, minimum=1) == "a sample of 512 of 2,048"


def test_of_one_large_row_group_no_more_is_parsed_than_of_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "train.parquet"
    pq.write_table(pa.concat_tables([rows()] * 3000), file)
    with pq.ParquetFile(file) as parquet:
        monkeypatch.setattr(inputs, "PARSED_MIB", inputs.tests_mib(parquet) / 10)
    assert inputs.check_data(file, minimum=1) == "a sample of 512 of 3,000"


def test_data_that_is_too_short_missing_or_no_parquet_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    with pytest.raises(DataError, match="does not exist"):
        inputs.check_data(file, minimum=1)
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="is no parquet file; make one of it with: code-rlvr prepare"):
        inputs.check_data(file, minimum=1)
    write_parquet(file, [PROBLEM], split="train")
    with pytest.raises(DataError, match="1 rows, fewer than the 64"):
        inputs.check_data(file, minimum=64)


def rows(**changes: object) -> pa.Table:
    row = {
        "prompt": [{"role": "user", "content": "Print 1."}],
        "reward_model": {"style": "rule", "ground_truth": PROBLEM.tests.to_json()},
        "data_source": "toy",
        "extra_info": {"index": 0},
        **changes,
    }
    return pa.Table.from_pylist([{name: value for name, value in row.items() if value is not None}])


def test_a_missing_column_a_plain_prompt_and_broken_tests_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    pq.write_table(rows(data_source=None), file)
    with pytest.raises(DataError, match="data_source"):
        inputs.check_data(file, minimum=1)
    pq.write_table(rows(prompt="Print 1."), file)
    with pytest.raises(DataError, match="list of chat messages"):
        inputs.check_data(file, minimum=1)
    broken = json.dumps({"inputs": ["1", "2"], "outputs": ["1"]})
    pq.write_table(rows(reward_model={"style": "rule", "ground_truth": broken}), file)
    with pytest.raises(TestsFormatError, match=r"0 of .*train\.parquet"):
        inputs.check_data(file, minimum=1)


def test_a_logger_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    with pytest.raises(PreflightError, match="pip install tensorboard"):
        machine.check_loggers(["tensorboard"])


def test_wandb_without_a_login_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    with pytest.raises(PreflightError, match="wandb login"):
        machine.check_loggers(["wandb"])
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password x")
    (tmp_path / ".netrc").chmod(0o600)
    machine.check_loggers(["wandb"])
    (tmp_path / ".netrc").unlink()
    monkeypatch.setenv("WANDB_MODE", "offline")
    machine.check_loggers(["wandb"])


def test_a_problem_in_both_splits_is_named(tmp_path: Path) -> None:
    train, validation = tmp_path / "train.parquet", tmp_path / "validation.parquet"
    problems = [replace(PROBLEM, statement=f"Print {number}.") for number in range(6)]
    write_parquet(train, problems[:4], split="train")
    write_parquet(validation, problems[4:], split="validation")
    found = prompts.check_splits(train, validation)
    assert found == prompts.HeldOut(2, hashlib.sha256(validation.read_bytes()).hexdigest())
    write_parquet(validation, [replace(PROBLEM, statement="PRINT  2.")], split="validation")
    with pytest.raises(DataError, match=r"train\.parquet: row 3 is in .*validation"):
        prompts.check_splits(train, validation)


def test_one_file_for_training_and_validation_is_refused_by_whatever_name(tmp_path: Path) -> None:
    train, link = tmp_path / "train.parquet", tmp_path / "validation.parquet"
    write_parquet(train, [PROBLEM], split="train")
    link.symlink_to(train)
    with pytest.raises(DataError, match="is the training file too"):
        prompts.check_splits(train, link)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    train_tokenizer = pytest.importorskip("code_rlvr.train.tokenizer").train_tokenizer
    train_tokenizer(["Print a number."] * 3, 400, 200).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_prompts_are_measured_and_have_to_survive_the_template(tmp_path: Path, tokenizer: Path) -> None:
    file = tmp_path / "train.parquet"
    write_parquet(
        file, [replace(PROBLEM, statement="Print " * length) for length in (2, 2, 60)], split="train", instruction=""
    )
    assert prompts.check_prompts(file, tokenizer, 100) == prompts.Measured(3, 3, pytest.approx(1 / 3))
    with pytest.raises(DataError, match="100% of 3 prompts"):
        prompts.check_prompts(file, tokenizer, 3)
    (tokenizer / "chat_template.jinja").write_text("{{ raise_exception('no ' + messages[0].role) }}")
    with pytest.raises(ModelError, match="refuses a prompt: no user"):
        prompts.check_prompts(file, tokenizer, 100)
    (tokenizer / "chat_template.jinja").write_text("{{ messages[0].content[:5] }}")
    with pytest.raises(ModelError, match="loses what a prompt says"):
        prompts.check_prompts(file, tokenizer, 100)


def test_a_sample_of_many_prompts_is_spread_over_the_file(tmp_path: Path, tokenizer: Path) -> None:
    file = tmp_path / "train.parquet"
    # The last tenth is too long: whoever looks at the first prompts only sees nothing of it.
    statements = ["Print 1." if number < 900 else "Print " * 60 for number in range(1000)]
    write_parquet(file, [replace(PROBLEM, statement=one) for one in statements], split="train", instruction="")
    assert prompts.check_prompts(file, tokenizer, 100) == prompts.Measured(200, 1000, pytest.approx(0.1))


def test_prompts_are_rendered_and_counted_as_the_tokenizer_that_verl_loads_does(tokenizer: Path) -> None:
    from transformers import AutoTokenizer

    settings_file = tokenizer / "tokenizer_config.json"
    named = {**json.loads(settings_file.read_text()), "bos_token": {"__type": "AddedToken", "content": "<|user|>"}}
    settings_file.write_text(json.dumps(named))
    (tokenizer / "chat_template.jinja").write_text(
        "{{ bos_token }}\n{%- for message in messages %}\n    {{- message.content | tojson }}{{ eos_token }}\n"
        "{%- endfor %}{% if add_generation_prompt %}go{% endif %}"
    )
    chat = [{"role": "user", "content": 'Print a number, "5"  <|end|> é.'}]
    render, count_tokens = prompts.chat_text(tokenizer)
    theirs = AutoTokenizer.from_pretrained(tokenizer)
    text = theirs.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert render(chat) == text
    assert count_tokens(text) == len(theirs(text, add_special_tokens=False)["input_ids"])
    (tokenizer / "tokenizer.json").rename(tokenizer / "away.json")
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        prompts.chat_text(tokenizer)


QWEN = {
    "0.5b": (494_000_000, {"hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24}),
    "1.5b": (1_544_000_000, {"hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28}),
}
"""Weights and shape of Qwen2.5-Coder by its size."""


def qwen(folder: Path, size: str) -> Path:
    """A folder with a model of that shape, whose weights file has the size of the real one, without taking its room."""
    weights, shape = QWEN[size]
    folder = folder / size
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**shape, "vocab_size": 151_936, "torch_dtype": "bfloat16"}))
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(2 * weights)
    return folder


def gpu_config(folder: Path, preset: str, *words: str, size: str = "0.5b") -> TrainConfig:
    """The preset with all savings, and a model of Qwen2.5-Coder's shape; a critic of its own is the smaller one."""
    savings = [
        "actor.offload=true",
        "critic.offload=true",
        "reference.offload=true",
        "actor.gradient_checkpointing=true",
    ]
    config = load_config(TrainConfig, None, [f"model={qwen(folder, size)}", *savings, *words], base=find_preset(preset))
    if not config.critic.model:
        return config
    return config.model_copy(update={"critic": config.critic.model_copy(update={"model": str(qwen(folder, "0.5b"))})})


@pytest.mark.parametrize(
    ("preset", "size"),
    [("single-gpu-0.5b", "0.5b"), ("single-gpu-0.5b-grpo", "0.5b"), ("single-gpu-1.5b-lora", "1.5b")],
)
def test_presets_for_one_card_fit_24_gib_by_the_estimate(preset: str, size: str, tmp_path: Path) -> None:
    config = gpu_config(tmp_path, preset, size=size)
    need = gpu.estimate(config)
    assert need.training < 0.85 * 24
    assert need.sampling + 24 * config.rollout.gpu_memory_share < 0.85 * 24


def test_a_critic_as_large_as_a_model_with_adapters_does_not_fit_24_gib(tmp_path: Path) -> None:
    assert gpu.estimate(gpu_config(tmp_path, "single-gpu-1.5b-lora", "critic.model=", size="1.5b")).training > 24


def test_checkpoints_are_counted_as_they_lie_on_the_disk(tmp_path: Path) -> None:
    def need_gib(*words: str) -> float:
        config = gpu_config(tmp_path, "single-gpu-0.5b", "trainer.steps=100", "trainer.save_every=10", *words)
        return machine.disk_need_gib(config) - machine.FREE_DISK_GIB

    one = 2 * 12 * QWEN["0.5b"][0] / 2**30  # actor and critic
    assert need_gib("trainer.keep_checkpoints=3") == pytest.approx(3 * one)
    assert need_gib("trainer.keep_checkpoints=1") == pytest.approx(2 * one), "the old one goes last"
    assert need_gib("trainer.steps=10", "trainer.keep_checkpoints=3") == pytest.approx(one), "it saves only once"
    grpo = ["algorithm.estimator=grpo", "rollout.samples_per_prompt=4"]
    assert need_gib(*grpo, "trainer.keep_checkpoints=2") == pytest.approx(one), "there is no critic"
    assert need_gib("actor.lora_rank=8", "trainer.keep_checkpoints=3") == pytest.approx(3 * one * 16 / 24)


def test_a_critic_that_reads_other_tokens_is_refused(tokenizer: Path, tmp_path: Path) -> None:
    assert inputs.check_critic(tokenizer, tokenizer) > 0
    other = tmp_path / "other"
    shutil.copytree(tokenizer, other)
    kept = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
    first, second, *_ = kept["model"]["vocab"]
    kept["model"]["vocab"][first], kept["model"]["vocab"][second] = (kept["model"]["vocab"][x] for x in (second, first))
    (other / "tokenizer.json").write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(ModelError, match=r"2 of [\d,]+ tokens of .* mean something else in .*critic\.model="):
        inputs.check_critic(tokenizer, other)


def test_the_half_billion_preset_fits_a_card_of_24_gib_and_not_one_of_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = gpu_config(tmp_path, "single-gpu-0.5b")
    monkeypatch.setattr(gpu, "list_gpus", lambda: [24.0])
    assert "an estimate" in gpu.check_gpus(config)
    monkeypatch.setattr(gpu, "list_gpus", lambda: [8.0])
    with pytest.raises(PreflightError, match=r"needs about \d+ GiB of a GPU's 8 GiB \(an estimate\); actor\.offload"):
        gpu.check_gpus(config)
    monkeypatch.setattr(gpu, "list_gpus", lambda: [])
    with pytest.raises(PreflightError, match=r"shows 0 GPUs, trainer\.gpus_per_node asks for 1"):
        gpu.check_gpus(config)


def test_what_saves_memory_lowers_the_estimate(tmp_path: Path) -> None:
    base = gpu.estimate(gpu_config(tmp_path, "single-gpu-0.5b")).training
    for word in ("actor.offload=false", "actor.fused_logits=false", "actor.gradient_checkpointing=false"):
        assert gpu.estimate(gpu_config(tmp_path, "single-gpu-0.5b", word)).training > base + 1, word
    for word in ("actor.lora_rank=32", "actor.micro_batch_tokens=2048", "trainer.gpus_per_node=2"):
        assert gpu.estimate(gpu_config(tmp_path, "single-gpu-0.5b", word)).training <= base, word


def test_a_check_can_be_skipped_by_its_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(config: TrainConfig) -> str:
        raise PreflightError("no")

    monkeypatch.setattr(preflight, "CHECKS", {"one": lambda config: "fine", "two": fail})
    config = TrainConfig()
    with pytest.raises(PreflightError, match="no"):
        check_training(config)
    check_training(config, skip=["two"])
    with pytest.raises(ConfigError, match="there is no check three; known are one, two"):
        check_training(config, skip=["three"])
    assert list(examine(config)) == [("one", True, "fine"), ("two", False, "no")]


def test_a_check_whose_ground_is_missing_says_so(tmp_path: Path) -> None:
    found = {name: (passed, detail) for name, passed, detail in examine(TrainConfig(model=str(tmp_path)))}
    assert found["data"][0] is False
    assert found["splits"] == (False, "not looked at, for want of data")
    assert found["prompts"] == (False, "not looked at, for want of data and model")


def test_a_word_for_verl_that_is_no_override_is_named() -> None:
    pytest.importorskip("hydra")
    machine.check_words(["actor_rollout_ref.actor.grad_clip=0.5", "+a.b={c:1}", "~data.seed"])
    with pytest.raises(ConfigError, match="'raw' is no override for verl"):
        machine.check_words(["raw"])


@pytest.mark.parametrize(
    "word",
    [
        "+actor_rollout_ref.rollout.agent.agent_loop_manager_class=a.B",
        "~actor_rollout_ref.rollout.agent",
        "trainer.v1.sampler={}",
        "trainer.v1.sampler.custom_sampler.name=Other",
        "reward.custom_reward_function.path=/other.py",
    ],
)
def test_a_word_for_verl_that_takes_away_what_a_run_needs_is_refused(word: str) -> None:
    pytest.importorskip("hydra")
    with pytest.raises(ConfigError, match=r"which code-rlvr sets \(.*\); leave it out"):
        machine.check_words([word])
    machine.check_words(["actor_rollout_ref.rollout.agent.num_workers=2", "reward.num_workers=2"])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("reward.time_limit_s=inf", r"reward\.time_limit_s=inf is no bound"),
        ("trainer.step_timeout_s=inf", r"trainer\.step_timeout_s=inf is no bound"),
        ("reward.time_limit_s=120", r"raise reward\.deadline_s"),
        ("reward.deadline_s=600", r"raise trainer\.step_timeout_s, or lower reward\.deadline_s"),
        ("trainer.start_timeout_s=inf", r"trainer\.start_timeout_s=inf is no bound"),
    ],
)
def test_a_bound_in_time_that_bounds_nothing_is_refused(word: str, message: str) -> None:
    assert settings.check_limits(TrainConfig()) == "1 s of CPU a test, 120 s a program, 600 s a step"
    with pytest.raises(ConfigError, match=message):
        settings.check_limits(load_config(TrainConfig, None, [word]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trainer.gpus_per_node=3", "actor.micro_batch_tokens=4096"], r"\(32\) must be a multiple of the 3 ranks"),
        (["trainer.gpus_per_node=4", "actor.micro_batch=8", "rollout.tensor_parallel=3"], "must divide the 4 ranks"),
        (["trainer.gpus_per_node=2", "actor.micro_batch=8", "rollout.tensor_parallel=2"], "engine=hf"),
        (["actor.micro_batch_tokens=127"], "does not hold one sample of 128 tokens"),
    ],
)
def test_batches_that_verl_could_not_divide_are_refused(words: list[str], message: str) -> None:
    assert settings.check_batches(TrainConfig()) == "2 updates a step, of 32 samples on each of 1 ranks"
    with pytest.raises(ConfigError, match=message):
        settings.check_batches(load_config(TrainConfig, None, words))


def test_every_preset_passes_the_checks_of_its_settings() -> None:
    for preset in preset_names():
        config = fit_gpu(load_config(TrainConfig, None, [], base=find_preset(preset)))
        settings.check_limits(config)
        settings.check_batches(config)
        judging.check_reward(config)


def test_the_judge_is_tried_before_a_run_starts() -> None:
    started = time.monotonic()
    assert "right about 6 planted programs" in judging.check_judge(TrainConfig())
    assert time.monotonic() - started < 20  # a fraction of a second on a machine that has nothing else to do


def test_a_judge_that_is_wrong_about_a_program_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tests, right, _ = judging.PLANTED[0]
    monkeypatch.setattr(judging, "PLANTED", [(tests, right, right)])
    with pytest.raises(PreflightError, match="says ACCEPTED of a planted program that is WRONG_ANSWER"):
        judging.check_judge(TrainConfig())


def test_a_judge_that_breaks_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise Unjudged("planted")

    monkeypatch.setattr(Judge, "judge", break_down)
    with pytest.raises(PreflightError, match=r"the judge broke: planted; see .* code-rlvr doctor"):
        judging.check_judge(TrainConfig())


def test_an_interpreter_for_solutions_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match="/no/python"):
        judging.check_judge(load_config(TrainConfig, None, ["reward.python=/no/python"]))


def test_what_form_is_worth_is_said() -> None:
    assert "form earns nothing" in judging.check_reward(TrainConfig())
    tiered = load_config(TrainConfig, None, ["reward.policy=tiered"])
    assert judging.check_reward(tiered) == "tiered: form earns 0.1, less than the 0.9 of the tests"


OWN_REWARD = "from code_rlvr import reward\ndef compute_score(*args, **kwargs):\n    "


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "does not exist"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("", "no attribute 'compute_score'"),
        ("def compute_score(solution_str): return {}", "unexpected keyword argument"),
        (OWN_REWARD + "return {'score': 1.0}", "returns no pass_rate, format"),
        (OWN_REWARD + "import time; time.sleep(60)", "took more than 3 s"),
    ],
)
def test_a_reward_function_of_the_users_own_that_cannot_serve_is_refused(
    source: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.py"
    if source is not None:
        if "sleep" in source:
            monkeypatch.setattr(judging, "REWARD_FILE_S", 3.0)
        file.write_text(source, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        judging.check_reward(load_config(TrainConfig, None, [f"reward.file={file}"]))


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_reward_function_of_the_users_own_that_returns_our_keys_passes(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    source = OWN_REWARD.replace("def", kind) + "print('noise')\n    return reward.compute_score(*args, **kwargs)\n"
    file.write_text(source, encoding="utf-8")
    assert "returns the keys of ours" in judging.check_reward(load_config(TrainConfig, None, [f"reward.file={file}"]))


def test_ports_can_be_bound_here_and_what_forbids_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ports can be bound" in cluster.check_ray(None)
    monkeypatch.setattr(cluster, "LOCALHOST", "203.0.113.1")  # of no machine: RFC 5737
    with pytest.raises(PreflightError, match=r"no port of 203\.0\.113\.1 can be bound"):
        cluster.check_ray(None)


def test_an_address_at_which_nothing_or_no_cluster_answers_is_refused_in_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "CLUSTER_S", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(PreflightError, match=f"nothing answers at trainer.ray_address={address}"):
            cluster.check_ray(address)
        silent.listen(1)
        started = time.monotonic()
        with pytest.raises(PreflightError, match=r"does not answer as a Ray cluster within 0 s|no Ray cluster"):
            cluster.check_ray(address)
        assert time.monotonic() - started < 10
    with pytest.raises(PreflightError, match="is no address"):
        cluster.check_ray("somewhere")


def plant_versions(monkeypatch: pytest.MonkeyPatch, **installed: str) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    requires = [
        "transformers!=5.6.0,<5.11,>=5.5.3",
        'torch==2.11.0; extra == "vllm"',
        'vllm==0.24.0; extra == "vllm"',
        'transformers==5.9.0; extra == "vllm"',
    ]
    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "requires", lambda name: requires)


def test_versions_that_were_tried_pass_whatever_their_build(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_versions(monkeypatch, torch="2.11.0+cu130", transformers="5.9.0", vllm="0.24.1")
    assert check_companions("cuda", "vllm") == "torch 2.11.0+cu130, transformers 5.9.0, vllm 0.24.1"
    plant_versions(monkeypatch, torch="2.13.0+cpu", transformers="5.9.0")
    assert check_companions("cpu", "hf") == "torch 2.13.0+cpu, transformers 5.9.0"


def test_versions_that_verl_allows_but_nobody_tried_pass_and_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_versions(monkeypatch, torch="2.12.1", transformers="5.10.2")
    assert (
        check_companions("cpu", "hf") == "torch 2.12.1 (not tried, 2.13 was), transformers 5.10.2 (not tried, 5.9 was)"
    )


@pytest.mark.parametrize(
    ("installed", "message"),
    [
        (
            {"transformers": "5.6.0"},
            r"transformers 5\.6\.0 is installed, but verl 0\.9\.1 asks for transformers!=5\.6\.0",
        ),
        ({"transformers": "4.57.0"}, r"pip install 'code-rlvr\[gpu\]', or: pip install 'transformers==5\.9\.\*'"),
        ({"torch": "2.13.0"}, r"torch 2\.13\.0 is installed, but verl 0\.9\.1 asks for torch==2\.11\.0"),
        ({"vllm": "0.32.0"}, r"vllm 0\.32\.0 is installed"),
        ({"vllm": ""}, r"vllm is not installed; run: pip install 'code-rlvr\[gpu\]'"),
    ],
)
def test_versions_that_verl_cannot_work_with_are_refused_with_the_command(
    installed: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = {"torch": "2.11.0", "transformers": "5.9.0", "vllm": "0.24.0"}
    plant_versions(monkeypatch, **{name: version for name, version in {**working, **installed}.items() if version})
    with pytest.raises(VersionMismatch, match=message):
        check_companions("cuda", "vllm")
