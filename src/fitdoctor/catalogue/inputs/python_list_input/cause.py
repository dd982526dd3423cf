"""Python list instead of an array.

## What happens

Keras rejects lists of numbers: `ValueError: Unrecognized data type: x=[[0, 1], …] (of type <class 'list'>)`. If y is
the list, the message still shows x. Keras reads a list of arrays, one per sample, as that many inputs: `Data
cardinality is ambiguous … 'x' sizes: 16, 16, 16, …`, where the sizes are the first axis of each sample.

## Why

A list passed to `fit` means several inputs or outputs. For a single one, Keras 3 accepts arrays, tensors, DataFrames
and datasets.

## Fix

Use `np.array(x)`, or `np.stack(x)` for a list of arrays of the same shape.

## Known limits

A list with as many arrays as the model has inputs is correct. It cannot be distinguished from a list of samples of
the same length.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.inputs.contents import arrays_of
from fitdoctor.catalogue.knowledge.data.data_places import made_near, validation_part
from fitdoctor.catalogue.knowledge.data.generator_sources import origin_of_argument
from fitdoctor.catalogue.knowledge.data.shapes import fits, proven, went_through
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.words import listing, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before, spell, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.patterns import cardinality, splits_list
from fitdoctor.failure.shapes import input_count
from fitdoctor.records import replace
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT107",
    slug="python-list-input",
    severity=Severity.ERROR,
    aspect="list",
    raises="ValueError",
    explains=("FIT108", "FIT109", "FIT216"),
)

LISTS = frozenset({"list", "tuple", "range", "set", "collections.deque"})
_LIST_TYPE = re.compile(r"of type <class '(?:list|tuple|range|set|collections\.deque)'>")
_TAKEN_TYPE = re.compile(r"of type <class '(?:numpy|pandas|tensorflow)\.")


@CAUSE.in_source
@doubting(INPUTS)
@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report lists of numbers, or a list of samples as x."""
    if data.form not in ("arrays", "other") or went_through(data):
        return
    problem = data.problem
    proof = problem is not None or proven(data)
    lists = [
        array
        for array in arrays_of(data)
        if array.container in LISTS and (proof or _is_refused(model, array))
    ]
    if model.keras == 2:  # it accepts lists of numbers, but not a list of arrays as one array
        found = _of_samples(model, fit, data, lists) if _is_list_of_samples(model, data) else None
    else:
        refused = problem is None or _refuses_lists(problem.type, problem.message)
        found = _found(model, fit, data, lists, refused, problem is not None)
    if found is not None:
        yield replace(found, confidence=Confidence.CERTAIN if proof else Confidence.LIKELY)


def _found(
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts,
    lists: list[ArrayFacts],
    refused: bool,
    raised: bool,
) -> Finding | None:
    """Return what is wrong with data of which these arrays are lists; refused, or raised, if Keras rejects lists."""
    if isinstance(model, ModelFacts) and _is_list_of_samples(model, data) and (refused or not lists):
        return _of_samples(model, fit, data, lists)
    if lists:
        return _of_lists(lists, fit) if refused else None
    if raised and _scalars(data):
        return _of_number(_scalars(data)[0])
    return (
        _of_labels(fit, data) if isinstance(model, ModelFacts) and _is_list_of_labels(model, data) else None
    )


def _scalars(data: DataFacts) -> list[ArrayFacts]:
    return [array for array in arrays_of(data) if array.shape == () or array.container in ("int", "float")]


def _of_number(array: ArrayFacts) -> Finding:
    """Report a single number passed for one sample, as in `fit(state, reward)`."""
    numpy, imports = spell(array.use, "numpy", "np")
    edits = wrap(array.use, f"{numpy}.array([{{}}])")
    return CAUSE.finding(
        f"`{array.path}` is a single number, but Keras expects an array with one entry per sample",
        place(array.use, array.code),
        Evidence(f"shape of `{array.path}`", "()", "(samples, …)", "data.shape", place(array.code)),
        fix(f"convert it to an array: `{numpy}.array([…])`", edits, imports if edits else ()),
        subject=f"argument {array.path}",
    )


def _is_refused(model: ModelFacts, array: ArrayFacts) -> bool:
    """Whether Keras rejects the list; a list filled in a loop may contain one array per input."""
    if isinstance(array.shape, tuple):
        return True
    sides = model.outputs if array.path == "y" else model.inputs
    single = not isinstance(sides, Unknown) and len(sides) == 1
    known = model.kind == "sequential" and (array.path == "y" or not _begins_with_a_merge(model))
    return array.path in ("x", "y") and (single or known)


def _begins_with_a_merge(model: ModelFacts) -> bool:
    """Whether a Sequential model takes one array per branch: `Sequential([Merge(branches), …])` in Keras 1."""
    return any(layer.class_name == "Merge" for layer in model.layers[:1])


def _refuses_lists(kind: str, message: str) -> bool:
    """Whether Keras rejected a list of numbers; for NumPy scalars it fails on their missing length."""
    if kind == "IndexError":
        return message == "tuple index out of range"
    return "Unrecognized data type" in message or splits_list(message)


def _of_lists(lists: list[ArrayFacts], fit_call: FitFacts | Unknown) -> Finding:
    first = lists[0]
    names = listing(array.path for array in lists)
    numpy, imports = spell(first.use, "numpy", "np")
    template = f"{numpy}.array({{}})"
    edits = [_as_array(array, template) for array in lists]
    made = _literal(first)
    verb = "is a" if len(lists) == 1 else "are"
    return CAUSE.finding(
        f"{names} {verb} Python {first.container}{'' if len(lists) == 1 else 's'}, but Keras expects arrays",
        place(made, first.use, first.code),
        *(
            [
                Evidence(
                    f"type of `{array.path}`",
                    f"{array.container}{_of_shape(array)}",
                    "an array, tensor or DataFrame",
                    fact="data.container",
                    location=place(array.code),
                )
                for array in lists
            ]
        ),
        _padded(first)
        if isinstance(first.shape, Unknown) and "length" in first.shape.reason
        else fix(
            f"convert {names} to {'an array' if len(lists) == 1 else 'arrays'}: `{numpy}.array(…)`",
            *(edits if all(edits) else []),
            *(_of_validation(fit_call, {array.path: template for array in lists}) if all(edits) else []),
            imports if all(edits) else (),
        ),
        subject=f"argument {first.path} of {_method(fit_call)}",
    )


def _of_validation(fit_call: FitFacts | Unknown, templates: dict[str, str]) -> Iterator[tuple[Edit, ...]]:
    """Convert `validation_data=(x, y)` the same way; converting an array again changes nothing."""
    for index, path in enumerate(("x", "y")):
        part = validation_part(fit_call, index)
        if part is not None and path in templates:
            yield wrap(part, templates[path])


def _padded(array: ArrayFacts) -> Fix:
    """Pad rows of different lengths before they become an array."""
    keras, imports = spell(array.use, "keras", "keras")
    edits = _as_array(array, f"{keras}.utils.pad_sequences({{}})")
    return unsafe(
        f"pad the rows to the same length: `{keras}.utils.pad_sequences(…)`", edits, imports if edits else ()
    )


def _of_shape(array: ArrayFacts) -> str:
    return f" of shape {shape_words(array.shape)}" if isinstance(array.shape, tuple) else ""


def _method(fit_call: FitFacts | Unknown) -> str:
    return "fit" if isinstance(fit_call, Unknown) else fit_call.method


def _literal(array: ArrayFacts) -> Code | None:
    """Return the expression near the call that creates the whole list, not an empty one that grows."""
    made = made_near(array)
    if made is None or not made.target:
        return None
    try:
        tree = ast.parse(made.text, mode="eval").body
    except SyntaxError:
        return None
    if isinstance(tree, ast.Call):
        called = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
        return made if called in ("list", "sorted", "tolist") and (tree.args or called == "tolist") else None
    whole = isinstance(tree, ast.ListComp) or getattr(tree, "elts", None)
    return made if whole and isinstance(array.shape, tuple) else None


def _as_array(array: ArrayFacts, template: str) -> tuple[Edit, ...]:
    literal = _literal(array)
    use = array.use
    if literal is None and isinstance(use, Code) and use.text.isidentifier() and not use.indent:
        # Later uses, such as evaluate, also need the array; in a loop the list may still grow.
        return insert_before(use, f"{use.text} = {template.replace('{}', use.text)}")
    return wrap(literal or use, template)


def _is_list_of_samples(model: ModelFacts, data: DataFacts) -> bool:
    """Whether x is a list or tuple with an array for each sample."""
    if data.x_structure not in ("list", "tuple") or len(data.x) < 2:
        return False
    shapes = {array.shape for array in data.x}
    if len(shapes) != 1 or not isinstance(data.x[0].shape, tuple):
        return False
    sample = data.x[0].shape
    labels = {array.shape[0] for array in data.y if isinstance(array.shape, tuple) and array.shape}
    for_each = (
        len(data.x) in labels
        or len(data.x) >= 64
        and bool(labels)
        and min(n or 0 for n in labels) >= 64
        or _labels_listed_too(model, data)
    )
    if isinstance(model.inputs, Unknown):
        if model.kind == "sequential" and len(data.x) > _MANY:
            return True  # it has one input
        return for_each and sample[:1] != tuple(labels)[:1]
    if len(model.inputs) != 1 or isinstance(model.inputs[0].shape, Unknown):
        return False
    if for_each and _in_batches(model, data):
        return True
    return fits(sample, model.inputs[0].shape[1:]) and (for_each or not labels)


def _labels_listed_too(model: ModelFacts | Unknown, data: DataFacts) -> bool:
    """Whether y is a list as well, with an array of labels for each of the samples, for a model with one output."""
    if isinstance(model, Unknown) or data.y_structure not in ("list", "tuple") or len(data.y) != len(data.x):
        return False
    single = model.kind == "sequential" if isinstance(model.outputs, Unknown) else len(model.outputs) == 1
    return single and len({array.shape for array in data.y}) == 1


def _in_batches(model: ModelFacts | Unknown, data: DataFacts) -> bool:
    """Whether each of a list of arrays is a batch of one for the model: `np.expand_dims(image, 0)`."""
    shape = data.x[0].shape
    if isinstance(model, Unknown) or isinstance(model.inputs, Unknown) or not isinstance(shape, tuple):
        return False
    wanted = model.inputs[0].shape if len(model.inputs) == 1 else Unknown("several inputs")
    return not isinstance(wanted, Unknown) and shape[:1] == (1,) and fits(shape[1:], wanted[1:])


def _is_list_of_labels(model: ModelFacts, data: DataFacts) -> bool:
    """Whether y is a list with a small array for each sample, for a model with one output."""
    if data.y_structure not in ("list", "tuple") or len(data.y) < _FEW or len(data.x) != 1:
        return False
    if not isinstance(model.outputs, Unknown) and len(model.outputs) != 1:
        return False
    rows = data.x[0].shape[0] if isinstance(data.x[0].shape, tuple) and data.x[0].shape else None
    alike = len({array.shape for array in data.y}) == 1 and isinstance(data.y[0].shape, tuple)
    return alike and (rows is None or len(data.y) == rows or len(data.y) == _SHOWN <= rows)


_FEW = 8
_MANY = 32
_SHOWN = 64
"""The number of components of a structure that are read."""


def _of_labels(fit_call: FitFacts | Unknown, data: DataFacts) -> Finding:
    first = data.y[0]
    whole = _whole_argument(fit_call, first, "y", 1)
    numpy, imports = spell(whole, "numpy", "np")
    edits = wrap(whole, f"{numpy}.array({{}})")
    return CAUSE.finding(
        f"`y` is a {data.y_structure} of arrays of shape {shape_words(first.shape)}, one per sample, "
        "but Keras reads each as the labels of a separate output",
        place(whole, first.use),
        Evidence("type of `y`", f"a {data.y_structure} of arrays", "one array", "data.y", place(first.code)),
        fix(f"convert the labels to one array: `{numpy}.array(…)`", edits, imports if edits else ()),
        subject=f"argument y of {_method(fit_call)}",
    )


def _of_samples(
    model: ModelFacts, fit_call: FitFacts | Unknown, data: DataFacts, lists: list[ArrayFacts]
) -> Finding:
    """Report that x is a list of samples; `lists` are other list arguments, such as the labels."""
    first = data.x[0]
    whole = _whole_argument(fit_call, first, "x", 0)
    if data.role == "validation":
        whole = validation_part(fit_call, 0) or first.use
    numpy, imports = spell(whole, "numpy", "np")
    many = f"{len(data.x)}{' or more' if len(data.x) == 64 else ''}"
    shape = first.shape if isinstance(first.shape, tuple) else ()
    also = [_as_array(array, f"{numpy}.array({{}})") for array in lists]
    # Samples that already have a batch axis are joined along it.
    join = "concatenate" if _in_batches(model, data) else "stack"
    edits = [wrap(whole, f"{numpy}.{join}({{}})"), *also]
    templates = {"x": f"{numpy}.{join}({{}})"} | {array.path: f"{numpy}.array({{}})" for array in lists}
    if data.role == "training" and all(edits):
        edits += _of_validation(fit_call, templates)
    named = [array.path for array in lists]
    if data.role == "training" and _labels_listed_too(model, data):
        edits.append(wrap(_whole_argument(fit_call, data.y[0], "y", 1), f"{numpy}.array({{}})"))
        named.append("y")
    others = f", and {listing(named)} with `{numpy}.array(…)`" if named else ""
    return CAUSE.finding(
        f"`x` is a {data.x_structure} of {many} arrays of shape {shape_words(first.shape)}: "
        "Keras reads each as a separate input, not as a sample",
        place(whole, first.use),
        Evidence(
            "type of `x`",
            f"a {data.x_structure} of {many} arrays",
            f"one array of shape {shape_words((len(data.x), *shape[join == 'concatenate' :]))}",
            fact="data.x",
            location=place(first.code),
        ),
        fix(
            f"convert the samples to one array: `{numpy}.{join}(…)`{others}",
            *(edits if all(edits) else []),
            imports if all(edits) else (),
        ),
        subject=f"argument x of {_method(fit_call)}",
    )


def _whole_argument(
    fit_call: FitFacts | Unknown, array: ArrayFacts, name: str, position: int
) -> Code | Unknown:
    """Return the expression passed as x or y, not one of its elements."""
    use = array.use
    if isinstance(fit_call, Unknown) or isinstance(fit_call.code, Unknown) or isinstance(use, Unknown):
        return use
    argument = fit_call.code.argument(name, position)
    if argument is None:
        return use
    return Code(argument.location, argument.text, spellings=use.spellings, import_at=use.import_at)


_MANY = 8
"""Arrays for a model with one input from which they are samples rather than inputs."""


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the list that Keras shows or counts."""
    counted_inputs = input_count(failure.message)
    if counted_inputs is not None and counted_inputs.expected == 1 and isinstance(data, Unknown):
        many = counted_inputs.received or 0
        if many >= _MANY:
            yield _from_message(
                f"`x` is a list of {many} arrays: Keras reads each as a separate input", "x", failure
            )
        return
    unrecognised = _refuses_lists(failure.type, failure.message) and _in_data_adapters(failure)
    sizes = cardinality(failure.message)
    if not unrecognised and sizes is None:
        return
    if isinstance(data, DataFacts):
        lists = [array for array in arrays_of(data) if array.container in LISTS]
        found = _found(model, fit, data, lists, unrecognised, unrecognised)
        if found is not None:
            yield replace(found, confidence=Confidence.CERTAIN)
            return
        if not failure.from_text:
            return
    named = _LIST_TYPE.search(failure.message)
    of_y = _TAKEN_TYPE.search(failure.message) and " and y=" not in failure.message
    if unrecognised and (named or of_y or not _is_named(failure)):
        which = "x" if named else "y"
        made = origin_of_argument(project, fit, which, 0 if named else 1)
        yield _from_message(f"`{which}` is a Python list, but Keras expects arrays", which, failure, made)
    elif sizes is not None and len(sizes.of("x")) > 2 and sizes.of("y") == (len(sizes.of("x")),):
        many = len(sizes.of("x"))
        yield _from_message(
            f"`x` is a list of {many} arrays: Keras reads each as a separate input", "x", failure
        )
    elif sizes is not None and len(sizes.of("y")) >= _FEW and sizes.of("x") == (len(sizes.of("y")),):
        many = len(sizes.of("y"))
        yield _from_message(
            f"`y` is a list of {many} arrays: Keras reads each as a separate output", "y", failure
        )


def _is_named(failure: FailureFacts) -> bool:
    """Whether the message shows the rejected value, as it does not for some lists of labels."""
    return "Unrecognized data type" in failure.message


def _in_data_adapters(failure: FailureFacts) -> bool:
    """Whether Keras raised while reading the data; an IndexError of the user's code has the same message."""
    if failure.type != "IndexError":
        return True
    inner = failure.frames[-1] if failure.frames else None
    return inner is not None and inner.library and "data_adapter" in inner.path


def _from_message(message: str, which: str, failure: FailureFacts, made: Code | None = None) -> Finding:
    return CAUSE.finding(
        message,
        place(made, failure.location),
        Evidence("rejected value", "a list", "an array, tensor or DataFrame"),
        fix(f"convert `{which}` to an array: `np.array({which})`"),
        subject=f"argument {which} of fit",
    )


CAUSE.message(
    r"'(?P<kind>int|float|str|bool)' object has no attribute '(?:ndim|shape)'",
    "the data is a Python list, but Keras expects arrays",
    "convert the list to an array: `np.array(…)`",
    subject="data",
    types=("AttributeError",),
    raised_in=(
        "_standardize_input_data",
        "standardize_input_data",
        "standardize_single_array",
        "_standardize_user_data",
    ),
)
