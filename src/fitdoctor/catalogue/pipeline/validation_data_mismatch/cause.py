"""Validation data with a different shape, dtype or structure than the training data.

## What happens

The first epoch trains. Then validation raises the error that training data of that kind would raise: a different
number of features, labels of a different rank, or a missing part. The message refers to a layer or the loss, not to
validation.

## Why

A preparation step was applied to the training data but not to the validation data: dropping a column, one-hot
encoding the labels, resizing images or adding a batch axis.

## Fix

Prepare both with the same code.

## Known limits

Validation data from a Python generator is not read in advance, so only its failure is reported. Keras removes its own
frames from the traceback that it prints. In saved text, validation is therefore recognizable only if the message
quotes the model call with `training=False`; labels that the loss rejects look like training labels there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.bindings import binding_line, binding_of, bound_names
from fitdoctor.catalogue.knowledge.data.data_places import shape_line
from fitdoctor.catalogue.knowledge.data.generator_sources import argument_expression, expression_of
from fitdoctor.catalogue.knowledge.data.shapes import fits, forward_failure, minded, while_validating
from fitdoctor.catalogue.knowledge.labels.targets import loss_failure
from fitdoctor.catalogue.pipeline.validation_edits import argument_left_out, labels_beside, prepared_alike
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Shape, Unknown
from fitdoctor.failure.shapes import input_count, input_mismatch, target_and_output
from fitdoctor.source.keras_names import INPUTS
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin, origin
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT712",
    slug="validation-data-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "InvalidArgumentError"),
    explains=(
        "FIT101", "FIT102", "FIT104", "FIT105", "FIT106", "FIT109",
        "FIT201", "FIT202", "FIT205", "FIT215", "FIT216", "FIT304", "FIT319",
        "FIT320",
    ),
)  # fmt: skip


@CAUSE.before_fit
def from_data(
    fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report validation data that the model, the loss or Keras rejects while the training data works."""
    if (
        training.problem
        or forward_failure(training)
        or loss_failure(training)
        or isinstance(training.trial.forward, Unknown)
    ):
        return
    failed = forward_failure(validation) or loss_failure(validation) or validation.problem
    if failed is None or "cardinality" in failed.message or "Unrecognized data type" in failed.message:
        return
    pair = _differing(training, validation)
    if pair is None:
        return
    yield _finding(fit, training, validation, pair, project)


@CAUSE.likely_in_source
@mentions("validation_data")
def from_source(
    model: ModelFacts, fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report validation data that does not match the model's input while the training data does."""
    if "train_step" in model.overrides or fit.method != "fit":
        return
    if isinstance(model.inputs, Unknown) or len(model.inputs) != 1:
        return
    if len(training.x) != 1 or len(validation.x) != 1:
        return
    ours, theirs, wanted = training.x[0], validation.x[0], model.inputs[0].shape
    if isinstance(wanted, Unknown) or isinstance(ours.shape, Unknown) or isinstance(theirs.shape, Unknown):
        return
    if not _taken(ours, wanted) or _taken(theirs, wanted):
        return
    if theirs.shape and minded(model, validation, theirs.shape[1:], wanted[1:]):
        yield _finding(fit, training, validation, (ours, theirs), project)


@CAUSE.likely_in_source
@mentions("validation_data")
def labels_in_source(
    model: ModelFacts, fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report validation labels whose width differs from the output while the training labels match."""
    if fit.method != "fit" or isinstance(model.outputs, Unknown):
        return
    if len(training.y) != 1 or len(validation.y) != 1:
        return
    output = model.outputs[0].shape if len(model.outputs) == 1 else ()
    widths = [_width(array.sample_shape) for array in (training.y[0], validation.y[0])]
    if isinstance(output, Unknown) or len(output) != 2 or output[-1] != widths[0]:
        return
    if None not in widths and widths[0] != widths[1]:
        yield _finding(fit, training, validation, (training.y[0], validation.y[0]), project)


@CAUSE.in_source
@mentions("validation_data")
def labels_left_out(
    model: ModelFacts, fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report `validation_data=(x_val)`, which is not a tuple and leaves the loss without labels."""
    if fit.method != "fit":
        return
    if {"train_step", "test_step", "compute_loss"} & set(model.overrides) or not model.losses:
        return
    if training.form != "arrays" or validation.form != "arrays" or not training.y or validation.y:
        return
    if len(validation.x) != 1 or any(loss.kind not in ("builtin", "function") for loss in model.losses):
        return
    given = None if isinstance(fit.code, Unknown) else fit.code.argument("validation_data", 7)
    yield CAUSE.finding(
        "the validation data has no labels: pass `(x_val, y_val)`",
        place(given.whole if given is not None else None, fit.code),
        Evidence("parts", "x", "x and y", fact="data.validation"),
        _with_labels(project, fit),
        subject="validation data",
    )


def _width(sample: Shape | Unknown) -> int | None:
    """Return the number of values per label, or None if it is unknown or the label has more axes."""
    if isinstance(sample, Unknown) or len(sample) > 1:
        return None
    return sample[0] if sample else 1


def _taken(array: ArrayFacts, wanted: Shape) -> bool:
    return isinstance(array.shape, tuple) and bool(array.shape) and fits(array.shape[1:], wanted[1:])


Pair = tuple[ArrayFacts | None, ArrayFacts | None]


def _differing(training: DataFacts, validation: DataFacts) -> Pair | None:
    """Return the first component whose sample shape or dtype differs."""
    for ours, theirs in ((training.x, validation.x), (training.y, validation.y)):
        if len(ours) != len(theirs):
            return (ours[0] if ours else None, theirs[0] if theirs else None)
        for one, other in zip(ours, theirs, strict=True):
            first, second = one.sample_shape, other.sample_shape
            if isinstance(first, Unknown) or isinstance(second, Unknown):
                if isinstance(first, Unknown) != isinstance(second, Unknown):
                    return one, other
            elif not _alike(first, second) or one.dtype != other.dtype and _kind(one) != _kind(other):
                return one, other
    return None


def _alike(first: Shape, second: Shape) -> bool:
    if len(first) != len(second):
        return False
    return all(one is None or other is None or one == other for one, other in zip(first, second, strict=True))


def _kind(array: ArrayFacts) -> str:
    name = array.dtype if isinstance(array.dtype, str) else ""
    return "number" if name.startswith(("float", "int", "uint", "bool")) else name


def _finding(
    fit_call: FitFacts, training: DataFacts, validation: DataFacts, pair: Pair, project: Project
) -> Finding:
    ours, theirs = pair
    name = theirs.path if theirs is not None else "validation_data"
    observed, expected = _described(theirs, validation), _described(ours, training)
    left_out = argument_left_out(project, fit_call)
    return CAUSE.certain(
        f"`{name}` is {observed}, but the training data is {expected}",
        left_out[0] if left_out is not None else _line(fit_call, training, validation, pair, project),
        Evidence(
            f"shape and dtype of `{name}`",
            observed,
            expected,
            fact="data.x.shape",
            location=place(ours.code if ours is not None else None, training.code),
        ),
        *([left_out[1]] if left_out is not None else []),
        *(
            _fixes(pair, training, validation, project)
            if theirs is not None or training.x and not validation.x
            else [_with_labels(project, fit_call)]
        ),
        subject="argument validation_data of fit",
    )


def _described(array: ArrayFacts | None, data: DataFacts) -> str:
    if array is None:
        return data.element or "nothing"
    words = (
        shape_words((None, *array.sample_shape))
        if isinstance(array.sample_shape, tuple)
        else "of unknown shape"
    )
    return f"{words} {array.dtype}" if isinstance(array.dtype, str) else words


def _line(
    fit_call: FitFacts, training: DataFacts, validation: DataFacts, pair: Pair, project: Project
) -> Location | None:
    """Return where the validation data is created, unless that line also creates the training data."""
    ours, theirs = pair
    use = theirs.use if theirs is not None else Unknown("the part is missing")
    if validation.form == training.form == "arrays" and len(training.x) != len(validation.x):
        return place(use) or _argument(fit_call)  # one array for several inputs: only the grouping differs
    if validation.form == "dataset":
        shared = {step.code for step in training.pipeline} | {ours.code if ours is not None else None}
        made = [*(step.code for step in validation.pipeline), theirs.code if theirs is not None else None]
        if any(code in shared for code in made if isinstance(code, Code)):
            return binding_line(project, use) or _argument(fit_call)
        line = shape_line(theirs, validation) if theirs is not None else place(validation.code)
        return line or _argument(fit_call)
    if ours is not None and theirs is not None and isinstance(theirs.code, Code) and ours.code == theirs.code:
        return binding_line(project, use) or place(use) or _argument(fit_call)
    if isinstance(use, Code) and use.text.endswith("]") and use.text.partition("[")[0].isidentifier():
        return place(use)  # sliced in the call itself: `(x[test], y[test])`
    if isinstance(use, Code) and not _is_within(use, fit_call):
        return place(use)  # a part of a tuple that is written elsewhere: `self.val = (x_val, y_val)`
    bound = binding_of(project, use)
    other = expression_of(project, ours.use) if ours is not None else None
    if bound is not None and other is not None and isinstance(other[1], ast.Name):
        if other[1].id in bound_names(bound[1]):
            return place(use) or _argument(fit_call)
    return place(theirs.code if theirs is not None else None, use) or _argument(fit_call)


def _is_within(use: Code, fit_call: FitFacts) -> bool:
    if isinstance(fit_call.code, Unknown):
        return True
    whole, here = fit_call.code.location, use.location
    same = (whole.path, whole.cell) == (here.path, here.cell)
    return same and whole.line <= here.line <= whole.end_line


def _argument(fit_call: FitFacts) -> Location | None:
    if isinstance(fit_call.code, Unknown):
        return None
    argument = fit_call.code.argument("validation_data", 7)
    return argument.whole if argument is not None else fit_call.code.location


def _with_labels(project: Project, fit_call: FitFacts) -> Fix:
    return fix("pass the labels too: `validation_data=(x_val, y_val)`", labels_beside(project, fit_call))


def _fixes(pair: Pair, training: DataFacts, validation: DataFacts, project: Project) -> list[Fix]:
    general = fix("prepare the validation data like the training data")
    ours, theirs = pair
    if ours is None or theirs is None:
        return [general]
    return [*prepared_alike(ours, theirs, training, validation, project), general]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    fit: FitFacts | Unknown,
    training: DataFacts | Unknown,
    validation: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report validation data that was rejected when `fit` reached validation."""
    if failure.type not in ("ValueError", "TypeError", "InvalidArgumentError"):
        return
    if failure.called != "fit" or not _is_about_data(failure.message):
        return
    validating = while_validating(failure) or _was_told_not_to_train(failure, project)
    if "None values not supported" in failure.message and not isinstance(fit, Unknown):
        if not isinstance(training, Unknown) and training.y and _is_part_of_split(project, fit):
            yield _without_labels(failure, fit, project)
            return
    if isinstance(training, Unknown) or isinstance(validation, Unknown) or isinstance(fit, Unknown):
        if validating:
            yield from _from_words(failure)
        return
    if training.problem or forward_failure(training) or loss_failure(training):
        return
    if not validating and input_mismatch(failure.message) is not None:
        validating = _has_shape_of_training(project, fit)
    pair = _differing(training, validation) if validation.x else None
    tried = not isinstance(training.trial.forward, Unknown)
    told = pair is not None and all(part is not None and isinstance(part.shape, tuple) for part in pair)
    if pair is not None and (tried or told) and (validating or _is_about(failure.message, *pair)):
        yield _finding(fit, training, validation, pair, project)
    elif validating and not (tried and validation.x):  # it was not read in advance
        same = training.x[:1] and validation.x[:1]
        made = _line(fit, training, validation, (training.x[0], validation.x[0]), project) if same else None
        yield from _from_words(failure, made)


def _is_part_of_split(project: Project, fit_call: FitFacts) -> bool:
    """Return whether `validation_data` is a single array from a split: `validation_data=(x_test)`."""
    found = argument_expression(project, fit_call, "validation_data", 7)
    if found is None or not isinstance(found[1], ast.Name):
        return False
    return any(step.how == "split" for step in origin(*found).steps)


def _without_labels(failure: FailureFacts, fit_call: FitFacts, project: Project) -> Finding:
    return CAUSE.finding(
        "`validation_data` is a single array, so the labels are missing",
        _argument(fit_call),
        Evidence("Keras found no labels", failure.message[:200]),
        _with_labels(project, fit_call),
        subject="argument validation_data of fit",
    )


def _was_told_not_to_train(failure: FailureFacts, project: Project) -> bool:
    """Return whether `fit` called a Sequential or Functional model with `training=False`, which no user code did."""
    if failure.layer_class not in ("Sequential", "Functional"):
        return False
    if dict(failure.arguments).get("training") != "False":
        return False
    if any(frame.function in ("call", "train_step", "test_step") for frame in failure.user_frames):
        return False
    modules = project.modules
    return not any(
        word.arg == "training" for module in modules for call in module.calls for word in call.node.keywords
    )


def _is_about(message: str, ours: ArrayFacts | None, theirs: ArrayFacts | None) -> bool:
    """Return whether the shape in the message matches the validation data and not the training data."""
    given, labels = input_mismatch(message), target_and_output(message)
    named = given.found if given is not None else labels.target if labels is not None else None
    return named is not None and _has(theirs, named) and not _has(ours, named)


def _has(array: ArrayFacts | None, named: Shape) -> bool:
    if array is None or isinstance(array.sample_shape, Unknown):
        return False
    # The loss may see labels of rank 1 as a column.
    return _alike(named[1:], array.sample_shape) or (array.sample_shape, named[1:]) == ((), (1,))


def _is_about_data(message: str) -> bool:
    return (
        input_mismatch(message) is not None
        or target_and_output(message) is not None
        or input_count(message) is not None
        or "Invalid dtype" in message
        or "None values not supported" in message
    )


def _from_words(failure: FailureFacts, made: Location | None = None) -> Iterator[Finding]:
    """Report unread validation data from the message alone, with its creation line if the source shows it."""
    frame = failure.last_user_frame
    code = frame.code if frame is not None else Unknown("the traceback has no user frame")
    argument = code.argument("validation_data", 7) if isinstance(code, Code) else None
    given = input_mismatch(failure.message)
    if given is not None and given.found is not None:
        told = f"the validation data has shape {shape_words(given.found)}, which the model does not accept"
    else:
        told = "the model accepts the training data, but not the validation data"
    yield CAUSE.finding(
        told,
        place(made, argument.whole if argument else None, failure.location),
        Evidence("error during validation", failure.message[:200]),
        fix("prepare the validation data like the training data"),
        subject="argument validation_data of fit",
    )


CAUSE.message(
    r"`validation_data` should be a tuple",
    "`validation_data` is not a tuple of inputs and labels",
    "pass `validation_data=(x_val, y_val)`",
    subject="argument validation_data of fit",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)


# --- sizes taken from the data --------------------------------------------------------------------------------------


_SHAPES = ("input_shape", "input_dim", "shape")


def _has_shape_of_training(project: Project, fit: FitFacts) -> bool:
    """Return whether every input of the program gets the shape of this call's training data."""
    found = argument_expression(project, fit, "x", 0)
    if found is None:
        return False
    trained = found[0].origin(found[1])
    shapes = [(module, shape) for module in project.modules for shape in _input_shapes(module)]
    return bool(shapes) and all(_is_shape_of(module, shape, trained) for module, shape in shapes)


def _input_shapes(module: Module) -> Iterator[ast.expr]:
    for call in module.calls:
        named = [word.value for word in call.node.keywords if word.arg in _SHAPES]
        if call.name in INPUTS:
            yield from named or call.node.args[:1]
        else:
            yield from (word.value for word in call.node.keywords if word.arg in _SHAPES[:2])


def _is_shape_of(module: Module, shape: ast.expr, trained: Origin) -> bool:
    """Return whether a shape starts with that of an array from the same origin.

    `(1, X.shape[1])` is not a shape of `X`: it has an axis that `X` may lack.
    """
    parts = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    end = module.origin(parts[0]) if parts and isinstance(parts[0], ast.Name) else None
    where, node = (module, parts[0] if parts else shape) if end is None else (end.module, end.node)
    # `X.shape[1]`, `X.shape[1:]`
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
        return False
    axis = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
    if not isinstance(axis, ast.Constant) or axis.value != 1:
        return False
    if node.value.attr != "shape" or not isinstance(node.value.value, ast.Name):
        return False
    measured = where.origin(node.value.value)
    return measured.certain and measured.node is trained.node and measured.path == trained.path
