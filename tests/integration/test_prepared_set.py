"""A prepared set in the hands of verl: its own data set class loads it, and the tokens hold the statement."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from code_rlvr.cli import app
from tests.unit.statements import statement

pytest.importorskip("verl")

# As Qwen2.5's template writes a chat, default system message included.
QWEN_TEMPLATE = (
    "{%- if messages[0]['role'] != 'system' -%}"
    "{{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' -}}"
    "{%- endif -%}"
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
FILES = ("codecontests_graph", "humaneval", "mbpp", "quixbugs", "livecodebench_samples")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer with a chat template like Qwen's."""
    from code_rlvr.train.tokenizer import train_tokenizer

    made = train_tokenizer([statement(i) for i in range(20)], 1000, 4096)
    made.chat_template = QWEN_TEMPLATE
    folder = tmp_path_factory.mktemp("tokenizer")
    made.save_pretrained(folder)
    return folder


def load(file: Path, tokenizer: Path, max_prompt_length: int) -> list[tuple[dict[str, Any], str]]:
    """verl's rows of a file, each with what its tokens say."""
    from omegaconf import OmegaConf
    from transformers import AutoTokenizer
    from verl.utils.dataset.rl_dataset import RLHFDataset

    loaded = AutoTokenizer.from_pretrained(tokenizer)
    config = OmegaConf.create({"max_prompt_length": max_prompt_length, "filter_overlong_prompts": True})
    dataset = RLHFDataset(str(file), loaded, config)
    rows = [dataset[i] for i in range(len(dataset))]
    # verl leaves the template to its agent loop, which applies it like this.
    tokens = [
        loaded.apply_chat_template(row["raw_prompt"], add_generation_prompt=True, tokenize=True, return_dict=False)
        for row in rows
    ]
    return [(row, loaded.decode(one)) for row, one in zip(rows, tokens, strict=True)]


def prepare(*words: str | Path) -> None:
    result = CliRunner().invoke(app, ["prepare", *map(str, words)])
    assert result.exit_code == 0, result.output


def test_verl_loads_every_row_and_its_tokens_hold_the_statement(tmp_path: Path, tokenizer: Path) -> None:
    tests = {"inputs": ["1"], "outputs": ["1"]}
    call = {"fn_name": "twice", "inputs": [[1]], "outputs": [[2]]}
    rows = [{"statement": statement(i), "tests": call if i % 2 else tests} for i in range(12)]
    rows += [{"statement": " ".join(statement(i) for i in range(20 + number, 60)), "tests": tests} for number in (1, 2)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    prepare(tmp_path / "x.jsonl", "--model", tokenizer, "--max-prompt-tokens", 700, "--out", tmp_path / "out")
    outcomes = json.loads((tmp_path / "out" / "manifest.json").read_text())["outcomes"]["train"]
    assert (outcomes["train"], outcomes["validation"], outcomes["overlong"]) == (11, 1, 2)
    found = load(tmp_path / "out" / "train.parquet", tokenizer, 700)
    assert len(found) == 11
    for row, text in found:
        assert row["reward_model"]["style"] == "rule"
        assert text.startswith("<|im_start|>system\nYou are Qwen")
        assert text.endswith("<|im_end|>\n<|im_start|>assistant\n")
        number = int(row["raw_prompt"][0]["content"].split(":")[0].removeprefix("Problem "))
        assert statement(number) in text
        assert ("function `twice`" in text) == bool(number % 2)


def test_verl_drops_no_prompt_that_was_measured_with_the_same_tokenizer(tmp_path: Path, tokenizer: Path) -> None:
    """The two agree on the limit to the token."""
    rows = [{"statement": statement(i, words=10 + i), "tests": {"inputs": [""], "outputs": ["1"]}} for i in range(60)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    prepare(tmp_path / "x.jsonl", "--model", tokenizer, "--max-prompt-tokens", 400, "--out", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    kept = [line["tokens"] for line in lines if line["outcome"] == "train"]
    assert any(line["outcome"] == "overlong" for line in lines)
    assert len(load(tmp_path / "out" / "train.parquet", tokenizer, 400)) == len(kept)
    assert len(load(tmp_path / "out" / "train.parquet", tokenizer, max(kept) - 1)) < len(kept)


@pytest.mark.skipif("CODE_RLVR_ORACLE" not in os.environ, reason="CODE_RLVR_ORACLE names no folder of real problems")
def test_verl_loads_real_problems_of_every_kind(tmp_path: Path, tokenizer: Path) -> None:
    folder = Path(os.environ["CODE_RLVR_ORACLE"])
    sources = [folder / f"{name}.jsonl.gz" for name in FILES]
    options = ["--model", tokenizer, "--max-prompt-tokens", 2048, "--train-size", 0, "--out", tmp_path / "out"]
    prepare(*sources, *options)
    prompts: dict[str, str] = {}
    for source in sources:
        for line in gzip.decompress(source.read_bytes()).decode().splitlines():
            row = json.loads(line)
            prompts[row["id"]] = row["prompt"] or ""
    names = {
        line["problem_id"]: line["row_id"]
        for line in map(json.loads, (tmp_path / "out" / "rows.jsonl").read_text().splitlines())
        if line["outcome"] in ("train", "validation")
    }
    found = load(tmp_path / "out" / "train.parquet", tokenizer, 2048)
    assert len(found) > 1000
    for row, text in found:
        assert prompts[names[row["extra_info"]["problem_id"]]].strip()[:200] in text
