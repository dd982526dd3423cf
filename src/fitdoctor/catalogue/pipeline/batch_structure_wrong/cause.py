"""Batches with a structure that `fit` does not expect.

## What happens

- A generator that yields `[x, y]` raises `ValueError: … the generator must return a tuple`.
- Four parts raise "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`".
- For a model with two inputs, `(x1, x2, y)` is read as inputs, labels and weights: "expects 2 input(s), but it
  received 1".
- A generator or `PyDataset` whose batches contain a list, `([x1, x2], y)`, raises `TypeError: output_signature must
  contain objects that are subclass of tf.TypeSpec but found <class 'list'>`.
- `window` creates datasets inside the dataset: "Only input tensors may be passed as positional arguments", or "object
  is not subscriptable" in the next `map`.
- A torch `DataLoader` raises "found <class 'str'>" for a dict, "'TensorSpec' object is not iterable" for a single
  tensor, and "no attribute 'cpu'" for NumPy arrays (torch was not run here).

## Why

A batch is a tuple of one, two or three parts: inputs, labels and sample weights. Several inputs must be grouped in a
tuple or dict that forms the first part. TensorFlow converts a list to a single tensor instead of treating it as a
structure. Only `Dataset.map` and, for the batch as a whole, `PyDataset` and `DataLoader` can return lists. Keras 2
accepts lists of inputs. The default `collate_fn` of torch turns tuples inside a sample into lists, and stacks only
tensors of the same size.

## Fix

Yield `(x, y)`. Group several inputs: `((x1, x2), y)`. Drop everything that is not an input, label or weight. Convert
windows to tensors first: `.flat_map(lambda window: window.batch(size))`.

## Known limits

If a model has one input, a third part is always read as the sample weights, whatever it contains. This is not
detected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.batch_edits import (
    as_tuple,
    grouped,
    last_step,
    mapped,
    samples_as_arrays,
    structuring,
)
from fitdoctor.catalogue.knowledge.data.generator_sources import (
    batches_of,
    called_generator,
    expression_of,
    generator_behind,
    yields_of,
)
from fitdoctor.catalogue.knowledge.data.pipeline_steps import with_step_after, words
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure, went_through
from fitdoctor.catalogue.knowledge.data.unpacked_inputs import unpacked_by_call
from fitdoctor.catalogue.knowledge.labels.targets import loss_failure
from fitdoctor.catalogue.pipeline.single_samples import SCALAR
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import module_of
from fitdoctor.records import dataclass, replace
from fitdoctor.source.datasets import is_dataset
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT707",
    slug="batch-structure-wrong",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "RuntimeError", "UnknownError"),
    explains=(
        "FIT109",
        "FIT205",
        "FIT214",
        "FIT215",
        "FIT204",
        "FIT201",
        "FIT202",
        "FIT101",
        "FIT102",
        "FIT712",
    ),
)

FORMAT = "Data is expected to be in format"
_MUST_BE_TUPLE = "generator must return a tuple"
_AS_PAIR = "yield a tuple `(x, y)`"


# --- a list instead of a tuple ------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions(*BATCHED_DATA)
def from_source(module: Module) -> Iterator[Finding]:
    """Report generator functions passed to `fit` that yield lists, which only Keras 2 accepts."""
    for function in _given_to_fit(module) if module.facts.keras != 2 else ():
        yield from _of_lists(function)


@CAUSE.in_source
@mentions(*BATCHED_DATA)
def x_alone_in_source(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a generator that certainly yields a single array, which only Keras 2 accepts."""
    if data.form != "generator" or data.element != "single" or fit.method != "fit":
        return
    function = generator_behind(project, data.code)
    if function is not None and function.module.facts.keras != 2:
        yield from _of_single(function, data.role)


@CAUSE.before_fit
def from_generator(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first batch that is not a tuple."""
    if data.form != "generator" or data.problem is None or _MUST_BE_TUPLE not in data.problem.message:
        return
    function, judged = generator_behind(project, data.code), _of_single
    if data.element.startswith("list"):
        judged = _of_lists
    found = next(judged(function, data.role), None) if function is not None else None
    where = place(data.code, fit.code)
    yield replace(
        found or _yields(f"the {words(data)}", where, data.element, fix(_AS_PAIR), data.role),
        confidence=Confidence.CERTAIN,
    )


def _of_lists(function: FunctionInfo, role: str = "training") -> Iterator[Finding]:
    """Report a function in which every `yield` yields a list."""
    module, values = function.module, _yielded(function)
    made = [module.made_by(value) for value in values]
    first = made[0] if made else None
    if isinstance(first, ast.List) and all(isinstance(one, ast.List) for one in made):
        edits = [edit for value in values for edit in _made_tuple(module, value)]
        told = f"list of {len(first.elts)}" if first.elts else "list"
        where = module.location(values[0])
        yield _yields(f"`{function.name}`", where, told, fix("yield a tuple", edits), role)


def _of_single(function: FunctionInfo, role: str = "training") -> Iterator[Finding]:
    """Report a function in which every `yield` yields a single value that is not a literal tuple."""
    module, values = function.module, _yielded(function)
    made = [module.made_by(value) for value in values]
    if made and not any(isinstance(one, (ast.Tuple, ast.Dict, ast.List)) for one in made):
        where = module.location(values[0])
        yield _yields(f"`{function.name}`", where, "single", fix(_AS_PAIR), role)


def _given_to_fit(module: Module) -> Iterator[FunctionInfo]:
    for call in module.method_calls("fit"):
        given = call.argument("x", 0)
        made = module.made_by(given) if given is not None else None
        function = called_generator(module, made) if isinstance(made, ast.Call) else None
        if function is not None:
            yield function


def _yielded(function: FunctionInfo) -> list[ast.expr]:
    return [node.value for node in yields_of(function) if node.value is not None]


def _made_tuple(module: Module, value: ast.expr) -> tuple[Edit, ...]:
    if isinstance(value, ast.List):
        return (as_tuple(module, value),)
    return wrap(module.code(value), "tuple({})")


def _kind_of(element: str) -> str:
    return "only x" if element == "single" else f"a {element}" + (" parts" if element[-1:].isdigit() else "")


def _yields(who: str, where: Location | None, element: str, remedy: Fix, role: str) -> Finding:
    return CAUSE.finding(
        f"{who} yields {_kind_of(element)}, but `fit` expects tuples from a generator",
        where,
        Evidence("yielded value", _kind_of(element), "a tuple `(x, y)`", fact="data.element"),
        remedy,
        subject=f"{role} generator",
    )


# --- a list inside the tuple --------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions(*BATCHED_DATA)
def lists_in_source(module: Module) -> Iterator[Finding]:
    """Report a generator or PyDataset passed to `fit` whose batches contain a list of inputs or labels."""
    if module.facts.keras == 2:
        return
    for call in module.method_calls("fit"):
        given = call.argument("x", 0)
        made = module.made_by(given) if given is not None else None
        if isinstance(made, ast.Call):
            for function, value in batches_of(module, made.func):
                yield from _lists_in(function, value, "training data")
                break


def _lists_in(function: FunctionInfo, value: ast.expr, subject: str, sure: bool = False) -> Iterator[Finding]:
    """Report a part of a batch that is a list, or lists to which the samples of the batch are appended.

    Unless it is sure that the batch contains a list, a flag may decide whether it is this one.
    """
    module = function.module
    for part in value.elts[:2] if isinstance(value, ast.Tuple) else ():
        made = module.made_by(part)
        if (
            isinstance(made, ast.List)
            and len(made.elts) > 1
            and not _numbers(made)
            and (sure or module.origin(part).certain)
        ):
            yield _holds_list(function.name, module.location(made), subject, as_tuple(module, made))
            return
    edits = samples_as_arrays(module, value)
    if edits:
        finding = _holds_list(function.name, module.location(value), subject)
        yield replace(finding, fixes=(fix("convert the samples to arrays with `np.array(…)`", edits),))


def _numbers(node: ast.List) -> bool:
    return all(isinstance(part, ast.Constant) for part in node.elts)


def _holds_list(name: str, location: Location | None, subject: str, *edits: Edit) -> Finding:
    of = f" of `{name}`" if name else ""
    return CAUSE.finding(
        f"the batches{of} contain a list, but batches can contain only tuples and dicts of arrays",
        location,
        Evidence("part of the batch", "a list", "a tuple", fact="data.x_structure"),
        fix("use a tuple instead of a list", edits),
        subject=subject,
    )


@CAUSE.before_fit
def from_inner_list(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first batch that contains a list."""
    if data.form not in ("generator", "pydataset") or model.keras == 2 or data.problem is not None:
        return
    if "list" in (data.x_structure, data.y_structure) and fit.method in ("fit", "evaluate", "predict"):
        yield replace(_list_seen(fit, data, project), confidence=Confidence.CERTAIN)


def _list_seen(call: FitFacts, data: DataFacts, project: Project) -> Finding:
    found = expression_of(project, data.code)
    subject = f"{data.role} data"
    if found is not None and isinstance(found[1], ast.Call):
        for function, value in batches_of(found[0], found[1].func):
            whole = _holds_list(function.name, function.module.location(value), subject)
            return next(_lists_in(function, value, subject, sure=True), whole)
    name = found[0].segment(found[1]) if found is not None else words(data)
    return _holds_list(name, place(data.code, call.code), subject)


# --- batches of a torch DataLoader -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rejected:
    """One way in which a batch is rejected."""

    says: str
    """The exception; the texts below refer to its groups."""
    message: str
    observed: str
    expected: str
    remedy: str


_OF_LOADERS = (
    _Rejected(
        r"TypeSpec` but found <class 'str'>",
        "the DataLoader yields dicts, but `fit` expects `(x, y)` tuples or lists",
        "a dict",
        "a tuple `(x, y)`",
        "return `(x, y)` for each sample; with several inputs, `x` can be a dict",
    ),
    _Rejected(
        r"TypeSpec` but found <class 'list'>",
        "the batches of the DataLoader contain a list: torch converts tuples inside a sample to lists",
        "a list inside the batch",
        "a dict of tensors",
        "return the parts as a dict: `{'left': …, 'right': …}, y`",
    ),
    _Rejected(
        r"'TensorSpec' object is not iterable",
        "the DataLoader yields single tensors, but `fit` expects `(x, y)` tuples or lists",
        "one tensor",
        "a tuple `(x, y)`",
        "return `(x, y)` for each sample, or `(x,)` if there are no labels",
    ),
    _Rejected(
        r"'(?:numpy\.)?(?P<kind>\w+)' object has no attribute 'cpu'",
        "the batches of the DataLoader are not torch tensors, the only type Keras accepts from it",
        "a `{kind}`",
        "torch tensors",
        "return torch tensors from the `collate_fn`: `torch.as_tensor(…)`",
    ),
    _Rejected(
        r"Can't call numpy\(\) on Tensor that requires grad",
        "a tensor from the DataLoader requires a torch gradient, so it cannot be converted to an array",
        "`requires_grad=True`",
        "`requires_grad=False`",
        "detach the data with `x.detach()`",
    ),
    _Rejected(
        r"stack expects each tensor to be equal size, but got (?P<a>\[[\d, ]*\]).*?(?P<b>\[[\d, ]*\])",
        "the samples of the DataLoader differ in size, so its `collate_fn` cannot stack them",
        "{a} and {b}",
        "one size per batch",
        "pad them in a `collate_fn` (`torch.nn.utils.rnn.pad_sequence`), or make them the same size",
    ),
    _Rejected(
        r"batch must contain tensors, .*?; found <class '(?P<kind>[\w.]+)'>",
        "a sample of the DataLoader contains a `{kind}`, which torch cannot batch",
        "a `{kind}`",
        "tensors, arrays or numbers",
        "convert it to a tensor in the dataset (`transforms.ToTensor()` for an image)",
    ),
)


def rejected_batch(message: str) -> _Rejected | None:
    """Return what a message says about the batches, or None if it is about something else."""
    for found in _OF_LOADERS:
        said = re.search(found.says, message)
        if said is not None:
            groups = said.groupdict()
            told, observed = found.message.format(**groups), found.observed.format(**groups)
            return replace(found, message=told, observed=observed)
    return None


@CAUSE.before_fit
def from_loader(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report a torch DataLoader whose batch was read and rejected."""
    problem = data.problem if data.form == "dataloader" else None
    found = rejected_batch(problem.message) if problem is not None else None
    if problem is not None and found is not None:
        yield _of_loader(found, data.role, place(problem.place, data.code, fit.code))


def _loader_failed(failure: FailureFacts, data: DataFacts | Unknown) -> Finding | None:
    """Return the finding for an exception from a DataLoader or from the Keras code that reads it."""
    marks = ("torch_data_loader_adapter", "torch/utils/data/")
    texts = [failure.raw_message, failure.message, *(frame.path for frame in failure.frames)]
    found = rejected_batch(failure.message)
    # Only a DataLoader yields a signature from dict keys; Keras hides the frames in between.
    keys = "found <class 'str'>" in failure.message and failure.called in ("fit", "evaluate", "predict")
    if found is None or not (
        keys or any(mark in text.replace("\\", "/") for mark in marks for text in texts)
    ):
        return None
    frame = failure.last_user_frame
    code = data.code if isinstance(data, DataFacts) and data.form == "dataloader" else None
    return _of_loader(found, "training", place(code, frame.location if frame is not None else None))


def _of_loader(found: _Rejected, role: str, location: Location | None) -> Finding:
    return CAUSE.certain(
        found.message,
        location,
        Evidence("batch", found.observed, found.expected, fact="data.element"),
        fix(found.remedy),
        subject=f"{role} data",
    )


# --- a list of arrays that is sliced -----------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("from_tensor_slices")
def from_slices(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report arrays of the same shape in a list, which are stacked so that there are no labels."""
    if not data.pipeline or data.pipeline[0].operation != "from_tensor_slices" or data.y:
        return
    if not model.compiled or {"train_step", "compute_loss", "fit"} & set(model.overrides):
        return
    sliced = expression_of(project, data.pipeline[0].code)
    found = _sliced(*sliced) if sliced is not None else None
    plain = found is not None and all(isinstance(part, (ast.Name, ast.Attribute)) for part in found.elts)
    if sliced is None or found is None or not plain or len(found.elts) not in (2, 3):
        return
    if any(loss.kind != "none" for loss in model.losses):
        refused = forward_failure(data) is not None or loss_failure(data) is not None
        finding = _stacked(sliced[0], found)
        yield replace(finding, confidence=Confidence.CERTAIN) if refused else finding


_STACKED = "the parts of the dataset are in a list, which TensorFlow converts to a single tensor"
_AS_TUPLE = "pass the parts as a tuple"


def _sliced(module: Module, call: ast.AST) -> ast.List | None:
    """Return the list passed to `from_tensor_slices`: its inputs and labels are stacked, not paired."""
    given = argument_of(call, "tensors", 0) if isinstance(call, ast.Call) else None
    made = module.made_by(given) if given is not None else None
    return made if isinstance(made, ast.List) else None


def _stacked(module: Module, made: ast.List, *evidence: Evidence) -> Finding:
    return CAUSE.finding(
        _STACKED,
        module.location(made),
        Evidence("argument", f"list of {len(made.elts)}", "a tuple"),
        *evidence,
        fix(_AS_TUPLE, (as_tuple(module, made),)),
        subject="training dataset",
    )


def _slices_list(failure: FailureFacts) -> bool:
    frame = failure.last_user_frame
    return frame is not None and "from_tensor_slices([" in frame.text


@CAUSE.rule(
    says="non-rectangular Python sequence",
    in_source=False,
    problem=_STACKED,
    remedy=_AS_TUPLE,
    subject="training dataset",
    fits=_slices_list,
    unread=True,
)
def slices_of_list(module: Module) -> Iterator[Finding]:
    """Report `from_tensor_slices([x, y])` with arrays that cannot be stacked."""
    for call in module.calls_to(
        *(f"tensorflow.data.Dataset.{name}" for name in ("from_tensor_slices", "from_tensors"))
    ):
        made = _sliced(module, call.node)
        if made is not None:
            yield _stacked(module, made, Evidence("the call", location=module.location(call.node)))


# --- datasets inside the dataset ----------------------------------------------------------------------------------

NESTED = "nested tf.data dataset"


@CAUSE.before_fit
def from_windows(fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report an element that contains a dataset."""
    nested = [array for array in (*data.x, *data.y) if array.container == NESTED]
    if not nested:
        return
    step = next((step for step in data.pipeline if step.operation == "window"), None)
    found = _nested(place(step.code if step else None, data.code, fit.code))
    yield replace(found, confidence=Confidence.CERTAIN)


_NESTED = "the windows of the dataset are datasets, not tensors"
_TO_TENSORS = "convert each window to a tensor: `.flat_map(lambda window: window.batch(size))`"


def _nested(location: Location | None, edits: tuple[Edit, ...] = ()) -> Finding:
    return CAUSE.finding(
        _NESTED,
        location,
        Evidence("element", "a dataset", "a tensor", fact="data.element"),
        fix(_TO_TENSORS, edits),
        subject="training dataset",
    )


@CAUSE.rule(
    "window",
    says=r"'_(?:VariantDataset|NestedVariant|NestedVariantDataset)' object (?:is not subscriptable|has no)"
    r"|^(?=(?s:.)*Dataset)(?s:.)*Only input tensors may be passed",
    problem=_NESTED,
    remedy=_TO_TENSORS,
    subject="training dataset",
    anywhere=True,
)
def windows_as_tensors(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a `window` followed by a `map` that treats its windows as tensors; after a failure, any `window`."""
    calls = [call for call in module.method_calls("window") if is_dataset(module, call.node)]
    for call in calls:
        size, mapped = call.argument("size", 0), _mapped_after(module, call.node)
        function = module.definition(mapped.args[0]) if mapped is not None and mapped.args else None
        if size is not None and isinstance(function, FunctionInfo) and _indexes_parameter(function):
            text = f".flat_map(lambda window: window.batch({module.segment(size)}))"
            edits = with_step_after(module.code(call.node), text)
            yield _nested(module.location(call.node), edits)
    for call in calls if failure is not None else ():
        yield _nested(module.location(call.node))


def _next_step(module: Module, call: ast.Call) -> ast.Call | None:
    """Return the only call on the name that a stage is assigned to, in the next statement."""
    name = module.code(call).target
    uses = (each for each in module.calls if each.method and module.segment(each.receiver) == name)
    return next((each.node for each in uses if module.made_by(each.receiver) is call), None)


_KEEPS_WINDOWS = frozenset("shuffle repeat prefetch take skip cache".split())


def _mapped_after(module: Module, call: ast.Call) -> ast.Call | None:
    """Return the `map` that gets the windows of a call, after stages that pass them on."""
    step: ast.Call | None = call
    for _ in range(10):
        if step is None:
            return None
        after = module.parent(module.parent(step) or step)
        step = after if isinstance(after, ast.Call) else _next_step(module, step)
        name = step.func.attr if step is not None and isinstance(step.func, ast.Attribute) else ""
        if name not in _KEEPS_WINDOWS:
            return step if name == "map" else None
    return None


def _indexes_parameter(function: FunctionInfo) -> bool:
    """Return whether a function indexes one of its parameters; the window of a dict is a dict of windows."""
    names = set(function.parameters)
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        and not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str))
        for node in ast.walk(function.node)
    )


# --- too many parts -----------------------------------------------------------------------------------------------


@CAUSE.likely_in_source
@CAUSE.before_fit
@mentions(*BATCHED_DATA)
def from_parts(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report more parts than inputs, labels and weights, or ungrouped inputs."""
    size = data.element_size
    if (
        data.form not in ("dataset", "generator", "pydataset", "dataloader")
        or size is None
        or size < 3
        or "fit" in model.overrides
    ):
        return
    inputs = _number_of_inputs(model, project)
    flat = inputs > 1 and size in (inputs + 1, inputs + 2) and len(data.x) <= 1
    if size <= 3 and (not flat or went_through(data) or data.x_structure != "single"):
        return
    if "train_step" in model.overrides or size > 3 and fit.method not in ("fit", "evaluate"):
        return  # a custom step may unpack them
    if flat:
        yield _ungrouped(data, fit, inputs, size, project)
    elif size > 3:
        yield _too_many(data, fit, size)


def _number_of_inputs(model: ModelFacts, project: Project) -> int:
    """Return the number of inputs of the model, or the number that the `call` of a class unpacks."""
    if not isinstance(model.inputs, Unknown) and len(model.inputs) > 1:
        return len(model.inputs)
    found = unpacked_by_call(model, project) if "call" in model.overrides else None
    return len(found[0]) if found is not None else 1


def _too_many(data: DataFacts, fit_call: FitFacts, size: int) -> Finding:
    """Return the finding for an element with more than inputs, labels and weights."""
    end = last_step(data)
    return CAUSE.certain(
        f"each element of the {words(data)} has {size} parts, but `fit` reads only inputs, labels and weights",
        place(end, fit_call.code),
        Evidence("parts per element", str(size), "1, 2 or 3", fact="data.element_size"),
        unsafe(
            "keep only inputs, labels and weights",
            mapped(data, end, ".map(lambda x, y, weight, *rest: (x, y, weight))"),
        ),
        subject=f"{data.role} {data.form}",
    )


def _ungrouped(data: DataFacts, fit_call: FitFacts, inputs: int, size: int, project: Project) -> Finding:
    """Return the finding for inputs at the same level as the labels, so that only the first counts as input."""
    weighted = size == inputs + 2
    source = structuring(data, size, project)
    names = [f"x{index + 1}" for index in range(inputs)]
    rest = ["y", "weight"] if weighted else ["y"]
    call = f".map(lambda {', '.join([*names, *rest])}: (({', '.join(names)}), {', '.join(rest)}))"
    edits = grouped(project, source, inputs) or mapped(data, last_step(data), call)
    title = f"group the inputs: `(({', '.join(names)}), {', '.join(rest)})`"
    return CAUSE.finding(
        f"each element of the {words(data)} has {size} separate parts, so only the first is an input, "
        f"but the model has {inputs} inputs",
        place(source, last_step(data), fit_call.code),
        Evidence(
            "structure of an element",
            data.element,
            f"a tuple whose first part contains the {inputs} inputs",
            fact="data.element",
        ),
        fix(title, edits),
        subject=f"{data.role} {data.form}",
        confidence=Confidence.LIKELY if isinstance(data.trial.forward, Unknown) else Confidence.CERTAIN,
    )


# --- after the failure --------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report what Keras rejected, with the reason from the data."""
    frame = failure.last_user_frame
    location = failure.location
    loaded = _loader_failed(failure, data)
    if loaded is not None:
        yield loaded
        return
    if SCALAR in failure.message and project and frame is not None:
        module = module_of(project, frame)
        for finding in lists_in_source(module) if module is not None else ():
            yield replace(finding, confidence=Confidence.CERTAIN)
            break
        return
    if _LIST_IN_SIGNATURE in failure.message and failure.called in ("fit", "evaluate", "predict"):
        yield from _list_failed(failure, fit, data, project)
        return
    if failure.type != "ValueError":
        return
    if "Only input tensors may be passed" in failure.message and "Dataset" in failure.message:
        return  # windows: a rule explains it
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts):
        found = list(from_generator(fit, data, project))
        if isinstance(model, ModelFacts) and ("input" in failure.message or FORMAT in failure.message):
            found.extend(from_parts(model, fit, data, project))
            found.extend(from_slices(model, fit, data, project))
        yield from found
        if found or data.role != "training":
            return
    if _MUST_BE_TUPLE in failure.message:
        yield _not_a_tuple(module_of(project, frame), location)
    elif "__getitem__() must return a tuple or a dict" in failure.message or FORMAT in failure.message:
        yield CAUSE.finding(
            "the batches are not `x`, `(x,)`, `(x, y)` or `(x, y, sample_weight)`",
            location,
            fix("keep only inputs, labels and weights, and group several inputs in one tuple or dict"),
        )


def _not_a_tuple(module: Module | None, location: Location | None) -> Finding:
    """Find the generator passed to `fit` in this file whose value Keras rejected."""
    for function in _given_to_fit(module) if module is not None else ():
        for finding in (*_of_lists(function), *_of_single(function)):
            return replace(finding, confidence=Confidence.CERTAIN)
    return CAUSE.finding("the generator does not yield tuples", location, fix(_AS_PAIR))


_LIST_IN_SIGNATURE = "but found <class 'list'> which is not"


def _list_failed(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts) and data.form in ("generator", "pydataset"):
        if data.role == "training":
            yield replace(_list_seen(fit, data, project), confidence=Confidence.CERTAIN)
        return
    module = module_of(project, failure.last_user_frame)
    found = next(lists_in_source(module), None) if module is not None else None
    if found is not None:
        yield replace(found, confidence=Confidence.CERTAIN)
    else:
        yield _holds_list("", failure.location, "training data")


CAUSE.message(
    r"[Oo]utput of generator should be a tuple `?\(x, y(?:, sample_weight)?\)`?[\s\S]{0,60}?Found: "
    r"(?P<found>[^\n]{1,60})",
    "the generator yields something else than `(x, y)`: {found}",
    "yield a tuple `(inputs, labels)` for every batch",
    subject="generator",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)
