"""A limit on the work that one file may cause, so that no file can stop a run over many.

The functions that everything else goes through (which assignment holds at a use, one step back along a value, one
expression of the interpreter) spend from the budget. However causes combine them, the work for a file ends.
"""

from __future__ import annotations

from contextvars import ContextVar, Token


class OverBudget(BaseException):
    """A file needs more work than its budget allows.

    Not an `Exception`: a judge's own failures are caught one by one, but this one must end the file.
    """


class WorkBudget:
    """Steps that the work inside `with budget:` may take; may be entered again to spend what is left."""

    def __init__(self, steps: int) -> None:
        self.left = steps
        self._tokens: list[Token[WorkBudget | None]] = []

    def __enter__(self) -> WorkBudget:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_error: object) -> None:
        _current.reset(self._tokens.pop())


_current: ContextVar[WorkBudget | None] = ContextVar("fitdoctor_work_budget", default=None)


def spend() -> None:
    """Take a step from the budget, if there is one.

    Raises:
        OverBudget: none is left.
    """
    budget = _current.get()
    if budget is not None:
        budget.left -= 1
        if budget.left < 0:
            raise OverBudget
