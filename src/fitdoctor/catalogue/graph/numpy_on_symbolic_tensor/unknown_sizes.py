"""Sizes that are None during tracing but used as numbers, and the expressions that return them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import at_frame, function_at, module_of
from fitdoctor.records import dataclass
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes

_NONE_IN_SHAPE = re.compile(
    r"Failed to convert elements of [(\[][^\n]{0,200}\bNone\b|"
    r"Contents: [(\[][^\n]{0,200}\bNone\b[^\n]{0,200}[)\]]\. Consider casting|"
    r"Cannot convert a partially known TensorShape|Cannot convert an unknown Dimension"
)
"""TensorFlow reports a shape that contains None."""
_NONE_AS_NUMBER = re.compile(
    r"unsupported operand type\(s\) for [^\n]{1,20}: (?:'NoneType' and '(?:int|float|NoneType|Tensor|SymbolicTensor)'"
    r"|'(?:int|float|Tensor|SymbolicTensor)' and 'NoneType')|"
    r"'NoneType' object cannot be interpreted as an integer|"
    r"Expected int(?:32|64)[^\n]{0,80}, but got None of type 'NoneType'|"
    r"(?:int|float)\(\) argument must be [^\n]{0,80} not 'NoneType'|"
    r"None values not supported|'[<>]=?' not supported between instances of '(?:NoneType|int)' and '(?:NoneType|int)'"
)
"""Python or TensorFlow got None instead of a number, from any source."""
_SIZE_IN_TEXT = re.compile(r"\.shape\b|\.get_shape\(|\bint_shape\(|\.as_list\(")


@dataclass(frozen=True, eq=False)
class UnknownSize:
    """Where code reads a size that is unknown during tracing."""

    module: Module | None
    node: ast.expr | None
    """`x.shape[0]`, or `x.shape` as a whole; None if there is no source."""
    text: str
    place: Location
    """Where the size is used."""


def unknown_size(failure: FailureFacts, project: Project) -> UnknownSize | None:
    """Return the size that a failure is about, or None if it is about something else."""
    frame = failure.last_user_frame
    surely = bool(_NONE_IN_SHAPE.search(failure.message))
    if frame is None or not surely and not _NONE_AS_NUMBER.search(failure.message):
        return None
    module = module_of(project, frame)
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    if module is not None and function is not None:
        here = [
            node
            for node in own_nodes(function)
            if isinstance(node, ast.expr) and at_frame(module, node, frame)
        ]
        for node in _sizes_behind(module, function, here, frame.line):
            return UnknownSize(module, node, module.segment(node), frame.location)
    if _SIZE_IN_TEXT.search(frame.text) or surely:
        return UnknownSize(None, None, "", frame.location)
    return None


def says_open_size(message: str) -> bool:
    """Return whether a message is about a shape that contains None."""
    return _NONE_IN_SHAPE.search(message) is not None


def size_given(module: Module, call: ast.Call) -> UnknownSize | None:
    """Return the size passed to a call as a number; the nearest if there are several."""
    function = module.function_of(call)
    own = [node for node in ast.walk(call) if isinstance(node, ast.expr)]
    sizes = _sizes_behind(module, function, own, call.lineno) if function is not None else _sizes(module, own)
    first = next(sizes, None)
    return UnknownSize(module, first, module.segment(first), module.location(call)) if first else None


def _sizes_behind(
    module: Module, function: FunctionInfo, here: list[ast.expr], line: int
) -> Iterator[ast.expr]:
    """Return the sizes that expressions read, directly first, then through their names."""
    own = list(own_nodes(function))
    yield from _sizes(module, here)
    names = {node.id for node in here if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in own:
        if not isinstance(node, ast.Assign) or node.lineno > line:
            continue
        bound = {
            each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)
        }
        if bound & names:
            yield from _sizes(module, [each for each in ast.walk(node.value) if isinstance(each, ast.expr)])


def _sizes(module: Module, nodes: list[ast.expr]) -> Iterator[ast.expr]:
    for node in nodes:
        if not _is_shape(module, node):
            continue
        parent = module.parent(node)
        # also match a trailing `.as_list()`, but not a call that takes the shape
        while (
            isinstance(parent, ast.Attribute | ast.Call)
            and node is (parent.value if isinstance(parent, ast.Attribute) else parent.func)
            and _SIZE_IN_TEXT.search(module.segment(parent)[-12:])
        ):
            node, parent = parent, module.parent(parent)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            if isinstance(parent.slice, ast.Slice):
                continue  # part of the shape: the axis is unknown
            yield parent
        else:
            yield node


def _is_shape(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" and not module.resolve(node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get_shape":
        return True
    return module.resolve(node.func).endswith(".int_shape")


def as_tensor(size: UnknownSize, tf: str) -> Edit | None:
    """Rewrite `x.shape[0]` as `tf.shape(x)[0]` inside a TensorFlow call; other code may need a number."""
    module, node = size.module, size.node
    if module is None or node is None:
        return None
    subscript = node if isinstance(node, ast.Subscript) else None
    shape = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(shape, ast.Attribute) or not _in_tensorflow_call(module, node):
        return None
    index = f"[{module.segment(subscript.slice)}]" if subscript is not None else ""
    return Edit(module.location(node), f"{tf}.shape({module.segment(shape.value)}){index}")


def _in_tensorflow_call(module: Module, node: ast.expr) -> bool:
    parent = module.parent(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.BinOp | ast.keyword):
        parent = module.parent(parent)
    if isinstance(parent, ast.Assign):
        return all(
            _in_tensorflow_call(module, read)
            for target in parent.targets
            if isinstance(target, ast.Name)
            for read in module.reads.get(target.id, [])
            if module.function_of(read) == module.function_of(node)
        ) and all(isinstance(target, ast.Name) for target in parent.targets)
    return module.called(parent).startswith("tensorflow.")
