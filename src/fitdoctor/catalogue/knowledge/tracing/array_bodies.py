"""Rewrites array code on tensors, such as a metric written in NumPy, with functions of TensorFlow or `keras.ops`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fitdoctor.catalogue.knowledge.tracing.array_twins import twin_in
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import spell
from fitdoctor.failure.traced_code import ARRAY_METHODS, CASTS
from fitdoctor.records import dataclass
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import Module
from fitdoctor.source.traced.symbolic import holds_symbolic, holds_written

_NEVER_TENSORS = frozenset({"shape", "ndim", "dtype", "name"})
_BOOLEAN = frozenset(
    "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_not isnan isinf "
    "isfinite isclose any all".split()
)
_COUNTS = frozenset("mean sum prod average cumsum std var".split())
"""Functions that count True as 1, which TensorFlow's do not."""
_SCALARS = frozenset("float16 float32 float64 int8 int16 int32 int64 uint8 bool_".split())
_DTYPES = {"float": "float32", "int": "int32", "bool": "bool"}
"""Python's types as a dtype; NumPy's float64 and int64 would not mix with what a model computes."""


@dataclass(frozen=True)
class Rewritten:
    """A block of array code as it reads with tensor functions."""

    names: tuple[str, ...]
    """The functions that it calls instead."""
    edits: tuple[Edit, ...]


class _NoEquivalent(Exception):
    """A call in the block has no equivalent in the library."""


def as_tensor_code(
    module: Module, nodes: Iterable[ast.AST], asked: Iterable[ast.AST] = ()
) -> Rewritten | None:
    """Rewrite a block that computes with the values of tensors; None if a part of it has no equivalent.

    Args:
        module: the file.
        nodes: the nodes of the block in source order.
        asked: expressions that are tensors although the source does not show it.
    """
    block = list(nodes)
    known = dict(module.spellings)
    has_ops = module.keras != 2  # Keras 2 has no `ops`
    order = (
        ["keras", "tensorflow"] if "keras" in known and "tensorflow" not in known else ["tensorflow", "keras"]
    )
    for library in order:
        if library == "keras" and not has_ops:
            continue
        try:
            return _Body(module, block, set(asked), library).rewritten()
        except _NoEquivalent:
            continue
    return None


class _Body:
    """A block, the names in it that hold tensors, and the library to write it with."""

    def __init__(self, module: Module, nodes: list[ast.AST], asked: set[ast.AST], library: str) -> None:
        self._module = module
        self._nodes = nodes
        self._asked = asked
        self._library = library
        self._called: dict[str, None] = {}
        self._array_code = False
        """Whether a function or method of arrays was rewritten; casts alone have simpler repairs."""
        self._imports: list[Edit] = []
        self._assigned = [
            node for node in nodes if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        ]
        self._tensors: set[str] = set()
        self._booleans: set[str] = set()
        for _ in range(5):
            before = len(self._tensors), len(self._booleans)
            for each in self._assigned:
                if each.value is not None and self.is_tensor(each.value):
                    self._tensors |= set(_names(each))
                    self._booleans |= set(_names(each)) if self._is_boolean(each.value) else set()
            if (len(self._tensors), len(self._booleans)) == before:
                break

    def rewritten(self) -> Rewritten | None:
        edits: list[Edit] = []
        for node in self._nodes:
            if isinstance(node, ast.stmt) and not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                for expression in _expressions(node):
                    edits += self._edits(expression)
        if not any(isinstance(node, ast.stmt) for node in self._nodes):
            edits += self._edits(self._nodes[0])  # type: ignore[arg-type]
        if not edits or not self._array_code:
            return None
        return Rewritten(tuple(self._called), tuple(dict.fromkeys((*edits, *self._imports))))

    # --- what is a tensor -----------------------------------------------------------------------------------------

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor, or an array that is computed from one."""
        if node in self._asked:
            return True
        if isinstance(node, ast.Name) and node.id in self._tensors:
            return True
        if holds_symbolic(self._module, node) or holds_written(self._module, node):
            return True
        if isinstance(node, ast.Attribute):
            return node.attr not in _NEVER_TENSORS and self.is_tensor(node.value)
        if isinstance(node, ast.Call):
            return self._computes_tensor(node)
        if isinstance(node, ast.Subscript):
            return self.is_tensor(node.value)
        parts = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple)
        return isinstance(node, parts) and any(
            self.is_tensor(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
        )

    def _computes_tensor(self, call: ast.Call) -> bool:
        if call in self._asked or isinstance(call.func, ast.Attribute) and self.is_tensor(call.func.value):
            return True
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return self._is_array_function(call) and any(self.is_tensor(each) for each in given)

    def _is_array_function(self, call: ast.Call) -> bool:
        return self._module.resolve(call.func).startswith(("numpy.", "math."))

    def _is_boolean(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._booleans
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, (ast.Not, ast.Invert)) and self._is_boolean(node.operand)
        if isinstance(node, ast.BinOp):
            bitwise = isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor))
            return bitwise and self._is_boolean(node.left)
        return isinstance(node, ast.Call) and self._module.resolve(node.func).rpartition(".")[2] in _BOOLEAN

    # --- how it reads ---------------------------------------------------------------------------------------------

    def _edits(self, node: ast.expr) -> Iterator[Edit]:
        text = self._text(node)
        if text != self._own(node):
            yield Edit(self._module.location(node), text)

    def _own(self, node: ast.AST) -> str:
        start, end = self._module.places.span(node)
        return self._module.text[start:end]

    def _text(self, node: ast.AST) -> str:
        """The node with everything on tensors in it rewritten."""
        if isinstance(node, ast.expr):
            text = self._as_call(node) if isinstance(node, ast.Call) else self._as_attribute(node)
            if text is not None:
                return text
        return self._spliced(node, *self._module.places.span(node), _below(node))

    def _spliced(self, node: ast.AST, start: int, end: int, parts: Iterable[ast.expr]) -> str:
        """The text between two offsets, with the rewritten parts in their places."""
        pieces, position = [], start
        for part in sorted(parts, key=self._module.places.span):
            first, last = self._module.places.span(part)
            if first < position or last > end:
                continue
            text = self._text(part)
            arithmetic = isinstance(node, ast.BinOp) and not isinstance(node.op, _BITWISE)
            if arithmetic and self._is_boolean(part) and self.is_tensor(part):
                text = self._number(text)
            pieces += [self._module.text[position:first], text]
            position = last
        return "".join([*pieces, self._module.text[position:end]])

    def _as_call(self, call: ast.Call) -> str | None:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "numpy" and not call.args:
            return self._text(function.value) if self._is_dropped(call) else None
        name = self._module.resolve(function)
        if name in CASTS and len(call.args) == 1 and self.is_tensor(call.args[0]):
            return self._cast(self._text(call.args[0]), name)
        if name == "len" and call.args and self.is_tensor(call.args[0]):
            return self._number(f"{self._spelled('shape')}({self._text(call.args[0])})[0]")
        if not self._computes_tensor(call):
            return None
        if self._is_array_function(call):
            self._array_code = True
            return self._as_function(call, name)
        if isinstance(function, ast.Attribute) and function.attr in ARRAY_METHODS:
            self._array_code = True
            return self._as_method(call, function)
        return None

    def _is_dropped(self, call: ast.Call) -> bool:
        statement = self._module.statement(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets):
            raise _NoEquivalent
        return True

    def _as_function(self, call: ast.Call, name: str) -> str:
        short = name.partition(".")[2]
        if short in ("array", "asarray") and len(call.args) == 1 and not _is_list(call.args[0]):
            dtype = next((each.value for each in call.keywords if each.arg == "dtype"), None)
            own = self._text(call.args[0])
            return own if dtype is None else self._cast(own, self._own(dtype))
        if short in _SCALARS and len(call.args) == 1:
            return self._cast(self._text(call.args[0]), short.rstrip("_"))
        twin = twin_in(self._library, name, call)
        if twin is None:
            raise _NoEquivalent
        inner = self._module.places.parentheses(call)
        if inner is None:
            raise _NoEquivalent
        rest = self._arguments(call, inner, short in _COUNTS)
        return f"{self._spelled(twin.name)}({rest}{twin.more})"

    def _arguments(self, call: ast.Call, inner: tuple[int, int], counts: bool) -> str:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        text = self._spliced(call, *inner, given)
        first = call.args[0] if call.args else None
        if counts and first is not None and self._is_boolean(first):
            start, end = self._module.places.span(first)
            rest = self._spliced(call, end, inner[1], given)
            return self._module.text[inner[0] : start] + self._number(self._text(first)) + rest
        return text

    def _as_method(self, call: ast.Call, function: ast.Attribute) -> str:
        subject, inner = self._text(function.value), self._module.places.parentheses(call)
        if inner is None:
            raise _NoEquivalent
        if function.attr in ("copy", "item"):
            return subject
        if function.attr == "astype" and len(call.args) == 1:
            return self._cast(subject, self._own(call.args[0]))
        if function.attr in _COUNTS and self._is_boolean(function.value):
            subject = self._number(subject)
        found = twin_in(self._library, f"numpy.{function.attr}", call, method=True)
        if function.attr in ("flatten", "ravel"):
            return f"{self._spelled('reshape')}({subject}, [-1])"
        if found is None or function.attr == "reshape" and len(call.args) != 1:
            raise _NoEquivalent
        rest = self._arguments(call, inner, counts=False)
        name = self._spelled(found.name)
        return f"{name}({subject}, {rest}{found.more})" if rest.strip() else f"{name}({subject}{found.more})"

    def _as_attribute(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            return self._compared(node, node.left, node.comparators[0])
        if isinstance(node, ast.Attribute) and self.is_tensor(node.value):
            if node.attr == "size":
                return self._number(f"{self._spelled('size')}({self._text(node.value)})")
            if node.attr == "T":
                return f"{self._spelled('transpose')}({self._text(node.value)})"
        if isinstance(node, ast.Subscript):
            return self._picked(node)
        return None

    def _compared(self, node: ast.Compare, left: ast.expr, right: ast.expr) -> str | None:
        """Cast positions that are compared with labels: tensors of two dtypes do not mix."""
        positions = [each for each in (left, right) if self._is_positions(each)]
        other = right if left in positions else left
        tensor = next(
            (part for part in ast.walk(other) if isinstance(part, ast.Name) and self.is_tensor(part)), None
        )
        if len(positions) != 1 or tensor is None:
            return None
        texts = [
            f"{self._spelled('cast')}({self._text(each)}, {tensor.id}.dtype)"
            if each in positions
            else self._text(each)
            for each in (left, right)
        ]
        between = self._module.text[self._module.places.span(left)[1] : self._module.places.span(right)[0]]
        return between.join(texts) if between.strip() in _COMPARISONS else None

    def _is_positions(self, node: ast.expr) -> bool:
        """Whether an expression is what `argmax` or `argsort` returned."""
        if isinstance(node, ast.Name):
            made = [
                each.value for each in self._assigned if each.value is not None and node.id in _names(each)
            ]
            return len(made) == 1 and self._is_positions(made[0])
        if isinstance(node, ast.Subscript):
            return self._is_positions(node.value)
        name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        return name in ("argmax", "argmin", "argsort")

    def _picked(self, part: ast.Subscript) -> str | None:
        """Rewrite `p.numpy()[rows, columns]` with `gather_nd`."""
        value, index = part.value, part.slice
        asks = (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "numpy"
        )
        if not asks or not isinstance(index, ast.Tuple) or self._library != "tensorflow":
            return None
        if any(isinstance(each, (ast.Slice, ast.Constant, ast.UnaryOp)) for each in index.elts):
            return None
        numpy, more = spell(self._module.code(part), "numpy", "np")
        self._imports += more
        places = f"{numpy}.stack([{self._own(index)}], axis=-1)"
        return f"{self._spelled('gather_nd')}({self._text(value)}, {places})"

    def _number(self, text: str) -> str:
        return self._cast(text, "float32")

    def _cast(self, text: str, dtype: str) -> str:
        plain = _DTYPES.get(dtype.strip("\"'").rpartition(".")[2], dtype.strip("\"'").rpartition(".")[2])
        plain = {"float64": "float32", "int64": "int32"}.get(plain, plain)
        if not plain.isidentifier():
            raise _NoEquivalent
        return f'{self._spelled("cast")}({text}, "{plain}")'

    def _spelled(self, name: str) -> str:
        """How the file names a function of the library; notes its import."""
        library, usual = ("tensorflow", "tf") if self._library == "tensorflow" else ("keras", "keras")
        if library == "keras":
            if "keras.ops" in dict(self._module.spellings):
                library = usual = "keras.ops"
            else:
                name = f"ops.{name}"
        spelling, imports = spell(self._module.code(self._nodes[0]), library, usual)
        self._imports += imports
        self._called[f"{spelling}.{name}"] = None
        return f"{spelling}.{name}"


_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)


def _names(statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement itself, without those of the statements in it."""
    for node in ast.iter_child_nodes(statement):
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            yield node
        elif isinstance(node, ast.withitem):
            yield node.context_expr


def _below(node: ast.AST) -> Iterator[ast.expr]:
    """The nearest expressions below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif not isinstance(child, ast.expr_context):
            yield from _below(child)


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Tuple, ast.ListComp))
