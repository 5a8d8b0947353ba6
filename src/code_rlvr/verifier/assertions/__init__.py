"""Tests written as Python assertions: what each of them asks of the solution, and whether that holds.

| file | what it is |
|---|---|
| `cases` | from a block of tests to its test cases: calls with a condition, and what needs a checker |
| `scope`, `bindings`, `syntax` | what names in a block mean, and stand for at some point of it |
| `evaluator`, `arithmetic`, `bounds` | evaluate a condition over plain data, in the judge, at a bounded cost |
| `instrument` | makes a checker of the rest of a block: a program that reports on each of its assertions |
| `checker`, `checking` | runs it beside the solution, each in a sandbox of its own |

Covered: assertions.  Not covered: what runs inside the sandbox (`guard.stubs`, `guard.serving` and their like).
"""
