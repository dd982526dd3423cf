"""Inputs that a model's first layer rejects: the `Input(…)` or `input_shape=` that set the shape."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.shapes import GIVEN_DATA, says_batch, shape_argument
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, of_site
from fitdoctor.facts import Code, FailureFacts, Frame, LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import module_of
from fitdoctor.failure.shapes import input_count, input_mismatch, shapes_in
from fitdoctor.source.fits.fit_sites import model_sites
from fitdoctor.source.keras_names import INPUTS
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_MOST_STEPS = 100
"""A longer first axis is assumed to be samples, not time steps."""


def refused_input(refusal: Refusal, project: Project) -> tuple[Code, Shape] | None:
    """Return the input that a layer rejected on model creation, and its shape; None if it rejected an inner shape."""
    shape, failure = refused_shape(refusal.message), refusal.failure
    if shape is None:
        return None
    if failure is None:
        return (refusal.input, refusal.shapes[0]) if refusal.input is not None and refusal.shapes else None
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None:
        return None
    for code in input_codes(module):
        if _may_give(code, shape[1:]):
            return code, shape
    for code in _given_to_the_layer(module, frame, failure.message):
        return code, shape
    # Imported here because it is slow and rarely needed.
    foreseen = [refused for site in model_sites(module) if (refused := of_site(site)) is not None]
    known = [given for refused in foreseen if (given := refused_input(refused, project)) is not None]
    return next((given for given in known if given[1] == shape), None)


_NUMBER = re.compile(r"_\d+$")


def _given_to_the_layer(module: Module, frame: Frame, message: str) -> Iterator[Code]:
    """Yield the input of the rejecting layer on the failing line, even if its shape is not literal."""
    said = input_mismatch(message)
    name = _NUMBER.sub("", said.layer).replace("_", "") if said is not None else ""
    alike = [
        call
        for call in module.calls
        if call.name.rpartition(".")[2].lower() == name and _is_at(module, call.node, frame)
    ]
    # With several layers on one line, an unnumbered name is the first; a numbered one may be any.
    if len(alike) > 1 and said is not None and said.layer[-1:].isdigit():
        return
    for call in alike[:1]:
        if any(keyword.arg == "input_shape" for keyword in call.node.keywords):
            yield module.code(call.node)
        applied = module.parent(call.node)
        if isinstance(applied, ast.Call) and applied.func is call.node and len(applied.args) == 1:
            made = module.made_by(applied.args[0])
            if isinstance(made, ast.Call) and module.call(made).name in INPUTS:
                yield module.code(made)


def _is_at(module: Module, node: ast.AST, frame: Frame) -> bool:
    place = module.location(module.statement(node))
    return place.cell == frame.cell and place.line <= frame.line <= (place.end_line or place.line)


def refused_shape(message: str) -> Shape | None:
    """Return the shape that a layer rejected in a symbolic call."""
    words = ("ndim=", "Kernel shape must have the same length as input")
    if not any(word in message for word in words):
        return None
    shapes = [shape for shape in shapes_in(message) if shape and shape[0] is None]
    return shapes[-1] if shapes else None


_IN_TIME = re.compile(r"\b(?:TimeDistributed|(?:CuDNN)?(?:LSTM|GRU)|SimpleRNN|ConvLSTM\dD)\(")


def goes_by_frames(code: Code, shape: Shape, message: str, project: Project) -> bool:
    """Whether the extra axis of an image input is time: later code in the file uses time steps."""
    said = input_mismatch(message)
    wanted = said.expected_rank if said is not None else len(shape) - 1
    module = project.module_at(code.location.path)
    if module is None or says_batch(code) or wanted != 4 or len(shape) != 5 or not shape[1]:
        return False
    return shape[1] <= _MOST_STEPS and bool(_IN_TIME.search(module.text))


def leads_with_batch(code: Code, shape: Shape, message: str) -> bool:
    """Whether a rejected input has one axis too many, most likely the samples as its first."""
    if says_batch(code):
        return True
    if is_picture(shape):
        return False  # a layer for sequences got pictures
    said = input_mismatch(message)
    wanted = said.expected_rank if said is not None else len(shape) - 1
    if wanted is None or len(shape) != wanted + 1:
        return False
    first = shape_argument(code).strip("([").split(",")[0].strip()
    # (None, 28, 28, 1) includes the batch axis as Keras shows it. (10, 5, 1) rather has an extra channel.
    return first == "None" or shape[-1] != 1 or said is None or (shape[1] or 0) > _MOST_STEPS


def first_layer(model: ModelFacts) -> LayerFacts | None:
    """Return the first layer that computes something."""
    return next((layer for layer in model.layers if layer.class_name != "InputLayer"), None)


def is_picture(shape: Shape) -> bool:
    """Whether a batch has the shape of square pictures: (None, 28, 28, 1)."""
    return len(shape) == 4 and shape[1] == shape[2] and shape[1] is not None and shape[3] in (1, 3, 4)


def input_codes(module: Module) -> Iterator[Code]:
    """Yield every `Input(…)`, `InputLayer(…)` and layer with `input_shape=` in a file."""
    for call in module.calls:
        if call.name in INPUTS or any(keyword.arg == "input_shape" for keyword in call.node.keywords):
            yield module.code(call.node)


def input_giving(project: Project, shape: Shape) -> Code | None:
    """Return the only input of the program with that literal shape, batch axis included."""
    modules = project.modules
    found = [code for module in modules for code in input_codes(module) if _may_give(code, shape[1:])]
    return found[0] if len(found) == 1 else None


def _may_give(code: Code, sample: Shape) -> bool:
    """Whether a shape in the source may be this one: equal sizes, or an expression that includes the samples."""
    text = shape_argument(code)
    if text.endswith(".shape"):
        return True
    try:
        written = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(written, (ast.Tuple, ast.List)) or len(written.elts) != len(sample):
        return False
    told = [element.value if isinstance(element, ast.Constant) else None for element in written.elts]
    agrees = all(value is None or value == length for value, length in zip(told, sample, strict=True))
    return agrees and (None not in told or says_batch(code) or sum(v is not None for v in told) > 1)


def is_sequence_layer_for_pictures(layer: LayerFacts | None, shape: Shape | Unknown) -> bool:
    """Whether a convolution over sequences gets a batch of pictures."""
    convolves = layer is not None and layer.builtin and layer.class_name == "Conv1D"
    return convolves and isinstance(shape, tuple) and is_picture(shape)


_STEPS = ("train_step", "test_step", "predict_step")


def names_whole_model(name: str) -> bool:
    """Whether a name is one that Keras gives to models."""
    return bool(re.fullmatch(r"(?:functional|model|sequential)(?:_\d+)?", name))


_SELDOM_FIRST = re.compile(
    r"(?:\w*pooling\dd|dropout|activation|(?:leaky_)?re_lu|p_re_lu|softmax|add|concatenate|up_sampling\dd|repeat_vector"
    r"|batch_?normalization|layer_?normalization)(?:_\d+)?"
)


def is_seldom_first(name: str) -> bool:
    """Whether a layer of this name gets what another layer made, not the data."""
    return bool(_SELDOM_FIRST.fullmatch(name))


def is_one_picture(found: Shape, expected: Shape) -> bool:
    """Whether a batch is one picture without its batch axis, of another size than the model expects."""
    channels = found[-1] if found else None
    return len(found) == 3 and len(expected) == 4 and channels in (1, 3, 4) and channels == expected[-1]


def inside_model(failure: FailureFacts) -> bool:
    """Whether a line that builds the model passed several tensors to a layer that expects one."""
    said, frame = input_count(failure.message), failure.last_user_frame
    if said is None or said.expected != 1 or (said.received or 0) < 2 or frame is None:
        return False
    if any(each.function in _STEPS for each in failure.user_frames):
        return False  # the parts of a batch that the step did not unpack
    return called_in(frame) not in GIVEN_DATA and not names_whole_model(said.layer)
