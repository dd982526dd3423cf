"""Losses, metrics or labels that do not match the outputs.

## What happens

A model with several outputs expects its losses and labels in the same structure: a list in the same order, or a dict
keyed by output name. Otherwise `fit` fails before the first step, usually with a message that does not say so:
`y_true and y_pred have different structures`, `KeyError: The path: (2,) in the loss argument, can't be found`,
`Expected keys […] in loss dict`, `Invalid metrics`, and for a wrong key in a dict of labels `TypeError: Expected
float32, but got box of type 'str'`. Keras 3 rejects a single loss with several `loss_weights` (`must match the
number of losses`); Keras 2 applied the loss to every output. One case raises nothing: a list with fewer losses than
outputs trains only the first outputs.

## Why

An output was added or removed in one place but not in the other, a key differs from the output's name (the name of
the layer, or the key in a dict of outputs), or a dataset yields `(x, y1, y2)`, where Keras reads the third part as
sample weights.

## Fix

Pass one loss and one array of labels per output, keyed by output name. A dataset must yield `(x, (y1, y2))`.

## Known limits

A loss dict with fewer losses than outputs counts as intended: an output without a loss is not trained.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.batch_keys import renamed_in_batches
from fitdoctor.catalogue.knowledge.data.generator_sources import returned_in_step, written_out
from fitdoctor.catalogue.knowledge.data.joined_arrays import joined_parts
from fitdoctor.catalogue.knowledge.labels.targets import (
    loss_accepted,
    loss_failure,
    output_names,
    output_specs,
)
from fitdoctor.catalogue.words import joined, listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, replace_code
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    Frame,
    ModelFacts,
    Outcome,
    Unknown,
)
from fitdoctor.failure.called import called_in
from fitdoctor.records import dataclass
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT216",
    slug="output-structure-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "KeyError"),
    explains=("FIT201", "FIT205", "FIT214", "FIT218"),
)

_WORDS = re.compile(
    r"y_true and y_pred have different structures|in the `loss` argument, can't be found|Expected keys .* in loss dict"
    r"|Found unexpected losses or metrics that do not correspond to any Model output"
    r"|Invalid `(?:weighted_)?metrics`|tuple arity mismatch|Expected any non-tensor type, but got a tensor"
    r"|When providing the `loss` argument as a (?:list|dict), it should have as many entries"
    r"|Expected \w+, but got \S+ of type 'str'"
    r"|The two structures don't have the same (?:sequence length|nested structure|set of keys)(?![\s\S]*TypeSpecs: )"
)


@dataclass(frozen=True)
class _Odd:
    """What does not match."""

    what: str
    message: str
    observed: str
    expected: str
    places: tuple[Code | Location | Unknown | None, ...]
    fixes: tuple[Fix, ...] = ()
    silent: bool = False


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Check the number and names of losses, labels and metrics against the outputs."""
    if not data.y or not model.compiled or {"train_step", "compute_loss"} & set(model.overrides):
        return
    refused = loss_failure(data)
    accepted, proven = loss_accepted(data), refused is not None
    if refused is not None:
        yield from _from_weights(refused.message, model, Confidence.CERTAIN)
    for odd in _oddities(model, fit, data, project):
        if odd.what == "metrics":
            tried = data.trial.metrics
            if isinstance(tried, Outcome) and not tried.ok:
                yield _finding(odd, Confidence.CERTAIN)
            elif isinstance(tried, Unknown) and proven:
                # Keras rejects the losses first; mismatched metrics would fail next.
                yield _finding(odd, Confidence.LIKELY)
        elif odd.silent and (accepted or not proven):
            yield _finding(odd, Confidence.CERTAIN)
        elif not accepted and not odd.silent:
            yield _finding(odd, Confidence.CERTAIN if proven else Confidence.LIKELY)


@CAUSE.in_source
@mentions("Model")
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report keys that match no output, or one array for several outputs (which Keras 2 accepts)."""
    if (model.keras, model.kind) != (3, "functional") or model.overrides:
        return
    if isinstance(model.outputs, Unknown):
        return
    if data.form != "arrays" or data.role != "training" or fit.method != "fit" or not model.losses:
        return
    outputs, names = len(model.outputs), tuple(spec.name for spec in model.outputs)
    if all(names) and model.output_structure != "dict":
        for odd in _odd_losses(model, data, outputs, names, project):
            if not odd.silent:
                yield _finding(odd, Confidence.LIKELY)
                return
    if data.y_structure == "dict":
        # A dict of outputs has its own keys, independent of layer names.
        named = all(names) and all(array.key for array in data.y) and model.output_structure != "dict"
        told = named and not {one.key for one in data.y} <= {*names}
    else:
        losses = model.loss_structure == "single" or len(model.losses) == outputs
        told = losses and data.y_structure == "single" and len(data.y) == 1 and _is_one_array(data.y[0])
    if told and outputs > 1:
        for odd in _odd_labels(model, fit, data, outputs, names, project):
            yield _finding(odd, Confidence.LIKELY)
    if outputs > 1 and all(names) and model.output_structure != "dict":
        for odd in (*_odd_weights(model, names), *_odd_metrics(model, outputs, names, project)):
            if odd.what == "losses" or model.metric_keys:
                yield _finding(odd, Confidence.LIKELY)


def _is_one_array(labels: ArrayFacts) -> bool:
    return labels.container.startswith(("numpy.", "pandas.")) and isinstance(labels.shape, tuple)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the message of Keras, with what is known about the model."""
    frame = failure.last_user_frame
    raised_at = failure.location
    yield from _from_weights(failure.message, model, Confidence.LIKELY, raised_at)
    if not _WORDS.search(failure.message) and not _asks_output(failure):
        return
    if isinstance(data, DataFacts) and (data.role != "training" or not data.y):
        return
    if _OF_ANY_CODE.search(failure.message) and (failure.layer_class or not _calls_keras(frame)):
        return
    found = []
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts) and isinstance(fit, FitFacts):
        found = [odd for odd in _oddities(model, fit, data, project, raised=True) if not odd.silent]
        yield from (_finding(odd, Confidence.CERTAIN) for odd in found)
    if not found and (not _KEY.search(failure.message) or failure.called == "fit"):
        yield _finding(_from_words(failure, raised_at), Confidence.LIKELY)


def _from_weights(
    message: str, model: ModelFacts | Unknown, confidence: Confidence, raised_at: Location | None = None
) -> Iterator[Finding]:
    odd = odd_weights(message, model)
    if odd is None:
        return
    losses = _counted(odd.losses, "loss")
    told = f"`loss_weights` has {_counted(odd.weights, 'weight')} for {losses}: Keras 3 expects one weight per loss"
    places = (odd.code, model.compile_code if isinstance(model, ModelFacts) else None, raised_at)
    yield _finding(
        _Odd("losses", told, losses, _counted(odd.weights, "loss"), places, (odd.change,)), confidence
    )


def _asks_output(failure: FailureFacts) -> bool:
    """Whether Keras looked up the labels of an output by name for a metric."""
    inner = failure.frames[-1] if failure.frames else None
    return (
        failure.type == "KeyError" and inner is not None and inner.library and "compile_utils" in inner.path
    )


_KEY = re.compile(r"Expected \w+, but got (?P<key>\S+) of type 'str'")
"""Keras flattens a dict with unknown keys and finds a key where it expects an array."""


_OF_ANY_CODE = re.compile(
    r"Expected any non-tensor type, but got a tensor|Expected \w+, but got \S+ of type 'str'"
    r"|The two structures don't have the same"
)
"""Messages the user's own operations can raise, too; they are about labels only if Keras raised them."""


def _calls_keras(frame: Frame | None) -> bool:
    """Whether the last user frame calls fit, evaluate or a batch method."""
    return frame is None or called_in(frame) in ("", "fit", "evaluate", "train_on_batch", "test_on_batch")


def _from_words(failure: FailureFacts, raised_at: Location | None) -> _Odd:
    message = failure.message
    key = _KEY.search(message)
    told = "losses, labels or metrics do not match the structure of the model outputs"
    if key is not None:
        told = f"the keys of the label dict, such as `{key['key']}`, are not output names"
    advice = "pass one loss and one array of labels per output, keyed by output name"
    if failure.frames and "_user_loss_weights[" in failure.frames[-1].text:
        told = f"`loss_weights` has no weight for output `{message.strip()[1:-1]}`, but Keras 3 expects one per output"
        advice = "add a key to `loss_weights` for every output name"
    lines = message.splitlines() or [""]
    return _Odd("structure", told, lines[0], "one per output", (raised_at,), (fix(advice),))


def _oddities(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project, raised: bool = False
) -> Iterator[_Odd]:
    """Yield what does not match the outputs; if Keras `raised`, the keys `call` returns are the output names."""
    outputs = output_specs(model, data)
    if not outputs:
        return
    names = model.output_names if len(model.output_names) == len(outputs) else ()
    if raised and not names:
        names = output_names(model, outputs)
    yield from _odd_losses(model, data, len(outputs), names, project)
    yield from _odd_weights(model, names)
    yield from _odd_labels(model, fit, data, len(outputs), names, project)
    yield from _odd_metrics(model, len(outputs), names, project)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 and not word.endswith('s') else 'es' * (count != 1)}"


def _odd_losses(
    model: ModelFacts, data: DataFacts, outputs: int, names: tuple[str, ...], project: Project
) -> Iterator[_Odd]:
    code = model.losses[0].code if model.losses else None
    whole = _argument(model.compile_code, "loss", 1, project)
    if model.loss_structure == "list" and len(model.losses) != outputs and outputs > 1:
        count = len(model.losses)
        silent = count < outputs
        rest = "the other outputs are not trained" if silent else "losses and outputs must match one to one"
        if silent and len(data.y) != outputs:
            return
        yield _Odd(
            "losses",
            f"the model has {outputs} outputs, but only {_counted(count, 'loss')}: {rest}"
            if silent
            else f"the model has {outputs} outputs, but {_counted(count, 'loss')}: {rest}",
            _counted(count, "loss"),
            f"{outputs}, one per output",
            (_around(model, code), whole, model.compile_code),
            (fix(f"pass {outputs} losses in the order of the outputs"),),
            silent,
        )
    if model.loss_structure == "dict" and names and (outputs > 1 or model.output_structure == "dict"):
        unknown = [key for key in model.loss_keys if key not in names]
        missing = [name for name in names if name not in model.loss_keys]
        if unknown:
            yield _Odd(
                "losses",
                f"the loss dict has the {_key_words(unknown)}, but the outputs are named {listing(names)}",
                ", ".join(model.loss_keys),
                ", ".join(names),
                (_key_line(whole, unknown), whole, model.compile_code),
                _renamed_keys(whole, unknown, missing, beside=(*_other_dicts(model, project), data.y_code)),
            )
        elif missing and model.output_structure != "dict" and model.output_names:
            yield _Odd(
                "losses",
                f"the loss dict has no key for output {listing(missing)}",
                ", ".join(model.loss_keys),
                ", ".join(names),
                (whole, model.compile_code),
                (fix("add a loss for every output; use `None` for one that is not trained"),),
            )


def _other_dicts(model: ModelFacts, project: Project) -> Iterator[Code | Unknown]:
    """Yield the other dicts of `compile` that are keyed by output name."""
    for name, position in (("metrics", 3), ("loss_weights", 2), ("weighted_metrics", 4)):
        yield _argument(model.compile_code, name, position, project)


def _odd_weights(model: ModelFacts, names: tuple[str, ...]) -> Iterator[_Odd]:
    """Report a dict of weights without a key for an output; Keras looks up every output and ignores other keys."""
    given = _keys_of_weights(model) if len(names) > 1 and {*model.loss_keys} == {*names} else None
    missing = [name for name in names if given is not None and name not in given[1]]
    if given is None or not missing:
        return
    unknown = [key for key in given[1] if key not in names]
    yield _Odd(
        "losses",
        f"`loss_weights` has no weight for {listing(missing)}, but Keras 3 expects one per output",
        ", ".join(given[1]),
        ", ".join(names),
        (_key_line(given[0], unknown), given[0], model.compile_code),
        _renamed_keys(given[0], unknown, missing) if unknown else (fix("add a weight for every output"),),
    )


def _odd_labels(
    model: ModelFacts,
    fit: FitFacts,
    data: DataFacts,
    outputs: int,
    names: tuple[str, ...],
    project: Project,
) -> Iterator[_Odd]:
    first = data.y[0]
    given = (first.use, first.code) if data.form == "arrays" else (first.code, first.use)
    if data.y_structure == "dict" and names and (outputs > 1 or model.output_structure == "dict"):
        keys = [array.key for array in data.y]
        unknown = [key for key in keys if key not in names]
        missing = [name for name in names if name not in keys]
        written = _dict_with(data.y_code, keys, project)
        if unknown or missing:
            about = f"has the {_key_words(unknown)}" if unknown else f"has no key {listing(missing)}"
            yield _Odd(
                "labels",
                f"the label dict {about}, but the outputs are named {listing(names)}",
                ", ".join(keys),
                ", ".join(names),
                (_key_line(written, unknown), written, *given, fit.code),
                _renamed_keys(written, unknown, missing, project),
            )
    elif len(data.y) != outputs and not (len(data.y) == 1 and data.y_structure == "dict"):
        flat = data.form != "arrays" and data.element_size == 3 and outputs == 2 and len(data.y) == 1
        advice = (
            "yield the labels together: `(x, (y1, y2))`"
            if flat
            else f"pass {_counted(outputs, 'array')} of labels"
        )
        yield _Odd(
            "labels",
            f"y has {_counted(len(data.y), 'array')}, but the model has {_counted(outputs, 'output')}",
            _counted(len(data.y), "array"),
            _counted(outputs, "array"),
            (fit.code,)
            if data.form == "arrays"
            else (
                _mapped(data, project),
                data.pipeline[0].code if data.pipeline else first.code,
                data.code,
                fit.code,
            ),
            (_taken_apart(first, outputs) or fix(advice),),
        )


def _mapped(data: DataFacts, project: Project) -> Location | None:
    """Return what the last mapped function of a pipeline returns."""
    made = [returned_in_step(project, step.code) for step in data.pipeline if step.operation == "map"]
    return made[-1] if made else None


def _taken_apart(labels: ArrayFacts, outputs: int) -> Fix | None:
    """Rewrite `np.stack([age, gender], axis=1)` as `(age, gender)`."""
    parts = joined_parts(labels, outputs) if outputs > 1 else None
    if parts is None:
        return None
    return fix(
        "pass the labels separately, one array per output", replace_code(labels.code, f"({parts[1:-1]})")
    )


def _odd_metrics(model: ModelFacts, outputs: int, names: tuple[str, ...], project: Project) -> Iterator[_Odd]:
    whole = _argument(model.compile_code, "metrics", 3, project)
    unknown = [key for key in model.metric_keys if names and key not in names]
    if not model.metrics or outputs < 2:
        return
    if unknown:
        yield _Odd(
            "metrics",
            f"the metrics dict has the {_key_words(unknown)}, but the outputs are named {listing(names)}",
            ", ".join(model.metric_keys),
            ", ".join(names),
            (whole, model.compile_code),
            _renamed_keys(whole, unknown, [name for name in names if name not in model.metric_keys]),
        )
    elif not model.metric_keys and len(model.metrics) != outputs:
        yield _Odd(
            "metrics",
            f"`metrics` lists {_counted(len(model.metrics), 'metric')}, but the model has {outputs} outputs",
            str(len(model.metrics)),
            f"{outputs} lists, one per output, or a dict keyed by name",
            (whole, model.compile_code),
            (_metrics_of_each(whole, names, outputs),),
        )


def _metrics_of_each(where: Code | Unknown, names: tuple[str, ...], outputs: int) -> Fix:
    """Give every output the whole list, as Keras 2 did."""
    written = where.text if isinstance(where, Code) else ""
    if len(names) != outputs or not (written.startswith("[") and written.endswith("]")) or "\n" in written:
        return fix("pass the metrics as a dict keyed by output name")
    mark = "'" if "'" in written else '"'
    pairs = ", ".join(f"{mark}{name}{mark}: {written}" for name in names)
    return fix("give every output these metrics, as Keras 2 did", replace_code(where, f"{{{pairs}}}"))


def _argument(code: Code | Unknown, name: str, position: int, project: Project) -> Code | Unknown:
    """Return an argument of compile as source code; of a constant, the dict that it holds."""
    argument = code.argument(name, position) if isinstance(code, Code) else None
    if argument is None:
        return Unknown("the argument was not found in the call")
    return written_out(project, Code(argument.location, argument.text))


def _around(model: ModelFacts, code: Code | Unknown | None) -> Code | Unknown | None:
    """Return the first loss if the list is written outside the call of compile."""
    if not isinstance(code, Code) or not isinstance(model.compile_code, Code):
        return None
    inside = model.compile_code.location
    here = code.location
    return (
        None
        if (here.path, here.cell) == (inside.path, inside.cell)
        and inside.line <= here.line <= inside.end_line
        else code
    )


def _finding(odd: _Odd, confidence: Confidence) -> Finding:
    return CAUSE.finding(
        odd.message,
        place(*odd.places),
        Evidence(
            f"{odd.what} compared with the model outputs", odd.observed, odd.expected, fact="model.outputs"
        ),
        *odd.fixes,
        subject=f"structure of {odd.what}",
        confidence=confidence,
        severity=Severity.WARNING if odd.silent else Severity.ERROR,
    )


# --- keys of outputs ------------------------------------------------------------------------------------------------


def _renamed_keys(
    where: Code | Unknown,
    unknown: list[str],
    missing: list[str],
    project: Project | None = None,
    beside: Iterable[Code | Unknown] = (),
) -> tuple[Fix, ...]:
    """Rename the keys that match no output to the missing names, also in the dicts of `beside`."""
    if len(unknown) == 1 and len(missing) == 1:
        return (_rename(where, {unknown[0]: missing[0]}, project, beside),)
    close = {key: _like(key, missing) for key in unknown}
    names = {key: found for key, found in close.items() if found}
    if not names:
        return (fix("use the output names as keys"),)
    whole = len(names) == len(unknown) == len(set(names.values()))
    return (
        _rename(where if whole else Unknown("not every key resembles an output name"), names, None, beside),
    )


def _key_line(code: Code | Unknown, keys: list[str]) -> Location | None:
    """Return the line of a multi-line dict that contains the first of the keys."""
    if isinstance(code, Unknown) or not keys:
        return None
    for number, line in enumerate(code.text.split("\n")):
        if number and re.match(rf"\s*(['\"]){re.escape(keys[0])}\1\s*:", line):
            return Location(code.location.path, code.location.line + number, cell=code.location.cell)
    return None


def _dict_with(code: Code | Unknown, keys: list[str], project: Project) -> Code | Unknown:
    """Return the only dict of the program with these keys, if the code shows none of them: `{k: v[:n] for k, v in …}`."""
    if isinstance(code, Code) and any(f"{quote}{keys[0]}{quote}" in code.text for quote in "\"'"):
        return code
    dicts = [
        (module, node)
        for module in project.modules
        for node in module.nodes(ast.Dict)
        if {getattr(key, "value", None) for key in node.keys} == set(keys)
    ]
    return dicts[0][0].code(dicts[0][1]) if len(dicts) == 1 else code


def _key_words(keys: list[str]) -> str:
    """Return "key" or "keys", followed by the keys."""
    return f"key{'s' * (len(keys) > 1)} {listing(keys)}"


def _like(key: str, names: list[str]) -> str:
    """Return the name a key was probably meant for: a prefix, a suffix or a typo."""
    import difflib

    within = [
        name
        for name in names
        if any(long.startswith(short) or long.endswith(short) for long, short in ((key, name), (name, key)))
    ]
    close = within if len(within) == 1 else difflib.get_close_matches(key, names, 1)
    return close[0] if close else ""


def _rename(
    where: Code | Unknown,
    names: dict[str, str],
    project: Project | None,
    beside: Iterable[Code | Unknown],
) -> Fix:
    edits = _in_text(where, names)
    if edits:
        others = [edit for code in beside for edit in _in_text(code, names)]
        edits = tuple(dict.fromkeys((*edits, *others)))
    renamed = joined([f"`{old}` to `{new}`" for old, new in names.items()])
    edits = edits or renamed_in_batches(project, names)
    return fix(f"rename the key{'s' * (len(names) > 1)} {renamed}", edits)


def _in_text(where: Code | Unknown, names: dict[str, str]) -> tuple[Edit, ...]:
    if isinstance(where, Unknown):
        return ()
    text = where.text
    for old, new in names.items():
        text = re.sub(
            rf"(?P<quote>[\"']){re.escape(old)}(?P=quote)(?=\s*:)", rf"\g<quote>{new}\g<quote>", text
        )
    return (Edit(where.location, text),) if text != where.text else ()


# --- outputs that `call` returns ------------------------------------------------------------------------------------


# --- loss weights ---------------------------------------------------------------------------------------------------


_COUNTS = re.compile(r"`loss_weights` must match the number of losses, got (\d+) losses and (\d+) weights")


@dataclass(frozen=True)
class _OddWeights:
    """The counts Keras reports, the argument to change, and the fix."""

    losses: int
    weights: int
    code: Code | Unknown
    change: Fix


def odd_weights(message: str, model: ModelFacts | Unknown) -> _OddWeights | None:
    """Return the mismatch in the number of losses and weights, None for another message."""
    counted = _COUNTS.search(message)
    if counted is None:
        return None
    losses, weights = int(counted[1]), int(counted[2])
    loss, given = _weights_argument(model, "loss"), _weights_argument(model, "loss_weights")
    if losses == 1:
        repeated = replace_code(loss, f"[{', '.join([_text(loss)] * weights)}]")
        told = f"pass one loss for each of the {weights} outputs"
        return _OddWeights(losses, weights, loss, fix(told, repeated if weights < 5 else ()))
    return _OddWeights(losses, weights, given, fix(f"pass {losses} weights, one per loss"))


def _keys_of_weights(model: ModelFacts) -> tuple[Code, list[str]] | None:
    """Return the keys of a literal `loss_weights` dict that Keras looks up by output name."""
    given = _weights_argument(model, "loss_weights")
    # With a dict of outputs Keras uses the weights in the order of their keys and looks up no name.
    if isinstance(given, Unknown) or model.loss_structure != "dict" or model.output_structure == "dict":
        return None
    try:
        written = ast.parse(given.text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(written, ast.Dict):
        return None
    keys = [key.value for key in written.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return (given, keys) if len(keys) == len(written.keys) else None


def _weights_argument(model: ModelFacts | Unknown, name: str) -> Code | Unknown:
    code = model.compile_code if isinstance(model, ModelFacts) else None
    argument = code.argument(name, 1 if name == "loss" else None) if isinstance(code, Code) else None
    return Unknown("not found in the call") if argument is None else Code(argument.location, argument.text)


def _text(code: Code | Unknown) -> str:
    text = "" if isinstance(code, Unknown) else code.text.strip()
    return text[1:-1].strip(" ,") if text.startswith("[") and text.endswith("]") else text
