"""Facts about batched data: datasets, generators, and PyDatasets."""

from __future__ import annotations

import ast

from fitdoctor.facts import ArrayFacts, DataFacts, PipelineStep, Spec, Unknown
from fitdoctor.facts.data import part_path
from fitdoctor.records import replace
from fitdoctor.source.data.pipelines import leaves
from fitdoctor.source.endless_loops import never_ends
from fitdoctor.source.fits.array_facts import NOT_EVIDENT, code_of, components, data_shape, untold
from fitdoctor.source.fits.data_facts import Given, structure
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.generated import batch_open, batches_yielded, yielded
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    ELEMENT,
    UNTOLD,
    Arguments,
    Dataset,
    Generated,
    InstanceRecord,
    Items,
    Made,
    Mapping,
    Ref,
    Step,
    Value,
)
from fitdoctor.source.yielded_values import KEEPS_ELEMENTS, SLICES, placed, placed_slices


def batched_facts(run: Interpreter, given: Given, role: str) -> DataFacts:
    """Return the facts of batched training or validation data."""
    x = given.x
    if isinstance(x, Dataset):
        return _dataset(run, x, given, role)
    if isinstance(x, Generated):
        return _generator(run, x, given, role)
    if isinstance(x, Made):
        return _of_element(run, x.positional[0], "pydataset", given, role)
    assert isinstance(x, Ref)
    record = run.record(x)
    assert isinstance(record, InstanceRecord)
    return _instance(run, x, record, given, role)


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
    return PipelineStep(step.operation, specs, step.arguments, run.code(step.node), step.count)


def _of_element(run: Interpreter, element: Value, form: str, given: Given, role: str) -> DataFacts:
    """Return x, y and weights of one element of batched data."""
    node = given.x_node
    empty = DataFacts(role=role, form=form, code=code_of(run, None, node), samples=NOT_EVIDENT)
    if isinstance(element, Items) and len(element.items) > 3:
        count = len(element.items)
        empty = replace(empty, element=f"tuple of {count}", element_size=count)
    if isinstance(element, Unknown) or (isinstance(element, Items) and not 1 <= len(element.items) <= 3):
        return replace(empty, x=(untold(run, part_path(role, "x"), node),))
    parts = element.items if isinstance(element, Items) else (element,)
    told: list[tuple[ArrayFacts, ...]] = []
    for name, part in zip(("x", "y", "sample_weight"), parts, strict=False):
        found = components(run, part, part_path(role, name), node)
        told.append((untold(run, part_path(role, name), node),) if found is None else found)
    words = f"tuple of {len(parts)}" if isinstance(element, Items) else _words(element)
    return replace(
        empty,
        x=told[0],
        y=told[1] if len(told) > 1 else (),
        sample_weight=told[2] if len(told) > 2 else (),
        x_structure=structure(run, parts[0]),
        y_structure=structure(run, parts[1]) if len(parts) > 1 else "none",
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
    if isinstance(given.steps, Unknown):
        return replace(facts, endless=NOT_EVIDENT, batches=NOT_EVIDENT)
    return replace(
        facts,
        endless=True if never_ends(module, function) else NOT_EVIDENT,
        batches=batches_yielded(run, generated) or NOT_EVIDENT,
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
