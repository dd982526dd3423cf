"""Compiles the user's files so that they note the values of their expressions; only in a second run."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from fitdoctor.failure.frames import is_library
from fitdoctor.records import dataclass, field

NOTE, CHANGED, WARM = "__fitdoctor_note__", "__fitdoctor_changed__", "__fitdoctor_warm__"
"""Builtins that the compiled code calls: with a value, after a statement that changes one, and in each pass of a loop."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEFT_ALONE = (ast.Constant, ast.JoinedStr, ast.Slice)


@dataclass(eq=False)
class Site:
    """An expression, or a statement that changes a value in place."""

    number: int
    path: str
    node: ast.expr | ast.stmt
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    """The function that it is in."""
    operands: tuple[int, ...] = ()
    """The sites of the values that it is computed from."""
    returned: bool = False
    """It is what the function returns or yields."""
    looked_into: bool = True
    """It is used as a whole: what an object or dict holds counts."""


@dataclass(eq=False)
class Sites:
    """All sites of a program, by number."""

    sites: list[Site] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def compiled(self, source: bytes | str, path: str) -> CodeType:
        """Return the code of a file that notes its values."""
        return self.compiled_tree(ast.parse(source, path), path)

    def compiled_tree(self, tree: ast.AST, path: str, mode: str = "exec") -> CodeType:
        """Return the code of a parsed file, or of a cell of a notebook."""
        self.paths.add(path)
        body = getattr(tree, "body", None)
        if isinstance(body, list):
            tree.body = _Noting(self, path).block(body)  # type: ignore[attr-defined]
            ast.fix_missing_locations(tree)
        return compile(tree, path, mode, dont_inherit=True)  # type: ignore[call-overload,no-any-return]

    def add(self, path: str, node: ast.expr | ast.stmt, function: Any, **more: Any) -> Site:
        """Add a site, and return it."""
        site = Site(len(self.sites), path, node, function, **more)
        self.sites.append(site)
        return site

    def note_imports(self) -> None:
        """Compile every module of the user's that is imported from now on in this way."""
        original = SourceFileLoader.get_code

        def get_code(loader: Any, name: str) -> Any:
            path = loader.get_filename(name)
            if is_library(path):
                return original(loader, name)
            return self.compiled(loader.get_data(path), path)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]


class _Noting:
    """Rewrites the statements of one file."""

    def __init__(self, sites: Sites, path: str) -> None:
        self._sites = sites
        self._path = path
        self._function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
        self._iterated: tuple[int, ...] = ()
        """The sites of what the loops around a statement iterate over."""

    # --- statements -----------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            found += self._statement(statement)
        return found

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, FUNCTIONS):
            outer = self._function, self._iterated
            self._function, self._iterated = copy.copy(node), ()
            node.body = self._body(node)
            self._function, self._iterated = outer
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(node)
        elif isinstance(node, ast.Match) or type(node).__name__ == "TypeAlias":
            return [node]
        else:
            return self._plain(node)
        return [node]

    def _body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """Note the first calls of a function only; in later ones, its plain statements run."""
        documented = ast.get_docstring(node, clean=False) is not None
        head, body = node.body[:documented], node.body[documented:]
        declared = [each for each in _own_statements(body) if isinstance(each, (ast.Global, ast.Nonlocal))]
        if not body or any(each not in body for each in declared):
            return [*head, *self.block(body)]
        body = [each for each in body if each not in declared] or [ast.Pass()]
        plain = copy.deepcopy(body)
        number = self._sites.add(self._path, node, self._function).number
        test = _call(WARM, number, at=node)
        return [*head, *declared, ast.copy_location(ast.If(test, self.block(body), plain), node.body[-1])]

    def _plain(self, node: ast.stmt) -> list[ast.stmt]:
        """Note what a statement computes, and what it changes in place."""
        before = copy.deepcopy(node) if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) else node
        operands: list[int] = []
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and name not in ("annotation", "target"):
                new, found = self.expression(value)
                setattr(node, name, new)
                operands += found
                if isinstance(node, ast.Return):
                    self._mark_returned(found)
            elif name in ("body", "orelse", "finalbody") and isinstance(value, list):
                setattr(node, name, self.block(value))
            elif name == "items":
                for item in value:
                    item.context_expr, _found = self.expression(item.context_expr)
            elif name == "handlers":
                for handler in value:
                    handler.body = self.block(handler.body)
        return [node, *self._after(before, operands)]

    def _mark_returned(self, found: list[int]) -> None:
        if len(found) == 1:
            self._sites.sites[found[0]].returned = True

    def _after(self, node: ast.stmt, operands: list[int]) -> Iterator[ast.stmt]:
        """Yield the calls that look again at what a statement changed in place."""
        for target in changed_by(node):
            read = (*operands, *self._iterated)
            site = self._sites.add(self._path, node, self._function, operands=read)
            yield ast.copy_location(
                ast.Expr(_call(CHANGED, site.number, copy.deepcopy(target), at=node)), node
            )

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> list[ast.stmt]:
        """Note the first passes of a loop only; later ones run the plain statements."""
        plain = copy.deepcopy(node.body)
        first = len(self._sites.sites)
        warm: list[ast.stmt] = []
        found: list[int] = []
        if not isinstance(node, ast.While):
            node.iter, found = self.expression(node.iter)
            warm = [
                ast.copy_location(ast.Expr(self._noted(_loaded(name), name, found)[0]), node)
                for name in _names(node.target)
            ]
        outer, self._iterated = self._iterated, (*self._iterated, *found)
        warm += self.block(node.body)
        self._iterated = outer
        loop = self._sites.add(self._path, node, self._function)
        test = _call(WARM, loop.number, at=node)
        node.body = [ast.copy_location(ast.If(test, warm, plain), node.body[0])]
        node.orelse = self.block(node.orelse)
        return [node, *self._after_loop(node, first, loop.number)]

    def _after_loop(self, node: ast.stmt, first: int, last: int) -> Iterator[ast.stmt]:
        """Yield the calls that look again at what the plain passes of a loop changed in place."""
        inside = {
            site.node: site for site in self._sites.sites[first:last] if isinstance(site.node, ast.stmt)
        }
        for changing, site in inside.items():
            for target in changed_by(changing):
                after = self._sites.add(self._path, changing, site.function, operands=site.operands)
                again = ast.Expr(_call(CHANGED, after.number, target, at=node))
                handler = ast.ExceptHandler(ast.Name("NameError", ast.Load()), None, [ast.Pass()])
                yield ast.copy_location(ast.Try([again], [handler], [], []), node)

    # --- expressions ----------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> tuple[ast.expr, list[int]]:
        """Return an expression that notes its values, and the sites of its value."""
        if isinstance(node, _LEFT_ALONE):
            return node, []
        if isinstance(node, ast.Lambda):
            node.body, _found = self.expression(node.body)
            return node, []
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node)
        original = copy.copy(node)
        operands: list[int] = []
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                node.func.value, operands = self.expression(node.func.value)
            elif not isinstance(node.func, ast.Name):
                node.func, operands = self.expression(node.func)
            given = [*node.args]
            node.args = []
            for argument in given:
                new, found = self.expression(argument)
                node.args.append(new)
                operands += found
            for keyword in node.keywords:
                keyword.value, found = self.expression(keyword.value)
                operands += found
        else:
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr) and not (isinstance(node, ast.NamedExpr) and name == "target"):
                    new, found = self.expression(value)
                    setattr(node, name, new)
                    operands += found
                elif isinstance(value, list) and all(isinstance(each, ast.expr) for each in value):
                    pairs = [self.expression(each) for each in value]
                    setattr(node, name, [new for new, _found in pairs])
                    operands += [each for _new, found in pairs for each in found]
            if isinstance(node, (ast.Attribute, ast.Subscript)) and operands:
                self._sites.sites[operands[0]].looked_into = False
        if isinstance(node, ast.Yield):
            self._mark_returned(operands)
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Starred, ast.NamedExpr, ast.Await)):
            return node, operands
        return self._noted(node, original, operands)

    def _comprehension(self, node: Any) -> tuple[ast.expr, list[int]]:
        """Note a comprehension as a whole: what is in it runs for every element."""
        original = copy.copy(node)
        inside = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and _is_bound(name)}
        inside |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
        free = {
            name.id: name
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and name.id not in inside and id(name) not in called
        }
        first = node.generators[0]
        first.iter, operands = self.expression(first.iter)
        others: list[ast.expr] = []
        for name in free.values():
            new, found = self.expression(_loaded(name))
            others.append(new)
            operands += found
        noted, sites = self._noted(node, original, operands)
        # After the comprehension, which they are read in, too: they have their values by then.
        noted.args += others  # type: ignore[attr-defined]
        return noted, sites

    def _noted(self, node: ast.expr, original: ast.expr, operands: list[int]) -> tuple[ast.expr, list[int]]:
        site = self._sites.add(self._path, original, self._function, operands=tuple(operands))
        return _call(NOTE, site.number, node, at=original), [site.number]


def _own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a function without those of functions and classes in it."""
    for statement in body:
        yield statement
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            inside = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt)]
            handlers = [each for each in ast.iter_child_nodes(statement) if hasattr(each, "body")]
            yield from _own_statements(inside)
            for handler in handlers:
                if not isinstance(handler, ast.stmt) and isinstance(handler.body, list):
                    yield from _own_statements(handler.body)


def changed_by(node: ast.stmt) -> list[ast.expr]:
    """Return what a statement may change in place: names, or attributes of names."""
    found: list[ast.expr] = []
    if isinstance(node, ast.AugAssign):
        found = [node.target]
    elif isinstance(node, (ast.Assign, ast.Delete)):
        found = [each for each in node.targets if isinstance(each, ast.Subscript)]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        found = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        found += [each for each in call.args if isinstance(each, (ast.Name, ast.Attribute))]
    roots = [_owner(each) for each in found]
    return [_loaded(each) for each in roots if each is not None]


def _owner(node: ast.expr) -> ast.expr | None:
    """Return the object that an item belongs to: `data.rows` of `data.rows[0]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    root = node
    while isinstance(root, ast.Attribute):
        if root.attr in ("loc", "iloc", "at", "iat"):
            node = root.value
        root = root.value
    return node if isinstance(root, ast.Name) else None


def _names(target: ast.expr) -> Iterator[ast.Name]:
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _names(part)


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _loaded(node: ast.expr) -> ast.expr:
    node = copy.deepcopy(node)
    for each in ast.walk(node):
        if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)):
            each.ctx = ast.Load()
    return node


def _call(name: str, number: int, *values: ast.expr, at: ast.AST) -> ast.Call:
    call = ast.Call(ast.Name(name, ast.Load()), [*values, ast.Constant(number)], [])
    for node in (call, call.func, call.args[-1]):
        ast.copy_location(node, at)
    return call
