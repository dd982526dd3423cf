"""The data of a fit call as facts, from abstract arrays, datasets and generators."""

from __future__ import annotations

import ast
import math

from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    PipelineStep,
    Spec,
    Unknown,
)
from fitdoctor.records import dataclass, replace
from fitdoctor.source.data.image_folders import FLOW
from fitdoctor.source.data.pipelines import ELEMENT, leaves
from fitdoctor.source.endless_loops import never_ends
from fitdoctor.source.fits.array_facts import NOT_EVIDENT, code_of, components, data_shape, is_none, untold
from fitdoctor.source.given_out import KEEPS_ELEMENTS, SLICES, placed, placed_slices
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.generated import batch_open, yielded
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Dataset,
    DictRecord,
    Generated,
    InstanceRecord,
    Items,
    ListRecord,
    Made,
    Mapping,
    Ref,
    Step,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter


@dataclass(frozen=True)
class Given:
    """What stands for x, y and the weights in a call, with the expressions."""

    x: Value | None
    y: Value | None = None
    sample_weight: Value | None = None
    x_node: ast.expr | None = None
    y_node: ast.expr | None = None
    weight_node: ast.expr | None = None
    batch_size: int | Unknown | None = None
    steps: int | Unknown | None = None
    split: float | Unknown = 0.0
    whole_batch: bool = False
    """The arrays are one batch (`train_on_batch`)."""


def data_facts(run: Interpreter, given: Given, role: str) -> DataFacts:
    """Facts of the training or validation data."""
    x = given.x
    if isinstance(x, Dataset):
        return _dataset(run, x, given, role)
    if isinstance(x, Generated):
        return _generator(run, x, given, role)
    if isinstance(x, Made) and x.name == FLOW:
        return _of_element(run, x.positional[0], "pydataset", given, role)
    if isinstance(x, Ref):
        record = run.record(x)
        if isinstance(record, InstanceRecord):
            return _instance(run, x, record, given, role)
    return _arrays(run, given, role)


def _prefix(role: str, part: str) -> str:
    if role == "training":
        return part
    return {"x": "validation_data[0]", "y": "validation_data[1]"}.get(part, "validation_data[2]")


# --- arrays -----------------------------------------------------------------------------------------------------------


def _arrays(run: Interpreter, given: Given, role: str) -> DataFacts:
    x = components(run, given.x, _prefix(role, "x"), given.x_node)
    y = components(run, given.y, _prefix(role, "y"), given.y_node)
    weights = components(run, given.sample_weight, _prefix(role, "sample_weight"), given.weight_node)
    told = x is not None and all(part.container for part in x)
    evident = told or (y is not None and any(part.container for part in y))
    samples = _samples((*(x or ()), *(y or ()), *(weights or ())))
    batch_size, batches = _batching(given, samples)
    form = "none" if is_none(given.x) else "arrays" if evident else "other"
    if (y is None or weights is None) and form == "arrays":
        samples = NOT_EVIDENT
    return DataFacts(
        role=role,
        form=form,
        x=x or (),
        y=y or (),
        sample_weight=weights or (),
        x_structure=_structure(run, given.x) if not is_none(given.x) else "single",
        y_structure=_structure(run, given.y),
        samples=samples,
        batch_size=batch_size,
        batches=batches if form == "arrays" else NOT_EVIDENT,
        endless=False if form == "arrays" and told else NOT_EVIDENT,
        code=code_of(run, given.x, given.x_node),
    )


def _structure(run: Interpreter, value: Value | None) -> str:
    if is_none(value):
        return "none"
    if isinstance(value, Items):
        return "tuple"
    if isinstance(value, Mapping):
        return "dict"
    if isinstance(value, Ref):
        record = run.record(value)
        return (
            "dict"
            if isinstance(record, DictRecord)
            else "list"
            if isinstance(record, ListRecord)
            else "single"
        )
    return "single"


def _samples(parts: tuple[ArrayFacts, ...]) -> int | Unknown:
    sizes: set[int | None] = set()
    for part in parts:
        if isinstance(part.shape, Unknown) or not part.shape:
            return NOT_EVIDENT
        sizes.add(part.shape[0])
    if len(sizes) == 1:
        size = sizes.pop()
        return NOT_EVIDENT if size is None else size
    if None in sizes:
        return NOT_EVIDENT
    return Unknown("x, y and the weights differ in length" if sizes else "no array has a length")


def _batching(given: Given, samples: int | Unknown) -> tuple[int | Unknown, int | Unknown]:
    if isinstance(given.batch_size, Unknown) or isinstance(given.steps, Unknown):
        return NOT_EVIDENT, NOT_EVIDENT
    if given.whole_batch:
        return samples, 1
    if isinstance(samples, Unknown) or isinstance(given.split, Unknown):
        return given.batch_size or 32, NOT_EVIDENT
    rows = math.floor(samples * (1.0 - given.split)) if 0 < given.split < 1 else samples
    size = given.batch_size
    if not size or size <= 0:
        size = math.ceil(rows / given.steps) if given.steps else 32
    return size, math.ceil(rows / size) if size else 0


# --- datasets, generators ---------------------------------------------------------------------------------------------


def _dataset(run: Interpreter, dataset: Dataset, given: Given, role: str) -> DataFacts:
    facts = _of_element(run, dataset.element, "dataset", given, role)
    code = code_of(run, dataset, given.x_node)
    named = dataset.batch if isinstance(dataset.batch, int) else NOT_EVIDENT
    count = dataset.count
    steps_told = not isinstance(given.steps, Unknown)
    facts = replace(
        facts,
        batch_size=named,
        batches=count if isinstance(count, int) and steps_told else NOT_EVIDENT,
        endless=count is None if not isinstance(count, Unknown) and steps_told else NOT_EVIDENT,
        pipeline=tuple(_step(run, step) for step in dataset.steps) if dataset.known else (),
        x=tuple(replace(part, container=ELEMENT, code=code) for part in facts.x),
        y=tuple(replace(part, container=ELEMENT, code=code) for part in facts.y),
        code=code,
    )
    operations = [step.operation for step in dataset.steps] if dataset.known else [""]
    source = dataset.steps[0].node if dataset.steps else None
    if operations[0] in SLICES and KEEPS_ELEMENTS.issuperset(operations[1:]) and isinstance(source, ast.Call):
        return placed_slices(run.owner(source), facts, source)
    return facts


def _step(run: Interpreter, step: Step) -> PipelineStep:
    parts = leaves(step.element)
    specs: tuple[Spec, ...] = ()
    if parts is not None:
        specs = tuple(
            Spec(data_shape(part), part.dtype if isinstance(part.dtype, str) else "") for part in parts
        )
    return PipelineStep(step.operation, specs, step.arguments, run.code(step.node))


def _of_element(run: Interpreter, element: Value, form: str, given: Given, role: str) -> DataFacts:
    """x, y and weights of what one element of batched data is."""
    node = given.x_node
    empty = DataFacts(role=role, form=form, code=code_of(run, None, node), samples=NOT_EVIDENT)
    if isinstance(element, Items) and len(element.items) > 3:
        count = len(element.items)
        empty = replace(empty, element=f"tuple of {count}", element_size=count)
    if isinstance(element, Unknown) or (isinstance(element, Items) and not 1 <= len(element.items) <= 3):
        return replace(empty, x=(untold(run, _prefix(role, "x"), node),))
    parts = element.items if isinstance(element, Items) else (element,)
    told: list[tuple[ArrayFacts, ...]] = []
    for name, part in zip(("x", "y", "sample_weight"), parts, strict=False):
        found = components(run, part, _prefix(role, name), node)
        told.append((untold(run, _prefix(role, name), node),) if found is None else found)
    words = f"tuple of {len(parts)}" if isinstance(element, Items) else _words(element)
    return replace(
        empty,
        x=told[0],
        y=told[1] if len(told) > 1 else (),
        sample_weight=told[2] if len(told) > 2 else (),
        x_structure=_structure(run, parts[0]),
        y_structure=_structure(run, parts[1]) if len(parts) > 1 else "none",
        element=words,
        element_size=len(parts),
    )


def _words(element: Value) -> str:
    return "dict" if isinstance(element, Mapping) else "single"


def _generator(run: Interpreter, generated: Generated, given: Given, role: str) -> DataFacts:
    element = yielded(run, generated)
    function = generated.function.node
    module = run.owner(function)
    facts = placed(module, _of_element(run, element, "generator", given, role), function)
    endless = never_ends(module, function)
    return replace(
        facts,
        endless=True if endless and not isinstance(given.steps, Unknown) else NOT_EVIDENT,
        batches=NOT_EVIDENT,
    )


def _instance(run: Interpreter, ref: Ref, record: InstanceRecord, given: Given, role: str) -> DataFacts:
    kind = run.class_info(record.owner.node).kind
    if kind != "PyDataset":
        return DataFacts(role=role, form="other", code=code_of(run, None, given.x_node))
    method = objects.method_of(run, record.owner, "__getitem__")
    element: Value = UNTOLD
    before = run.state.copy()
    if method is not None:
        run.trial += 1
        node = ast.Call(ast.Name("__getitem__", ast.Load()), [], [])
        made = run.call(method, Arguments((ref, UNTOLD), (), node))
        items = run.sequence(made)
        element = batch_open(run, Items(items) if items is not None else made)
        run.trial -= 1
    facts = _of_element(run, element, "pydataset", given, role)
    run.state = before
    return facts if method is None else placed(run.owner(method.node), facts, method.node)
