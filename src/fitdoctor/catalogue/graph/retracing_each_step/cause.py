"""`tf.function` that is retraced at every step.

## What happens

Nothing fails, but every step takes as long as the first one, and memory grows with each trace. After five traces
TensorFlow warns `5 out of the last 5 calls to … triggered tf.function retracing`.

## Why

A `tf.function` keeps one graph per combination of argument types. It distinguishes tensors by dtype and shape, but
Python numbers by value: `step(x, y, 0)` and `step(x, y, 1)` need two graphs. A `tf.function` created inside the loop
starts without any graph.

## Fix

Create the function once, before the loop. Pass numbers as tensors (`tf.constant(step)`). For varying shapes, set an
`input_signature` with None for that axis, or `reduce_retracing=True`.

## Known limits

Keras's own `fit` does not retrace for a short last batch. Loops with only a few iterations are not reported, nor are
functions created once per model in a loop over models. `run` reads TensorFlow's own trace counts at the end of the
program: it reports any function that was traced at least 20 times and at nearly all of its last 10 calls, whatever
the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.training_loops import (
    Loop,
    bound_in,
    compiled_function,
    decorator_of,
    has_few_rounds,
    is_python_number,
    loops_around,
    names_read,
    python_numbers,
)
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, spell, unsafe, wrap
from fitdoctor.facts import TrainingFacts
from fitdoctor.records import replace
from fitdoctor.source.callees import argument_for
from fitdoctor.source.index import names_in
from fitdoctor.source.line_edits import with_comment
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes

CAUSE = Cause(id="FIT412", slug="retracing-each-step", severity=Severity.WARNING, keeps_training=True)

_SIZED = frozenset(
    f"numpy.{name}"
    for name in "zeros ones empty full random.rand random.randn random.normal random.uniform".split()
) | frozenset(f"tensorflow.{name}" for name in "zeros ones fill random.normal random.uniform".split())
_CONVERTING = ("tensorflow.constant", "tensorflow.convert_to_tensor")
_SIZED_METHODS = frozenset({"normal", "uniform", "random", "standard_normal", "integers", "rand", "randn"})


@CAUSE.in_source
@CAUSE.before_fit
@mentions("function")
def from_source(module: Module) -> Iterator[Finding]:
    """Report functions that are created in a loop, or called there with arguments that force a new trace."""
    if not module.nodes(ast.For) and not module.nodes(ast.While):
        return
    if module.runs_eagerly or not _has_compiled_functions(module):
        return
    yield from _made_in_loop(module)
    seen: set[ast.AST] = set()
    for site in module.calls:
        if site.name.startswith(("tensorflow.", "keras.", "numpy.")):
            continue
        function = compiled_function(module, site.node)
        if function is None or function.node in seen or _is_flexible(function):
            continue
        found = _called_with_new_values(module, site.node, function)
        if found is not None:
            seen.add(function.node)
            yield found


@CAUSE.while_training
def while_running(training: TrainingFacts, project: Project) -> Iterator[Finding]:
    """Report functions that TensorFlow retraced repeatedly; the source may show why."""
    for often in training.retraced:
        seen = Evidence(
            f"`{often.name}` was retraced, including at its most recent calls",
            f"{often.traces:,} times",
            "once or twice",
            fact="training.retraced",
            location=often.begins,
        )
        known = next((found for module in project.modules for found in from_source(module)), None)
        if known is not None:
            yield replace(known, evidence=(*known.evidence, seen), confidence=Confidence.CERTAIN)
            continue
        yield CAUSE.certain(
            f"`{often.name}` is retraced at nearly every call: {often.traces:,} times so far",
            often.begins,
            seen,
            fix("pass numbers as tensors, and keep shapes constant or set `reduce_retracing=True`"),
            subject=f"function {often.name}",
        )


def _has_compiled_functions(module: Module) -> bool:
    """Return whether the program has a `tf.function` at all, which is cheaper than following every call."""
    modules = module.project.modules if module.project is not None else (module,)
    return _any_compiled(modules)


@lru_cache(maxsize=8)
def _any_compiled(modules: tuple[Module, ...]) -> bool:
    return any(
        other.calls_to("tensorflow.function") or any(decorator_of(function) for function in other.functions)
        for other in modules
    )


# --- made in the loop ---------------------------------------------------------------------------------------------


def _made_in_loop(module: Module) -> Iterator[Finding]:
    for site in module.calls_to("tensorflow.function"):
        match module.parent(site.node):
            case ast.Call(func=function) if function is site.node:
                yield from _judged(module, site.node, site.node, "()")  # called immediately
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield from _judged(module, site.node, site.node, name)
    for node in module.nodes(ast.FunctionDef):
        if decorator_of(module.function(node)) is not None:
            yield from _judged(module, node, node.decorator_list[0], node.name)


def _judged(module: Module, made: ast.AST, blamed: ast.expr, name: str) -> Iterator[Finding]:
    loop = next(loops_around(module, made), None)
    if loop is None or not name or has_few_rounds(module, loop) or not _used_in(module, loop, name):
        return
    inside = names_read(made)
    if inside & _objects_of(loop):
        return
    yield CAUSE.finding(
        "a new `tf.function` is created in each iteration of a loop, and each one is traced again",
        module.location(blamed),
        Evidence("the loop", location=_head(module, loop)),
        _moved_out(module, made, inside),
        subject="tf.function in a loop",
    )


def _used_in(module: Module, loop: Loop, name: str) -> bool:
    """Return whether it is called directly in the loop; an inner loop would call it often."""
    if name == "()":
        return True
    calls = (site.node for site in module.calls if getattr(site.node.func, "id", "") == name)
    return any(next(loops_around(module, call), None) is loop for call in calls)


def _objects_of(loop: Loop) -> set[str]:
    """Return the names of objects created in the loop: a function that uses a new model must be new."""
    target = names_in(loop.target) if isinstance(loop, ast.For) else set()
    return bound_in(loop) | target


def _head(module: Module, loop: Loop) -> Location:
    return module.location(loop.iter if isinstance(loop, ast.For) else loop.test)


def _moved_out(module: Module, made: ast.AST, inside: set[str]) -> Fix:
    """Move the statement before the outermost loop that binds none of its names."""
    title = "create the `tf.function` once, before the loop"
    statement = module.statement(made)
    if not isinstance(statement, ast.Assign) or statement.lineno != statement.end_lineno:
        return fix(title)
    outermost: Loop | None = None
    for loop in loops_around(module, made):
        if inside & bound_in(loop):
            break
        outermost = loop
    if outermost is None:
        return fix(title)
    where = module.location(statement)
    siblings = getattr(module.parent(statement), "body", [])
    if len(siblings) < 2:
        return fix(title)
    removed = Edit(Location(where.path, where.line, 1, where.line + 1, 1, where.cell), "")
    return fix(title, insert_before(module.code(outermost), with_comment(module, statement)), (removed,))


# --- called with something new ------------------------------------------------------------------------------------


def _is_flexible(function: FunctionInfo) -> bool:
    """Return whether the function has a signature or `reduce_retracing`."""
    decorator = decorator_of(function)
    if not isinstance(decorator, ast.Call):
        return False
    return any(keyword.arg in ("input_signature", "reduce_retracing") for keyword in decorator.keywords)


def _called_with_new_values(module: Module, call: ast.Call, function: FunctionInfo) -> Finding | None:
    if function.traced is not None and function.traced.eager:
        return None
    around = module.function_of(call)
    if around is not None and around.traced is not None:
        return None  # inlined into another trace
    for loop in loops_around(module, call):
        if has_few_rounds(module, loop):
            continue
        numbers = python_numbers(module, loop)
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if is_python_number(argument, numbers) and not _decides(function, call, argument):
                return _new_number(module, call, function, argument, loop)
            if _has_new_shape(module, argument, loop):
                return _new_shape(module, call, function, argument, loop)
    return None


def _uses(function: FunctionInfo, call: ast.Call, argument: ast.expr) -> list[ast.AST]:
    """Return where the function uses an argument of a call."""
    given = {each for each in function.parameters if argument_for(function, call, each) is argument}
    return [node for node in own_nodes(function) if isinstance(node, ast.Name) and node.id in given]


def _decides(function: FunctionInfo, call: ast.Call, argument: ast.expr) -> bool:
    """Return whether the function needs the number during tracing: as an index, range or condition."""
    module = function.module
    for parent in (module.parent(node) for node in _uses(function, call, argument)):
        deciding = module.parent(parent) if isinstance(parent, ast.Compare) else parent
        if isinstance(deciding, (ast.Subscript, ast.If, ast.IfExp, ast.Slice, ast.While)):
            return True
        if module.called(parent) == "range":
            return True
    return False


def _has_new_shape(module: Module, argument: ast.expr, loop: Loop) -> bool:
    """Return whether an array is created in the loop with a size that changes in each iteration."""
    changing = python_numbers(module, loop)
    made = module.made_by(argument) if isinstance(argument, ast.Name) else argument
    if made is not argument and not loop.lineno <= made.lineno <= (loop.end_lineno or loop.lineno):
        return False
    match made:
        case ast.Call(func=ast.Attribute(value=array, attr="astype" | "copy")):
            return _has_new_shape(module, array, loop)
        case ast.Call(args=[first, *_]) if module.called(made) in _CONVERTING:
            return _has_new_shape(module, first, loop)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            sized = module.called(made) in _SIZED or getattr(function, "attr", "") in _SIZED_METHODS
            sizes = [*arguments, *(each.value for each in keywords if each.arg in ("size", "shape"))]
            listed = (size for size in sizes if isinstance(size, (ast.Tuple, ast.List)))
            return sized and any(names_in(size) & changing for size in listed)
        case ast.Subscript(slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            bound = bound_in(loop)
            return any(isinstance(part, ast.Slice) and _grows(part, changing, bound) for part in parts)
    return False


def _grows(part: ast.Slice, changing: set[str], bound: set[str]) -> bool:
    """Return whether a slice changes its length: `x[:n]` and `x[n:]` do, `x[n:n + 8]` and `x[n:end]` do not.

    Args:
        part: the slice.
        changing: names of numbers that change in each iteration.
        bound: all names that the loop binds.
    """
    ends = [names_in(end) if end is not None else set() for end in (part.lower, part.upper)]
    return any(one & changing and not other & bound for one, other in (ends, ends[::-1]))


def _new_number(
    module: Module, call: ast.Call, function: FunctionInfo, argument: ast.expr, loop: Loop
) -> Finding:
    tf, imports = spell(module.code(argument), "tensorflow", "tf")
    remedy = fix if _is_cast(function, call, argument) else unsafe
    template = f"{tf}.constant({{}})" if remedy is fix else f"{tf}.constant({{}}, {tf}.float32)"
    return CAUSE.finding(
        f"`{function.name}` is retraced for each value of `{module.segment(argument)}`, a Python number",
        module.location(argument),
        Evidence("the number changes in each iteration", location=_head(module, loop)),
        Evidence("`tf.function` distinguishes Python numbers by value, but tensors by dtype and shape"),
        remedy("pass it as a tensor", wrap(module.code(argument), template), imports),
        subject=f"retracing of {function.qualname}",
    )


def _is_cast(function: FunctionInfo, call: ast.Call, argument: ast.expr) -> bool:
    """Return whether the function casts the number wherever it uses it, so that an integer tensor works."""
    parents = [function.module.parent(node) for node in _uses(function, call, argument)]
    return bool(parents) and all(function.module.called(each) == "tensorflow.cast" for each in parents)


def _new_shape(
    module: Module, call: ast.Call, function: FunctionInfo, argument: ast.expr, loop: Loop
) -> Finding:
    decorator = decorator_of(function)
    edits: tuple[Edit, ...] = ()
    if decorator is not None and not isinstance(decorator, ast.Call) and function.module is module:
        edits = (Edit(module.location(decorator), f"{module.segment(decorator)}(reduce_retracing=True)"),)
    blamed = decorator if decorator is not None and function.module is module else call
    return CAUSE.finding(
        f"`{function.name}` is retraced for each shape of `{module.segment(argument)}`",
        module.location(blamed),
        Evidence("called here with a different shape in each iteration", location=module.location(call)),
        Evidence("the loop", location=_head(module, loop)),
        fix("set `reduce_retracing=True` so that it generalizes over shapes", edits),
        fix("set an `input_signature` with None for the axis that varies"),
        subject=f"retracing of {function.qualname}",
    )
