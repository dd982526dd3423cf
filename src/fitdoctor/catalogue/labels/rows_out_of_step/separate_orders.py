"""Find features and labels that a function or a PyDataset puts into separate orders, by their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue.knowledge.data.generator_sources import is_batched_class
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, replace_code
from fitdoctor.records import dataclass
from fitdoctor.source.callees import is_self
from fitdoctor.source.definitions import last_name
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.traced.symbolic import own_nodes

_LABELS = re.compile(
    r"(?:^|_)(?:[yY]|labels?|targets?|classes|masks?|annotations?|captions?|answers?|truths?|ratings?|scores?)(?:_|$)"
)
_SHUFFLED_COPY = ("sklearn.utils.shuffle", "tensorflow.random.shuffle")
"""Functions that return their argument in another random order."""
_SEEDING = frozenset(
    "seed set_seed set_random_seed set_state setstate default_rng RandomState Random Generator".split()
)
"""Calls that may make the second order the same as the first."""


@dataclass(frozen=True, eq=False)
class Reordering:
    """An array that gets a random order of its own."""

    array: ast.expr
    random: ast.Call
    """The call that draws the order, or shuffles in place."""
    index: ast.expr | None
    """The index, if there is one."""

    @property
    def name(self) -> str:
        """Return the last name of the array: `labels` of `self.labels`."""
        return self.array.attr if isinstance(self.array, ast.Attribute) else getattr(self.array, "id", "")


def separate_orders(
    module: Module, labels_of: Callable[[str], set[str]]
) -> Iterator[tuple[Reordering, Reordering]]:
    """Yield features and their labels in one block whose orders are drawn one after the other."""
    every = [*_by_index(module), *_in_place(module), *_by_call(module)]
    names = [each.name for each in every]
    found = [each for each in every if names.count(each.name) == 1]
    for one in found:
        labels = labels_of(one.name)
        for other in found:
            if other.name in labels and _differ(module, one, other):
                yield one, other


def shuffled_alone(module: Module) -> Iterator[tuple[Reordering, ast.Attribute]]:
    """Yield features that a PyDataset shuffles in place, and the labels that it leaves in their order."""
    for info in module.classes:
        getter = info.methods.get("__getitem__")
        if getter is None or not is_batched_class(module, info):
            continue
        parts = [
            node
            for node in own_nodes(getter)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and is_self(module, node.value.value)
        ]
        uses = [node for node in ast.walk(info.node) if isinstance(node, ast.Attribute)]
        for one in _in_place(module):
            method = module.function_of(one.random)
            if method is None or method.name == "__init__" or method not in info.methods.values():
                continue
            cut = {ast.dump(part.slice) for part in parts if ast.dump(part.value) == ast.dump(one.array)}
            for part in parts:
                labels = part.value
                if (
                    isinstance(labels, ast.Attribute)
                    and _LABELS.search(labels.attr)
                    and labels.attr != one.name
                    and ast.dump(part.slice) in cut
                    and all(_leaves_order(module, use) for use in uses if use.attr == labels.attr)
                ):
                    yield one, labels


def _leaves_order(module: Module, use: ast.Attribute) -> bool:
    """Whether the labels are only stored, counted or read by index there."""
    function = module.function_of(use)
    return function is not None and function.name in ("__init__", "__getitem__", "__len__")


def both_reordered(module: Module, one: Reordering, labels: ast.Attribute) -> tuple[Edit, ...]:
    """Return the edit that puts both arrays into one random order."""
    statement, func = module.statement(one.random), one.random.func
    if not isinstance(func, ast.Attribute):
        return ()
    first, second = module.segment(one.array), module.segment(labels)
    indent = module.code(statement).indent
    if module.resolve(func) == "random.shuffle" or _is_list(module, labels):
        text = (
            f"pairs = list(zip({first}, {second}))\n"
            f"{indent}{module.segment(func)}(pairs)\n"
            f"{indent}{first}, {second} = map(list, zip(*pairs))"
        )
        return (Edit(module.location(statement), text),)
    text = (
        f"order = {module.segment(func.value)}.permutation(len({first}))\n"
        f"{indent}{first}, {second} = {first}[order], {second}[order]"
    )
    return (Edit(module.location(statement), text),)


def _is_list(module: Module, attribute: ast.Attribute) -> bool:
    """Whether the program stores a list there."""
    made = module.origin(attribute).node
    if isinstance(made, ast.Call):
        return getattr(made.func, "id", "") in ("list", "sorted") or last_name(made) in ("glob", "listdir")
    return isinstance(made, (ast.List, ast.ListComp))


def _by_index(module: Module) -> Iterator[Reordering]:
    for node in module.nodes(ast.Subscript):
        drawn: ast.AST = node.slice
        if isinstance(drawn, ast.Name):
            end = origin(module, drawn)
            uses = [one for one in module.nodes(ast.Name) if one.id == drawn.id]
            drawn = end.node if end.certain and not end.path and len(uses) == 2 else drawn
        if (
            isinstance(node.ctx, ast.Load)
            and isinstance(drawn, ast.Call)
            and last_name(drawn) == "permutation"
        ):
            yield Reordering(node.value, drawn, node.slice)


def _in_place(module: Module) -> Iterator[Reordering]:
    for call in module.method_calls("shuffle"):
        if (
            len(call.node.args) == 1
            and not call.node.keywords
            and isinstance(module.parent(call.node), ast.Expr)
        ):
            yield Reordering(call.node.args[0], call.node, None)


def _by_call(module: Module) -> Iterator[Reordering]:
    for call in module.calls_to(*_SHUFFLED_COPY):
        if len(call.node.args) == 1 and not call.node.keywords:
            yield Reordering(call.node.args[0], call.node, None)


def _differ(module: Module, one: Reordering, other: Reordering) -> bool:
    """Whether one generator surely draws both orders, one after the other."""
    first, second = module.statement(one.random), module.statement(other.random)
    sources = [call.random.func.value for call in (one, other) if isinstance(call.random.func, ast.Attribute)]
    copies = all(module.called(each.random) in _SHUFFLED_COPY for each in (one, other))
    if (
        one.random is other.random
        or (len(sources) != 2 and not copies)
        or module.parent(first) is not module.parent(second)
    ):
        return False
    if not copies and (
        ast.dump(sources[0]) != ast.dump(sources[1])
        or any(isinstance(part, ast.Call) for part in ast.walk(sources[0]))
    ):
        return False
    start, end = sorted((first.lineno, second.lineno))
    between = (call.node for call in module.calls if start <= call.node.lineno <= end)
    return not any(last_name(call) in _SEEDING for call in between)


def one_order(module: Module, one: Reordering, other: Reordering) -> tuple[Edit, ...]:
    """Return the edits that draw one order and use it for both arrays."""
    if one.index is None or other.index is None:
        return ()
    if isinstance(one.index, ast.Name):
        return replace_code(module.code(other.index), one.index.id)
    if "order" in module.text.split() or isinstance(other.index, ast.Name):
        return ()
    first = min(one, other, key=lambda each: each.random.lineno)
    return (
        *insert_before(module.code(first.random), f"order = {module.segment(one.random)}"),
        *replace_code(module.code(one.index), "order"),
        *replace_code(module.code(other.index), "order"),
    )
