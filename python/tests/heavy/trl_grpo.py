"""TRL's GRPO trainer for a few steps with a tiny random model, on a CPU, without a network.

    python python/tests/heavy/trl_grpo.py --steps 2

Needs `trl` and `torch`. The model's words are calls, so that a random model makes some; it prints the rewards.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from typing import Any

from datasets import Dataset
from m3.rewards import TrajectoryReward
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

CITIES = ("Lima", "Oslo", "Lyon", "Rome")


def call(city: str) -> dict[str, Any]:
    return {"name": "weather/now", "arguments": {"city": city}}


def tokenizer() -> PreTrainedTokenizerFast:
    """Whole words: the calls, half a call, and words of the questions."""
    calls = [json.dumps(call(city), separators=(",", ":")) for city in CITIES]
    words = [f"<tool_call>{it}</tool_call>" for it in calls]
    words += ["<tool_call>{", "Is", "it", "warm", "in", *(f"{city}?" for city in CITIES)]
    vocabulary = {word: number for number, word in enumerate(["<pad>", "<end>", "<unknown>", *words])}
    made = Tokenizer(WordLevel(vocabulary, unk_token="<unknown>"))
    made.pre_tokenizer = WhitespaceSplit()
    special = {"pad_token": "<pad>", "eos_token": "<end>", "unk_token": "<unknown>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, padding_side="left", **special)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=2)
    options.add_argument("--similarity", default="cosine")
    given = options.parse_args()
    set_seed(1)
    words = tokenizer()
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(words), pad_token_id=0, eos_token_id=1, **size, **heads))
    rows = [
        {"prompt": f"Is it warm in {city}?", "reference": json.dumps({"steps": [{"calls": [call(city)]}]})}
        for city in CITIES
    ]
    weights = {"recall": 2, "precision": 1, "argument_fidelity": 1}
    reward = TrajectoryReward(weights, similarity=given.similarity)
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=32,
            num_generations=8,
            max_completion_length=4,
            max_steps=given.steps,
            learning_rate=0.01,
            logging_steps=1,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        )
        data = Dataset.from_list(rows * 8)
        trainer = GRPOTrainer(model=model, reward_funcs=reward, args=config, train_dataset=data, processing_class=words)
        began = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - began
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    names = ("reward", "reward_std", *(name for name in logged[0] if name.startswith("trajectory_reward/")))
    for number, entry in enumerate(logged, start=1):
        print(f"step {number}", *(f"{name} {entry[name]:.4f}" for name in names), sep="  ")
    print(f"{len(logged)} steps in {seconds:.1f} s")


if __name__ == "__main__":
    main()
