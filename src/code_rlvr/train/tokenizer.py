"""A small byte-level BPE tokenizer for the warm-started model.

Covered: training on the corpus, the end and padding tokens, the chat template.  The text is cut before
merging as Qwen2's tokenizer cuts it: digit by digit, an indentation in one piece, a line end together with
the punctuation before it.  So the class that `AutoTokenizer` picks for a Qwen2 model encodes the same.  Not
covered: system messages and tools, which the template refuses.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import (  # type: ignore[import-untyped]  # ships no types
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

PAD, END, USER, ASSISTANT = "<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"

PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2 cuts text into pieces (Qwen Technical Report, arXiv:2309.16609; transformers' Qwen2Tokenizer)."""

CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    f"{{%- if message.role == 'user' -%}}{{{{- '{USER}' + message.content -}}}}"
    "{%- elif message.role == 'assistant' -%}"
    f"{{{{- '{ASSISTANT}' + message.content + '{END}' -}}}}"
    "{%- else -%}{{- raise_exception('this model knows no role ' + message.role) -}}{%- endif -%}"
    "{%- endfor -%}"
    f"{{%- if add_generation_prompt -%}}{{{{- '{ASSISTANT}' -}}}}{{%- endif -%}}"
)


def train_tokenizer(texts: Iterable[str], vocab_size: int, max_length: int) -> PreTrainedTokenizerFast:
    """Train a tokenizer.

    Args:
        texts: What to learn the merges from.
        vocab_size: Tokens in all; 256 bytes and 4 special tokens are always there.
        max_length: The model's context, in tokens.

    Returns:
        A tokenizer that can encode any text; few or repetitive `texts` may give fewer tokens than asked.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, END, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=PAD,  # never occurs; without one, Qwen2Tokenizer adds a token that the model lacks
        additional_special_tokens=[USER, ASSISTANT],
        chat_template=CHAT_TEMPLATE,
        model_max_length=max_length,
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )
