"""Find labels and predictions that two passes over the same data collect, each pass in a new order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.definitions import CallSite, argument_of, last_name
from fitdoctor.source.module import Module

_FOLDERS = frozenset("flow_from_directory flow_from_dataframe".split())
_DATASETS = frozenset("image_dataset_from_directory text_dataset_from_directory".split())
_KEEP_ORDER = frozenset("map batch unbatch prefetch take skip with_options ignore_errors".split())
_LISTED = ("classes", "labels")
"""Attributes of a folder's iterator: the labels in the order of the files."""
_BY_ROW = frozenset(
    "argmax array asarray astype cast concat concatenate flatten greater hstack int32 list numpy ravel reshape rint round "
    "squeeze stack vstack where".split()
)
"""Functions and methods whose result has a row for each row of their first argument."""
_ADDING = frozenset(("append", "extend"))
PREDICTS = ("predict", "predict_generator")


@dataclass(frozen=True, eq=False)
class SeparatePasses:
    """A comparison of labels with predictions, each from its own pass over the data."""

    data: ast.Name
    predicting: ast.Call
    labels: ast.expr
    """What takes the labels from the data, in a pass of its own."""
    comparison: ast.expr


def separate_passes(module: Module, predicting: CallSite) -> SeparatePasses | None:
    """Return where the result of a call of `predict` is compared with labels of another pass over its data."""
    data = predicting.argument("x", 0) or predicting.argument("generator")
    if not isinstance(data, ast.Name):
        return None
    for labels, names in _labels_of(module, data):
        compared = next(_comparisons(module, predicting, labels, names), None)
        if compared is not None:
            return SeparatePasses(data, predicting.node, labels, compared)
    return None


def shuffling(module: Module, data: ast.expr) -> ast.Call | None:
    """Return the call that reshuffles the data in every pass; None if there is none or the data is unknown."""
    while True:
        made = module.origin(data)
        call = made.node
        if not made.certain or made.path or made.module is not module or not isinstance(call, ast.Call):
            return None
        name = last_name(call)
        if name in _FOLDERS | _DATASETS:
            return call if _is_on(argument_of(call, "shuffle")) and len(call.args) < 3 else None
        if name == "shuffle":
            return call if _is_on(argument_of(call, "reshuffle_each_iteration", 2)) else None
        if name not in _KEEP_ORDER or not isinstance(call.func, ast.Attribute):
            return None
        data = call.func.value


def _is_on(given: ast.expr | None) -> bool:
    """Whether a flag that is on by default is on."""
    return given is None or isinstance(given, ast.Constant) and given.value is True


def _labels_of(module: Module, data: ast.Name) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """Yield what takes the labels from the data alone, and the lists that it fills."""
    bound = module.index.lookup(data.id, module.scope(data))
    for read in module.reads.get(data.id, ()):
        if module.index.lookup(data.id, module.scope(read)) is not bound:
            continue
        parent = module.parent(read)
        if isinstance(parent, ast.Attribute) and parent.attr in _LISTED:
            yield parent, frozenset()
            continue
        passed: ast.expr = read
        while isinstance(parent, ast.Attribute) and parent.attr in (*_KEEP_ORDER, "as_numpy_iterator"):
            call = module.parent(parent)
            if not isinstance(call, ast.Call) or call.func is not parent:
                break
            passed, parent = call, module.parent(call)
        if not isinstance(parent, (ast.comprehension, ast.For)) or parent.iter is not passed:
            continue
        match parent.target:
            case ast.Tuple(elts=[_, ast.Name(id=name)]):
                yield from _collected(module, parent, name)


def _collected(
    module: Module, loop: ast.comprehension | ast.For, name: str
) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """Yield what a loop collects of the labels, unless it does something with the features as well."""
    features = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)} - {name}
    if isinstance(loop, ast.comprehension):
        owner = module.parent(loop)
        if isinstance(owner, (ast.ListComp, ast.GeneratorExp)) and _mentions(owner.elt, {name}):
            if not _mentions(owner.elt, features):
                yield owner, frozenset()
        return
    if any(_mentions(statement, features) for statement in loop.body):
        return
    for call in (each for statement in loop.body for each in ast.walk(statement)):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=filled), attr=method), args=[value]):
                if method in _ADDING and _mentions(value, {name}):
                    yield call, frozenset((filled,))


def _mentions(tree: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(tree))


def _comparisons(
    module: Module, site: CallSite, labels: ast.expr, names: frozenset[str]
) -> Iterator[ast.expr]:
    """Yield where predictions meet these labels: in a metric of scikit-learn, a confusion matrix, or `==`."""
    scope = module.scope(site.node)
    pairs: list[tuple[ast.expr, ast.expr, ast.expr]] = []
    for call in (
        *module.calls_under("sklearn.metrics."),
        *module.calls_to("tensorflow.math.confusion_matrix"),
    ):
        given = [call.argument(keyword, at) for at, keyword in enumerate(("y_true", "y_pred"))]
        if given[0] is None:
            given = [call.argument(keyword, at) for at, keyword in enumerate(("labels", "predictions"))]
        if given[0] is not None and given[1] is not None:
            pairs.append((call.node, given[0], given[1]))
    for equal in module.nodes(ast.Compare):
        if len(equal.ops) == 1 and isinstance(equal.ops[0], ast.Eq):
            pairs.append((equal, equal.left, equal.comparators[0]))
    for comparison, one, other in pairs:
        if module.scope(comparison) is not scope:
            continue
        for true, predicted in ((one, other), (other, one)):
            if _comes_from(module, true, labels, names) and _comes_from(module, predicted, site.node):
                yield comparison


def _comes_from(
    module: Module, value: ast.expr, source: ast.expr, names: frozenset[str] = frozenset(), depth: int = 12
) -> bool:
    """Whether a value is an expression, or a list that it fills, row by row: not its maximum or its counts."""
    if value is source or isinstance(value, ast.Name) and value.id in names:
        return True
    if not depth:
        return False
    parts: list[ast.expr] = []
    match value:
        case ast.Name():
            made = module.origin(value)
            parts = [made.node] if made.certain and made.module is module and made.node is not value else []
        case ast.Call():
            held = [value.func.value] if isinstance(value.func, ast.Attribute) else []
            parts = [*value.args[:1], *held] if last_name(value) in _BY_ROW else []
        case ast.Subscript() | ast.Attribute() | ast.Starred():
            parts = [value.value]
        case ast.Compare():
            parts = [value.left]
        case ast.BinOp():
            parts = [value.left, value.right]
        case ast.List() | ast.Tuple():
            parts = value.elts
    return any(_comes_from(module, part, source, names, depth - 1) for part in parts)
