"""Missing labels for a model with a loss.

## What happens

`fit` fails before the first step with `ValueError: None values not supported.`, from deep inside Keras: the loss
receives None instead of y. With several outputs the message is `y_true and y_pred have different structures`.

## Why

An autoencoder is trained with `fit(x)` instead of `fit(x, x)`; a dataset, generator or PyDataset yields only the
features; or the call is `fit((x, y))`, which Keras reads as two inputs.

## Fix

Pass y. The labels of an autoencoder are its inputs: `fit(x, x)`. A dataset must yield `(x, y)`.

## Known limits

A loss function without a `return` raises the same message. If labels are present, check the loss function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.data.batch_edits import last_step, mapped
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of, returned_in_step
from fitdoctor.catalogue.knowledge.data.pipeline_steps import step_place, with_step_after
from fitdoctor.catalogue.knowledge.labels.paired_names import label_names_for
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY,
    SPARSE,
    loss_accepted,
    loss_failure,
    output_specs,
)
from fitdoctor.catalogue.prefilter import LABELS
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.traceback_lines import gives_labels
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import Argument, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.fits.compile_facts import OPAQUE_LOSS
from fitdoctor.source.index import names_in
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT215",
    slug="missing-labels",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT216", "FIT109"),
)

LABEL_KEYS = frozenset("label labels target targets y class".split())
PARSERS = ("tensorflow.io.parse_single_example", "tensorflow.io.parse_example")
_WORDS = "None values not supported"
_NEED_LABELS = ("fit", "evaluate", "train_on_batch", "test_on_batch")
_OWN_LOSS = {"train_step", "compute_loss", "fit"}


@CAUSE.in_source
@doubting(LABELS)
@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a model with a loss but without labels."""
    if not _lacks_labels(model, fit, data) or loss_accepted(data):
        return
    proven = loss_failure(data) is not None and not _may_be_return(model)
    sure = Confidence.CERTAIN if proven else Confidence.LIKELY
    yield replace(_finding(model, fit, data, project), confidence=sure)


def _in_one_dict(model: ModelFacts, data: DataFacts) -> bool:
    """Whether the element is a single dict that includes the labels under a key that is not an input."""
    inputs = () if isinstance(model.inputs, Unknown) else model.inputs
    names = {spec.name for spec in inputs}
    return bool(names) and any(array.key.lower() in LABEL_KEYS and array.key not in names for array in data.x)


def _lacks_labels(model: ModelFacts, fit: FitFacts, data: DataFacts) -> bool:
    if fit.method not in _NEED_LABELS or not model.compiled or _OWN_LOSS & set(model.overrides):
        return False
    if data.y or data.y_structure != "none" or data.form in ("none", "other") or not data.x:
        return False
    if data.role == "validation" and "test_step" in model.overrides:
        return False
    made_of = data.pipeline[0].operation if data.pipeline else ""
    if made_of == "from_generator" and isinstance(data.trial.forward, Unknown):
        return False  # the signature may omit what the generator yields, which another cause reports
    return any(loss.kind != "none" and loss != OPAQUE_LOSS for loss in model.losses)


def _may_be_return(model: ModelFacts) -> bool:
    """Whether a custom loss could raise the same error by returning None."""
    return all(loss.kind in ("function", "class") for loss in model.losses)


def _only_of_keras(model: ModelFacts) -> bool:
    return bool(model.losses) and all(loss.kind == "builtin" for loss in model.losses)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report a None that Keras found in place of labels, or labels among the inputs."""
    if failure.called == "fit" and _labels_among_inputs(failure.message):
        steps = data.pipeline if isinstance(data, DataFacts) and not data.y else ()
        sure = Confidence.CERTAIN if steps else Confidence.LIKELY
        yield certain(_not_split(data, project, failure.location), failure, confidence=sure)
        return
    if _WORDS not in failure.message and "y_true and y_pred have different structures" not in failure.message:
        return
    frame = failure.last_user_frame
    if isinstance(model, ModelFacts) and isinstance(fit, FitFacts) and isinstance(data, DataFacts):
        if _lacks_labels(model, fit, data):
            yield certain(_finding(model, fit, data, project, failure.location), failure)
            return
        if data.y or data.form not in ("dataset", "other") or not _only_of_keras(model):
            return
    if _WORDS not in failure.message or frame is None or failure.called not in _NEED_LABELS:
        return
    given = gives_labels(frame.text)
    if given is False and frame.function not in ("call", "train_step"):
        yield CAUSE.finding(
            "the model has a loss, but `fit` receives no labels",
            place(_made(data) if isinstance(data, DataFacts) else None, frame.location),
            Evidence(
                "the call passes one positional argument",
                frame.text.strip(),
                "x and y, or a dataset that yields both",
                fact="failure.frames",
                location=frame.location,
            ),
            fix("pass y; for an autoencoder, pass x again as y"),
            subject="labels",
        )


def _made(data: DataFacts) -> Code | Unknown:
    """Return the first pipeline stage, where labels would be added, else the code that creates the data."""
    return data.pipeline[0].code if data.pipeline else data.code


_STRUCTURE = re.compile(
    r"The structure of `inputs` doesn't match(?s:.*?)Received: inputs=\{(?P<inputs>[^}]*)\}"
)
_KEY = re.compile(r"'(\w+)': ")


def _labels_among_inputs(message: str) -> bool:
    """Whether the model received a dict that contains the labels next to the features."""
    said = _STRUCTURE.search(message)
    return said is not None and any(key.lower() in LABEL_KEYS for key in _KEY.findall(said["inputs"]))


def _not_split(data: DataFacts | Unknown, project: Project, used: Location | None) -> Finding:
    steps = data.pipeline if isinstance(data, DataFacts) and not data.y else ()
    made = [returned_in_step(project, step.code) for step in steps if step.operation == "map"]
    return CAUSE.finding(
        "features and labels are in one dict: the model treats all of it as inputs, so there are no labels",
        place(*reversed(made), _parsed(project), steps[0].code if steps and not made else None, used),
        Evidence(
            "what the model receives",
            "a dict that includes the labels",
            "features as x, labels as y",
            fact="data.x",
        ),
        fix("return a pair `(features, label)`", _split_off(data)),
        subject="labels",
    )


def _split_off(data: DataFacts | Unknown) -> tuple[Edit, ...]:
    """Append a stage that splits the label off the dict if exactly one key names a label."""
    if isinstance(data, Unknown) or data.form != "dataset" or not data.pipeline:
        return ()
    keys = [array.key for array in data.x if array.key.lower() in LABEL_KEYS]
    if len(keys) != 1 or len(data.x) < 2:
        return ()
    features = f"{{key: part for key, part in batch.items() if key != {keys[0]!r}}}"
    step = f".map(lambda batch: ({features}, batch[{keys[0]!r}]))"
    return with_step_after(data.pipeline[-1].code, step)


def _parsed(project: Project) -> Location | None:
    """Return the location of the only `return` of a parsed record."""
    found = [
        module.location(node.value)
        for module in project.modules
        for returns in module.returns.values()
        for node in returns
        if node.value is not None
        and isinstance(made := module.made_by(node.value), ast.Call)
        and module.resolve(made.func) in PARSERS
    ]
    return found[0] if len(found) == 1 else None


def _finding(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project, raised_at: Location | None = None
) -> Finding:
    if _in_one_dict(model, data):
        return _not_split(data, project, raised_at or place(fit.code))
    whose = "the validation data has" if data.role == "validation" else f"`{fit.method}` receives"
    told = {
        "arrays": "y is missing",
        "dataset": "the dataset yields only x",
        "generator": "the generator yields only x",
        "pydataset": "the PyDataset returns only x",
        "dataloader": "the DataLoader yields only x",
    }
    loss = next((loss for loss in model.losses if loss.kind != "none"), None)
    return CAUSE.finding(
        f"the model has a loss, but {whose} no labels: {told.get(data.form, 'y is missing')}",
        place(*_culprits(fit, data, project), raised_at),
        Evidence(
            f"the loss `{loss.name}` needs y" if loss is not None else "the loss needs y",
            "only x" if data.element in ("", "single", "tuple of 1") else data.element,
            "x and y",
            fact="data.y",
            location=place(loss.code) if loss is not None else None,
        ),
        *_fixes(model, fit, data, project),
        subject="labels",
    )


def _culprits(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Code | Location | Unknown | None]:
    if data.form == "arrays":
        yield fit.code
        return
    if data.pipeline:
        source = data.pipeline[0].code
        yield _left_out(source)
        yield _dropped(data, project)
        yield source
    elif data.form in ("generator", "pydataset") and data.x:
        yield data.x[0].code
    yield data.code
    yield fit.code


def _left_out(source: Code | Unknown) -> Location | None:
    """Return the argument that drops the labels: `label_mode=None`, `targets=None`."""
    for name in ("label_mode", "targets"):
        given = source.argument(name) if isinstance(source, Code) else None
        if given is not None and given.text == "None":
            return given.whole
    return None


def _dropped(data: DataFacts, project: Project) -> Location | None:
    """Return what a `map` function returns if it drops the labels or parses records."""
    parts = 1
    for step in data.pipeline:
        records = step.operation in ("map", "parse_example") and parts == 1 and _holds_labels(data)
        if step.operation == "map" and (parts > 1 and len(step.specs) == 1 or records):
            return returned_in_step(project, step.code) or step_place(step.code)
        parts = len(step.specs) or parts
    return None


def _holds_labels(data: DataFacts) -> bool:
    """Whether x is a dict with a key that names a label."""
    return data.x_structure == "dict" and any(one.key.lower() in LABEL_KEYS for one in data.x)


def _fixes(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> list[Fix]:
    if data.form != "arrays":
        return [_of_pipeline(model, data, project)]
    call = fit.code
    first = call.argument("x", 0) if isinstance(call, Code) else None
    if first is None or data.role != "training":
        return [fix("pass y")]
    pair = _pair(first.text)
    if pair and len(data.x) == 2:
        edits = (Edit(first.location, pair),) if not first.name else ()
        return [fix("pass x and y as two arguments", edits)]
    if _gives_back_x(model, data):
        # Evaluating a call twice could return two different arrays.
        simple = all(character.isalnum() or character in "_.[]'\":, " for character in first.text)
        return [unsafe("pass x again as y", _as_label(call, first) if simple else ())]
    beside = _labels_beside(project, Code(first.location, first.text))
    known = beside and not first.name and isinstance(call, Code) and call.argument("y", 1) is None
    edits = (Edit(first.location.end, f", {beside}"),) if known else ()
    return [unsafe("pass the labels as the second argument, y", edits)]


def _as_label(call: Code | Unknown, first: Argument) -> tuple[Edit, ...]:
    """Repeat the argument as y, by position if x is positional."""
    if first.name or isinstance(call, Code) and call.argument("y", 1) is not None:
        return set_argument(call, "y", first.text, position=1)
    return (Edit(first.location.end, f", {first.text}"),)


def _gives_back_x(model: ModelFacts, data: DataFacts) -> bool:
    """Whether the output has the shape of the input, as in an autoencoder."""
    outputs = output_specs(model, data)
    return (
        len(outputs) == len(data.x) == 1
        and isinstance(outputs[0].shape, tuple)
        and isinstance(data.x[0].shape, tuple)
        and outputs[0].shape[1:] == data.x[0].shape[1:]
    )


_LABEL_MODES = {SPARSE: "int", "categorical_crossentropy": "categorical", BINARY: "binary"}


def _of_pipeline(model: ModelFacts, data: DataFacts, project: Project) -> Fix:
    """Add labels to a dataset: x itself for an autoencoder, or the labels from the folder names."""
    if _gives_back_x(model, data):
        edits = mapped(data, last_step(data), ".map(lambda x: (x, x))")
        return unsafe("use x as its own label: `.map(lambda x: (x, x))`", edits)
    source = data.pipeline[0].code if data.pipeline else Unknown("there is no pipeline")
    loss = model.losses[0].name if len(model.losses) == 1 else ""
    left_out = source.argument("label_mode") if isinstance(source, Code) else None
    if left_out is not None and left_out.text == "None" and loss in _LABEL_MODES:
        mode = f'"{_LABEL_MODES[loss]}"'
        return fix(
            f"read the labels from the folder names: `label_mode={mode}`",
            set_argument(source, "label_mode", mode),
        )
    edits, sliced = _returned_with_label(project, data), _sliced_with_labels(project, data)
    return unsafe("yield `(x, y)` pairs", sliced) if sliced else fix("yield `(x, y)` pairs", edits)


def _pair(text: str) -> str:
    """Return `x, y` for a literal `(x, y)`, "" for anything else."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ""
    if not isinstance(node, (ast.Tuple, ast.List)) or len(node.elts) != 2 or text[:1] not in "([":
        return ""
    return text[1:-1].strip().rstrip(",")


CAUSE.message(
    r"'NoneType' object has no attribute '(?:shape|dtype|ndim)'",
    "the model has a loss, but gets no labels",
    "pass labels to the call, or compile the model without a loss and use `add_loss`",
    subject="labels",
    types=("AttributeError",),
    raised_in=(
        "_standardize_weights",
        "standardize_weights",
        "_standardize_user_data",
        "_check_loss_and_target_compatibility",
    ),
)


# --- names of labels ------------------------------------------------------------------------------------------------


def _labels_beside(project: Project, features: Code) -> str:
    """Return the only name in scope that matches the features: `y_train` for `x_train`, `labels` for `images`; else ""."""
    found = node_of(project, features)
    if found is None or not isinstance(found[1], ast.Name):
        return ""
    module, name = found[0], found[1]
    known = [
        other
        for other in label_names_for(name.id)
        if module.index.lookup(other, module.scope(name)) is not None
    ]
    return known[0] if len(known) == 1 else ""


def _returned_with_label(project: Project, data: DataFacts) -> tuple[Edit, ...]:
    """Return the label that a `map` function receives but does not return."""
    for step in data.pipeline:
        found = expression_of(project, step.code) if step.operation == "map" else None
        call = found[1] if found is not None else None
        if found is None or not isinstance(call, ast.Call) or not call.args:
            continue
        function = found[0].definition(call.args[0])
        if not isinstance(function, FunctionInfo) or len(function.parameters) != 2:
            continue
        module, label = function.module, function.parameters[1]
        returned = [each.value for each in module.returns.get(function.node, [])]
        if isinstance(function.node, ast.Lambda):
            returned = [function.node.body]
        if len(returned) != 1 or returned[0] is None or isinstance(returned[0], (ast.Tuple, ast.Dict)):
            continue
        body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
        if any(label in names_in(part) for part in body):
            continue
        text = f"{module.segment(returned[0])}, {label}"
        lambda_ = isinstance(function.node, ast.Lambda)
        return (Edit(module.location(returned[0]), f"({text})" if lambda_ else text),)
    return ()


def _sliced_with_labels(project: Project, data: DataFacts) -> tuple[Edit, ...]:
    """Change `from_tensor_slices(x)` to `from_tensor_slices((x, y))` if y is in scope and no stage unpacks x."""
    source = data.pipeline[0].code if data.pipeline else Unknown("no pipeline")
    if isinstance(source, Unknown) or not source.name.endswith("from_tensor_slices"):
        return ()
    if any(step.operation in ("map", "filter", "flat_map") for step in data.pipeline):
        return ()
    given = source.argument("tensors", 0)
    labels = _labels_beside(project, Code(given.location, given.text)) if given is not None else ""
    return (Edit(given.location, f"({given.text}, {labels})"),) if given is not None and labels else ()
