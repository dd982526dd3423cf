"""Memoized recursive queries about the source."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from fitdoctor.source.module import Module

if TYPE_CHECKING:
    P = ParamSpec("P")
    R = TypeVar("R")


def asked_once(
    in_a_circle: R,
) -> Callable[[Callable[Concatenate[Module, P], R]], Callable[Concatenate[Module, P], R]]:
    """Cache a query about a node of a module.

    A question that comes back to itself (`ds = ds.map(f)` in a loop) gets `in_a_circle` for an answer, so that no
    definition is ever followed twice. The arguments after the module must be hashable.
    """

    def decorate(question: Callable[Concatenate[Module, P], R]) -> Callable[Concatenate[Module, P], R]:
        @functools.wraps(question)
        def asked(module: Module, *args: P.args, **kwargs: P.kwargs) -> R:
            key = (question, args, tuple(kwargs.items()))
            answers: dict[Any, Any] = module.answers
            if key not in answers:
                answers[key] = in_a_circle
                answers[key] = question(module, *args, **kwargs)
            known: R = answers[key]
            return known

        return asked  # type: ignore[return-value]

    return decorate
