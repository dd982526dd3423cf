"""Wrong number, order or names of inputs.

## What happens

A model with two inputs receives one array: `Layer "functional" expects 2 named input(s) with keys ['user', 'item'],
but it received 1 input tensors`. A dict key differs from the name of an input: `Missing data for input "ward"`. A
list in the wrong order fails only if the shapes differ, and then with the message for a wrong shape: `expected
shape=(None, 3), found shape=(None, 5)`. A subclassed model whose `call` starts with `left, right = inputs` and
receives one array raises `Iterating over a symbolic tf.Tensor is not allowed`.

## Why

The inputs were concatenated before `fit` although the model does that itself, one is missing, or an `Input(name=…)`
was renamed but the key of the data was not.

## Fix

Pass a list with one array per input, in the order of `Model(inputs=…)`, or a dict keyed by input name.

## Known limits

A list in the wrong order is not detected if the shapes agree. A dict with an extra key is reported as FIT116
(`inputs-matched-by-position`). How a subclassed model uses its inputs is unknown.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.data.batch_keys import renamed_in_batches
from fitdoctor.catalogue.knowledge.data.data_places import only_input_line
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.joined_arrays import (
    joined_parts,
    stacked_parts,
)
from fitdoctor.catalogue.knowledge.data.mixed_inputs import mixed_inputs
from fitdoctor.catalogue.knowledge.data.shapes import (
    forward_failure,
    proven,
    shuffled,
    went_through,
    while_validating,
)
from fitdoctor.catalogue.knowledge.data.unpacked_inputs import (
    argument_place,
    unpacked_by_call,
    unpacked_inputs,
)
from fitdoctor.catalogue.knowledge.models.model_inputs import inside_model
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.words import joined, listing, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, replace_code
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Spec, Unknown
from fitdoctor.failure.failed_line import module_of, stands_at
from fitdoctor.failure.shapes import input_count
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT109",
    slug="input-structure-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "OperatorNotAllowedInGraphError", "KeyError"),
    explains=("FIT101", "FIT102", "FIT104", "FIT108", "FIT113", "FIT115", "FIT408"),
)


@CAUSE.in_source
@doubting(INPUTS)
@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report arrays in x that do not match the model inputs."""
    if data.role != "training" or went_through(data) or not data.x:
        return
    if data.problem is not None:
        if _is_stacked(model, data):
            yield from _findings(model, fit, data, project, sure=True)
        return
    if isinstance(data.trial.forward, Unknown) and not _is_evident(model, data):
        yield from _taken_apart(model, fit, data, project)
        return
    yield from _findings(model, fit, data, project, sure=proven(data))
    refused = forward_failure(data)
    if refused is not None and data.x_structure == "dict":
        yield from _columns_for_one_input(refused.message, fit, data, None)


def _is_stacked(model: ModelFacts, data: DataFacts) -> bool:
    """Whether the arrays for the inputs were made one array, so that Keras counts the inputs as samples."""
    inputs = len(model.inputs) if isinstance(model.inputs, tuple) else 1
    shape = data.x[0].shape
    if inputs < 2 or len(data.x) != 1 or not isinstance(shape, tuple) or shape[:1] != (inputs,):
        return False
    return joined_parts(data.x[0], inputs) is not None


def _is_evident(model: ModelFacts, data: DataFacts) -> bool:
    """Whether the source tells what x is, and that the model gets it as it is."""
    told = all(array.container and isinstance(array.shape, tuple) for array in data.x)
    return told and not {"train_step", "call"} & set(model.overrides)


def _findings(
    model: ModelFacts, fit_call: FitFacts | Unknown, data: DataFacts, project: Project, sure: bool
) -> Iterator[Finding]:
    for found in _differing(model, fit_call, data, project):
        yield replace(found, confidence=Confidence.CERTAIN if sure else Confidence.LIKELY)


def _differing(
    model: ModelFacts, fit_call: FitFacts | Unknown, data: DataFacts, project: Project
) -> Iterator[Finding]:
    if isinstance(model.inputs, Unknown):
        failure = forward_failure(data)
        said = input_count(failure.message) if failure is not None else None
        # Only the model itself or its first layer receives the data; deeper layers are a problem of the model.
        if said is not None and said.expected is not None and said.received == len(data.x) > 1:
            yield _of_count(model, data, fit_call, project, said.expected)
        return
    if data.x_structure == "dict":
        missing = _missing_keys(model.inputs, data)
        if missing:
            yield _of_keys(model, data, project, missing)
    elif len(data.x) != len(model.inputs):
        if not _is_flat_element(model.inputs, data):
            yield _of_count(model, data, fit_call, project, len(model.inputs))
    else:
        order = shuffled(model, data)
        if order is not None:
            yield _of_order(model.inputs, data, fit_call, order)


def _is_flat_element(inputs: tuple[Spec, ...], data: DataFacts) -> bool:
    """Whether a dataset gives (x1, x2, y): then its elements are wrong, which another cause tells."""
    return data.form != "arrays" and data.element_size == len(inputs) + 1 > 2 and len(data.x) == 1


# --- names --------------------------------------------------------------------------------------------------------


def _missing_keys(inputs: tuple[Spec, ...], data: DataFacts) -> list[str]:
    names = [spec.name for spec in inputs]
    given = {array.key for array in data.x}
    failure = forward_failure(data)
    said = input_count(failure.message) if failure is not None else None
    if said is not None and said.expected_keys:
        names = list(said.expected_keys)
    elif not all(names) or any(name.startswith("keras_tensor") for name in names):
        return []
    return [name for name in names if name not in given]


def _of_keys(model: ModelFacts, data: DataFacts, project: Project, missing: list[str]) -> Finding:
    assert not isinstance(model.inputs, Unknown)
    names = [spec.name for spec in model.inputs]
    strangers = [array for array in data.x if array.key not in names]
    renamed = _renamed(missing, strangers)
    given = ", ".join(repr(array.key) for array in data.x)
    first = renamed[0][1] if renamed else None
    entry = _entry(first, project) if first is not None else None
    where = place(
        entry[0].location(entry[1]) if entry else None,
        first.code if first else None,
        data.x[0].use,
        data.code,
    )
    return CAUSE.finding(
        f"the model has the input{'s' * (len(missing) > 1)} {listing(missing)}, "
        f"but the keys of `x` are {listing(array.key for array in data.x)}",
        where,
        Evidence(
            "keys of `x` compared with the input names",
            given,
            ", ".join(map(repr, names)),
            fact="data.x",
            location=where,
        ),
        *_input_evidence(model, missing),
        _rename(renamed, project) if renamed else fix(f"add the key {listing(missing)} to `x`"),
        subject="keys of x",
    )


def _input_evidence(model: ModelFacts, names: list[str]) -> Iterator[Evidence]:
    for layer in model.layers:
        if layer.class_name == "InputLayer" and layer.name in names:
            yield Evidence(f"the input `{layer.name}` is created here", location=place(layer.code))


def _renamed(missing: list[str], strangers: list[ArrayFacts]) -> list[tuple[str, ArrayFacts]]:
    """Pair each missing name with the unknown key meant for it; empty unless every name has one."""
    left = {array.key: array for array in strangers}
    if len(missing) == len(left) == 1:
        return [(missing[0], strangers[0])]
    import difflib

    pairs = []
    for name in missing:
        close = difflib.get_close_matches(name, left, n=1, cutoff=0.5)
        if not close:
            return []
        pairs.append((name, left.pop(close[0])))
    return pairs


def _rename(renamed: list[tuple[str, ArrayFacts]], project: Project) -> Fix:
    edits = []
    for name, array in renamed:
        entry = _entry(array, project)
        if entry is not None:
            module, key = entry
            edits.append((Edit(module.location(key), module.segment(key).replace(array.key, name)),))
    words = joined([f"`{array.key}` to `{name}`" for name, array in renamed])
    title = f"rename the key{'s' * (len(renamed) > 1)} {words}"
    if len(edits) == len(renamed):
        return fix(title, *edits)
    return fix(title, renamed_in_batches(project, {array.key: name for name, array in renamed}))


def _entry(array: ArrayFacts, project: Project) -> tuple[Module, ast.Constant] | None:
    """Return the key of an array in the dict literal that contains it or that defines x."""
    for code in (array.code, array.use):
        found = node_of(project, code)
        if found is None:
            continue
        module, written = found[0], found[0].parent(found[1])
        if not isinstance(written, ast.Dict) and isinstance(found[1], ast.expr):
            end = origin(module, found[1])
            module, written = end.module, end.node
        for key in written.keys if isinstance(written, ast.Dict) else ():
            if isinstance(key, ast.Constant) and key.value == array.key:
                return module, key
    return None


# --- number -------------------------------------------------------------------------------------------------------


def _of_count(
    model: ModelFacts,
    data: DataFacts,
    fit_call: FitFacts | Unknown,
    project: Project,
    expected: int,
) -> Finding:
    given = len(data.x)
    first = data.x[0]
    names = [spec.name for spec in model.inputs] if isinstance(model.inputs, tuple) else []
    joined = joined_parts(first, expected) if given == 1 else None
    named = f" ({listing(names)})" if len(names) > 1 and all(names) else ""
    return CAUSE.finding(
        f"`x` {_arrays(given)}, but the model has {expected} input{'s' if expected != 1 else ''}{named}",
        place(first.code if joined else None, argument_place(fit_call), first.use, data.code),
        Evidence(
            "arrays in `x` compared with the model inputs",
            ", ".join(shape_words(array.shape) for array in data.x[:6]),
            ", ".join(shape_words(spec.shape) for spec in model.inputs[:6])
            if isinstance(model.inputs, tuple)
            else str(expected),
            fact="data.x",
            location=place(first.code),
        ),
        _count_fix(model, data, fit_call, project, joined),
        subject="inputs of the model",
    )


def _arrays(count: int) -> str:
    return "is one array" if count == 1 else f"consists of {count} arrays"


def _count_fix(
    model: ModelFacts,
    data: DataFacts,
    fit_call: FitFacts | Unknown,
    project: Project,
    joined: str | None,
) -> Fix:
    first = data.x[0]
    if joined is not None:
        return fix(
            "pass the arrays separately: the model has an input for each", replace_code(first.code, joined)
        )
    if isinstance(model.inputs, Unknown):
        return fix("pass one array, or build the model with one input per array")
    complete = _completed(model.inputs, data, fit_call, project)
    if complete:
        return fix("pass all inputs in the order of the model", complete)
    stacked = stacked_parts(first, model.inputs) if len(data.x) == 1 else ""
    if stacked:
        return fix(
            "pass the arrays separately: the model has an input for each", replace_code(first.use, stacked)
        )
    return fix("pass a list with one array per input, or a dict keyed by input name")


def _completed(
    inputs: tuple[Spec, ...], data: DataFacts, fit_call: FitFacts | Unknown, project: Project
) -> tuple[Edit, ...]:
    """Return the completed list of arrays if variables have the names of the missing inputs."""
    names = [spec.name for spec in inputs]
    given = [array.use.text for array in data.x if isinstance(array.use, Code)]
    if isinstance(fit_call, Unknown) or not given or not set(given) < set(names):
        return ()
    found = node_of(project, fit_call.code)
    argument = fit_call.code.argument("x", 0) if isinstance(fit_call.code, Code) else None
    if found is None or argument is None:
        return ()
    module, call = found
    if any(module.index.lookup(name, module.scope(call)) is None for name in names):
        return ()
    return (Edit(argument.location, f"[{', '.join(names)}]"),)


def _taken_apart(
    model: ModelFacts, fit_call: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report one array that `call` unpacks, as the source shows."""
    if data.x_structure != "single" or "train_step" in model.overrides or "call" not in model.overrides:
        return
    told = data.x[0].container and isinstance(data.x[0].shape, tuple)
    found = unpacked_by_call(model, project) if told else None
    if found is not None:
        yield _of_unpacking(found[1], fit_call, data, found[0], None)


def _of_unpacking(
    where: Location | None,
    fit_call: FitFacts | Unknown,
    data: DataFacts | Unknown,
    parts: list[str],
    caller: Location | None,
) -> Finding:
    """Build the finding for one array that `call` unpacks into several."""
    first = data.x[0] if isinstance(data, DataFacts) and data.x else None
    joined = joined_parts(first, len(parts)) if first is not None else None
    edits = replace_code(first.code, joined) if joined and first is not None else ()
    return CAUSE.finding(
        f"`x` is one array, but `call` unpacks it into {listing(parts)}",
        place(first.code if joined and first else None, argument_place(fit_call), caller),
        Evidence(
            "`call` unpacks its inputs here",
            "one tensor",
            f"a list or tuple of {len(parts)}",
            location=where,
        ),
        fix(f"pass a list of {len(parts)} arrays as `x`", edits),
        subject="inputs of the model",
    )


# --- order --------------------------------------------------------------------------------------------------------


def _of_order(
    inputs: tuple[Spec, ...],
    data: DataFacts,
    fit_call: FitFacts | Unknown,
    order: tuple[ArrayFacts, ...],
) -> Finding:
    texts = [array.use.text if isinstance(array.use, Code) else "" for array in order]
    argument = None
    if not isinstance(fit_call, Unknown) and isinstance(fit_call.code, Code):
        argument = fit_call.code.argument("x", 0)
    literal = (
        argument is not None and argument.text[:1] in "[(" and all(texts) and len(set(texts)) == len(texts)
    )
    edits = (Edit(argument.location, f"[{', '.join(texts)}]"),) if literal and argument is not None else ()
    return CAUSE.finding(
        "the arrays in `x` are not in the order of the model inputs",
        place(argument.location if argument else None, data.x[0].use),
        Evidence(
            "shapes in `x` compared with the model inputs",
            ", ".join(shape_words(array.shape) for array in data.x),
            ", ".join(shape_words(spec.shape) for spec in inputs),
            fact="data.x",
        ),
        fix("pass the arrays in the order of the model inputs", edits),
        subject="order of x",
    )


def _says_so(failure: FailureFacts) -> bool:
    return input_count(failure.message) is not None


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the inputs that the message counts or names, or that `call` cannot unpack."""
    parts = unpacked_inputs(failure, project)
    if parts and (isinstance(data, Unknown) or data.x_structure == "single"):
        frame = failure.last_user_frame
        caller = failure.user_frames[0].location if failure.user_frames else None
        where = frame.location if frame else None
        unpacking = _of_unpacking(where, fit, data, parts, caller)
        yield replace(unpacking, confidence=Confidence.CERTAIN)
        return
    if failure.type != "ValueError" or while_validating(failure) or inside_model(failure):
        return
    raised = failure.location
    yield from _columns_for_one_input(failure.message, fit, data, raised)
    said = input_count(failure.message)
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        if data.role != "training" or (
            isinstance(data.trial.forward, Unknown) and not _is_evident(model, data) and not _says_so(failure)
        ):
            return
        told = said is not None and said.received_keys and data.x_structure != "dict"
        found = list(_findings(model, fit, data, project, sure=True)) if data.x and not told else []
        yield from found
        if found or not isinstance(data.trial.forward, Unknown):
            return
    if said is None or failure.called not in ("fit", "evaluate", "predict", "train_on_batch", ""):
        return
    frame = failure.last_user_frame
    if frame is not None and _trains_on_as_many(frame.text, said.expected):
        yield CAUSE.finding(
            f"the model has {said.expected} inputs, but the validation data has {said.received}",
            frame.location,
            Evidence("inputs", str(said.received), str(said.expected)),
            fix("pass `validation_data=([first, second], y_val)`, with one array per input"),
            subject="inputs of the model",
        )
        return
    message = (
        f"the model has the input `{said.missing}`, but the keys of `x` are {listing(said.received_keys)}"
        if said.missing
        else f"the model has {said.expected} inputs, but receives {said.received}"
    )
    yield CAUSE.certain(
        message,
        place(only_input_line(data) if said.missing else None, frame.location if frame else None),
        Evidence(
            "inputs",
            ", ".join(said.received_keys) or str(said.received),
            ", ".join(said.expected_keys) or str(said.expected),
        ),
        fix("pass a list with one array per input, or a dict keyed by input name"),
        subject="inputs of the model",
    )


def _trains_on_as_many(line: str, expected: int | None) -> bool:
    """Whether a quoted call of `fit` passes as many inputs as the model has, so that the validation data is to blame."""
    training = re.search(r"\bfit\(\s*(?:x\s*=\s*)?\[(?P<inputs>[^\[\]()]{1,200})\]", line)
    return bool(training and "validation_data" in line and len(training["inputs"].split(",")) == expected)


@CAUSE.after_failure
def from_mixture(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report arrays and tensors mixed in one call."""
    yield from mixed_inputs(CAUSE, failure, project)


# --- keys that `call` reads -----------------------------------------------------------------------------------------


_KEY = re.compile(r"['\"](?P<key>[^'\"]{1,80})['\"]: ['\"]?(?:tf\.Tensor|<tf|<KerasTensor|Tensor)")


@CAUSE.after_failure
def from_key(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report an input key that a layer or model reads but does not receive."""
    frame = failure.last_user_frame
    asked = failure.message.strip().strip("'\"")
    if failure.type != "KeyError" or not failure.layer_class or frame is None or not asked:
        return
    for _name, text in failure.arguments[:1]:
        keys = [found["key"] for found in _KEY.finditer(text)]
        if not keys or asked in keys:
            return
        module = module_of(project, frame)
        read = _reads(module, asked, frame.line, frame.cell) if module is not None else None
        where = module.location(read.slice) if module is not None and read is not None else frame.location
        yield CAUSE.certain(
            f"`{failure.layer_class}` reads the input `{asked}`, but receives {listing(keys)}",
            where,
            Evidence("keys of the inputs", ", ".join(keys), asked, fact="failure.arguments"),
            _read_as(asked, keys, where if read is not None else None),
            subject="inputs of the model",
        )


def _reads(module: Module, key: str, line: int, cell: int | None) -> ast.Subscript | None:
    """Return the only `inputs["key"]` of a line."""
    found = [
        node
        for node in module.nodes(ast.Subscript)
        if isinstance(node.slice, ast.Constant)
        and node.slice.value == key
        and stands_at(module.location(node), line, cell)
    ]
    return found[0] if len(found) == 1 else None


def _read_as(key: str, keys: list[str], where: Location | None) -> Fix:
    close = next(iter(difflib.get_close_matches(key, keys, 1)), "")
    if not close:
        return fix(f"add an input `{key}`, or read one of the existing keys")
    return fix(f"read `{close}`", (Edit(where, f'"{close}"'),) if where is not None else ())


# --- a dict of columns for one input --------------------------------------------------------------------------------


_SAID = re.compile(
    r"The structure of `inputs` doesn't match the expected structure\.?\s+Expected: (?P<expected>[\w./:-]+)\s+"
    r"Received: inputs=(?:OrderedDict\(\[)?[{(](?P<given>'[^\n]{0,4000})"
)
_NAME = re.compile(r"'(\w[^'\n]{0,100})'(?::|,) '?\w*Tensor")
_LABELS = frozenset("label labels target targets y class".split())


def _columns_for_one_input(
    message: str,
    fit_call: FitFacts | Unknown,
    data: DataFacts | Unknown,
    raised: Location | None,
) -> Iterator[Finding]:
    """Report a dict passed to a model with a single input, unless it includes the labels."""
    said = _SAID.search(message)
    names = _NAME.findall(said["given"]) if said is not None else []
    if said is None or len(names) < 2 or any(name.lower() in _LABELS for name in names):
        return
    known = data if isinstance(data, DataFacts) else None
    code = fit_call.code if isinstance(fit_call, FitFacts) else None
    argument = code.argument("x", 0) if isinstance(code, Code) else None
    yield CAUSE.certain(
        f"`x` is a dict of {len(names)} columns ({listing(names, 3)}), but the model has one input",
        place(
            known.code if known and known.form == "dataset" else None,
            argument.location if argument else None,
            raised,
        ),
        Evidence("what the model receives", f"a dict of {len(names)} columns", "one array"),
        fix("stack the columns into one array: `tf.stack(list(columns.values()), axis=-1)`"),
        subject="inputs of the model",
    )
