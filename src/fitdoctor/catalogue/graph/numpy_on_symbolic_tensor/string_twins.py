"""`tf.strings` equivalents of Python string and path functions, and the edits that insert them."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import spell
from fitdoctor.records import dataclass
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes

_WORDS = "string"
_PARTS = "parts"
_NUMBER = "number"
_SAME = frozenset({"lower", "upper", "strip"})
_STRING_METHODS = _SAME | {"split", "decode", "replace", "startswith", "endswith"}
_CASTS = {"int": "int32", "float": "float32"}


@dataclass(frozen=True)
class _Twin:
    """The tensor version of an expression, and what it returns."""

    text: str
    kind: str
    changed: bool = True
    of_folder: str = ""
    """The path whose parent directory this is; its name is the second to last part of the path."""


def string_edits(function: FunctionInfo) -> tuple[Edit, ...]:
    """Make a function treat its strings as tensors; nothing if one of its steps has no equivalent."""
    module = function.module
    if isinstance(function.node, ast.Lambda):
        return ()
    tf, imports = spell(module.code(function.node), "tensorflow", "tf")
    reading = _Reading(function, tf)
    edits: list[Edit] = []
    for statement in function.node.body:
        edits += reading.statement(statement)
    return (*edits, *imports) if edits and not reading.stuck else ()


class _Reading:
    """One pass through a function, starting at the first use of a string."""

    def __init__(self, function: FunctionInfo, tf: str) -> None:
        self._module: Module = function.module
        self._tf = tf
        self.stuck = False
        """Whether code iterates over the parts of a string, which only Python can do."""
        self._known: dict[str, str] = dict.fromkeys(_text_parameters(function), _WORDS)

    def statement(self, statement: ast.stmt) -> list[Edit]:
        """Return the edits for one statement, and remember what it assigns."""
        edits: list[Edit] = []
        value = statement.value if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) else None
        if value is None:
            return edits
        whole = self._twin(value)
        if whole is None:
            for child in ast.iter_child_nodes(value):
                edits += self._inside(child)
        elif whole.changed:
            edits.append(Edit(self._module.location(value), whole.text))
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and whole is not None:
            self._known[target.id] = whole.kind
        return edits

    def _inside(self, node: ast.AST) -> list[Edit]:
        twin = self._twin(node) if isinstance(node, ast.expr) else None
        if isinstance(node, ast.comprehension):
            self.stuck = self.stuck or self._twin(node.iter) is not None
        if twin is not None:
            return [Edit(self._module.location(node), twin.text)] if twin.changed else []
        return [edit for child in ast.iter_child_nodes(node) for edit in self._inside(child)]

    def _twin(self, node: ast.expr) -> _Twin | None:
        """Return the tensor version of a string expression, or None if there is none."""
        if isinstance(node, ast.Name):
            kind = self._known.get(node.id)
            return _Twin(node.id, kind, changed=False) if kind is not None else None
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.Call):
            return self._method(node) or self._function(node)
        return None

    def _item(self, node: ast.Subscript) -> _Twin | None:
        held = self._twin(node.value)
        if held is not None and held.kind == _PARTS:
            return _Twin(f"{held.text}[{self._module.segment(node.slice)}]", _WORDS, held.changed)
        key = self._twin(node.slice)
        if key is None or key.kind != _WORDS:
            return None
        table = self._module.segment(node.value)
        found = f"{self._tf}.argmax({self._tf}.constant(list({table}.keys())) == {key.text})"
        return _Twin(f"{self._tf}.gather({self._tf}.constant(list({table}.values())), {found})", _NUMBER)

    def _method(self, call: ast.Call) -> _Twin | None:
        if not isinstance(call.func, ast.Attribute):
            return None
        name, given = call.func.attr, [self._module.segment(each) for each in call.args]
        if name == "index" and len(call.args) == 1:
            word = self._twin(call.args[0])
            listed = f"{self._tf}.constant({self._module.segment(call.func.value)})"
            return _Twin(f"{self._tf}.argmax({listed} == {word.text})", _NUMBER) if word is not None else None
        subject = self._twin(call.func.value)
        if subject is None or subject.kind != _WORDS or call.keywords:
            return None
        if name in ("numpy", "decode"):
            return _Twin(subject.text, _WORDS)
        if name in _SAME and not given:
            return _Twin(f"{self._tf}.strings.{name}({subject.text})", _WORDS)
        if name == "split" and len(given) <= 1:
            return _Twin(f"{self._tf}.strings.split({', '.join([subject.text, *given])})", _PARTS)
        return None

    def _function(self, call: ast.Call) -> _Twin | None:
        name = self._module.resolve(call.func)
        subject = self._twin(call.args[0]) if len(call.args) == 1 and not call.keywords else None
        if subject is None or subject.kind != _WORDS:
            return None
        strings = f"{self._tf}.strings"
        if name == "str":
            return _Twin(subject.text, _WORDS)
        if name in _CASTS:
            return _Twin(f"{strings}.to_number({subject.text}, {self._tf}.{_CASTS[name]})", _NUMBER)
        separator = f"{self._module.segment(call.func).partition('.')[0]}.sep"
        if name == "os.path.basename" and self._module.segment(call.func) == "os.path.basename":
            path, at = (subject.of_folder, -2) if subject.of_folder else (subject.text, -1)
            return _Twin(f"{strings}.split({path}, {separator})[{at}]", _WORDS)
        if name == "os.path.dirname":
            text = f'{strings}.regex_replace({subject.text}, "/[^/]*$", "")'
            return _Twin(text, _WORDS, of_folder=subject.text)
        return None


def _text_parameters(function: FunctionInfo) -> set[str]:
    """Return the parameters that the function treats as strings: it splits them or reads part of a path."""
    module, found = function.module, set()
    for node in own_nodes(function):
        if not isinstance(node, ast.Call):
            continue
        subject: ast.expr | None = None
        if isinstance(node.func, ast.Attribute) and node.func.attr in _STRING_METHODS:
            subject = node.func.value
        elif module.resolve(node.func).startswith("os.path.") and len(node.args) == 1:
            subject = node.args[0]
        while isinstance(subject, ast.Call):  # text.numpy().decode()
            inner = subject.func
            subject = inner.value if isinstance(inner, ast.Attribute) and not subject.args else None
        if isinstance(subject, ast.Name) and subject.id in function.parameters:
            found.add(subject.id)
    return found
