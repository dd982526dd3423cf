"""Shape lost in Python code.

## What happens

`ValueError: as_list() is not defined on an unknown TensorShape.`, or `Cannot take the length of shape with unknown
rank.`

## Why

TensorFlow cannot infer shapes through Python code. The output of `tf.py_function`, `tf.numpy_function` or a
`from_generator` without declared shapes has no shape, not even a rank, and most layers and losses need one when the
step is traced. `tf.image.decode_image` returns no shape either, because a GIF contains several images;
`tf.image.resize` then raises "'images' contains no shape."

## Fix

Set the shape: `image.set_shape((28, 28, 1))` or `tf.ensure_shape` after `py_function`, `output_signature=` with
`tf.TensorSpec`s instead of `output_types=`, and `decode_image(…, expand_animations=False)`, `decode_png` or
`decode_jpeg`.

## Known limits

`lint` reports this only for models whose first layer is a Keras layer that needs a rank.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.data.pipeline_steps import words
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure, went_through
from fitdoctor.catalogue.knowledge.labels.targets import loss_failure
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_after, set_argument, unsafe
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    PipelineStep,
    Shape,
    Unknown,
)
from fitdoctor.records import replace
from fitdoctor.source.callees import returned_by
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import names_in
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT709",
    slug="shape-lost-in-map",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT712", "FIT320"),
)

PYTHON_CALLS = (
    "tensorflow.py_function",
    "tensorflow.numpy_function",
    "tensorflow.compat.v1.py_func",
    "tensorflow.py_func",
)
STATED = frozenset(("set_shape", "ensure_shape", "reshape", "resize", "resize_with_crop_or_pad"))
DECODERS = ("tensorflow.image.decode_image", "tensorflow.io.decode_image")
"""Decoders that return one image or, for a GIF, several, so the rank is unknown."""
SAYS_SO = (
    "contains no shape",
    "as_list() is not defined on an unknown TensorShape",
    "shape with unknown rank",
    "unknown TensorShape",
)


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a component without a rank if the model or the loss needs one."""
    if data.form != "dataset":
        return
    failed = forward_failure(data) or loss_failure(data)
    if failed is None or not any(words_ in failed.message for words_ in SAYS_SO):
        return
    lost = [array for array in (*data.x, *data.y, *data.sample_weight) if isinstance(array.shape, Unknown)]
    if not lost:
        return
    step = _losing_step(data)
    found = _finding(lost[0], _expected(model, data, lost[0]), data, step, project)
    found = _with_guesses(found, model, project, step) if step is not None and lost[0] is data.x[0] else found
    yield replace(found, confidence=Confidence.CERTAIN)


def _expected(model: ModelFacts, data: DataFacts, array: ArrayFacts) -> Shape | None:
    """Return the shape of a sample that the model expects."""
    if isinstance(model.inputs, Unknown) or array not in data.x or len(model.inputs) != len(data.x):
        return None
    shape = model.inputs[data.x.index(array)].shape
    return None if isinstance(shape, Unknown) else shape[1:]


_OF_IMAGES = ("Conv2D", "SeparableConv2D", "DepthwiseConv2D", "MaxPooling2D", "AveragePooling2D")


def _with_guesses(found: Finding, model: ModelFacts, project: Project, step: PipelineStep) -> Finding:
    """Add the shapes that the Python code mentions, for a model that starts with images or features."""
    first = next((layer for layer in model.layers if layer.class_name != "InputLayer"), None)
    call, whole = _python_call(project, step.code), expression_of(project, step.code)
    images = first is not None and first.class_name in _OF_IMAGES
    if found.fixes[0].edits or first is None or not images and first.class_name != "Dense" or whole is None:
        return found
    guesses: list[Fix] = []
    if call is not None:
        for shape in _guessed_shapes(call[0], argument_of(call[1], "func", 0), images):
            guesses.append(
                unsafe(f"set the shape after the call: `set_shape({shape})`", _stated(*call, shape))
            )
    elif step.operation == "from_generator" and isinstance(whole[1], ast.Call):
        for shape in _guessed_shapes(whole[0], argument_of(whole[1], "generator", 0), images):
            edits = set_argument(step.code, "output_shapes", f"({shape}, ())")
            guesses.append(unsafe(f"declare the shapes: `output_shapes=({shape}, ())`", edits))
    return replace(found, fixes=(*(guess for guess in guesses if guess.edits), *found.fixes))


def _guessed_shapes(module: Module, given: ast.expr | None, images: bool) -> Iterator[str]:
    function = module.definition(given) if given is not None else None
    nodes = list(ast.walk(function.node)) if isinstance(function, FunctionInfo) else []
    if not images:
        named = (node.id for node in nodes if isinstance(node, ast.Name) and _is_length(module, node))
        yield from (f"({name},)" for name in dict.fromkeys(named))
        return
    for node in nodes:
        parts = node.elts if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) else []
        ends = [part.upper if isinstance(part, ast.Slice) else part for part in parts]
        sizes = [module.segment(end) for end in ends if end is not None and _is_length(module, end)]
        if len(sizes) == len(parts) == 3:
            yield f"({', '.join(sizes)})"
        elif len(sizes) == len(parts) == 2:
            yield from (f"({', '.join(sizes)}, {channels})" for channels in (3, 1))
    yield from ("(None, None, 3)", "(None, None, 1)")


def _is_length(module: Module, node: ast.expr) -> bool:
    """Return whether it is an integer, or a name for one."""
    made = module.made_by(node)
    return isinstance(made, ast.Constant) and type(made.value) is int


def _losing_step(data: DataFacts) -> PipelineStep | None:
    """Return the first stage whose output has no rank."""
    for step in data.pipeline:
        if any(isinstance(spec.shape, Unknown) for spec in step.specs):
            return step
    return None


def _finding(
    array: ArrayFacts,
    expected: Shape | None,
    data: DataFacts,
    step: PipelineStep | None,
    project: Project,
) -> Finding:
    call = _python_call(project, step.code) if step is not None else None
    code = call[0].code(call[1]) if call is not None else step.code if step is not None else data.code
    source = "a decoder that also accepts GIFs" if _is_decoder(code) else "Python code"
    return CAUSE.finding(
        f"`{array.path}` of the {words(data)} has an unknown shape: it comes from {source}",
        place(code, data.code, array.use),
        Evidence(f"shape of `{array.path}`", "unknown rank", "known rank", fact="data.x.shape"),
        _remedy(code, expected, call),
        subject=f"{data.role} dataset",
    )


def _remedy(code: Code | Unknown, expected: Shape | None, call: tuple[Module, ast.Call] | None = None) -> Fix:
    if isinstance(code, Code) and code.name.endswith("from_generator"):
        return fix("replace `output_types` with an `output_signature` of one `tf.TensorSpec` per part")
    if _is_decoder(code):
        return _decoded(code)
    title = "set the shape after the call"
    if expected is None:
        return fix(f"{title}: `tensor.set_shape(…)`")
    edits = _stated(*call, str(tuple(expected))) if call is not None else ()
    return fix(title if edits else f"{title}: `tensor.set_shape(…)`", edits)


def _is_decoder(code: Code | Unknown) -> bool:
    return isinstance(code, Code) and code.name in DECODERS


def _decoded(code: Code | Unknown) -> Fix:
    return fix(
        "set `expand_animations=False` to decode still images only",
        set_argument(code, "expand_animations", "False", 4),
    )


def _loses_rank(module: Module, call: ast.Call) -> bool:
    """Return whether a call runs Python code, or a decoder that may return several images."""
    name = module.resolve(call.func)
    if name in DECODERS:
        argument = module.code(call).argument("expand_animations", 4)
        return argument is None or argument.text == "True"
    return name in PYTHON_CALLS


def _python_call(project: Project, code: Code | Unknown) -> tuple[Module, ast.Call] | None:
    """Return the `py_function` (or similar) call in the function passed to a `map`."""
    found = expression_of(project, code)
    if found is None or not isinstance(found[1], ast.Call) or not found[1].args:
        return None
    module, call = found[0], found[1]
    given = call.args[0]
    function = module.definition(given)
    if not isinstance(function, FunctionInfo) and isinstance(given, ast.Attribute):
        named = [info.methods[given.attr] for info in module.classes if given.attr in info.methods]
        function = named[0] if len(named) == 1 else None
    if not isinstance(function, FunctionInfo):
        return None
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call) and _loses_rank(function.module, node):
            return function.module, node
    return None


# --- from the source ----------------------------------------------------------------------------------------------

NEEDS_RANK = frozenset(
    "Dense Conv1D Conv2D Conv3D LSTM GRU SimpleRNN Bidirectional Flatten BatchNormalization".split()
)


@CAUSE.in_source
@mentions(*BATCHED_DATA)
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a `map` with `py_function`, or a generator without shapes, before a layer that needs a rank."""
    # A Keras 2 model with a known input accepts samples of any rank.
    if data.form != "dataset" or went_through(data) or not data.pipeline or model.keras == 2:
        return
    first = next((layer for layer in model.layers if layer.class_name != "InputLayer"), None)
    if first is None or not first.builtin or first.class_name not in NEEDS_RANK:
        return
    maps = [step for step in data.pipeline if step.operation == "map"]
    source = data.pipeline[0]
    if source.operation == "from_generator" and not maps and _without_shapes(source.code):
        yield _with_guesses(_finding(data.x[0], None, data, source, project), model, project, source)
    if maps and _first_part_lost(project, maps[-1].code):
        found = _finding(data.x[0], _expected(model, data, data.x[0]), data, maps[-1], project)
        yield _with_guesses(found, model, project, maps[-1])


RESIZERS = ("resize", "central_crop")


@CAUSE.in_source
@mentions(*BATCHED_DATA)
def resized_in_source(module: Module) -> Iterator[Finding]:
    """Report an image from `decode_image` that is resized in traced code."""
    for call in module.calls_to(*(f"tensorflow.image.{name}" for name in RESIZERS)):
        given = call.argument("images", 0) or call.argument("image", 0)
        function = module.function_of(call.node)
        made = module.made_by(given) if given is not None else None
        if function is None or function.traced is None or not isinstance(made, ast.Call):
            continue
        if module.resolve(made.func) not in DECODERS or not _loses_rank(module, made):
            continue
        if module.function_of(made) is not function or _shape_stated(function):
            continue
        yield _undecided(module, made, module.location(call.node))


def _undecided(module: Module, decoder: ast.Call, needed: Location | None) -> Finding:
    return CAUSE.finding(
        "`decode_image` returns a tensor of unknown rank, because it also accepts animated GIFs",
        module.location(decoder),
        Evidence("the shape is needed here", location=needed),
        _decoded(module.code(decoder)),
        subject="training dataset",
    )


def _shape_stated(function: FunctionInfo) -> bool:
    stating = ("set_shape", "ensure_shape", "reshape")
    return any(isinstance(node, ast.Attribute) and node.attr in stating for node in ast.walk(function.node))


def _without_shapes(code: Code | Unknown) -> bool:
    if isinstance(code, Unknown):
        return False
    return (
        code.argument("output_types", 1) is not None
        and code.argument("output_shapes", 2) is None
        and code.argument("output_signature", 4) is None
    )


def _first_part_lost(project: Project, code: Code | Unknown) -> bool:
    """Return whether the mapped function returns the result of `py_function` unchanged as its first part."""
    found = _python_call(project, code)
    function = found[0].function_of(found[1]) if found is not None else None
    if found is None or function is None:
        return False
    module, call = found
    body = list(ast.walk(function.node))
    if any(isinstance(node, ast.Attribute) and node.attr in STATED for node in body):
        return False
    value = returned_by(function)
    first = value.elts[0] if isinstance(value, (ast.Tuple, ast.List)) and value.elts else value
    assignment = module.statement(call)
    if first is call:
        return True
    if (
        not isinstance(first, ast.Name)
        or not isinstance(assignment, ast.Assign)
        or assignment.value is not call
    ):
        return False
    stores = [
        node
        for node in body
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == first.id
    ]
    changed = [module.statement(store) for store in stores if store.lineno > assignment.lineno]
    return first.id in names_in(assignment.targets[0]) and all(
        _keeps_rank(module, statement, first.id) for statement in changed
    )


_SAME_SHAPE = ("tensorflow.cast", "tensorflow.image.convert_image_dtype", "tensorflow.math.divide")


def _keeps_rank(module: Module, statement: ast.stmt, name: str) -> bool:
    """Return whether a statement keeps the shape of a tensor: a cast, or a division by a number."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    value: ast.expr = statement.value
    while True:
        if isinstance(value, ast.BinOp) and isinstance(value.right, ast.Constant):
            value = value.left
        elif isinstance(value, ast.Call) and value.args and module.resolve(value.func) in _SAME_SHAPE:
            value = value.args[0]
        else:
            return isinstance(value, ast.Name) and value.id == name


# --- after the failure --------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report an unknown shape, and the Python code in the pipeline or source that lost it."""
    if failure.type != "ValueError" or not any(said in failure.message for said in SAYS_SO):
        return
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts) and isinstance(model, ModelFacts):
        found = list(from_data(model, fit, data, project))
        yield from found
        if found:
            return
        if data.form != "dataset" or data.role != "training":
            return
    frame = failure.last_user_frame
    decoded = _decoder_before(project, failure)
    if decoded is not None:
        yield replace(_undecided(*decoded, failure.location), confidence=Confidence.CERTAIN)
        return
    if frame is not None and failure.called not in ("fit", "evaluate", "predict", "", *_STEPS):
        return
    location = _only_culprit(project) or failure.location
    yield CAUSE.finding(
        "a tensor has an unknown shape: mostly, it comes from Python code in the data (`py_function`, a generator)",
        location,
        fix("set the shape with `tensor.set_shape(…)`, or with `output_signature` in `from_generator`"),
        subject="training dataset",
    )


_STEPS = ("map", "interleave", "batch", "padded_batch", "prefetch", "shuffle", "cache", "repeat")
"""In a chain of calls, the traceback line names the last stage, whichever one failed."""


def _decoder_before(project: Project, failure: FailureFacts) -> tuple[Module, ast.Call] | None:
    """Return the decoder in the function that raised, or the only one in the program."""
    if not project:
        return None
    calls = [
        (module, call.node)
        for module in project.modules
        for call in module.calls_to(*DECODERS)
        if _loses_rank(module, call.node)
    ]
    frames = {(frame.function.rpartition(".")[2]) for frame in failure.user_frames}
    inside = [
        (module, call)
        for module, call in calls
        if (function := module.function_of(call)) is not None and function.name in frames
    ]
    culprits = _only_culprit(project)
    return inside[0] if inside else calls[0] if len(calls) == 1 and culprits is None else None


def _only_culprit(project: Project) -> Location | None:
    if not project:
        return None
    found: list[Location] = []
    for module in project.modules:
        found.extend(module.location(call.node) for call in module.calls_to(*PYTHON_CALLS))
        for call in module.calls_to("tensorflow.data.Dataset.from_generator"):
            if _without_shapes(module.code(call.node)):
                found.append(module.location(call.node))
    return found[0] if len(found) == 1 else None


# --- shapes that are stated -----------------------------------------------------------------------------------------


def _stated(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shape of the result of a call."""
    code = module.code(call)
    if code.target.isidentifier():
        return insert_after(code, f"{code.target}.set_shape({shape})")
    return _stated_apart(module, call, shape)


def _stated_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes for `image, label = tf.py_function(…)`, with a scalar label per sample."""
    statement = module.statement(call)
    if not (isinstance(statement, ast.Assign) and statement.value is call):
        return ()
    target = statement.targets[0]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) != 2 or len(parts) != 2:
        return ()
    code = module.code(call)
    lines = f"{names[0]}.set_shape({shape})\n{code.indent}{names[1]}.set_shape(())"
    return insert_after(code, lines)
