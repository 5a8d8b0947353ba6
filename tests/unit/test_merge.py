"""Merging, but for verl's own merger: reading shards, proving a folder, choosing a step, taking a folder's place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("verl", reason="needs the training extra")

from safetensors.torch import load_file, save_file  # noqa: E402

from code_rlvr.errors import CodeRlvrError, ModelError, PreflightError, TrainingError, UsageError  # noqa: E402
from code_rlvr.runs import RunFolder  # noqa: E402
from code_rlvr.train import checkpoints, merge  # noqa: E402
from code_rlvr.train.merge import adapter, folder, proof, staging  # noqa: E402
from code_rlvr.train.merge.shards import Shards  # noqa: E402
from code_rlvr.train.merge.weights import TrainedWeights  # noqa: E402
from tests.unit.verl_checkpoint import add_adapters, make_model, write_run, write_shards  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


class Checkpoint:
    """A run with one checkpoint, and the folder that a right merge of it would be."""

    def __init__(
        self, path: Path, *, tied: bool = True, adapters: bool = False, ranks: int = 2, spread: float = 0.2
    ) -> None:
        self.run = RunFolder(path / "runs" / "first")
        self.base = path / "base"
        self.model: Any = make_model(self.base, tied=tied, spread=spread)
        if adapters:
            self.model = add_adapters(self.model)
        self.actor = write_run(self.run, self.base, self.model, ranks=ranks)
        self.merged = path / "merged"
        whole = self.model.merge_and_unload() if adapters else self.model
        whole.to(torch.bfloat16).save_pretrained(self.merged)
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            (self.merged / name).write_bytes((self.base / name).read_bytes())

    def prove(self) -> proof.Proof:
        with staging.staged(self.actor, self.base) as staged:
            return proof.prove_merged(self.merged, TrainedWeights(self.actor), staging.settings_folder(staged))

    def change_weights(self, change: Callable[[dict[str, Any]], None]) -> None:
        file = self.merged / "model.safetensors"
        tensors = load_file(file)
        change(tensors)
        save_file({name: tensor.clone() for name, tensor in tensors.items()}, file, {"format": "pt"})

    def change_config(self, **values: Any) -> None:
        file = self.merged / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("replicas", [1, 2])
def test_shards_of_any_number_of_ranks_make_the_trained_tensors(ranks: int, replicas: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    state = {"weight": torch.randn(5, 3), "bias": torch.randn(2), "half": torch.randn(4, 4).bfloat16()}
    write_shards(tmp_path, state, ranks, replicas)
    shards = Shards(tmp_path)
    assert shards.names == list(state)
    assert shards.ranks == ranks
    for name, tensor in state.items():
        assert shards.whole(name).dtype == tensor.dtype
        assert torch.equal(shards.whole(name), tensor)


def test_tensors_that_every_rank_has_must_be_equal(tmp_path: Path) -> None:
    write_shards(tmp_path, {}, 2)
    for rank in range(2):
        torch.save({"same": torch.ones(3), "other": torch.full((3,), float(rank))}, tmp_path / _shard(2, rank))
    shards = Shards(tmp_path)
    assert torch.equal(shards.whole("same"), torch.ones(3))
    with pytest.raises(UsageError, match="other differs between ranks"):
        shards.whole("other")


def test_shards_of_different_runs_are_told(tmp_path: Path) -> None:
    write_shards(tmp_path, {"weight": torch.zeros(4, 2)}, 2)
    first = (tmp_path / _shard(2, 0)).read_bytes()
    write_shards(tmp_path, {"weight": torch.zeros(6, 2)}, 2)
    (tmp_path / _shard(2, 0)).write_bytes(first)
    with pytest.raises(UsageError, match=r"rank 1 has \(3, 2\) of weight \(4, 2\)"):
        Shards(tmp_path).whole("weight")


def _shard(world: int, rank: int) -> str:
    return f"model_world_size_{world}_rank_{rank}.pt"


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda actor: (actor / "fsdp_config.json").unlink(), r"has no fsdp_config\.json[\s\S]*\"world_size\": 2}' > "),
        (lambda actor: (actor / "fsdp_config.json").write_text("{"), "cut off"),
        (lambda actor: (actor / _shard(2, 1)).unlink(), r"shards of rank 1 of 2[\s\S]*another machine"),
        (lambda actor: _cut(actor / _shard(2, 1)), r"rank_1\.pt cannot be read[\s\S]*choose another"),
        (lambda actor: (actor / _shard(2, 0)).write_bytes(b""), r"rank_0\.pt cannot be read"),
        (lambda actor: (actor / "huggingface/config.json").unlink(), r"config\.json is missing"),
    ],
    ids=["no config", "config cut", "rank missing", "shard cut", "shard empty", "no model config"],
)
def test_half_a_checkpoint_is_told_with_its_remedy(damage: Any, message: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    damage(checkpoint.actor)
    with pytest.raises(UsageError, match=message):
        merge.merge_checkpoint(checkpoint.run)
    assert not list(checkpoint.run.path.glob("merged*"))


def test_the_command_that_a_missing_fsdp_config_is_answered_with_repairs_it(tmp_path: Path) -> None:
    import subprocess

    write_shards(tmp_path, {"weight": torch.zeros(4, 2)}, 2)
    (tmp_path / "fsdp_config.json").unlink()
    with pytest.raises(UsageError) as told:
        Shards(tmp_path)
    subprocess.run(["sh", "-c", str(told.value).splitlines()[1]], check=True)
    assert Shards(tmp_path).ranks == 2


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("adapters", [True, False])
def test_a_right_folder_is_proven(tied: bool, adapters: bool, tmp_path: Path) -> None:
    found = Checkpoint(tmp_path, tied=tied, adapters=adapters).prove()
    assert found.tensors == 2 * 12 + (2 if tied else 3)
    assert found.relative_difference < 1e-5


def test_a_right_folder_is_proven_even_if_rounding_changes_its_answers(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, spread=2.0)  # attention all on one token, or on another
    assert checkpoint.prove().relative_difference < 1e-4
    with staging.staged(checkpoint.actor, checkpoint.base) as staged:
        trained = staging.settings_folder(staged)
        tokens = proof._same_tokens(checkpoint.merged, trained)
        exact = proof._logits(proof._fill(proof._architecture(trained), TrainedWeights(checkpoint.actor)), tokens)
    rounded = proof._logits(proof._load(checkpoint.merged), tokens)
    assert (rounded - exact).square().mean().sqrt() > 0.05 * exact.std()


def _zero(tensors: dict[str, Any]) -> None:
    tensors["model.layers.1.mlp.down_proj.weight"].zero_()


def _swap(tensors: dict[str, Any]) -> None:
    first, second = (f"model.layers.{layer}.self_attn.q_proj.weight" for layer in range(2))
    tensors[first], tensors[second] = tensors[second], tensors[first]


def _one_bit(tensors: dict[str, Any]) -> None:
    tensors["model.norm.weight"].view(torch.int16)[5] ^= 1


def _rename(tensors: dict[str, Any]) -> None:
    tensors["model.norm.scale"] = tensors.pop("model.norm.weight")


def _remove(tensors: dict[str, Any]) -> None:
    del tensors["model.norm.weight"]


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (_zero, r"layers\.1\.mlp\.down_proj\.weight is not what was trained: \d+ numbers differ"),
        (_swap, r"layers\.0\.self_attn\.q_proj\.weight is not what was trained"),
        (_one_bit, r"norm\.weight is not what was trained: 1 numbers differ"),
        (_rename, r"model\.norm\.scale was not trained"),
        (_remove, r"model\.norm\.weight is missing"),
    ],
)
@pytest.mark.parametrize("adapters", [True, False])
def test_a_corrupted_folder_is_caught(corrupt: Any, message: str, adapters: bool, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=adapters)
    checkpoint.change_weights(corrupt)
    with pytest.raises(TrainingError, match=message):
        checkpoint.prove()


def test_right_tensors_that_are_read_otherwise_are_caught_by_the_logits(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.change_config(rope_parameters={"rope_type": "default", "rope_theta": 50.0})
    with pytest.raises(TrainingError, match="its logits differ by"):
        checkpoint.prove()


def test_adapters_that_count_twice_as_much_are_caught_by_the_logits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=True)
    right = TrainedWeights.tensor
    base = load_file(checkpoint.base / "model.safetensors")

    def doubled(weights: TrainedWeights, name: str) -> Any:
        found = right(weights, name)
        return 2 * found - base[name] if weights.is_adapted(name) else found

    monkeypatch.setattr(TrainedWeights, "tensor", doubled)
    weights = TrainedWeights(checkpoint.actor)
    checkpoint.change_weights(lambda tensors: tensors.update(_rounded(weights, tensors)))
    with pytest.raises(TrainingError, match="its logits differ by"):
        checkpoint.prove()


def _rounded(weights: TrainedWeights, tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: weights.tensor(name).bfloat16() for name in tensors}


def test_another_chat_template_is_caught(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    (checkpoint.merged / "chat_template.jinja").write_text("{{ messages[0].content }}")
    with pytest.raises(TrainingError, match="tokenizer or chat template"):
        checkpoint.prove()


def test_embeddings_that_are_tied_but_were_trained_apart_are_told(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    state = dict(checkpoint.model.float().state_dict())
    state["lm_head.weight"] = state["lm_head.weight"] + 1
    write_shards(checkpoint.actor, state, 2)
    checkpoint.change_weights(lambda tensors: tensors.update(_rounded(TrainedWeights(checkpoint.actor), tensors)))
    with pytest.raises(TrainingError, match=r"lm_head\.weight and model\.embed_tokens\.weight are tied"):
        checkpoint.prove()


def test_weights_that_diverged_are_told(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    state = dict(checkpoint.model.float().state_dict())
    state["model.norm.weight"] = state["model.norm.weight"] * float("nan")
    write_shards(checkpoint.actor, state, 2)
    checkpoint.change_weights(lambda tensors: tensors.update(_rounded(TrainedWeights(checkpoint.actor), tensors)))
    with pytest.raises(ModelError, match=r"norm\.weight holds numbers that are not finite"):
        checkpoint.prove()


def test_added_adapters_are_what_peft_makes_of_them(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=True)
    weights = TrainedWeights(checkpoint.actor)
    make_model(tmp_path / "joined").to(torch.bfloat16).save_pretrained(
        tmp_path / "joined"
    )  # as verl's merger leaves it
    adapter.add_adapters(tmp_path / "joined", weights)
    joined, expected = (load_file(place / "model.safetensors") for place in (tmp_path / "joined", checkpoint.merged))
    assert joined.keys() == expected.keys()
    for name, tensor in joined.items():  # peft adds in another order, which can round a number the other way
        torch.testing.assert_close(tensor, expected[name], rtol=2**-7, atol=0)


@pytest.mark.parametrize("content", [None, "{}", '{"r": 9, "lora_alpha": 8}', '{"r": 4, "lora_alpha": 0}'])
def test_adapters_whose_weight_is_unknown_are_refused(content: str | None, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=True)
    meta = checkpoint.actor / "lora_train_meta.json"
    meta.unlink() if content is None else meta.write_text(content)
    with pytest.raises(UsageError, match=r"lora_train_meta\.json[\s\S]*actor\.lora_alpha"):
        TrainedWeights(checkpoint.actor)


def test_adapters_alone_and_adapters_of_another_kind_are_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=True)
    adapters = {f"base_model.model.q.lora_{half}.default.weight": torch.zeros(4, 4) for half in "AB"}
    write_shards(checkpoint.actor, adapters, 1)
    with pytest.raises(UsageError, match="save_lora_only"):
        TrainedWeights(checkpoint.actor)
    write_shards(checkpoint.actor, {"base_model.model.e.lora_embedding_A.default": torch.zeros(4, 4)}, 1)
    with pytest.raises(UsageError, match="of a kind"):
        TrainedWeights(checkpoint.actor)


def test_the_attention_of_the_training_machine_is_taken_out_and_what_lacks_comes_from_the_base(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    kept = checkpoint.actor / "huggingface"
    for name in ("generation_config.json", "chat_template.jinja", "tokenizer.json", "tokenizer_config.json"):
        (kept / name).unlink()
    before = sorted(kept.iterdir())
    with staging.staged(checkpoint.actor, checkpoint.base) as staged:
        settings = staging.settings_folder(staged)
        assert "attn_implementation" not in json.loads((settings / "config.json").read_text())
        for name in ("generation_config.json", "chat_template.jinja", "tokenizer.json"):
            assert (settings / name).read_bytes() == (checkpoint.base / name).read_bytes()
    assert not staged.exists()
    assert sorted(kept.iterdir()) == before
    assert "attn_implementation" in (kept / "config.json").read_text()


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoint:
    """A checkpoint for which verl's merger, which takes seconds, is replaced by the right folder."""
    import shutil

    checkpoint = Checkpoint(tmp_path)
    monkeypatch.setattr(
        merge, "run_merger", lambda _shards, target, _log: shutil.copytree(checkpoint.merged, target) and None
    )
    return checkpoint


def test_the_record_names_the_run_its_data_and_what_was_proven(prepared: Checkpoint) -> None:
    merged = merge.merge_checkpoint(prepared.run)
    assert merged == prepared.run.merged
    record = json.loads((merged / "merge.json").read_text())
    assert record["run"] == "first"
    assert record["step"] == 2
    assert record["base_model"] == str(prepared.base)
    assert record["data"] == {"train": {"file": "train.parquet", "problems": 3, "sha256": "ab" * 32}}
    assert record["proof"]["tensors"] == 26
    assert record["versions"]["verl"] == "0.9.1"
    assert json.loads((merged / "generation_config.json").read_text())["top_k"] == 7
    first = (merged / "merge.json").read_bytes()
    assert (merge.merge_checkpoint(prepared.run) / "merge.json").read_bytes() == first
    assert sorted(path.name for path in prepared.run.path.glob("merged*")) == ["merged"]


def test_the_old_folder_stays_when_the_new_one_is_wrong(prepared: Checkpoint) -> None:
    merged = merge.merge_checkpoint(prepared.run)
    old = {file.name: file.read_bytes() for file in merged.iterdir()}
    prepared.change_weights(_zero)
    with pytest.raises(TrainingError, match="is not what was trained"):
        merge.merge_checkpoint(prepared.run)
    assert {file.name: file.read_bytes() for file in merged.iterdir()} == old
    assert sorted(path.name for path in prepared.run.path.glob("merged*")) == ["merged"]


def test_only_a_merged_folder_is_replaced(prepared: Checkpoint, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "er" / "model"
    assert merge.merge_checkpoint(prepared.run, out=out) == out
    assert merge.merge_checkpoint(prepared.run, out=out) == out
    (out / "merge.json").unlink()
    with pytest.raises(UsageError, match="not written by a merge"):
        merge.merge_checkpoint(prepared.run, out=out)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="not written by a merge"):
        merge.merge_checkpoint(prepared.run, out=file)
    with pytest.raises(UsageError, match="cannot merge into"):
        merge.merge_checkpoint(prepared.run, out=file / "below")


def test_a_full_disk_is_told_before_and_while_writing(prepared: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(_shards: Path, target: Path, _log: Path) -> None:
        target.mkdir()
        with open("/dev/full", "w") as full:
            full.write("x")

    monkeypatch.setattr(merge, "run_merger", fill)
    with pytest.raises(PreflightError, match=r"is full; free some.*--out"):
        merge.merge_checkpoint(prepared.run)
    monkeypatch.setattr(folder, "_SPARE_BYTES", 2**60)
    with pytest.raises(PreflightError, match="GiB left"):
        merge.merge_checkpoint(prepared.run)
    assert not list(prepared.run.path.glob("merged*"))


def test_keeping_adapters_where_there_are_none_is_refused(prepared: Checkpoint) -> None:
    with pytest.raises(UsageError, match="no adapters to keep"):
        merge.merge_checkpoint(prepared.run, keep_adapter=True)


def test_kept_adapters_make_their_base_the_trained_model(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=True)
    made = merge.merge_checkpoint(checkpoint.run, keep_adapter=True)
    assert made == checkpoint.run.path / "adapter"
    named = json.loads((made / "adapter_config.json").read_bytes())["base_model_name_or_path"]
    assert named == str(checkpoint.base)
    record = json.loads((made / "merge.json").read_text())
    assert record["adapters"] == {"rank": 4, "alpha": 8.0}
    assert record["proof"]["max_logit_difference"] < 1e-4  # nothing was rounded
    assert (made / "chat_template.jinja").is_file()
    assert not list(made.glob("model*.safetensors"))


def test_kept_adapters_on_another_base_are_caught(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, adapters=True)
    make_model(checkpoint.base, seed=5)
    with pytest.raises(TrainingError, match="its logits differ by"):
        merge.merge_checkpoint(checkpoint.run, keep_adapter=True)
    (checkpoint.base / "config.json").unlink()
    with pytest.raises(UsageError, match="is not here"):
        merge.merge_checkpoint(checkpoint.run, keep_adapter=True)


@pytest.fixture
def steps(tmp_path: Path) -> RunFolder:
    """A run with the actors of steps 20 and 30 of 30; step 10 was deleted, 40 was being saved."""
    run = RunFolder(tmp_path / "run")
    for step in (20, 30, 40):
        checkpoints.actor_folder(run, step).mkdir(parents=True)
    (run.checkpoints / "global_step_10").mkdir()
    (run.checkpoints / checkpoints.LATEST_FILE).write_text("30")
    return run


def _log(run: RunFolder, values: Mapping[int, Mapping[str, float]]) -> None:
    lines = [json.dumps({"step": step, "data": data}) for step, data in values.items()]
    run.metrics.write_text("\n".join(lines) + "\n")


def _validated(value: float) -> dict[str, float]:
    return {"val-aux/starter/accepted/mean@1": value, "val-core/starter/reward/mean@1": 1 - value}


def test_the_best_step_is_by_validation_of_those_on_disk(steps: RunFolder) -> None:
    _log(steps, {0: _validated(0.1), 10: _validated(0.2), 20: _validated(0.5), 30: _validated(0.4), 40: _validated(1)})
    best = checkpoints.best_step(steps)
    assert (best.step, best.pass_at_1, best.better) == (20, 0.5, ((40, 1.0),))
    assert "step 40 had 1.0000, but its checkpoint is gone" in str(best)


def test_equals_are_decided_by_the_earlier_step_and_zero_is_a_value(steps: RunFolder) -> None:
    _log(steps, {0: _validated(0.0), 20: _validated(0.0), 30: _validated(0.0)})
    best = checkpoints.best_step(steps)
    assert (best.step, best.better) == (20, ())


def test_the_model_before_training_can_be_better(steps: RunFolder) -> None:
    _log(steps, {0: _validated(0.3), 20: _validated(0.1), 30: {"reward/score": 1.0}})
    assert "the model before training had 0.3000" in str(checkpoints.best_step(steps))


def test_sources_count_the_same_and_what_is_no_number_does_not_count(steps: RunFolder) -> None:
    name = "val-core/{}/accepted/mean@1"
    _log(
        steps,
        {
            20: {name.format("a/b"): 0.2, name.format("c"): 0.6},
            30: {name.format("a/b"): float("nan"), name.format("c"): 0.3},
        },
    )
    best = checkpoints.best_step(steps)
    assert (best.step, best.pass_at_1) == (20, pytest.approx(0.4))


def test_without_a_validated_checkpoint_there_is_no_best(steps: RunFolder) -> None:
    _log(steps, {10: _validated(0.5), 20: {"reward/score": 1.0}})
    with pytest.raises(UsageError, match=r"there are steps 20, 30, and validations of step 10; choose"):
        checkpoints.best_step(steps)
    steps.metrics.unlink()
    with pytest.raises(CodeRlvrError, match="cannot read"):
        checkpoints.best_step(steps)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (10, r"no checkpoint of step 10: verl deleted it .*keep_checkpoints\); there are steps 20, 30"),
        (25, r"no checkpoint of step 25; there are steps 20, 30"),
        (40, r"step 40 was being saved; there are steps 20, 30"),
    ],
)
def test_a_step_that_is_not_there_is_answered_with_those_that_are(step: int, message: str, steps: RunFolder) -> None:
    with pytest.raises(UsageError, match=message):
        merge.merge_checkpoint(steps, step)


def test_the_last_step_is_the_default_and_its_absence_is_told(steps: RunFolder, tmp_path: Path) -> None:
    assert checkpoints.find_step(steps, None) == 30
    assert checkpoints.find_step(steps, 20) == 20
    (steps.checkpoints / checkpoints.LATEST_FILE).write_text("35")
    with pytest.raises(UsageError, match=r"last checkpoint of .* is gone; there are steps 20, 30"):
        checkpoints.find_step(steps, None)
    (steps.checkpoints / checkpoints.LATEST_FILE).write_text("")
    with pytest.raises(UsageError, match="holds no number"):
        checkpoints.find_step(steps, None)
    with pytest.raises(UsageError, match="no such folder"):
        merge.merge_checkpoint(RunFolder(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"before it saved one \(trainer\.save_every\), or it is no run"):
        checkpoints.best_step(RunFolder(tmp_path / "empty"))
