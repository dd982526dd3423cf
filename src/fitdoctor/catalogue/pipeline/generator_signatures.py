"""Calls of `from_generator` in the source: the generator function that is given, and what is declared of its elements."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.pipeline.generator_sources import generator_function
from fitdoctor.facts import Code, Unknown
from fitdoctor.source.definitions import argument_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.module import FunctionInfo, Module
    from fitdoctor.source.project import Project


def signature_calls(project: Project | Unknown) -> list[tuple[Module, ast.Call]]:
    """Every call of `from_generator`, with its module."""
    modules = () if isinstance(project, Unknown) else project.modules
    return [
        (module, call.node)
        for module in modules
        for call in module.calls_to("tensorflow.data.Dataset.from_generator")
    ]


def signature_call(project: Project | Unknown, made: Code | Unknown) -> tuple[Module, ast.Call] | None:
    """The call of `from_generator` that a piece of source is, or the only one."""
    calls = signature_calls(project)
    for module, call in calls:
        if len(calls) == 1 or isinstance(made, Code) and module.location(call) == made.location:
            return module, call
    return None


def output_shapes(module: Module, call: ast.Call) -> ast.expr | None:
    """The `output_shapes` of a call."""
    shapes = argument_of(call, "output_shapes")
    return module.made_by(shapes) if shapes is not None else None


def generator_argument(call: ast.Call) -> ast.expr | None:
    """The generator function that a call is given."""
    return argument_of(call, "generator", 0)


def may_stack(spec: ast.expr, count: int) -> bool:
    """Whether one spec may take a tuple of so many parts as a whole: TensorFlow stacks them into one tensor."""
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
    """The generator function of the user's that an argument means."""
    if isinstance(given, ast.Name) and given.id == "self":
        owner = module.class_of(given)
        method = module.method(owner, "__call__") if owner is not None else None
        return method if method is not None and method.node in method.module.generators else None
    if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call):
        return generator_function(module, given.body.func)
    return generator_function(module, given)


def signature_of(module: Module, call: ast.Call) -> ast.expr | None:
    """The `output_signature` of a call, where it is a tuple or one spec."""
    given = argument_of(call, "output_signature")
    made = module.made_by(given) if given is not None else None
    is_spec = isinstance(made, ast.Call) and module.resolve(made.func) == "tensorflow.TensorSpec"
    return made if isinstance(made, ast.Tuple) or is_spec else None
