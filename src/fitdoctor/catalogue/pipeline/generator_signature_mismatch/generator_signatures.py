"""`from_generator` calls in the source: the generator function, and the declared elements."""

from __future__ import annotations

import ast
import re

from fitdoctor.catalogue.knowledge.data.generator_sources import generator_function
from fitdoctor.facts import Code, Shape, Unknown
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project


def signature_calls(project: Project | Unknown) -> list[tuple[Module, ast.Call]]:
    """Return every `from_generator` call, with its module."""
    modules = () if isinstance(project, Unknown) else project.modules
    return [
        (module, call.node)
        for module in modules
        for call in module.calls_to("tensorflow.data.Dataset.from_generator")
    ]


def signature_call(project: Project | Unknown, made: Code | Unknown) -> tuple[Module, ast.Call] | None:
    """Return the `from_generator` call at a piece of source, or the only one."""
    calls = signature_calls(project)
    for module, call in calls:
        if len(calls) == 1 or isinstance(made, Code) and module.location(call) == made.location:
            return module, call
    return None


def output_shapes(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the `output_shapes` of a call."""
    shapes = argument_of(call, "output_shapes")
    return module.made_by(shapes) if shapes is not None else None


def output_types(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the `output_types` of a call."""
    types = argument_of(call, "output_types", 1)
    return module.made_by(types) if types is not None else None


def generator_argument(call: ast.Call) -> ast.expr | None:
    """Return the generator argument of a call."""
    return argument_of(call, "generator", 0)


def may_stack(spec: ast.expr, count: int) -> bool:
    """Return whether one spec can match a tuple of this many parts, which TensorFlow stacks into one tensor."""
    if not isinstance(spec, ast.Call):
        return True
    shape = argument_of(spec, "shape", 0)
    if not isinstance(shape, (ast.Tuple, ast.List)):
        return True
    if not shape.elts:
        return False
    first = shape.elts[0]
    return not isinstance(first, ast.Constant) or first.value is None or first.value == count


def called_generator(module: Module, given: ast.expr) -> FunctionInfo | None:
    """Return the user's generator function that an argument refers to."""
    if isinstance(given, ast.Name) and given.id == "self":
        owner = module.class_of(given)
        method = module.method(owner, "__call__") if owner is not None else None
        return method if method is not None and method.node in method.module.generators else None
    if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call):
        return generator_function(module, given.body.func)
    return generator_function(module, given)


def signature_of(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the `output_signature` of a call if it is a tuple or one spec."""
    given = argument_of(call, "output_signature")
    made = module.made_by(given) if given is not None else None
    is_spec = isinstance(made, ast.Call) and module.resolve(made.func) == "tensorflow.TensorSpec"
    return made if isinstance(made, ast.Tuple) or is_spec else None


_FLOATS = frozenset("random normal uniform standard_normal randn rand exponential beta gamma".split())
"""Methods of random generators that return floats."""


def declares_whole(module: Module, spec: ast.expr) -> ast.expr | None:
    """Return the dtype of a spec that declares integers."""
    kind: ast.expr | None = spec if isinstance(spec, ast.Attribute) else None
    if isinstance(spec, ast.Call) and module.resolve(spec.func) == "tensorflow.TensorSpec":
        kind = argument_of(spec, "dtype", 1)
    name = module.resolve(kind) if kind is not None else ""
    return kind if re.fullmatch(r"tensorflow\.u?int\d+", name) else None


def yields_floats(function: FunctionInfo, value: ast.expr) -> bool:
    """Return whether a yielded value certainly contains fractions: the generator draws it from a continuous distribution."""
    made = function.module.made_by(value)
    if (
        not isinstance(made, ast.Call)
        or not isinstance(made.func, ast.Attribute)
        or made.func.attr not in _FLOATS
    ):
        return False
    source = function.module.made_by(made.func.value)
    name = (
        function.module.resolve(source.func)
        if isinstance(source, ast.Call)
        else function.module.resolve(source)
    )
    return name.startswith("numpy.random") or name == "random"


def declared_shape(module: Module, spec: ast.expr) -> Shape | None:
    """Return the shape of a spec if each size is a literal number or None."""
    if not isinstance(spec, ast.Call) or module.resolve(spec.func) != "tensorflow.TensorSpec":
        return None
    shape = argument_of(spec, "shape", 0)
    if not isinstance(shape, (ast.Tuple, ast.List)):
        return None
    lengths = [part.value if isinstance(part, ast.Constant) else "" for part in shape.elts]
    told = [length for length in lengths if length is None or type(length) is int]
    return tuple(told) if len(told) == len(lengths) else None


def written_shape(module: Module, value: ast.expr) -> Shape | None:
    """Return the shape of literal numbers, alone or in lists; None for anything else."""
    made = module.made_by(value)
    if isinstance(made, ast.Call) and made.args:
        name = module.resolve(made.func)
        if name in ("numpy.array", "numpy.asarray", "tensorflow.constant"):
            return written_shape(module, made.args[0])
        return () if name in ("int", "float", "numpy.float32", "numpy.int64", "numpy.int32") else None
    if isinstance(made, ast.Constant):
        return () if isinstance(made.value, (int, float)) else None
    if not isinstance(made, ast.List) or made is not value:
        return None  # a named list may have grown since
    rows = {written_shape(module, row) for row in made.elts}
    row = rows.pop() if len(rows) == 1 else None
    return None if row is None else (len(made.elts), *row)
