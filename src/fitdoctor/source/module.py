"""The lazy analysis of one file: names, calls, classes, functions and locations."""

from __future__ import annotations

import ast
import gc
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, SourceFacts
from fitdoctor.source import places, resolution
from fitdoctor.source.definitions import CallSite, ClassInfo, FunctionInfo
from fitdoctor.source.index import FUNCTIONS, FunctionNode, Index, Scope, parameters_of
from fitdoctor.source.names import canonical, kind_of, own_keras
from fitdoctor.source.read import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fitdoctor.source.assignments import Assignment
    from fitdoctor.source.origins import Origin
    from fitdoctor.source.project import Project
    from fitdoctor.source.traced.tensors import Flow
    from fitdoctor.source.traced.tracing import Tracing

    Node = TypeVar("Node", bound=ast.AST)

__all__ = ["CallSite", "ClassInfo", "FunctionInfo", "Module"]

_ALIAS_STEPS = 8
"""How many assignments `a = b` are followed to resolve an alias."""


class Module:
    """The analysis of one file.

    Raises:
        SourceError: the text is not Python.
    """

    def __init__(self, facts: SourceFacts, tree: ast.Module | None = None) -> None:
        self.facts = facts
        self.path = facts.path
        self.text = facts.text
        self.keras = facts.keras
        # Parsing creates many objects and no garbage, so the garbage collector is paused.
        collecting = gc.isenabled()
        gc.disable()
        try:
            self.tree = parse(facts) if tree is None else tree
            self.index = Index(self.tree)
        finally:
            if collecting:
                gc.enable()
        self.project: Project | None = None
        """The project that the file is part of, which sets this."""
        self._resolved: dict[ast.AST, str] = {}
        self._dotted: dict[ast.AST, str] = {}
        self.bound_names: dict[ast.AST, str] = {}
        self._stores: dict[tuple[Scope, str], list[ast.AST]] = {}
        self.attempts: dict[tuple[Scope, str], tuple[list[ast.AST], list[tuple[int, int]]]] = {}
        self._functions: dict[ast.AST, FunctionInfo] = {}
        self._classes: dict[ast.AST, ClassInfo] = {}
        self._definitions: dict[ast.AST, ClassInfo | FunctionInfo | None] = {}
        self.callees: dict[ast.Call, FunctionInfo | None] = {}
        self.flows: dict[ast.AST, Flow] = {}
        self.last_assignments: dict[ast.Name, tuple[Assignment, bool] | None] = {}
        self.answers: dict[tuple[object, ...], object] = {}
        self._mentioned: dict[str, bool] = {}

    def mentions(self, word: str) -> bool:
        """Return whether the text contains a word; many rules ask for the same ones."""
        known = self._mentioned.get(word)
        if known is None:
            known = self._mentioned[word] = word in self.text
        return known

    def join(self, project: Project) -> None:
        """Join a project and drop results computed without it."""
        self.project = project
        for known in (
            self._resolved,
            self._dotted,
            self.bound_names,
            self.attempts,
            self._functions,
            self._classes,
            self._definitions,
            self.callees,
            self.flows,
            self.last_assignments,
            self.answers,
        ):
            known.clear()
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property) and name != "places":
                self.__dict__.pop(name, None)

    def __repr__(self) -> str:
        return f"Module({self.path!r})"

    # --- places ---------------------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> places.Places:
        """Positions in the text."""
        return places.Places(self.facts)

    def location(self, node: ast.AST) -> Location:
        """Return the location of a node."""
        return self.places.of(node)

    def segment(self, node: ast.AST) -> str:
        """The text of a node as the user wrote it."""
        start, end = self.places.span(node)
        return self.text[start:end]

    def rewritten(self, node: ast.AST, *parts: tuple[ast.AST, str]) -> str:
        """Return the text of a node with other text instead of some of its parts."""
        text, start = self.segment(node), self.places.span(node)[0]
        for part, new in sorted(parts, key=lambda part: -self.places.span(part[0])[0]):
            first, last = self.places.span(part)
            text = text[: first - start] + new + text[last - start :]
        return text

    def code(self, node: ast.AST) -> Code:
        """Return the node with everything that an edit needs to know."""
        known = self._codes.get(node)
        if known is None:
            known = self._codes[node] = places.code_of(self, node)
        return known

    @cached_property
    def _codes(self) -> dict[ast.AST, Code]:
        """The answers of `code`: a layer written once may be created a thousand times."""
        return {}

    @cached_property
    def spellings(self) -> tuple[tuple[str, str], ...]:
        """How the file names libraries: `(("numpy", "np"), …)`."""
        return places.spellings_of(self)

    @cached_property
    def import_at(self) -> Location | None:
        """Where an import may be inserted."""
        return places.import_place(self)

    def line_text(self, line: int, cell: int | None = None) -> str:
        """Return a line of the file (or of a cell) as it was read; "" outside it."""
        lines = self.places.lines if cell is None else self._cell(cell).split("\n")
        return lines[line - 1] if 1 <= line <= len(lines) else ""

    def _cell(self, number: int) -> str:
        cells = self.facts.cells or ()
        return cells[number - 1] if 1 <= number <= len(cells) else ""

    # --- the tree -------------------------------------------------------------------------------------------------

    def nodes(self, kind: type[Node]) -> list[Node]:
        """All nodes of exactly that type, outer scopes first, in source order within a scope."""
        return self.index.nodes.get(kind, [])  # type: ignore[return-value]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that contains this one."""
        return self.index.parents.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what contains a node, innermost first, up to its function, class or file."""
        current = self.parent(node)
        while current is not None and not isinstance(current, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            yield current
            current = self.parent(current)

    def around(self, node: ast.AST, *kinds: type[Node]) -> Node | None:
        """Return the innermost node of these types that contains a node, within the same function."""
        return next((each for each in self.parents(node) if isinstance(each, kinds)), None)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node belongs to.

        Raises:
            ValueError: the node is the whole module.
        """
        current: ast.AST | None = node
        while current is not None:
            if isinstance(current, ast.stmt):
                return current
            current = self.index.parents.get(current)
        raise ValueError("no statement holds the node")

    def block(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements of the body, `else` or `finally` that a statement is in; empty for other nodes."""
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(self.parent(statement), name, None)
            if isinstance(statements, list) and statement in statements:
                return statements
        return []

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which a node's names are looked up."""
        return self.index.scope_of(node)

    def function_of(self, node: ast.AST) -> FunctionInfo | None:
        """Return the innermost function, method or lambda whose body contains a node."""
        scope: Scope | None = self.index.scope_of(node)
        while scope is not None:
            if isinstance(scope.node, FUNCTIONS):
                return self.function(scope.node)
            if isinstance(scope.node, ast.ClassDef):
                return None
            scope = scope.parent
        return None

    def runs_traced(self, node: ast.AST) -> bool:
        """Return whether a node is in a function that runs while TensorFlow traces."""
        function = self.function_of(node)
        return function is not None and function.runs_traced

    def class_of(self, node: ast.AST) -> ClassInfo | None:
        """Return the innermost class whose body contains a node."""
        scope: Scope | None = self.index.scope_of(node)
        while scope is not None:
            if isinstance(scope.node, ast.ClassDef):
                return self.class_info(scope.node)
            scope = scope.parent
        return None

    # --- functions and classes --------------------------------------------------------------------------------------

    @cached_property
    def functions(self) -> tuple[FunctionInfo, ...]:
        """Every function, method and lambda, in source order."""
        found = [node for kind in FUNCTIONS for node in self.nodes(kind)]
        found.sort(key=_position)
        return tuple(self.function(node) for node in found)  # type: ignore[arg-type]

    @cached_property
    def classes(self) -> tuple[ClassInfo, ...]:
        """Every class, in source order."""
        return tuple(self.class_info(node) for node in sorted(self.nodes(ast.ClassDef), key=_position))

    def function(self, node: FunctionNode) -> FunctionInfo:
        """Return the information about a function node."""
        known = self._functions.get(node)
        if known is None:
            scope = self.index.scopes[node].parent or self.index.module
            owner = self.class_info(scope.node) if isinstance(scope.node, ast.ClassDef) else None
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            parameters = tuple(parameter.arg for parameter in parameters_of(node.args))
            qualname = ".".join([*scope.path(), name])
            known = self._functions[node] = FunctionInfo(node, name, qualname, owner, parameters, self)
        return known

    def class_info(self, node: ast.ClassDef) -> ClassInfo:
        """Return the information about a class node."""
        known = self._classes.get(node)
        if known is None:
            bases = tuple(self.resolve(base) or _dotted_text(base) for base in node.bases)
            known = self._classes[node] = ClassInfo(node, node.name, bases, self)
        return known

    def definition(self, expr: ast.AST) -> ClassInfo | FunctionInfo | None:
        """Return the user-defined class or function that a name refers to, in this file or the project."""
        if expr not in self._definitions:
            self._definitions[expr] = self._definition(expr, _ALIAS_STEPS)
        return self._definitions[expr]

    def _definition(self, expr: ast.AST, steps: int) -> ClassInfo | FunctionInfo | None:
        if isinstance(expr, ast.Lambda):
            return self.function(expr)
        if isinstance(expr, ast.Name):
            scope = self.index.lookup(expr.id, self.index.scope_of(expr))
            node = scope.bindings[expr.id][-1] if scope is not None else None
            if isinstance(node, ast.ClassDef):
                return self.class_info(node)
            if isinstance(node, FUNCTIONS):
                return self.function(node)
            if isinstance(node, ast.Name):
                return self._named_again(node, steps)
            if isinstance(node, ast.arg):
                return None
        if self.project is not None:
            return self.project.definition(self, self.dotted(expr))
        return None

    def _named_again(self, target: ast.Name, steps: int) -> ClassInfo | FunctionInfo | None:
        """Return the definition behind an alias: `loss = my_loss`, `scale = lambda x: …`."""
        value = resolution.plain_value(self, target)
        if not steps or not isinstance(value, (ast.Lambda, ast.Name, ast.Attribute)):
            return None
        return self._definition(value, steps - 1)

    def kind_of_class(self, info: ClassInfo) -> str:
        """Return the kind of a class by its bases, through classes of the file and of the project."""
        for ancestor in self.ancestry(info):
            for base in ancestor.bases:
                kind = kind_of(base)
                if kind:
                    return kind
        return ""

    def ancestry(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """Return the class and its user-defined bases, nearest first."""
        return info.ancestry

    def method(self, info: ClassInfo, name: str) -> FunctionInfo | None:
        """Return a method by name, defined in the class or inherited from a user-defined class."""
        for ancestor in self.ancestry(info):
            if name in ancestor.methods:
                return ancestor.methods[name]
        return None

    def attribute_stores(self, node: ast.ClassDef) -> dict[str, list[ast.AST]]:
        """`self.name = …` in a class's methods: the targets by name, in source order."""
        return self._attribute_stores.get(node, {})

    @cached_property
    def _attribute_stores(self) -> dict[ast.AST, dict[str, list[ast.AST]]]:
        from fitdoctor.source.callees import is_self

        stores: dict[ast.AST, dict[str, list[ast.AST]]] = {}
        annotated = {each.target for each in self.nodes(ast.AnnAssign) if each.value is None}
        stored = (
            each
            for each in self.nodes(ast.Attribute)
            if isinstance(each.ctx, ast.Store) and each not in annotated
        )
        for attribute in sorted(stored, key=_position):
            if is_self(self, attribute.value):
                owner = self.class_of(attribute)
                if owner is not None:
                    stores.setdefault(owner.node, {}).setdefault(attribute.attr, []).append(attribute)
        return stores

    # --- names ----------------------------------------------------------------------------------------------------

    def resolve(self, node: ast.AST | None) -> str:
        """Return the canonical dotted name of a name or attribute (`keras.layers.Dense`); "" if unknown.

        A builtin that is not shadowed keeps its own name.
        """
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return ""
        known = self._resolved.get(node)
        if known is None:
            dotted = self.dotted(node)
            known = self._resolved[node] = self._canonical(dotted) if dotted else ""
        return known

    def dotted(self, node: ast.AST | None) -> str:
        """Return the dotted name as the imports spell it (`tensorflow.keras.layers.core.Dense`); "" if unknown."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return ""
        known = self._dotted.get(node)
        if known is None:
            known = self._dotted[node] = resolution.dotted(self, node)
        return known

    def called(self, node: ast.AST | None) -> str:
        """Return the canonical name of what an expression calls; "" if it is not a call, or of something unknown."""
        return self.resolve(node.func) if isinstance(node, ast.Call) else ""

    def own_attribute(self, node: ast.AST | None) -> str:
        """Return `x` of `self.x`; "" for any other expression."""
        from fitdoctor.source.callees import is_self

        return node.attr if isinstance(node, ast.Attribute) and is_self(self, node.value) else ""

    def imported(self, alias: ast.alias) -> str:
        """The canonical name that an import binds; relative ones keep their dots."""
        return self._canonical(resolution.imported(self, alias))

    def _canonical(self, dotted: str) -> str:
        """Return the canonical name; `tf_keras` counts as Keras if the program uses no other.

        So does the private copy inside TensorFlow for a program on Keras 2, which accepts its layers.
        """
        if dotted.startswith("tf_keras") and self._has_only_keras_2:
            return own_keras(dotted)
        if dotted.startswith("tensorflow.python.keras") and self.keras == 2:
            return own_keras(dotted)
        return canonical(dotted)

    @cached_property
    def _has_only_keras_2(self) -> bool:
        if self.keras != 2:
            return False
        named = [alias.name for node in self.nodes(ast.Import) for alias in node.names]
        named += [node.module or "" for node in self.nodes(ast.ImportFrom) if node.level == 0]
        return all(name.partition(".")[0] != "keras" for name in named)

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules that the file star-imports."""
        return resolution.stars(self)

    # --- calls ----------------------------------------------------------------------------------------------------

    @cached_property
    def calls(self) -> tuple[CallSite, ...]:
        """Every call, by its start; the outermost call of a chain comes first."""
        return tuple(self.call(node) for node in sorted(self.nodes(ast.Call), key=_position))

    def call(self, node: ast.Call) -> CallSite:
        """The call site of a node."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return CallSite(node, self.resolve(node.func), method, self)

    @cached_property
    def calls_by_name(self) -> dict[str, list[CallSite]]:
        """The calls by the canonical names of the called functions, as far as these are known."""
        named: dict[str, list[CallSite]] = {}
        for call in self.calls:
            if call.name:
                named.setdefault(call.name, []).append(call)
        return named

    @cached_property
    def _calls_by_method(self) -> dict[str, list[CallSite]]:
        named: dict[str, list[CallSite]] = {}
        for call in self.calls:
            if call.method:
                named.setdefault(call.method, []).append(call)
        return named

    @cached_property
    def calls_in(self) -> dict[ast.AST, list[CallSite]]:
        """The calls in the body of each function, in source order."""
        found: dict[ast.AST, list[CallSite]] = {}
        for call in self.calls:
            if call.function is not None:
                found.setdefault(call.function.node, []).append(call)
        return found

    def calls_to(self, *names: str) -> tuple[CallSite, ...]:
        """The calls to any of these canonical names, in source order."""
        return _merged(self.calls_by_name, names)

    def calls_under(self, *beginnings: str) -> tuple[CallSite, ...]:
        """Return the calls to any name with one of these prefixes (`keras.layers.`), in source order."""
        return self.calls_to(*(name for name in self.calls_by_name if name.startswith(beginnings)))

    def method_calls(self, *attributes: str) -> tuple[CallSite, ...]:
        """The calls `something.attribute(…)`, in source order."""
        return _merged(self._calls_by_method, attributes)

    # --- values (origins, tracing, tensors) -----------------------------------------------------------------------

    def assignments(self, name: str, scope: ast.AST | None = None) -> tuple[Assignment, ...]:
        """Return what assigns a name (or `self.name`) in the scope of a node (default: the module), in source order."""
        from fitdoctor.source import origins

        return origins.assignments(self, name, scope)

    def stores(self, scope: Scope, name: str) -> list[ast.AST]:
        """Return what binds a name in a scope, in source order; `del` does not."""
        known = self._stores.get((scope, name))
        if known is None:
            bound = (
                node for node in scope.bindings[name] if not isinstance(getattr(node, "ctx", None), ast.Del)
            )
            known = self._stores[scope, name] = sorted(bound, key=_position)
        return known

    def made_by(self, expr: ast.expr) -> ast.expr:
        """Return the expression in this file that `expr` comes from; `expr` itself if unclear."""
        from fitdoctor.source import origins

        return origins.made_by(self, expr)

    def origin(self, expr: ast.expr) -> Origin:
        """Trace a value to its origin, step by step, across functions and files."""
        from fitdoctor.source import origins

        return origins.origin(self, expr)

    @cached_property
    def _tracing(self) -> dict[ast.AST, Tracing]:
        from fitdoctor.source.traced import tracing

        return tracing.traced_functions(self)

    @cached_property
    def traced(self) -> tuple[FunctionInfo, ...]:
        """The functions that TensorFlow traces, in source order."""
        return tuple(function for function in self.functions if self.tracing_of(function.node) is not None)

    @cached_property
    def runs_eagerly(self) -> bool:
        """Whether the file sets TensorFlow to run functions eagerly."""
        from fitdoctor.source.traced import tracing

        return tracing.asks_for_eager(self)

    @cached_property
    def on_tensorflow(self) -> bool:
        """Whether the program runs Keras on TensorFlow, as far as its files say."""
        from fitdoctor.source.keras_backend import only_tensorflow

        return only_tensorflow((self,) if self.project is None else self.project.modules)

    def tracing_of(self, node: FunctionNode) -> Tracing | None:
        """Return how a function comes to be traced."""
        if self.project is not None:
            return self.project.tracing.get(node)
        return self._tracing.get(node)

    @cached_property
    def callers(self) -> dict[ast.AST, list[tuple[Module, ast.Call]]]:
        """The calls of each function that is only ever called, in the whole project."""
        from fitdoctor.source.callees import called_only

        return self.project.callers if self.project is not None else called_only([self], self.calls_of)

    @cached_property
    def calls_of(self) -> dict[ast.AST, list[tuple[Module, ast.Call]]]:
        """Return the calls of each function, including functions that are also passed around by name."""
        from fitdoctor.source.callees import all_calls

        return self.project.calls_of if self.project is not None else all_calls([self])

    @cached_property
    def attributes(self) -> dict[str, list[ast.Attribute]]:
        """Where each attribute is read or set."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in self.nodes(ast.Attribute):
            found.setdefault(node.attr, []).append(node)
        return found

    @cached_property
    def reads(self) -> dict[str, list[ast.Name]]:
        """Where each name is read."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.nodes(ast.Name):
            if isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    @cached_property
    def in_place_writes(self) -> dict[tuple[ast.AST, str], list[ast.stmt]]:
        """Statements such as `y[y == 0] = 10`, by scope and name."""
        from fitdoctor.source.assignments import find_writes

        return find_writes(self)

    @cached_property
    def returns(self) -> dict[ast.AST, list[ast.Return]]:
        """The return statements of each function, in source order."""
        found: dict[ast.AST, list[ast.Return]] = {}
        for statement in self.nodes(ast.Return):
            found.setdefault(self.scope(statement).node, []).append(statement)
        return found

    @cached_property
    def generators(self) -> set[ast.AST]:
        """The functions that contain `yield`."""
        return {self.scope(node).node for kind in (ast.Yield, ast.YieldFrom) for node in self.nodes(kind)}

    def flow(self, node: FunctionNode) -> Flow:
        """Which expressions of a traced function are tensors."""
        from fitdoctor.source.traced import tensors

        known = self.flows.get(node)
        return tensors.flow_of(self, node) if known is None else known

    def is_tensor(self, expr: ast.expr, alone: bool = False) -> bool:
        """Whether the expression is a symbolic tensor: in traced code, and computed from tensors (see `tensors`)."""
        from fitdoctor.source.traced import tensors

        return tensors.is_tensor(self, expr, alone)


def _merged(named: dict[str, list[CallSite]], names: tuple[str, ...]) -> tuple[CallSite, ...]:
    found = [call for name in dict.fromkeys(names) for call in named.get(name, ())]
    if len(names) > 1:
        found.sort(key=lambda call: _position(call.node))
    return tuple(found)


_position = attrgetter("lineno", "col_offset")


def _dotted_text(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Subscript):  # Generic[T]
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
