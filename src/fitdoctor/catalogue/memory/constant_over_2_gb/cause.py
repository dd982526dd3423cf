"""Graph constant of more than 2 GB.

## What happens

`ValueError: Cannot create a tensor proto whose content is larger than 2GB.`, when `map` is called, when a model is
built from a layer that uses the array, or at the first step.

## Why

A NumPy array that a traced function reads from outside becomes a constant of its graph, and a graph cannot contain
more than 2 GB. As an argument, a variable or the data of a dataset it has no such limit: `from_tensor_slices` of
such an array works (and needs twice its memory).

## Fix

Convert the array to a tensor once, outside the function: the graph then refers to it (it needs twice the memory).
Or pass the array as data: slice it in a generator (`tf.data.Dataset.from_generator`) or pass it to
`from_tensor_slices`. Store a lookup table of the model in a variable.

## Known limits

In the source, only arrays with a literal size are detected.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, insert_after, insert_before, spell, wrap
from fitdoctor.facts import Code, FailureFacts
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.callees import is_self
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT802", slug="constant-over-2-gb", severity=Severity.ERROR, raises="ValueError")

SAYS_SO = "whose content is larger than 2GB"
LIMIT = 2**31
MAKERS = {"numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1, "numpy.full": 2}
"""Functions that create an array of a given shape, with the position of their dtype argument."""
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report an array with a literal size above the limit that traced code reads."""
    large = {
        statement.targets[0].id: site.node
        for site in module.calls_to(*MAKERS)
        if isinstance(statement := module.parent(site.node), ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and _bytes(module, site.node) >= LIMIT
    }
    for name in large:
        for read in module.reads.get(name, []):
            function = module.function_of(read)
            if function is None or function.traced is None or name in function.parameters:
                continue
            yield _finding(module, read, name, module.location(large[name]))
            break


def _bytes(module: Module, call: ast.Call) -> int:
    """Return the size of an array with a literal shape, else 0."""
    position = MAKERS.get(module.resolve(call.func))
    if position is None or not call.args:
        return 0
    shape = call.args[0]
    sizes = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    lengths = [part.value for part in sizes if isinstance(part, ast.Constant) and isinstance(part.value, int)]
    if len(lengths) != len(sizes):
        return 0
    kind = argument_of(call, "dtype", position)
    text = module.segment(kind).strip("'\"") if kind is not None else "float64"
    size = next((size for bits, size in SIZES.items() if text.endswith(bits)), 1)
    return math.prod(lengths) * size


def _finding(module: Module, read: ast.expr, name: str, made: Location | None = None) -> Finding:
    return _told(module.location(read), name, made, _as_tensor(module, read))


def _as_tensor(module: Module, read: ast.expr) -> tuple[Edit, ...]:
    """Convert the array once, outside: a graph refers to a tensor instead of containing its values."""
    within, root = module.function_of(read), _root(read)
    if within is None or not isinstance(root, ast.Name):
        return ()
    tf, imports = spell(module.code(read), "tensorflow", "tf")
    if is_self(module, root):
        set_once = [
            node.value
            for node in module.nodes(ast.Assign)
            if [module.segment(each) for each in node.targets] == [module.segment(read)]
            and (around := module.function_of(node)) is not None
            and around.owner is within.owner
        ]
        if len(set_once) != 1 or module.function_of(set_once[0]) is within:
            return ()
        return (*wrap(module.code(set_once[0]), f"{tf}.convert_to_tensor({{}})"), *imports)
    name = f"{module.segment(read).rpartition('.')[2]}_tensor"
    found = last_assignment(module, root)
    if name in module.text or found is not None and found[0].path:
        return ()
    line = f"{name} = {tf}.convert_to_tensor({module.segment(read)})"
    made = found[0].value if found is not None else None
    if made is None:  # a parameter of the function around the traced one
        place = insert_before(_start(module, within), line)
    else:
        place = insert_after(module.code(made), line) if module.function_of(made) is not within else ()
    reads = [
        node
        for node in ast.walk(within.node)
        if isinstance(node, type(read)) and module.segment(node) == module.segment(read)
    ]
    return (*place, *imports, *(Edit(module.location(each), name) for each in reads)) if place else ()


def _start(module: Module, function: FunctionInfo) -> Code:
    return module.code(module.statement(function.node))


def _root(read: ast.expr) -> ast.expr:
    while isinstance(read, ast.Attribute):
        read = read.value
    return read


def _told(
    location: Location | None, name: str, made: Location | None = None, edits: tuple[Edit, ...] = ()
) -> Finding:
    array = f"`{name}`, which" if name else "an array that"
    return CAUSE.finding(
        f"traced code reads {array} is larger than 2 GB: a graph cannot contain it",
        location,
        Evidence("size of the constant", "more than 2 GB", "at most 2 GB", location=made),
        *([fix("convert the array to a tensor once, outside the function", edits)] if edits else []),
        fix("pass it as data: `from_generator` over its rows, or `from_tensor_slices`"),
        fix("store a lookup table in a variable of the model"),
        subject="constant of a graph",
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the ValueError, with the array named in the line that raised."""
    if SAYS_SO not in failure.message and SAYS_SO not in failure.raw_message:
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is not None and frame is not None:
        for finding in from_source(module):
            if finding.location is not None and finding.location.line == frame.line:
                yield finding
                return
        reads = [
            whole
            for name in module.nodes(ast.Name)
            if isinstance(name.ctx, ast.Load) and at_frame(module, name, frame)
            if (whole := _whole(module, name)) is not name
            and is_self(module, name)
            or _is_outer(module, name)
        ]
        if len(reads) == 1:
            yield certain(_finding(module, reads[0], module.segment(reads[0])), failure)
            return
    yield certain(_told(failure.location, ""), failure)


def _whole(module: Module, name: ast.expr) -> ast.expr:
    """The attribute of a name that is read: all of `store.table`, or `self.table` unless it is called."""
    around = module.parent(name)
    while isinstance(around, ast.Attribute):
        above = module.parent(around)
        if isinstance(above, ast.Call) and above.func is around:
            break
        name, around = around, above
    return name


def _is_outer(module: Module, read: ast.Name) -> bool:
    """Whether a name in a function is bound outside of it, to something that may be an array."""
    function = module.function_of(read)
    scope = module.index.lookup(read.id, module.scope(read))
    if function is None or scope is None or scope.node is function.node:
        return False
    bound = scope.bindings[read.id]
    return all(isinstance(node, (ast.Name, ast.arg)) for node in bound) and module.definition(read) is None
