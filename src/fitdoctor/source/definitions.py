"""The calls, classes and functions of a file, as its `Module` returns them."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from fitdoctor.records import dataclass, field
from fitdoctor.source.index import FunctionNode

if TYPE_CHECKING:
    from fitdoctor.source.module import Module
    from fitdoctor.source.traced.tracing import Tracing


def argument_of(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """Return a keyword argument, or a positional one unless `*` hides its position."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or len(call.args) <= position:
        return None
    if any(isinstance(value, ast.Starred) for value in call.args[: position + 1]):
        return None
    return call.args[position]


def last_name(call: ast.AST | None) -> str:
    """Return the last name of what is called: `fit` of `model.fit(…)`; "" if it is not a call of a name."""
    called = call.func if isinstance(call, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call in the source."""

    node: ast.Call
    name: str
    """The canonical dotted name of the callee; "" if unknown."""
    method: str
    """The attribute that is called (`fit` of `model.fit(…)`); "" for a plain name."""
    module: Module = field(repr=False)

    @cached_property
    def function(self) -> FunctionInfo | None:
        """The enclosing function."""
        return self.module.function_of(self.node)

    @property
    def receiver(self) -> ast.expr:
        """The object whose method is called; only for a call with a `method`."""
        assert isinstance(self.node.func, ast.Attribute)
        return self.node.func.value

    def argument(self, name: str, position: int | None = None) -> ast.expr | None:
        """Return a keyword argument, or a positional one unless `*` hides its position."""
        return argument_of(self.node, name, position)


@dataclass(frozen=True, eq=False)
class ClassInfo:
    """A user-defined class."""

    node: ast.ClassDef
    name: str
    bases: tuple[str, ...]
    """Canonical names; a class of the same file goes by its own name."""
    module: Module = field(repr=False)

    @cached_property
    def kind(self) -> str:
        """Its kind by its Keras bases: `Layer`, `Model`, `Loss`, …; "" for other classes."""
        return self.module.kind_of_class(self)

    @cached_property
    def ancestry(self) -> tuple[ClassInfo, ...]:
        """Return the class and its user-defined bases, nearest first."""
        found, waiting = [self], [self]
        while waiting:
            current = waiting.pop(0)
            for base in current.node.bases:
                parent = current.module.definition(base)
                if isinstance(parent, ClassInfo) and parent not in found:
                    found.append(parent)
                    waiting.append(parent)
        return tuple(found)

    @cached_property
    def methods(self) -> dict[str, FunctionInfo]:
        """Its own methods by name; the last definition of each name."""
        return {
            statement.name: self.module.function(statement)
            for statement in self.node.body
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        }


@dataclass(frozen=True, eq=False)
class FunctionInfo:
    """A user-defined function, method or lambda."""

    node: FunctionNode
    name: str
    """`<lambda>` for a lambda."""
    qualname: str
    owner: ClassInfo | None
    """The class that it is a method of."""
    parameters: tuple[str, ...]
    module: Module = field(repr=False)

    @property
    def traced(self) -> Tracing | None:
        """How TensorFlow comes to trace it; None if it is not known to be traced."""
        return self.module.tracing_of(self.node)

    @property
    def how(self) -> str:
        """Why TensorFlow traces it: `call`, `train_step`, `loss`, `tf.function`, `map`, …; "" if it is not known to."""
        return self.traced.how if self.traced is not None else ""

    @property
    def runs_traced(self) -> bool:
        """Whether it runs while TensorFlow traces; not if the program runs eagerly."""
        return self.traced is not None and not self.traced.eager

    @property
    def decorators(self) -> dict[str, ast.expr]:
        """Its decorators by the canonical name of the function that decorates."""
        written = [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list
        return {
            self.module.resolve(each.func if isinstance(each, ast.Call) else each): each for each in written
        }

    @property
    def statements(self) -> list[ast.stmt]:
        """Its body without the docstring; none for a lambda."""
        body = [] if isinstance(self.node, ast.Lambda) else self.node.body
        first = body[0] if body else None
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return body[1:] if documented else body

    @property
    def calls(self) -> list[CallSite]:
        """The calls in its own body, in source order."""
        return self.module.calls_in.get(self.node, [])

    @property
    def is_method(self) -> bool:
        """Whether it is defined directly in a class."""
        return self.owner is not None
