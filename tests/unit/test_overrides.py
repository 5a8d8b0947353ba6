"""Our configuration against verl's own: it must compose and validate without starting anything."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from code_rlvr.config import load_config
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.fit_gpu import fit_gpu
from code_rlvr.train.overrides import verl_overrides
from code_rlvr.train.presets import find_preset, preset_names

pytest.importorskip("verl", reason="needs the training extra")
pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model folder of a few kilobytes; verl's validation reads its configuration and tokenizer."""
    from code_rlvr.train.warmstart import WarmStartSettings, warm_start

    folder = tmp_path_factory.mktemp("models") / "tiny"
    settings = WarmStartSettings(hidden_size=16, layers=1, heads=2, intermediate_size=16, steps=1, threads=1)
    warm_start(folder, [("Print a number.", "```python\nprint(1)\n```")] * 20, settings)
    return folder


def composed(model: Path | str, *words: str) -> object:
    """Compose verl's configuration with the overrides of a run."""
    from hydra import compose, initialize_config_module

    config = load_config(TrainConfig, None, [f"model={model}", "data.train_file=t.parquet", *words])
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=verl_overrides(config, ray_dir=Path("/tmp/r")))


@pytest.fixture(params=["gae", "grpo"])
def words(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "gae":
        return []
    return ["algorithm.estimator=grpo", "rollout.samples_per_prompt=4", "trainer.batch=16", "actor.mini_batch=8"]


def test_the_overrides_pass_verls_own_validation(words: list[str], model: Path) -> None:
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    config = composed(model, *words)
    assert need_critic(config) == (not words)
    assert need_reference_policy(config)
    validate_config(config=config, use_reference_policy=True, use_critic=need_critic(config))


def test_the_reward_function_is_ours_under_the_key_that_verl_reads() -> None:
    from verl.trainer.ppo.reward import get_custom_reward_fn

    config = composed("m")
    function = get_custom_reward_fn(config)
    assert function is not None
    assert function.args[0].__module__ == "code_rlvr.reward"
    assert function.args[1]["policy"]["name"] == "pass_rate"
    # Every word of it is one that the function takes.
    tests = {"inputs": ["1"], "outputs": ["1"]}
    assert function("toy", "```python\nprint(input())\n```", tests, {}, verdict_dir=None)["accepted"] == 1


def test_a_path_with_spaces_and_quotes_survives_hydra() -> None:
    config = composed("m", "runs_dir=it's a folder")
    assert "it's a folder" in config.trainer.default_local_dir  # type: ignore[attr-defined]


def test_the_command_can_be_pasted_into_a_shell() -> None:
    words = verl_overrides(load_config(TrainConfig, None, ["model=m", "runs_dir=it's"]))
    assert shlex.split(shlex.join(words)) == words


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_composes_and_passes_verls_own_validation(preset: str, model: Path) -> None:
    from hydra import compose, initialize_config_module
    from verl.trainer.ppo.utils import need_critic
    from verl.utils.config import validate_config

    words = [f"model={model}", "data.train_file=t.parquet"]
    config = fit_gpu(load_config(TrainConfig, None, words, base=find_preset(preset)))
    if config.critic.model:  # on the hub
        config = config.model_copy(update={"critic": config.critic.model_copy(update={"model": str(model)})})
    with initialize_config_module("verl.trainer.config", version_base=None):
        composed = compose("ppo_trainer", overrides=verl_overrides(config, ray_dir=Path("/tmp/r")))
    if config.actor.lora_rank and find_spec("vllm") is None:
        composed.actor_rollout_ref.rollout.name = "sglang"  # verl asks vLLM itself whether it takes the rank
    validate_config(config=composed, use_reference_policy=True, use_critic=need_critic(composed))
    assert need_critic(composed) == ("grpo" not in preset)


def test_updates_compute_an_entropy_only_where_it_is_part_of_the_loss() -> None:
    # verl adds the case of a coefficient itself; actor/entropy comes from the pass for old log-probabilities.
    assert composed("m").actor_rollout_ref.actor.calculate_entropy is False  # type: ignore[attr-defined]


def critics_engine(*words: str) -> object:
    """What the critic's engine is told, by the lines of verl's trainer that tell it."""
    from verl.utils.config import omega_conf_to_dataclass

    critic = omega_conf_to_dataclass(composed("m", *words).critic)  # type: ignore[attr-defined]
    critic.engine.infer_max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    critic.engine.max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    return critic.engine


def test_the_critics_passes_are_of_so_many_tokens_as_the_actors(model: Path) -> None:
    engine = critics_engine(f"critic.model={model}", "actor.micro_batch_tokens=4096")
    assert engine.use_dynamic_bsz
    assert engine.max_token_len_per_gpu == engine.infer_max_token_len_per_gpu == 4096


def test_the_critics_passes_are_of_so_many_samples_as_the_actors(model: Path) -> None:
    engine = critics_engine(f"critic.model={model}", "actor.micro_batch=16", "actor.mini_batch=16")
    assert not engine.use_dynamic_bsz
    assert engine.micro_batch_size_per_gpu == engine.infer_micro_batch_size_per_gpu == 16


@pytest.mark.parametrize("words", [[], ["actor.compile_layers=false"]])
def test_layers_of_all_models_are_compiled_unless_it_is_said_otherwise(words: list[str]) -> None:
    config: Any = composed("m", "trainer.device=cuda", *words)
    parts = (config.actor_rollout_ref.actor.fsdp_config, config.actor_rollout_ref.ref.fsdp_config, config.critic.fsdp)
    assert [part.use_torch_compile for part in parts] == [not words] * 3


def test_words_for_verl_come_last() -> None:
    config = load_config(TrainConfig, None, ["model=m", 'verl=["actor_rollout_ref.actor.grad_clip=0.5"]'])
    assert verl_overrides(config)[-1] == "actor_rollout_ref.actor.grad_clip=0.5"


@pytest.mark.parametrize("device", [[], ["trainer.device=cuda", "rollout.engine=vllm"]])
def test_a_cluster_that_runs_already_gets_our_environment_and_no_sizes(device: list[str]) -> None:
    from hydra import compose, initialize_config_module

    words = ["data.train_file=t.parquet", "trainer.ray_address=auto", *device]
    environment = {"VERL_USE_EXTERNAL_MODULES": "ours", "VERL_FILE_LOGGER_PATH": "/a b/c.jsonl"}
    with initialize_config_module("verl.trainer.config", version_base=None):
        given = verl_overrides(
            load_config(TrainConfig, None, words),
            ray_dir=Path("/tmp/r"),
            environment={**environment, "CUDA_VISIBLE_DEVICES": "0"},
        )
        ray = compose("ppo_trainer", overrides=given).ray_kwargs.ray_init
    assert ray.address == "auto"
    assert dict(ray.runtime_env.env_vars) == environment
    # Ray refuses these when it joins a cluster.
    assert not {"num_gpus", "object_store_memory", "_temp_dir", "include_dashboard"} & set(ray)
    assert ray.num_cpus is None


def test_what_is_passed_to_a_cluster_holds_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from code_rlvr.train.launch import _environment

    for name in ("WANDB_API_KEY", "CODE_RLVR_TOKEN", "HF_TOKEN"):
        monkeypatch.setenv(name, "secret-value")
    passed = _environment(TrainConfig(), tmp_path / "segment")
    assert "secret-value" not in " ".join(passed.values())
