"""The source of a generator passed to `fit`: its function, what it yields, and whether it ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, FitFacts, Unknown
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project

_FINITE = frozenset(
    ("range", "enumerate", "zip", "reversed", "sorted", "list", "tuple", "numpy.arange", "tqdm.tqdm")
)
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def expression_of(project: Project, code: Code | Unknown) -> tuple[Module, ast.expr] | None:
    """Return the expression at a piece of source."""
    if not project or isinstance(code, Unknown):
        return None
    module = project.module_at(code.location.path)
    if module is None:
        return None
    for kind in (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.GeneratorExp, ast.BinOp):
        for node in module.nodes(kind):
            if module.location(node) == code.location:
                return module, node
    return None


def written_out(project: Project, code: Code | Unknown) -> Code | Unknown:
    """Return the expression that a name or attribute stands for, if that is certain; else the code itself."""
    found = expression_of(project, code)
    if found is None or not isinstance(found[1], (ast.Name, ast.Attribute, ast.Subscript)):
        return code
    end = found[0].origin(found[1])
    return code if not end.certain or end.path or end.writes else end.module.code(end.node)


def argument_expression(
    project: Project, fit: FitFacts | Unknown, name: str, position: int | None = None
) -> tuple[Module, ast.expr] | None:
    """Return the expression of an argument of `fit`."""
    if isinstance(fit, Unknown) or isinstance(fit.code, Unknown):
        return None
    argument = fit.code.argument(name, position)
    return expression_of(project, Code(argument.location, argument.text)) if argument is not None else None


def origin_of_argument(project: Project, fit: FitFacts | Unknown, name: str, position: int) -> Code | None:
    """Return the code that created an argument of `fit`, if the source shows it and the facts do not."""
    found = argument_expression(project, fit, name, position)
    return None if found is None else found[0].origin(found[1]).code


def generator_behind(project: Project, code: Code | Unknown) -> FunctionInfo | None:
    """Return the user's generator function that a piece of source calls."""
    found = expression_of(project, code)
    if found is None or not isinstance(found[1], ast.Call):
        return None
    return called_generator(found[0], found[1])


def batches_behind(project: Project, code: Code | Unknown) -> list[tuple[FunctionInfo, ast.expr]]:
    """Return the batches of the user's generator or PyDataset that a piece of source names or creates."""
    found = expression_of(project, code)
    made = found[0].made_by(found[1]) if found is not None else None
    return batches_of(found[0], made.func) if found is not None and isinstance(made, ast.Call) else []


def called_generator(module: Module, call: ast.Call) -> FunctionInfo | None:
    """Return the generator function that a call runs; `iter(batches)` runs the `__iter__` of its argument."""
    given = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if given is None or not isinstance(call.func, ast.Name) or call.func.id != "iter":
        return generator_function(module, call.func)
    made = module.made_by(given)
    known = module.definition(made.func) if isinstance(made, ast.Call) else None
    method = module.method(known, "__iter__") if isinstance(known, ClassInfo) else None
    return method if method is not None and method.node in method.module.generators else None


def generator_function(module: Module, func: ast.expr) -> FunctionInfo | None:
    """Return the generator function that a name or method refers to; for methods, the only one of that name."""
    function = _function(module, func)
    if function is None or function.node not in function.module.generators:
        return None
    return function


def _function(module: Module, func: ast.expr) -> FunctionInfo | None:
    known = module.definition(func)
    if isinstance(known, FunctionInfo):
        return known
    modules = module.project.modules if module.project is not None else (module,)
    if known is not None:
        return module.method(known, "__call__")
    if not isinstance(func, ast.Attribute):
        return None
    named = _methods_by_name(modules).get(func.attr, [])
    return named[0] if len(named) == 1 else None


@lru_cache(maxsize=8)
def _methods_by_name(modules: tuple[Module, ...]) -> dict[str, list[FunctionInfo]]:
    named: dict[str, list[FunctionInfo]] = {}
    for module in modules:
        for info in module.classes:
            for name, method in info.methods.items():
                named.setdefault(name, []).append(method)
    return named


def own_nodes(function: FunctionInfo) -> Iterator[ast.AST]:
    """Return every node of a function's body, without nested functions."""
    pending: list[ast.AST] = list(getattr(function.node, "body", ()))
    while pending:
        node = pending.pop()
        if isinstance(node, _OWN_SCOPE):
            continue
        yield node
        pending.extend(ast.iter_child_nodes(node))


def yields_of(function: FunctionInfo) -> list[ast.Yield]:
    """Return the function's own `yield` expressions, in source order."""
    found = [node for node in own_nodes(function) if isinstance(node, ast.Yield)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def surely_ends(function: FunctionInfo, within: tuple[FunctionInfo, ...] = ()) -> bool:
    """Return whether it certainly ends: no `while`, and only loops over finite iterables, as in what it yields from."""
    for node in own_nodes(function):
        if isinstance(node, (ast.While, ast.AsyncFor)):
            return False
        if isinstance(node, ast.YieldFrom):
            made = node.value
            inner = called_generator(function.module, made) if isinstance(made, ast.Call) else None
            if inner is None or inner in (*within, function) or not surely_ends(inner, (*within, function)):
                return False
        if isinstance(node, ast.For) and not _has_an_end(function.module, node.iter):
            return False
    return True


def _has_an_end(module: Module, iterated: ast.expr) -> bool:
    if isinstance(iterated, (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.Constant)):
        return True
    if isinstance(iterated, ast.Call):
        name = module.resolve(iterated.func) or (
            iterated.func.id if isinstance(iterated.func, ast.Name) else ""
        )
        if name in ("enumerate", "zip", "tqdm.tqdm"):
            return any(_has_an_end(module, part) for part in iterated.args)
        return name in _FINITE
    return False


def loop_of(function: FunctionInfo) -> ast.For | ast.While | None:
    """Return the outermost loop that yields."""
    loops = [
        node
        for node in own_nodes(function)
        if isinstance(node, (ast.For, ast.While))
        and any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(node))
    ]
    return min(loops, key=lambda node: (node.lineno, node.col_offset)) if loops else None


def batches_of(module: Module, func: ast.expr) -> list[tuple[FunctionInfo, ast.expr]]:
    """Return the batch expressions in the source of the user's generator function or PyDataset."""
    function = generator_function(module, func)
    if function is not None:
        return [(function, node.value) for node in yields_of(function) if node.value is not None]
    known = module.definition(func)
    if known is None or isinstance(known, FunctionInfo):
        return []
    if not is_batched_class(module, known):
        return []
    method = known.module.method(known, "__getitem__")
    if method is None:
        return []
    returns = method.module.returns.get(method.node, [])
    return [(method, node.value) for node in returns if node.value is not None]


def is_batched_class(module: Module, known: ClassInfo) -> bool:
    """Return whether a custom class is a PyDataset, or a Sequence as it was called before."""
    return any(base.rpartition(".")[2] in ("PyDataset", "Sequence") for base in _bases(module, known))


def _bases(module: Module, known: ClassInfo) -> list[str]:
    return [
        info.module.resolve(base)
        for info in module.ancestry(known)
        for base in getattr(info.node, "bases", ())
    ]


def returned_in_step(project: Project, code: Code | Unknown) -> Location | None:
    """Return what the function passed to a stage (`map`, `filter`) returns, if it is one expression."""
    found = _returned(project, code)
    return found[0].location(found[1]) if found is not None else None


def tuple_from_step(project: Project, code: Code | Unknown) -> tuple[Module, ast.Tuple] | None:
    """Return the tuple that the function passed to a stage returns, if the source writes it out."""
    found = _returned(project, code)
    value = found[1].value if found is not None and isinstance(found[1], ast.Return) else found and found[1]
    made = found[0].made_by(value) if found is not None and isinstance(value, ast.expr) else None
    return (found[0], made) if found is not None and isinstance(made, ast.Tuple) else None


def _returned(project: Project, code: Code | Unknown) -> tuple[Module, ast.AST] | None:
    """Return the body of the lambda, or the only return statement of the function, that a stage calls."""
    found = expression_of(project, code)
    if found is None or not isinstance(found[1], ast.Call) or not found[1].args:
        return None
    function = found[0].definition(found[1].args[0])
    if not isinstance(function, FunctionInfo):
        return None
    if isinstance(function.node, ast.Lambda):
        return function.module, function.node.body
    returns = function.module.returns.get(function.node, [])
    return (function.module, returns[0]) if len(returns) == 1 else None
