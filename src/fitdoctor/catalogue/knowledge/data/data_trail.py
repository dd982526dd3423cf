"""Trace an array through the user's source, backwards from fit."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator

from fitdoctor.diagnosis import Location
from fitdoctor.facts import ArrayFacts, Code, DataFacts, PipelineStep, Unknown
from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for, callee, returned_by
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.origins import Origin, origin
from fitdoctor.source.project import Project

MOST_LINKS = 400
_READERS = tuple(
    "pandas.read_ numpy.load numpy.genfromtxt io. open json. csv. pathlib. keras.utils.get_file".split()
)


@dataclass(frozen=True, eq=False)
class Link:
    """One expression or in-place write on the path of an array."""

    module: Module
    node: ast.AST
    distance: int
    """The number of steps to fit."""
    columns: frozenset[str] = frozenset()
    """The columns of a table that were selected on the path; empty if unknown."""
    filled: bool = False
    """Whether missing values were filled or dropped on the path."""

    @property
    def location(self) -> Location:
        """Return its location."""
        return self.module.location(self.node)

    @property
    def code(self) -> Code:
        """Return the expression as editable code."""
        return self.module.code(self.node)


def trail(project: Project, data: DataFacts, array: ArrayFacts) -> Iterator[Link]:
    """Yield the expressions an array is computed from, nearest to fit first."""
    if not project:
        return
    starts = [*_mapped(project, data, array), *_given(project, array)]
    seen: set[ast.AST] = set()
    waiting = deque(Link(module, node, 0) for module, node in starts)
    while waiting and len(seen) < MOST_LINKS:
        link = waiting.popleft()
        if link.node in seen or isinstance(link.node, ast.Constant):
            continue
        seen.add(link.node)
        yield link
        columns = _picked_columns(link.node) or link.columns
        filled = link.filled or fills_gaps(link.node)
        waiting.extend(
            Link(module, node, link.distance + 1, columns, filled)
            for module, node in _behind(link)
            if not _writes_other_column(node, columns)
        )


def nearest(links: Iterator[Link], wanted: Callable[[Link], bool]) -> Link | None:
    """Return the first link that matches."""
    return next((link for link in links if wanted(link)), None)


_FILLS = frozenset("fillna dropna nan_to_num ffill bfill".split())


def fills_gaps(node: ast.AST) -> bool:
    """Whether a step leaves no missing value."""
    if not isinstance(node, ast.Call):
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS


def _picked_columns(node: ast.AST) -> frozenset[str]:
    """Return the names in `df["a"]` or `df[["a", "b"]]`."""
    if not isinstance(node, ast.Subscript):
        return frozenset()
    parts = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
    names = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return frozenset(names) if len(names) == len(parts) else frozenset()


def _writes_other_column(node: ast.AST, columns: frozenset[str]) -> bool:
    """Whether a write in place sets a column that was not picked."""
    if not columns or not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    written = frozenset[str]().union(*map(_picked_columns, targets))
    return bool(written) and not written & columns


Place = tuple[Module, ast.AST]


def _given(project: Project, array: ArrayFacts) -> Iterator[Place]:
    for code in (array.code, array.use):
        found = node_of(project, code)
        if found is not None:
            yield found


def node_of(project: Project, code: Code | Unknown) -> Place | None:
    """Return the syntax node of a piece of code."""
    if isinstance(code, Unknown) or not project:
        return None
    module = project.module_at(code.location.path)
    if module is None:
        return None
    for node in ast.walk(module.tree):
        if getattr(node, "lineno", None) is None or not isinstance(node, (ast.expr, ast.stmt)):
            continue
        if module.location(node) == code.location:
            return module, node
    return None


def origin_of(project: Project, array: ArrayFacts | None) -> Code | Unknown:
    """Return what created an array, traced through the source if the facts stop at the call of fit."""
    if array is None:
        return Unknown("it is not an array")
    found = node_of(project, array.use) if array.code == array.use else None
    if found is None or not isinstance(found[1], ast.expr):
        return array.code
    end = origin(found[0], found[1])
    return end.module.code(end.node)


def _mapped(project: Project, data: DataFacts, array: ArrayFacts) -> Iterator[Place]:
    """Yield what the map functions of a pipeline return for the component, last stage first."""
    for step in reversed(data.pipeline):
        function = map_function(project, step)
        returned = returned_by(function) if function is not None else None
        if function is None or returned is None:
            continue
        position = 0 if array.path.startswith(("x", "validation_data[0]")) else 1
        if isinstance(returned, ast.Tuple) and position < len(returned.elts):
            returned = returned.elts[position]
        yield function.module, returned


def map_function(project: Project, step: PipelineStep) -> FunctionInfo | None:
    """Return the user's function that a `map` stage runs."""
    found = node_of(project, step.code) if step.operation == "map" else None
    if found is None or not isinstance(found[1], ast.Call) or not found[1].args:
        return None
    module, call = found[0], found[1]
    target = module.definition(call.args[0])
    return target if isinstance(target, FunctionInfo) else None


def _behind(link: Link) -> Iterator[Place]:
    """Yield the expressions the data of a link comes from."""
    module, node = link.module, link.node
    if isinstance(node, ast.Name):
        yield from _behind_name(module, node)
    elif isinstance(node, ast.Call):
        yield from _behind_call(module, node)
    elif isinstance(node, ast.Attribute):
        end = origin(module, node)
        yield from _ends(end) if end.node is not node else [(module, node.value)]
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        yield module, node.elt
        yield from ((module, generator.iter) for generator in node.generators)
    elif isinstance(node, ast.DictComp):
        yield module, node.value
    elif isinstance(node, ast.AugAssign):
        yield from ((module, part) for part in (node.value, node.target))
    elif isinstance(node, ast.Assign):
        yield from ((module, part) for part in (node.value, *node.targets))
    elif isinstance(node, ast.Expr):
        yield module, node.value
    else:
        yield from ((module, part) for part in _operands(node))


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, (ast.Subscript, ast.Starred, ast.NamedExpr)):
        return [node.value]
    if isinstance(node, (ast.Tuple, ast.List)):
        return list(node.elts)
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return []


def _behind_name(module: Module, node: ast.Name) -> Iterator[Place]:
    end = origin(module, node)
    if end.node is not node:
        yield from _ends(end)
        if isinstance(end.node, ast.List):
            yield from _appended(end.module, end.node)
        return
    yield from ((step.module, step.node) for step in end.writes)
    yield from _arguments(module, node)


def _ends(end: Origin) -> Iterator[Place]:
    yield from ((step.module, step.node) for step in end.writes)
    yield end.module, end.node


def _arguments(module: Module, name: ast.Name) -> Iterator[Place]:
    """Yield what the callers pass for a parameter."""
    function = module.scope(name).node
    if not isinstance(function, FUNCTIONS):
        return
    info = module.function(function)
    if name.id not in info.parameters:
        return
    calls = module.project.calls_of if module.project is not None else module.calls_of
    for calling, call in calls.get(function, []):
        argument = argument_for(info, call, name.id)
        if argument is not None:
            yield calling, argument


def _appended(module: Module, made: ast.List) -> Iterator[Place]:
    """Yield what is appended to a list, and what the surrounding loop iterates over."""
    names = _names_given(module.statement(made), made)
    scope = module.scope(made).node
    for call in module.method_calls("append", "extend"):
        owner = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
        if not isinstance(owner, ast.Name) or owner.id not in names or module.scope(owner).node is not scope:
            continue
        yield from ((module, argument) for argument in call.node.args)
        around = module.parent(module.statement(call.node))
        while around is not None and not isinstance(around, (*FUNCTIONS, ast.Module)):
            if isinstance(around, (ast.For, ast.AsyncFor)):
                yield module, around.iter
            around = module.parent(around)


def _names_given(statement: ast.stmt, value: ast.expr) -> set[str]:
    """Return the names a statement binds to a value; for `a, b = [], []` the one at its position."""
    targets: list[ast.expr] = list(statement.targets) if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Tuple, ast.List)):
        parts = statement.value.elts
        if value in parts:
            targets = [
                target.elts[parts.index(value)]
                for target in targets
                if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(parts)
            ]
    around: list[ast.AST] = [*targets] or [statement]
    nodes = [node for target in around for node in ast.walk(target)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


_ARRANGES = frozenset(
    "reshape transpose swapaxes moveaxis expand_dims squeeze repeat tile split array_split".split()
)
"""Functions and methods whose further arguments are sizes and axes, not data."""
_FILLED_ALIKE = frozenset({"zeros", "ones", "empty"})


def _behind_call(module: Module, node: ast.Call) -> Iterator[Place]:
    name = module.resolve(node.func)
    if name.startswith(_READERS) or name.endswith("_from_directory"):
        return  # the contents of a file are not created here
    function = callee(module, node)
    if function is not None and function.name != "__init__":
        returned = returned_by(function)
        if returned is not None:
            yield function.module, returned
            return
    method = isinstance(node.func, ast.Attribute) and not name
    if isinstance(node.func, ast.Attribute) and method:
        yield module, node.func.value
    last = getattr(node.func, "attr", "")
    if last in _ARRANGES:
        yield from ((module, argument) for argument in node.args[: not method])
    elif last not in _FILLED_ALIKE:
        yield from ((module, argument) for argument in node.args)
        yield from ((module, keyword.value) for keyword in node.keywords)
