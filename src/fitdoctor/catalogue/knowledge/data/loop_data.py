"""Find the data of a custom training loop: the arrays behind its batches, the layer behind its predictions."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Finding, Fix
from fitdoctor.edits import fix, set_argument, spell, wrap
from fitdoctor.facts import Code, FailureFacts, Frame, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import module_of, nodes_at
from fitdoctor.records import replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin, origin
from fitdoctor.source.project import Project

_SAME_ELEMENTS = frozenset("batch shuffle prefetch cache repeat take skip with_options shard".split())
_SLICES = "tensorflow.data.Dataset.from_tensor_slices"


def frame_of_trace(failure: FailureFacts) -> Frame | None:
    """Return the user frame that created the failing graph operation, else the last user frame."""
    own = [frame for frame in failure.definition if not frame.library]
    return own[-1] if own else failure.last_user_frame


def array_behind(module: Module, expr: ast.expr) -> Origin:
    """Return the array behind a batch or a part of it, through the dataset that the loop iterates over."""
    end = origin(module, expr)
    if end.path[:1] != (None,):
        return end
    module, node = end.module, end.node
    seen: set[ast.expr] = set()
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node not in seen:
        seen.add(node)
        if node.func.attr not in _SAME_ELEMENTS:
            break
        behind = origin(module, node.func.value)
        module, node = behind.module, behind.node
    if not isinstance(node, ast.Call) or module.resolve(node.func) != _SLICES or not node.args:
        return end
    given, part = node.args[0], end.path[1] if len(end.path) > 1 else None
    if isinstance(part, int) and isinstance(given, (ast.Tuple, ast.List)) and part < len(given.elts):
        return origin(module, given.elts[part])
    return origin(module, given) if part is None else end


def model_call(project: Project, failure: FailureFacts) -> tuple[Module, ast.Call] | None:
    """Return the only model call on the line that raised."""
    frame = frame_of_trace(failure)
    module = module_of(project, frame)
    if module is None:
        return None
    calls = [
        call for call in nodes_at(module, ast.Call, frame) if call.args and is_keras_model(module, call.func)
    ]
    return (module, calls[0]) if len(calls) == 1 else None


def reworked_batch(module: Module, call: ast.Call, array: str, tensor: str) -> tuple[Edit, ...]:
    """Change the argument of a model call: where a NumPy array is created, else in the call.

    Args:
        module: the file of the call.
        call: the call of the model.
        array: the new array with `{}` for the old one and `np` for NumPy.
        tensor: the same for a tensor, with `tf` for TensorFlow.
    """
    end = array_behind(module, call.args[0])
    code = end.code
    made = end.module.resolve(end.node.func) if isinstance(end.node, ast.Call) else ""
    of_numpy = made.startswith("numpy.") or made == "" and isinstance(end.node, ast.Call)
    if (
        not end.path
        and end.certain
        and of_numpy
        and code.target
        and code.maker is None
        and not made.endswith("load")
    ):
        numpy, imports = spell(code, "numpy", "np")
        return (*wrap(code, array.replace("np.", f"{numpy}.")), *imports)
    tensorflow, imports = spell(module.code(call), "tensorflow", "tf")
    return (*wrap(module.code(call.args[0]), tensor.replace("tf.", f"{tensorflow}.")), *imports)


def head_behind(module: Module, predictions: ast.expr) -> Code | Unknown:
    """Return the last layer of the model behind the predictions, if it is a literal call."""
    called = module.made_by(predictions)
    made = module.made_by(called.func) if isinstance(called, ast.Call) else None
    layers = made.args[0] if isinstance(made, ast.Call) and made.args else None
    if isinstance(layers, (ast.List, ast.Tuple)) and layers.elts and isinstance(layers.elts[-1], ast.Call):
        return module.code(layers.elts[-1])
    if isinstance(made, ast.Call) and module.resolve(made.func) == "keras.Model":
        output = argument_of(made, "outputs", 1)
        last = module.made_by(output) if output is not None else None
        if isinstance(last, ast.Call) and isinstance(last.func, ast.Call):
            return module.code(last.func)
    return Unknown("the last layer of the model is not a literal call")


def widened(module: Module, predictions: ast.expr, units: int) -> tuple[Edit, ...]:
    """Set the units of the layer behind the predictions."""
    head = head_behind(module, predictions)
    dense = isinstance(head, Code) and head.name.endswith(".Dense")
    return set_argument(head, "units", str(units), position=0) if dense else ()


def told_at_head(found: Finding, module: Module, predictions: ast.expr, units: int, title: str) -> Finding:
    """Move the finding to the layer behind the predictions and add the edit; unchanged if the layer is unknown."""
    edits = widened(module, predictions, units)
    if not edits:
        return found
    return replace(found, location=place(head_behind(module, predictions)), fixes=(fix(title, edits),))


def as_a_batch(frame: Frame | None, project: Project) -> list[Fix]:
    """Add the batch axis to the sample in the model call."""
    title = "add the batch axis: `tf.expand_dims(sample, axis=0)`"
    module = module_of(project, frame)
    name = called_in(frame) if frame is not None else ""
    calls = nodes_at(module, ast.Call, frame)
    given = [each.args[0] for each in calls if each.args and ast.unparse(each.func) == name]
    if module is None or len(given) != 1:
        return [fix(title)]
    tf, imports = spell(module.code(given[0]), "tensorflow", "tf")
    text = f"{tf}.expand_dims({module.segment(given[0])}, axis=0)"
    return [fix(title, (Edit(module.location(given[0]), text),), imports)]
