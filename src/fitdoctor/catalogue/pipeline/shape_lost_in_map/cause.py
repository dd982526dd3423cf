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
from fitdoctor.edits import fix, insert_after, set_argument, spell, unsafe
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    PipelineStep,
    Spec,
    Unknown,
)
from fitdoctor.records import replace
from fitdoctor.source.definitions import argument_of
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
    found = _finding(lost[0], _expected(model, data, lost[0]), data, step, project, Confidence.CERTAIN)
    yield _with_guesses(found, model, project, step) if lost[0] is data.x[0] else found


def _with_guesses(found: Finding, model: ModelFacts, project: Project, step: PipelineStep | None) -> Finding:
    if found.fixes[0].edits or step is None:
        return found
    return replace(found, fixes=(*_by_guess(model, project, step), *found.fixes))


def _by_guess(model: ModelFacts, project: Project, step: PipelineStep) -> Iterator[Fix]:
    """Suggest shapes for the first layer: those in the Python code, and for images also any size."""
    first = next((layer for layer in model.layers if layer.class_name != "InputLayer"), None)
    pictures = first is not None and first.class_name in PICTURE_LAYERS
    found = expression_of(project, step.code)
    call = _python_call(project, step.code)
    if first is None or found is None or not pictures and first.class_name != "Dense":
        return
    more = ("(None, None, 3)", "(None, None, 1)") if pictures else ()
    if isinstance(step.code, Code) and step.code.name.endswith("from_generator"):
        given = step.code.argument("output_types", 1)
        if given is not None and given.text.count(",") == 1 and _without_shapes(step.code):
            for shape in (*_written_shapes(found[0], found[1], "generator", pictures), *more):
                edits = set_argument(step.code, "output_shapes", f"({shape}, ())")
                yield unsafe(f"declare the shapes: `output_shapes=({shape}, ())`", edits)
        return
    if call is None:
        return
    code = call[0].code(call[1])
    for shape in (*_written_shapes(*call, "func", pictures), *more):
        line = insert_after(code, f"{code.target}.set_shape({shape})") if code.target.isidentifier() else ()
        edits = line or _stated_apart(*call, shape)
        if edits:
            yield unsafe(f"set the shape after the call: `set_shape({shape})`", edits)


def _expected(model: ModelFacts, data: DataFacts, array: ArrayFacts) -> Spec | None:
    if isinstance(model.inputs, Unknown) or array not in data.x or len(model.inputs) != len(data.x):
        return None
    return model.inputs[data.x.index(array)]


def _losing_step(data: DataFacts) -> PipelineStep | None:
    """Return the first stage whose output has no rank."""
    for step in data.pipeline:
        if any(isinstance(spec.shape, Unknown) for spec in step.specs):
            return step
    return None


def _finding(
    array: ArrayFacts,
    expected: Spec | None,
    data: DataFacts,
    step: PipelineStep | None,
    project: Project,
    confidence: Confidence,
) -> Finding:
    call = _python_call(project, step.code) if step is not None else None
    code = call[0].code(call[1]) if call is not None else step.code if step is not None else data.code
    source = "a decoder that also accepts GIFs" if _is_decoder(code) else "Python code"
    return CAUSE.finding(
        f"`{array.path}` of the {words(data)} has an unknown shape: it comes from {source}",
        place(code, data.code, array.use),
        Evidence(f"shape of `{array.path}`", "unknown rank", "known rank", fact="data.x.shape"),
        *_fixes(code, expected, call),
        subject=f"{data.role} dataset",
        confidence=confidence,
    )


def _fixes(
    code: Code | Unknown, expected: Spec | None, call: tuple[Module, ast.Call] | None = None
) -> list[Fix]:
    if isinstance(code, Code) and code.name.endswith("from_generator"):
        return [fix("replace `output_types` with an `output_signature` of one `tf.TensorSpec` per part")]
    if _is_decoder(code):
        return [_decoded(code)]
    title = "set the shape after the call"
    if isinstance(code, Code) and code.target.isidentifier() and expected is not None:
        if isinstance(expected.shape, tuple):
            return [fix(title, insert_after(code, f"{code.target}.set_shape({tuple(expected.shape[1:])})"))]
    if call is not None and expected is not None and isinstance(expected.shape, tuple):
        edits = _stated_apart(*call, str(tuple(expected.shape[1:])))
        if edits:
            return [fix(title, edits)]
    return [fix(f"{title}: `tensor.set_shape(…)`")]


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

PICTURE_LAYERS = frozenset(
    "Conv2D SeparableConv2D DepthwiseConv2D MaxPooling2D AveragePooling2D Functional".split()
)
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
        found = _finding(data.x[0], None, data, source, project, Confidence.LIKELY)
        yield _with_guesses(found, model, project, source)
    if maps and _first_part_lost(project, maps[-1].code):
        wanted = _expected(model, data, data.x[0])
        found = _finding(data.x[0], wanted, data, maps[-1], project, Confidence.LIKELY)
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
        yield CAUSE.finding(
            "`decode_image` returns a tensor of unknown rank, because it also accepts animated GIFs",
            module.location(made),
            Evidence("the shape is needed here", location=module.location(call.node)),
            _decoded(module.code(made)),
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
    if found is None:
        return False
    module, call = found
    function = module.function_of(call)
    assignment = module.statement(call)
    if function is None:
        return False
    if any(isinstance(node, ast.Attribute) and node.attr in STATED for node in ast.walk(function.node)):
        return False
    if isinstance(function.node, ast.Lambda):
        values: list[ast.expr | None] = [function.node.body]
    else:
        values = [each.value for each in module.returns.get(function.node, [])]
    value = values[0] if len(values) == 1 else None
    if value is None:
        return False
    first = value.elts[0] if isinstance(value, (ast.Tuple, ast.List)) and value.elts else value
    if first is call:
        return True
    if (
        not isinstance(first, ast.Name)
        or not isinstance(assignment, ast.Assign)
        or assignment.value is not call
    ):
        return False
    target = assignment.targets[0]
    names = [target] if isinstance(target, ast.Name) else list(getattr(target, "elts", ()))
    stores = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == first.id
    ]
    if not any(isinstance(name, ast.Name) and name.id == first.id for name in names):
        return False
    changed = [module.statement(store) for store in stores if store.lineno > assignment.lineno]
    return all(_keeps_rank(module, statement, first.id) for statement in changed)


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
        module, call = decoded
        yield CAUSE.finding(
            "`decode_image` returns a tensor of unknown rank, because it also accepts animated GIFs",
            module.location(call),
            Evidence("the shape is needed here", location=failure.location),
            _decoded(module.code(call)),
            subject="training dataset",
            confidence=Confidence.CERTAIN,
        )
        return
    if frame is not None and failure.called not in ("fit", "evaluate", "predict", "", *_STEPS):
        return
    location = _only_culprit(project) or failure.location
    yield CAUSE.finding(
        "a tensor in the data has an unknown shape: it comes from Python code (`py_function`, a generator)",
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


def _stated_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes for `image, label = tf.py_function(…)`, with a scalar label per sample."""
    statement = module.statement(call)
    if isinstance(statement, ast.Return) and statement.value is call:
        return _returned_apart(module, call, shape)
    if not (isinstance(statement, ast.Assign) and statement.value is call):
        return _stated_inside(module, call, shape)
    target = statement.targets[0]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) != 2 or len(parts) != 2:
        return ()
    code = module.code(call)
    lines = f"{names[0]}.set_shape({shape})\n{code.indent}{names[1]}.set_shape(())"
    return insert_after(code, lines)


def _returned_apart(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes if both are returned at once."""
    types = argument_of(call, "Tout", 2)
    if not isinstance(types, (ast.Tuple, ast.List)) or len(types.elts) != 2:
        return ()
    code = module.code(call)
    lines = (
        f"sample, label = {code.text}",
        f"sample.set_shape({shape})",
        "label.set_shape(())",
        "return sample, label",
    )
    return (Edit(module.location(module.statement(call)), f"\n{code.indent}".join(lines)),)


def _stated_inside(module: Module, call: ast.Call, shape: str) -> tuple[Edit, ...]:
    """Set the shapes if the call is part of an expression: around it, or after the `map` whose lambda it is."""
    types, parent = argument_of(call, "Tout", 2), module.parent(call)
    tf, imports = spell(module.code(call), "tensorflow", "tf")
    if types is not None and not isinstance(types, (ast.Tuple, ast.List)):
        return (Edit(module.location(call), f"{tf}.ensure_shape({module.segment(call)}, {shape})"), *imports)
    step = module.parent(parent) if isinstance(parent, ast.Lambda) else None
    if not isinstance(types, (ast.Tuple, ast.List)) or len(types.elts) != 2 or not isinstance(step, ast.Call):
        return ()
    stated = f"({tf}.ensure_shape(x, {shape}), {tf}.ensure_shape(y, ()))"
    return (Edit(module.location(step).end, f".map(lambda x, y: {stated})"), *imports)


def _written_shapes(module: Module, call: ast.AST, argument: str, pictures: bool) -> Iterator[str]:
    """Return the shapes that the called function mentions: three sizes for an image, a named number for features."""
    given = argument_of(call, argument, 0) if isinstance(call, ast.Call) else None
    function = module.definition(given) if given is not None else None
    if not isinstance(function, FunctionInfo) or function.module is not module:
        return
    for node in ast.walk(function.node):
        if pictures and isinstance(node, ast.Tuple) and len(node.elts) == 3:
            if isinstance(node.ctx, ast.Load) and all(_is_length(module, part) for part in node.elts):
                yield f"({', '.join(module.segment(part) for part in node.elts)})"
        elif not pictures and isinstance(node, ast.Name) and _is_length(module, node):
            yield f"({node.id},)"
    sizes = (
        [size for node in ast.walk(function.node) for size in _written_size(module, node)] if pictures else []
    )
    yield from (f"({size}, {channels})" for channels in (3, 1) for size in dict.fromkeys(sizes))


def _written_size(module: Module, node: ast.AST) -> Iterator[str]:
    """Return the height and width of resized images: `resize(picture, (64, 64))`, `picture[:64, :64]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        ends = [
            part.upper for part in node.slice.elts[:2] if isinstance(part, ast.Slice) and part.lower is None
        ]
        lengths = [end for end in ends if end is not None and _is_length(module, end)]
        if len(lengths) == 2:
            yield ", ".join(module.segment(length) for length in lengths)
        return
    if not isinstance(node, ast.Call) or not module.segment(node.func).endswith(("resize", "load_img")):
        return
    for given in (*node.args, *(word.value for word in node.keywords)):
        parts = module.made_by(given)
        if isinstance(parts, ast.Tuple) and len(parts.elts) == 2:
            if all(_is_length(module, part) for part in parts.elts):
                yield (
                    f"*{given.id}"
                    if isinstance(given, ast.Name)
                    else ", ".join(map(module.segment, parts.elts))
                )


def _is_length(module: Module, node: ast.expr) -> bool:
    """Return whether it is an integer, or a global name for one."""
    if isinstance(node, ast.Name):
        given = module.assignments(node.id, module.tree)
        return len(given) == 1 and given[0].value is not None and _is_length(module, given[0].value)
    return isinstance(node, ast.Constant) and type(node.value) is int
