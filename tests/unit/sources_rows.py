"""One small row of each data set, in exactly the schema that its authors publish."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

EURUS_ENDING = (
    "\n\nWrite Python code to solve the problem. Present the code in \n```python\nYour code\n```\nat the end."
)
SYSTEM = "When tackling complex reasoning tasks, you have access to the following actions.\n\n[ASSESS]\n[ADVANCE]\n"


def pack(value: object) -> str:
    """As LiveCodeBench packs its hidden tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(value)))).decode()


EURUS: dict[str, Any] = {
    "data_source": "taco",
    "prompt": [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Print twice the number." + EURUS_ENDING},
    ],
    "ability": "code",
    "reward_model": {"style": "rule", "ground_truth": json.dumps({"inputs": ["2\n"], "outputs": ["4\n"]})},
    "extra_info": {"split": "dummy", "index": 0},
}
EURUS_MATH: dict[str, Any] = {
    **EURUS,
    "data_source": "numina_amc_aime",
    "ability": "math",
    "reward_model": {"style": "rule", "ground_truth": "42"},
}
VERL: dict[str, Any] = {
    "data_source": "mine",
    "prompt": [{"role": "user", "content": "Print twice the number."}],
    "ability": "code",
    "reward_model": {"style": "rule", "ground_truth": json.dumps({"inputs": ["2\n"], "outputs": ["4\n"]})},
    "extra_info": {"index": 7, "split": "train", "problem_id": "double/7"},
}
APPS: dict[str, Any] = {
    "problem_id": 2000,
    "question": "Return whether two words are anagrams.",
    "solutions": json.dumps(["def is_anagram(a, b):\n    return sorted(a) == sorted(b)"]),
    "input_output": json.dumps(
        {"fn_name": "is_anagram", "inputs": [["ab", "ba"], ["a", "b"]], "outputs": [True, False]}
    ),
    "difficulty": "introductory",
    "url": "https://www.codewars.com/kata/1",
    "starter_code": "\ndef is_anagram(a, b):\n\t",
}
TACO: dict[str, Any] = {
    "question": "Print twice the number.\n\n-----Input-----\n\nA number.",
    "solutions": json.dumps(["print(2 * int(input()))"]),
    "starter_code": "",
    "input_output": json.dumps({"inputs": [["2", ""], "3\n"], "outputs": [["4"], "6\n"]}),
    "difficulty": "EASY",
    "raw_tags": "['math']",
    "name": None,
    "source": "codeforces",
    "tags": "['Mathematics']",
    "skill_types": "[]",
    "url": "https://codeforces.com/problemset/problem/1/A",
    "Expected Auxiliary Space": None,
    "time_limit": "2.0 seconds",
    "date": "2019-12-31",
    "picture_num": "0",
    "memory_limit": "512.0 megabytes",
    "Expected Time Complexity": None,
}
CODECONTESTS: dict[str, Any] = {
    "name": "1_A. Double",
    "description": "Print twice the number.",
    "public_tests": {"input": ["2\n"], "output": ["4\n"]},
    "private_tests": {"input": ["3\n"], "output": ["6\n"]},
    "generated_tests": {"input": ["5\n"], "output": ["10\n"]},
    "source": 2,
    "difficulty": 7,
    "solutions": {
        "language": [2, 3, 1],
        "solution": ["int main() {}", "print(2 * int(input()))", "print 2 * input()"],
    },
    "incorrect_solutions": {"language": [3], "solution": ["print(input())"]},
    "cf_contest_id": 1,
    "cf_index": "A",
    "cf_points": 0.0,
    "cf_rating": 800,
    "cf_tags": ["math"],
    "is_description_translated": False,
    "untranslated_description": "",
    "time_limit": {"seconds": 1, "nanos": 500000000},
    "memory_limit_bytes": 512000000,
    "input_file": "",
    "output_file": "",
}
CODEFORCES: dict[str, Any] = {
    "id": "1/A",
    "aliases": None,
    "contest_id": "1",
    "contest_name": "Codeforces Beta Round 1",
    "index": "A",
    "time_limit": 1.0,
    "memory_limit": 256.0,
    "title": "Double",
    "description": "Print twice the number.",
    "input_format": "A number.",
    "output_format": "Its double.",
    "interaction_format": None,
    "note": None,
    "examples": [{"input": "2\n", "output": "4\n"}],
    "editorial": None,
    "rating": 800,
    "tags": ["math"],
    "testset_size": 2,
    "official_tests": [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}],
    "official_tests_complete": True,
    "input_mode": "stdio",
    "generated_checker": None,
    "executable": True,
    "generated_tests": 0,
}
HUMANEVAL: dict[str, Any] = {
    "task_id": "HumanEval/38",
    "prompt": (
        "import math\n\n\ndef shift(s: str):\n    return s[1:] + s[:1]\n\n\n"
        'def unshift(s: str):\n    """Undo shift."""\n'
    ),
    "canonical_solution": "    return s[-1:] + s[:-1]\n",
    "test": "\n\nMETADATA = {}\n\n\ndef check(candidate):\n    assert candidate(shift('abc')) == 'abc'\n",
    "entry_point": "unshift",
}
LEETCODE: dict[str, Any] = {
    "task_id": "double-the-list",
    "question_id": 1,
    "difficulty": "Easy",
    "tags": ["Array"],
    "problem_description": "Given a list of numbers, return a list of their doubles.",
    "starter_code": "class Solution:\n    def double(self, nums: List[int]) -> List[int]:\n        ",
    "estimated_date": "2015-08-07",
    "prompt": "from typing import *\n\ninf = float('inf')\n\n\ndef is_same_list(a, b):\n    return a == b\n",
    "completion": (
        "class Solution:\n    def double(self, nums: List[int]) -> List[int]:\n        return [2 * n for n in nums]"
    ),
    "entry_point": "Solution().double",
    "test": "def check(candidate):\n    assert candidate(nums = [2, 3]) == [4, 6]\n",
    "input_output": [{"input": "nums = [2, 3]", "output": "[4, 6]"}],
    "query": "You are an expert Python programmer.",
    "response": "",
}
MBPP: dict[str, Any] = {
    "task_id": 11,
    "text": "Write a python function to double a number.",
    "code": "def twice(n):\r\n    return 2 * n",
    "test_list": ["assert twice(2) == 4", "assert twice(3) == 6"],
    "test_setup_code": "",
    "challenge_test_list": ["assert twice(-1) == -2"],
}
MBPP_SANITIZED: dict[str, Any] = {
    "source_file": "Benchmark Questions Verification V2.ipynb",
    "task_id": 11,
    "prompt": "Write a python function to halve a number.",
    "code": "def half(n):\n    return n / 2",
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(half(3), 1.5)"],
}
LIVECODEBENCH: dict[str, Any] = {
    "question_title": "Double",
    "question_content": "Print twice the number.",
    "platform": "atcoder",
    "question_id": "abc301_a",
    "contest_id": "abc301",
    "contest_date": "2023-05-13T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps([{"input": "2\n", "output": "4\n", "testtype": "stdin"}]),
    "private_test_cases": pack([{"input": "3\n", "output": "6\n", "testtype": "stdin"}]),
    "metadata": "{}",
}
LIVECODEBENCH_CALL: dict[str, Any] = {
    **LIVECODEBENCH,
    "question_id": "2727",
    "platform": "leetcode",
    "starter_code": "class Solution:\n    def add(self, nums: List[int], k: int) -> int:\n        ",
    "public_test_cases": json.dumps([{"input": "[1, 2]\n3", "output": "6", "testtype": "functional"}]),
    "private_test_cases": json.dumps([{"input": "[]\n1", "output": "1", "testtype": "functional"}]),
    "metadata": json.dumps({"func_name": "add"}),
}
OPEN_R1: dict[str, Any] = {
    "source": "codeforces",
    "task_type": "verifiable_code",
    "in_source_id": "1/A",
    "problem_statement": "Print twice the number.",
    "gold_standard_solution": "print(2 * int(input()))",
    "problem_id": "vcp_1",
    "metadata": {"difficulty": "easy", "memory_limit": None, "problem_url": "", "time_limit": "1 second"},
    "verification_info": {
        "language": "python",
        "test_cases": [{"fn_name": None, "input": "2\n", "output": "4\n", "type": "stdin_stdout"}],
    },
}
SYNTHETIC: dict[str, Any] = {  # its verification_info and metadata are written as Python writes its values
    "problem_id": "vcp_2",
    "source": "apps",
    "task_type": "verifiable_code",
    "in_source_id": "2",
    "prompt": "Write a function `twice` that doubles a number.\n\nNow solve the problem and return the code.",
    "gold_standard_solution": "```python\ndef twice(n):\n    return 2 * n\n```",
    "verification_info": str(
        {
            "language": "python",
            "test_cases": [{"type": "function_call", "fn_name": "twice", "input": [2], "output": [4]}],
        }
    ),
    "metadata": "{'difficulty': 'easy'}",
}
DEEPCODER: dict[str, Any] = {
    "problem": "Add one to a number.",
    "starter_code": "class Solution:\n    def inc(self, n: int) -> int:\n        ",
    "tests": json.dumps([{"input": "1", "output": "2", "testtype": "functional", "metadata": None}]),
    "metadata": {"func_name": "inc"},
}
KODCODE: dict[str, Any] = {
    "style": "instruct",
    "subset": "Prefill",
    "question_id": "Prefill_1_I",
    "question": "Double a number.",
    "solution": "def twice(n):\n    return 2 * n\n",
    "test": "from solution import twice\n\ndef test_two():\n    assert twice(2) == 4\n",
    "test_info": [
        {"docstring": "", "function_declaration": "def twice(n):", "function_name": "twice", "parameter_list": "(n)"}
    ],
}
ACECODE: dict[str, Any] = {
    "id": "oss_0",
    "source": "oss",
    "question": "Write a function `twice` that doubles a number.",
    "test_cases": ["assert twice(2) == 4", "assert twice(0) == 0"],
    "inferences": [],
    "context_messages": [],
}
ASSERTS: dict[str, Any] = {
    "prompt": "Double a number with `twice`.",
    "entry_point": "twice",
    "tests": ["assert twice(2) == 4", "assert twice(3) == 6"],
}
PLAIN: dict[str, Any] = {
    "id": "mine/1",
    "source": "github somebody/some-repository some/folder (a contest)",
    "license": "MIT",
    "kind": "stdio",
    "prompt": "Print twice the number.",
    "tests": {"inputs": ["2\n"], "outputs": ["4\n"]},
    "checker": None,
    "time_limit_s": None,
    "solutions": [
        {"verdict": "accepted", "language": "python3", "code": "print(2 * int(input()))"},
        {"verdict": "wrong_answer", "language": "python3", "code": "print(input())"},
        {"verdict": "accepted", "language": "cpp", "code": "int main() {}"},
    ],
}

ROWS: dict[str, list[dict[str, Any]]] = {
    "eurus": [EURUS, EURUS_MATH],
    "verl": [VERL],
    "apps": [APPS],
    "taco": [TACO],
    "codecontests": [CODECONTESTS],
    "codeforces": [CODEFORCES],
    "humaneval": [HUMANEVAL],
    "leetcode": [LEETCODE],
    "mbpp": [MBPP, MBPP_SANITIZED],
    "livecodebench": [LIVECODEBENCH, LIVECODEBENCH_CALL],
    "verifiable": [OPEN_R1, SYNTHETIC],
    "asserts": [ASSERTS],
    "plain": [PLAIN, DEEPCODER, KODCODE, ACECODE],
}
