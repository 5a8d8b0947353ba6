"""The tutorial's reward file, for verl's `reward.custom_reward_function.path`; run it to see it work.

    python recipe/code_reward.py

The work is in `code_rlvr.reward`: the program is run in a sandbox against the row's tests.
"""

import argparse

from code_rlvr.reward import compute_score

__all__ = ["compute_score"]

_TESTS = {"inputs": ["1\n", "20\n"], "outputs": ["2\n", "40\n"]}
_RESPONSES = {
    "correct code": "```python\nprint(2 * int(input()))\n```",
    "wrong code": "```python\nprint(3 * int(input()))\n```",
    "no code": "I would double it.",
}

if __name__ == "__main__":
    argparse.ArgumentParser(description="Judges three responses, to show that the reward works.").parse_args()
    for name, response in _RESPONSES.items():
        found = compute_score("self-test", response, _TESTS)
        print(f"{name}: score={found['score']:.2f} pass_rate={found['pass_rate']:.2f} format={found['format']:.0f}")
