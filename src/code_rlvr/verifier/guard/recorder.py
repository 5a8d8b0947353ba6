"""What the source of a checker calls to say which assertions held.

Its statements are wrapped: `with __statement__(3): …`, and in them its assertions: `with __site__(7): assert …`.

| reported | when |
|---|---|
| `begin` | the prelude of the tests ran, the checker itself starts |
| `done`, statement | it ran to its end |
| `escaped`, statement, verdict, message | an exception left it |
| `failed`, site, message | an assertion did not hold, or one in a function that the solution calls; the run goes on |
| `raised`, site, message | the solution raised in an assertion, where nobody expects it |
| `finish` | the checker ran to its end |
| `unsupported`, message | the tests do what a checker cannot |

An exception that came from the solution is a RUNTIME_ERROR.  One that a condition or a function of the tests raises
is a WRONG_ANSWER: it looked at a value and met something else.

Covered: recording, and running test classes.  Not covered: verdicts (`code_rlvr.verifier.assertions.checker`).
"""

from __future__ import annotations

import sys

from .raised import HungUp, Unsupported, plain_text

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any

    from .stubs import Caller

MAX_FAILURES = 1000  # of one assertion: a loop that counts on it to hold might never end


class Recorder:
    """Reports to the judge through the checker's end of the dialogue."""

    def __init__(self, caller: Caller, stubs: dict[str, Any]) -> None:
        self._caller = caller
        self._stubs = stubs
        self.condition_error: BaseException | None = None
        self.failures: dict[int, int] = {}  # how often, by site
        self.open: list[Statement | Site] = []  # what is being executed
        caller.failed_in_callback = self.fail_what_is_open

    def names(self) -> dict[str, Any]:
        """The functions that the source of a checker calls."""
        return {
            "__begin__": self.begin,
            "__statement__": lambda index, of_helper=False: Statement(self, index, of_helper),
            "__site__": lambda *details: Site(self, *details),
            "__run_class__": self.run_class,
            "__finish__": lambda: self.report("finish"),
        }

    def begin(self, namespace: dict[str, Any]) -> None:
        """Put the stubs in place, over whatever the prelude defined."""
        self._caller.namespace = namespace
        namespace.update(self._stubs, eval=self._watched(eval), exec=self._watched(exec))
        self.report("begin")

    def report(self, *parts: Any) -> None:
        """Tell the judge something."""
        self._caller.report(*parts)

    def fail_what_is_open(self, error: BaseException) -> None:
        """Record a failure in a function of the tests that the solution has called, and that it may keep for itself."""
        if self.open and isinstance(self.open[-1], Site):
            self.report("failed", self.open[-1].index, self.message_of(error))
        elif self.open:
            self.report("escaped", self.open[-1].index, "WRONG_ANSWER", self.message_of(error))

    def message_of(self, error: BaseException) -> str:
        """What an exception says, of which no object of the solution is asked."""
        return f"{type(error).__name__}: {self._caller.quietly(plain_text, error)}"

    def _watched(self, function: Any) -> Any:
        """`eval` or `exec`, until the solution has returned something: its text must not be run here."""

        def run(source: Any, names: Any = None, local: Any = None) -> Any:
            if self._caller.called:
                self.unsupported(f"the tests use {function.__name__} after they called the program")
            frame = sys._getframe(1)
            if names is None:
                names, local = frame.f_globals, frame.f_locals if local is None else local
            return function(source, names, names if local is None else local)

        run.__dict__["watches"] = function  # what the solution gets for it: its own
        return run

    def unsupported(self, message: str) -> None:
        """Give up, since the tests cannot be run."""
        self.report("unsupported", message)
        raise Unsupported(message)

    def run_class(self, kind: type, methods: dict[str, int]) -> None:
        """Run the test methods of a class, each on an instance of its own and as the statement of the given index."""
        prepared = not hasattr(kind, "setUpClass")
        for name, index in methods.items():
            with Statement(self, index, True):
                if not prepared:
                    kind.setUpClass()  # type: ignore[attr-defined]
                    prepared = True
                if "unittest" in sys.modules and issubclass(kind, sys.modules["unittest"].TestCase):
                    kind(name).debug()
                    continue
                test: Any = kind()
                if hasattr(test, "setup_method"):
                    test.setup_method(*[getattr(test, name)][: test.setup_method.__code__.co_argcount - 1])
                getattr(test, name)()


class Statement:
    """Records how a statement ended, and lets the next one run."""

    def __init__(self, recorder: Recorder, index: int, of_helper: bool) -> None:
        self._recorder = recorder
        self.index = index
        self._of_helper = of_helper

    def __enter__(self) -> None:
        self._recorder.open.append(self)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self._recorder.open.remove(self)
        if isinstance(error, (HungUp, Unsupported)):
            return False
        relayed = hasattr(error, "relayed")
        if error is None or _is_fine(error):
            self._recorder.report("done", self.index)
            return True
        if isinstance(error, ImportError) and not relayed:
            self._recorder.unsupported(f"the tests import what is not installed: {error}")
        looked_at = self._of_helper or isinstance(error, (AssertionError, SystemExit))
        looked_at = looked_at or error is self._recorder.condition_error
        verdict = "WRONG_ANSWER" if looked_at and not relayed else "RUNTIME_ERROR"
        self._recorder.report("escaped", self.index, verdict, self._recorder.message_of(error))
        return True


class Site:
    """Records that an assertion failed, and lets the run go on.

    Args:
        recorder: Reports it.
        index: The number of the site.
        expected: Whether the tests catch some exception around it, not just any.
        goes_on: Whether the run goes on.
    """

    def __init__(self, recorder: Recorder, index: int, expected: bool = False, goes_on: bool = True) -> None:
        self._recorder = recorder
        self.index = index
        self._expected = expected
        self._goes_on = goes_on

    def __enter__(self) -> None:
        self._recorder.open.append(self)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self._recorder.open.remove(self)
        if error is None or isinstance(error, (HungUp, Unsupported)) or _is_fine(error):
            return False
        relayed = hasattr(error, "relayed")
        if relayed or not isinstance(error, AssertionError):
            if not relayed:
                self._recorder.condition_error = error
            if not self._expected:  # or `except Exception: print(…)` around an assertion would make it pass
                self._recorder.report("raised" if relayed else "failed", self.index, self._recorder.message_of(error))
            return False
        count = self._recorder.failures[self.index] = self._recorder.failures.get(self.index, 0) + 1
        if count == 1:
            self._recorder.report("failed", self.index, self._recorder.message_of(error))
        return self._goes_on and count < MAX_FAILURES


def _is_fine(error: BaseException) -> bool:
    """Whether it is `sys.exit()` in the tests, which want to say nothing more, and not `sys.exit(1)`."""
    return isinstance(error, SystemExit) and not hasattr(error, "relayed") and (error.code is None or error.code == 0)
