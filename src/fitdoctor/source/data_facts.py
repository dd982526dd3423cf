"""The data of a fit call as facts, from abstract arrays, datasets and generators."""

from __future__ import annotations

import ast
import math
from collections import Counter

from fitdoctor.facts import (
    ArrayFacts,
    Code,
    Column,
    DataFacts,
    PipelineStep,
    Shape,
    Spec,
    Statistics,
    Unknown,
)
from fitdoctor.records import dataclass, replace
from fitdoctor.source import arrays, objects
from fitdoctor.source.array_arguments import frozen
from fitdoctor.source.calls import follow_function
from fitdoctor.source.endless_loops import never_ends
from fitdoctor.source.given_out import KEEPS_ELEMENTS, SLICES, placed, placed_slices
from fitdoctor.source.image_folders import FLOW
from fitdoctor.source.joining import join
from fitdoctor.source.origins import data_origin, origin
from fitdoctor.source.pipelines import ELEMENT, leaves
from fitdoctor.source.values import (
    UNTOLD,
    Arguments,
    Array,
    Dataset,
    DictRecord,
    Generated,
    InstanceRecord,
    Items,
    ListRecord,
    Made,
    Mapping,
    Plain,
    Ref,
    Step,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.interpret import Interpreter

_UNKNOWN = Unknown("not evident from the source")
_MOST_COMPONENTS = 64
_MOST_CLASSES = 64


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


def is_none(value: Value | None) -> bool:
    """Whether an argument is missing or None."""
    return value is None or value == Plain(None)


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
        samples = _UNKNOWN
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
        batches=batches if form == "arrays" else _UNKNOWN,
        endless=False if form == "arrays" and told else _UNKNOWN,
        code=_code_of(run, given.x, given.x_node),
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


def components(
    run: Interpreter, value: Value | None, path: str, node: ast.expr | None
) -> tuple[ArrayFacts, ...] | None:
    """The arrays of a structure; None where it is not told what it is."""
    if value is None or is_none(value):
        return ()
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        inside = _dict_nodes(run, node)
        found: list[ArrayFacts] = []
        for key, item in pairs:
            part = components(run, item, f"{path}[{key!r}]", inside.get(key))
            if part is None:
                return None
            found.extend(replace(one, key=f"{key}/{one.key}" if one.key else str(key)) for one in part)
        return tuple(found)
    items = run.sequence(value) if isinstance(value, (Ref, Items)) else None
    if isinstance(value, (Ref, Items)) and items is None:
        return _grown_list(run, value, path, node)
    if items is not None:
        return _listed(run, value, items, path, node)
    if isinstance(value, Array):
        return (_one(run, value, path, node),)
    return (_untold(run, path, node),) if isinstance(value, (Unknown, Made)) else None


def _untold(run: Interpreter, path: str, node: ast.expr | None) -> ArrayFacts:
    """An array of which the source tells only where it comes from."""
    return ArrayFacts(path, use=run.code(node), code=_code_of(run, None, node))


def _dict_nodes(run: Interpreter, node: ast.expr | None) -> dict[object, ast.expr]:
    """The expressions in a dict that is written out, here or where it was made."""
    if node is not None and not isinstance(node, ast.Dict):
        module = run.owner(node)
        end = origin(module, node)
        node = end.node if end.module is module and not end.path else None
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
    }


def _grown_list(
    run: Interpreter, value: Value, path: str, node: ast.expr | None
) -> tuple[ArrayFacts, ...] | None:
    """A list that a loop fills, an item for each sample: numbers have a shape here, anything else has none."""
    record = run.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, ListRecord) or not record.grows:
        return None
    element = record.element
    numbers = isinstance(element, Array) and element.dims == ()
    dtype = element.dtype if numbers and isinstance(element, Array) else _UNKNOWN
    facts = _untold(run, path, node)
    return (replace(facts, container="list", shape=(None,) if numbers else _UNKNOWN, dtype=dtype),)


def _listed(
    run: Interpreter, value: Value, items: tuple[Value, ...], path: str, node: ast.expr | None
) -> tuple[ArrayFacts, ...] | None:
    """A list of arrays is several components, a list of numbers (or of lists of them) is one."""
    if any(isinstance(item, Array) for item in items):
        if not all(isinstance(item, Array) for item in items):
            return None
        elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        parts = [elements[at] if len(elements) == len(items) else node for at in range(len(items))]
        return tuple(
            replace(_one(run, item, f"{path}[{at}]", parts[at]), key=str(at))
            for at, item in enumerate(items[:_MOST_COMPONENTS])
            if isinstance(item, Array)
        )
    plain = frozen(run, value)
    if not isinstance(plain, Items) or not _only_numbers(plain):
        return None
    array = arrays.literal_array(plain.items)
    kind = "tuple" if isinstance(value, Items) else "list"
    record = run.record(value) if isinstance(value, Ref) else None
    made = record.node if isinstance(record, ListRecord) else None
    facts = _one(run, replace(array, node=made or array.node), path, node)
    return (replace(facts, container=kind, dtype=_element_type(plain)),)


def _only_numbers(value: Value) -> bool:
    if isinstance(value, Items):
        return all(_only_numbers(item) for item in value.items)
    return isinstance(value, Plain)


def _element_type(value: Value) -> str | Unknown:
    while isinstance(value, Items):
        if not value.items:
            return _UNKNOWN
        value = value.items[0]
    return type(value.value).__name__ if isinstance(value, Plain) else _UNKNOWN


def _one(run: Interpreter, array: Array, path: str, node: ast.expr | None) -> ArrayFacts:
    settled = run.settled(array)
    assert isinstance(settled, Array)
    columns = tuple(
        Column(name, column.dtype if isinstance(column.dtype, str) else "")
        for name, column in settled.columns or ()
        if isinstance(column.dtype, str)
    )
    return ArrayFacts(
        path=path,
        container=settled.container,
        shape=data_shape(settled),
        dtype=settled.dtype,
        statistics=statistics_of(settled),
        columns=columns,
        code=_code_of(run, settled, node),
        use=run.code(node),
    )


def _code_of(run: Interpreter, value: Value | None, node: ast.expr | None) -> Code | Unknown:
    """What made a value: as the source leads back to it, else the expression that was met last on its way."""
    end = data_origin(run.owner(node), node) if node is not None else None
    if end is not None and not end.path and not isinstance(end.node, ast.Name):
        return end.code
    made = value.node if isinstance(value, (Array, Dataset)) else None
    return run.code(made if made is not None else node)


def data_shape(array: Array) -> Shape | Unknown:
    """The shape of data: the number of samples may be untold (None), the axes of a sample are told or all Unknown."""
    if isinstance(array.dims, Unknown) or any(isinstance(dim, Unknown) for dim in array.dims[1:]):
        return _UNKNOWN
    return tuple(dim if isinstance(dim, int) else None for dim in array.dims)


def statistics_of(array: Array) -> Statistics | Unknown:
    """What the source tells of the values: written out, or drawn so often that the ends of the range are there."""
    shape = data_shape(array)
    if isinstance(shape, Unknown):
        return _UNKNOWN
    count = shape[0] if shape and shape[0] is not None else 0
    if array.container == ELEMENT and array.bounds is not None:
        # Of all elements: a step that leaves some out takes the bounds away.
        count = max(count, 1)
    if array.numbers and all(isinstance(dim, int) for dim in shape):
        return _of_numbers(array, count)
    bounds = array.bounds
    if bounds is None or not count:
        return _UNKNOWN
    return Statistics(
        count=count,
        complete=False,
        minimum=float(bounds.low),
        maximum=float(bounds.high),
        integral=bounds.integral,
        row_sums=(1.0, 1.0) if array.unit_rows and len(shape) > 1 else None,
    )


def _of_numbers(array: Array, count: int) -> Statistics:
    numbers = array.numbers or ()
    finite = [number for number in numbers if math.isfinite(number)]
    counts = Counter(finite)
    width = len(numbers) // count if count else 0
    sums = None
    if isinstance(array.dims, tuple) and len(array.dims) > 1 and array.dims[-1] == width and width:
        rows = [sum(numbers[at : at + width]) for at in range(0, len(numbers), width)]
        sums = (min(rows), max(rows))
    return Statistics(
        count=count,
        complete=True,
        minimum=min(finite) if finite else None,
        maximum=max(finite) if finite else None,
        mean=sum(finite) / len(finite) if finite else None,
        nan=sum(number != number for number in numbers),
        inf=sum(math.isinf(number) for number in numbers),
        integral=all(number == int(number) for number in finite),
        histogram=tuple(sorted(counts.items())) if len(counts) <= _MOST_CLASSES else None,
        row_sums=sums,
    )


def _samples(parts: tuple[ArrayFacts, ...]) -> int | Unknown:
    sizes: set[int | None] = set()
    for part in parts:
        if isinstance(part.shape, Unknown) or not part.shape:
            return _UNKNOWN
        sizes.add(part.shape[0])
    if len(sizes) == 1:
        size = sizes.pop()
        return _UNKNOWN if size is None else size
    if None in sizes:
        return _UNKNOWN
    return Unknown("x, y and the weights differ in length" if sizes else "no array has a length")


def _batching(given: Given, samples: int | Unknown) -> tuple[int | Unknown, int | Unknown]:
    if isinstance(given.batch_size, Unknown) or isinstance(given.steps, Unknown):
        return _UNKNOWN, _UNKNOWN
    if given.whole_batch:
        return samples, 1
    if isinstance(samples, Unknown) or isinstance(given.split, Unknown):
        return given.batch_size or 32, _UNKNOWN
    rows = math.floor(samples * (1.0 - given.split)) if 0 < given.split < 1 else samples
    size = given.batch_size
    if not size or size <= 0:
        size = math.ceil(rows / given.steps) if given.steps else 32
    return size, math.ceil(rows / size) if size else 0


# --- datasets, generators ---------------------------------------------------------------------------------------------


def _dataset(run: Interpreter, dataset: Dataset, given: Given, role: str) -> DataFacts:
    facts = _of_element(run, dataset.element, "dataset", given, role)
    code = _code_of(run, dataset, given.x_node)
    named = dataset.batch if isinstance(dataset.batch, int) else _UNKNOWN
    count = dataset.count
    steps_told = not isinstance(given.steps, Unknown)
    facts = replace(
        facts,
        batch_size=named,
        batches=count if isinstance(count, int) and steps_told else _UNKNOWN,
        endless=count is None if not isinstance(count, Unknown) and steps_told else _UNKNOWN,
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
    empty = DataFacts(role=role, form=form, code=_code_of(run, None, node), samples=_UNKNOWN)
    if isinstance(element, Items) and len(element.items) > 3:
        count = len(element.items)
        empty = replace(empty, element=f"tuple of {count}", element_size=count)
    if isinstance(element, Unknown) or (isinstance(element, Items) and not 1 <= len(element.items) <= 3):
        return replace(empty, x=(_untold(run, _prefix(role, "x"), node),))
    parts = element.items if isinstance(element, Items) else (element,)
    told: list[tuple[ArrayFacts, ...]] = []
    for name, part in zip(("x", "y", "sample_weight"), parts, strict=False):
        found = components(run, part, _prefix(role, name), node)
        told.append((_untold(run, _prefix(role, name), node),) if found is None else found)
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
    before = run.state.copy()
    run.trial += 1
    arguments = dict(generated.arguments or ())
    _, yields = follow_function(run, generated.function, arguments)
    element = _joined(run, yields)
    run.trial -= 1
    function = generated.function.node
    module = run.owner(function)
    facts = placed(module, _of_element(run, element, "generator", given, role), function)
    run.state = before
    endless = never_ends(module, function)
    return replace(
        facts,
        endless=True if endless and not isinstance(given.steps, Unknown) else _UNKNOWN,
        batches=_UNKNOWN,
    )


def _joined(run: Interpreter, yields: list[Value]) -> Value:
    if not yields:
        return UNTOLD
    merged = _batch_open(run, yields[0])
    for value in yields[1:]:
        merged = join(merged, _batch_open(run, value))
    return merged


def _batch_open(run: Interpreter, value: Value) -> Value:
    """A yielded batch with its first axis left open: other batches may be shorter."""
    if isinstance(value, Array):
        dims = value.dims if isinstance(value.dims, Unknown) or not value.dims else (UNTOLD, *value.dims[1:])
        return replace(value, dims=dims, bounds=None, numbers=None, node=None, buffer=0)
    if isinstance(value, Items):
        return Items(tuple(_batch_open(run, item) for item in value.items))
    pairs = objects.pairs_of(run, value)
    if pairs is not None:
        return Mapping(tuple((key, _batch_open(run, item)) for key, item in pairs))
    return UNTOLD


def _instance(run: Interpreter, ref: Ref, record: InstanceRecord, given: Given, role: str) -> DataFacts:
    kind = run.class_info(record.owner.node).kind
    if kind != "PyDataset":
        return DataFacts(role=role, form="other", code=_code_of(run, None, given.x_node))
    method = objects.method_of(run, record.owner, "__getitem__")
    element: Value = UNTOLD
    before = run.state.copy()
    if method is not None:
        run.trial += 1
        node = ast.Call(ast.Name("__getitem__", ast.Load()), [], [])
        made = run.call(method, Arguments((ref, UNTOLD), (), node))
        items = run.sequence(made)
        element = _batch_open(run, Items(items) if items is not None else made)
        run.trial -= 1
    facts = _of_element(run, element, "pydataset", given, role)
    run.state = before
    return facts if method is None else placed(run.owner(method.node), facts, method.node)
