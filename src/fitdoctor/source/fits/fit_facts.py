"""Turns one `fit` call in the source into facts."""

from __future__ import annotations

import ast

from fitdoctor.facts import (
    CALL,
    CALLS,
    TRAINING_CALL,
    ArrayFacts,
    CallbackFacts,
    ClassWeight,
    Code,
    DataFacts,
    FitFacts,
    ModelFacts,
    Unknown,
)
from fitdoctor.records import dataclass, replace
from fitdoctor.source.data import arrays
from fitdoctor.source.fits.array_facts import is_none
from fitdoctor.source.fits.data_facts import Given, data_facts
from fitdoctor.source.fits.model_facts import model_facts
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Class,
    Compiled,
    Dataset,
    Generated,
    InstanceRecord,
    Items,
    Made,
    Plain,
    Ref,
    Value,
)
from fitdoctor.source.models.static_models import trainable_now

PARAMETERS = {
    name: tuple(parameters.split())
    for name, parameters in {
        "fit": "x y batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight "
        "sample_weight initial_epoch steps_per_epoch validation_steps validation_batch_size validation_freq",
        "fit_generator": "x steps_per_epoch epochs verbose callbacks validation_data validation_steps",
        "evaluate": "x y batch_size verbose sample_weight steps callbacks return_dict",
        "predict": "x batch_size verbose steps callbacks",
        "train_on_batch": "x y sample_weight class_weight return_dict",
        "test_on_batch": "x y sample_weight return_dict",
        "predict_on_batch": "x",
        CALL: "x y",
        TRAINING_CALL: "x y",
    }.items()
}
_CALLBACK_POSITIONS = {
    "EarlyStopping": ("monitor", "min_delta", "patience", "verbose", "mode"),
    "ModelCheckpoint": ("filepath", "monitor", "verbose", "save_best_only", "save_weights_only", "mode"),
    "ReduceLROnPlateau": ("monitor", "factor", "patience", "verbose", "mode"),
    "LearningRateScheduler": ("schedule", "verbose"),
    "TensorBoard": ("log_dir",),
    "CSVLogger": ("filename",),
}
_CALLBACK_DEFAULTS = {
    "EarlyStopping": {"monitor": "val_loss", "mode": "auto"},
    "ModelCheckpoint": {
        "monitor": "val_loss",
        "mode": "auto",
        "save_best_only": "False",
        "save_weights_only": "False",
    },
    "ReduceLROnPlateau": {"monitor": "val_loss", "mode": "auto"},
}


@dataclass(frozen=True)
class FitSite:
    """A call of `fit`, `evaluate`, `predict`, … with the facts known from source."""

    model: ModelFacts
    fit: FitFacts
    data: tuple[DataFacts, ...]
    metrics_known: bool = True
    """The source shows every metric that the model is compiled with."""


@dataclass(frozen=True)
class Bound:
    """The arguments of a call by name."""

    values: dict[str, Value]
    nodes: dict[str, ast.expr | None]
    complete: bool

    def get(self, name: str) -> Value | None:
        """Return an argument; None if it is not passed, Unknown if it may be."""
        if name in self.values:
            return self.values[name]
        return None if self.complete else UNTOLD


def bind(method: str, arguments: Arguments) -> Bound:
    """Return the arguments of a `fit` call by name."""
    names = PARAMETERS.get(method, ())
    values: dict[str, Value] = dict(zip(names, arguments.positional, strict=False))
    nodes: dict[str, ast.expr | None] = {
        name: arguments.expression("", at) for at, name in enumerate(names[: len(arguments.positional)])
    }
    for name, value in arguments.keywords:
        key = {"generator": "x"}.get(name, name) if method == "fit_generator" else name
        values[key] = value
        nodes[key] = arguments.expression(name)
    return Bound(values, nodes, arguments.complete)


def fit_site(run: Interpreter, ref: Ref, method: str, arguments: Arguments) -> FitSite:
    """Return the facts of a `fit` call at this point of the program."""
    bound = bind(method, arguments)
    x = bound.get("x")
    model, metrics_known = model_facts(run, ref, _sample_of(x))
    validation, told = _validation(run, bound) if method == "fit" else (None, True)
    callbacks = _callbacks(run, bound) if metrics_known and told and bound.complete else ()
    fit = FitFacts(
        method=method,
        given=tuple(bound.values),
        valued=tuple(name for name, value in bound.values.items() if _has_value(value)),
        epochs=_whole(bound, "epochs") or 1,
        batch_size=_whole(bound, "batch_size"),
        steps_per_epoch=_whole(bound, "steps_per_epoch") or _whole(bound, "steps"),
        validation_steps=_whole(bound, "validation_steps"),
        validation_split=_split(bound) if isinstance(_split(bound), float) else 0.0,  # type: ignore[arg-type]
        has_validation=validation is not None
        or (told and isinstance(_split(bound), float) and _split(bound) != 0.0),
        class_weight=_class_weight(run, bound),
        callbacks=callbacks or (),
        code=run.code(arguments.node),
        model=_receiver(run, arguments.node),
    )
    data = [] if "x" not in bound.values and "y" not in bound.values else [_training(run, method, bound)]
    if validation is not None:
        data.append(validation)
    return FitSite(model, fit, tuple(data), metrics_known=metrics_known and told and bound.complete)


def _receiver(run: Interpreter, call: ast.Call) -> str:
    """Return the model expression of the call."""
    return run.owner(call).segment(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def after_fit(run: Interpreter, ref: Ref, method: str, arguments: Arguments) -> None:
    """Apply the effects of a call: the traced step, and custom callbacks that may change anything."""
    record = run.model(ref)
    if method in ("fit", "train_on_batch") and record is not None and isinstance(record.compiled, Compiled):
        if record.traced is None:
            run.update(ref, replace(record, traced=trainable_now(run, record)))
    for value in run.sequence(bind(method, arguments).get("callbacks")) or ():
        if isinstance(value, Ref):
            run.state.touch(value)


def _sample_of(x: Value | None) -> Value | None:
    """Return the model's input: for a dataset, the first part of an element."""
    if isinstance(x, Dataset):
        element = x.element
        first = element.items[0] if isinstance(element, Items) and element.items else element
        batched = x.batch is not None and not isinstance(x.batch, Unknown)
        return first if batched and not isinstance(first, Unknown) else None
    return x


def _has_value(value: Value) -> bool:
    """Whether a value is certainly not None."""
    if isinstance(value, Plain):
        return bool(value.value)
    return not isinstance(value, Unknown)


def _whole(bound: Bound, name: str) -> int | None:
    return arrays.whole(bound.values.get(name))


def _told_number(bound: Bound, name: str) -> int | Unknown | None:
    value = bound.get(name)
    if is_none(value):
        return None
    number = arrays.whole(value)
    return UNTOLD if number is None else number


def _split(bound: Bound) -> float | Unknown:
    value = bound.get("validation_split")
    if not is_none(bound.get("validation_data")) or is_none(value):
        return 0.0
    if isinstance(value, Plain) and isinstance(value.value, (int, float)):
        return float(value.value)
    return UNTOLD


def _training(run: Interpreter, method: str, bound: Bound) -> DataFacts:
    steps = _told_number(bound, "steps_per_epoch")
    facts = data_facts(
        run,
        Given(
            bound.get("x"),
            bound.get("y"),
            bound.get("sample_weight"),
            bound.nodes.get("x"),
            bound.nodes.get("y"),
            bound.nodes.get("sample_weight"),
            _told_number(bound, "batch_size"),
            _told_number(bound, "steps") if steps is None else steps,
            _split(bound),
            method.endswith("_on_batch") or method in CALLS,
        ),
        "training",
    )
    if method in CALLS:
        # With a known loss, the model call has already reported its input.
        x = () if facts.y else _as_called(facts.x)
        return replace(facts, form="batch", x=x, y=_as_called(facts.y))
    if not method.startswith("predict"):
        return facts
    # Labels in the dataset are ignored: nothing is compared with them.
    return replace(facts, y=(), sample_weight=(), y_structure="none")


def _as_called(arrays: tuple[ArrayFacts, ...]) -> tuple[ArrayFacts, ...]:
    """Rename the parts to the names in the user's training loop."""
    return tuple(
        replace(one, path=one.use.text) if isinstance(one.use, Code) and one.use.text.isidentifier() else one
        for one in arrays
    )


def _validation(run: Interpreter, bound: Bound) -> tuple[DataFacts | None, bool]:
    """Return the validation data, and whether it is known if there is any."""
    value, node = bound.get("validation_data"), bound.nodes.get("validation_data")
    if is_none(value):
        return None, not isinstance(_split(bound), Unknown)
    batch = _told_number(bound, "validation_batch_size")
    size = _told_number(bound, "batch_size") if batch is None else batch
    steps = _told_number(bound, "validation_steps")
    if isinstance(value, (Dataset, Generated)):
        return data_facts(run, Given(value, x_node=node, batch_size=size, steps=steps), "validation"), True
    items = run.sequence(value)
    if isinstance(value, Array) and items is None:
        # Not a tuple: all of it is x.
        return data_facts(run, Given(value, x_node=node, batch_size=size, steps=steps), "validation"), True
    if items is None or not 2 <= len(items) <= 3:
        return None, False
    elements: list[ast.expr | None] = [None] * 3
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(items):
        elements[: len(items)] = node.elts
    parts: list[Value | None] = [*items, None][:3]
    given = Given(parts[0], parts[1], parts[2], elements[0], elements[1], elements[2], size, steps)
    return data_facts(run, given, "validation"), True


def _class_weight(run: Interpreter, bound: Bound) -> ClassWeight | None:
    value = bound.get("class_weight")
    pairs = objects.pairs_of(run, value)
    node = bound.nodes.get("class_weight")
    if isinstance(value, Array):
        return ClassWeight(("(ndarray)",), run.code(node))
    if pairs is None:
        return None
    made = None
    if isinstance(value, Ref):
        made = getattr(run.record(value), "node", None)
    return ClassWeight(tuple(repr(key) for key, _ in pairs), run.code(made if made is not None else node))


# --- callbacks --------------------------------------------------------------------------------------------------------


def _callbacks(run: Interpreter, bound: Bound) -> tuple[CallbackFacts, ...] | None:
    """Return the callbacks; None if one of them is unknown."""
    value = bound.get("callbacks")
    if is_none(value):
        return ()
    items = run.sequence(value)
    found: list[CallbackFacts] = []
    for item in (value,) if items is None else items:
        facts = None if item is None else _callback(run, item)
        if facts is None:
            return None
        found.append(facts)
    return tuple(found)


def _end_of_path(value: Value) -> Value | None:
    """Return the last part of `os.path.join(folder, name)`."""
    joined = isinstance(value, Made) and value.name == "os.path.join" and value.complete
    return value.positional[-1] if joined and value.positional else None  # type: ignore[union-attr]


def _callback(run: Interpreter, value: Value) -> CallbackFacts | None:
    if isinstance(value, Made) and value.name.startswith("keras.callbacks.") and value.complete:
        name = value.name.rpartition(".")[2]
        settings = dict(_CALLBACK_DEFAULTS.get(name, {}))
        given = (*zip(_CALLBACK_POSITIONS.get(name, ()), value.positional, strict=False), *value.keywords)
        for setting, inside in given:
            if isinstance(inside, Plain):
                settings[setting] = str(inside.value)
            elif isinstance(end := _end_of_path(inside), Plain):
                settings[setting] = str(end.value)
            else:
                settings.pop(setting, None)
                if setting in ("monitor", "mode"):
                    return None
        return CallbackFacts(name, tuple(settings.items()), run.code(value.node))
    if isinstance(value, Ref):
        record = run.record(value)
        if isinstance(record, InstanceRecord) and isinstance(record.owner, Class):
            return CallbackFacts(record.owner.node.name)
    return None
