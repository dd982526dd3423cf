"""Edits of labels where they are created, and of losses and metrics where they are named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from fitdoctor.catalogue.knowledge.data.data_places import validation_part
from fitdoctor.catalogue.knowledge.labels.targets import Target
from fitdoctor.catalogue.knowledge.models.size_sources import constant_behind
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import (
    LearningEdit,
    fix,
    remove_argument,
    rework,
    rework_place,
    set_argument,
    spell,
    unsafe,
    wrap,
)
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, LayerFacts, MetricFacts, Unknown
from fitdoctor.source.project import Project

_NAMED = re.compile(r"(?s)(?P<path>(?:\w+\.)*)(?P<name>\w+)(?P<call>\(.*\))?")
_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<name>\w+)(?P=quote)")

SPARSE_METRICS = {
    "categorical_accuracy": "sparse_categorical_accuracy",
    "CategoricalAccuracy": "SparseCategoricalAccuracy",
    "top_k_categorical_accuracy": "sparse_top_k_categorical_accuracy",
    "TopKCategoricalAccuracy": "SparseTopKCategoricalAccuracy",
    "categorical_crossentropy": "sparse_categorical_crossentropy",
    "CategoricalCrossentropy": "SparseCategoricalCrossentropy",
}
"""Metrics for one-hot labels, with their counterparts for integer labels."""
ROW_METRICS = {sparse: rows for rows, sparse in SPARSE_METRICS.items()}


def is_from_pipeline(labels: ArrayFacts, data: DataFacts) -> bool:
    """Whether the code of the labels is the pipeline or generator that yields them, not an array."""
    return data.form != "arrays" and labels.code == data.code


def rework_labels(
    labels: ArrayFacts, data: DataFacts, array: str, tensor: str = "", fit: FitFacts | Unknown | None = None
) -> tuple[Edit, ...]:
    """Change the labels where they are created, or with a `map` over their dataset.

    Args:
        labels: the labels to change.
        data: the data they belong to.
        array: the new expression with `{}` for the old one and `np` for NumPy.
        tensor: the new expression in terms of a batch `y`, with `tf` for TensorFlow.
        fit: the call, if separate validation labels must change too.
    """
    if is_from_pipeline(labels, data):
        return _mapped(labels, data, tensor)
    imports: tuple[Edit, ...] = ()
    if array.startswith(("{} +", "{} -", "({} +", "({} -")) and _is_list(
        rework_place(labels.code, labels.use)
    ):
        array = array.replace("{}", "np.array({})")
    if "np." in array:
        name, imports = spell(rework_place(labels.code, labels.use), "numpy", "np")
        array = array.replace("np.", f"{name}.")
    edits = rework(labels.code, labels.use, array)
    return (*edits, *_of_validation(labels, fit, array), *imports) if edits else ()


def _is_list(code: Code | Unknown) -> bool:
    """Whether an expression is a Python list, from which nothing can be subtracted."""
    if isinstance(code, Unknown):
        return False
    try:
        node = ast.parse(f"({code.text}\n)", mode="eval").body
    except SyntaxError:
        return False
    while isinstance(node, ast.BinOp):
        node = node.left if isinstance(node.left, ast.List | ast.BinOp) else node.right
    return isinstance(node, ast.List | ast.ListComp)


def one_hot_fix(labels: ArrayFacts, target: Target) -> Fix:
    """Return a fix that one-hot encodes the integer labels of an output."""
    units = target.units
    keras, imports = spell(labels.use, "keras", "keras")
    counted = f", num_classes={units}" if units else ""
    edits = rework_labels(
        labels,
        target.data,
        f"{keras}.utils.to_categorical({{}}{counted})",
        f"tf.one_hot(tf.cast(y, tf.int32), {units})",
    )
    if not units and target.data.form == "dataset":
        edits = ()
    # Validation labels must change too, and an edit of one array does not reach them.
    title = "one-hot encode the labels" + (f" with {units} classes" if units else "")
    return fix(title, edits if target.data.role == "training" else (), imports if edits else ())


def folder_one_hot_fix(target: Target) -> Fix | None:
    """Return a fix for a folder that is read with `class_mode="binary"` but feeds three or more units."""
    source = target.labels.code if target.labels is not None else None
    given = source.argument("class_mode") if isinstance(source, Code) else None
    if given is None or given.text.strip("\"'") != "binary" or target.loss is None or (target.units or 0) < 3:
        return None
    is_row_loss = target.loss_name == "categorical_crossentropy"
    return unsafe(
        'read one-hot labels, one column per class: `class_mode="categorical"`',
        set_argument(source or Unknown(), "class_mode", '"categorical"'),
        () if is_row_loss else respell(target.loss.code, "categorical_crossentropy"),
        with_activation(target.layer, "softmax") if target.activation == "sigmoid" else (),
    )


def _of_validation(labels: ArrayFacts, fit: FitFacts | Unknown | None, array: str) -> tuple[Edit, ...]:
    """Change `validation_data=(x, y)` too, unless both come from the array that is edited."""
    changed = rework_place(labels.code, labels.use)
    if fit is None or isinstance(fit, Unknown) or isinstance(changed, Unknown):
        return ()
    if changed is not labels.use and isinstance(labels.use, Code) and labels.use.text != changed.target:
        return ()
    given = validation_part(fit, 1)
    # A slice of the edited array changes with it.
    return () if given is None or given.text == changed.target else wrap(given, array)


def _mapped(labels: ArrayFacts, data: DataFacts, tensor: str) -> tuple[Edit, ...]:
    if data.form != "dataset" or data.element_size != 2 or data.y_structure != "single" or not tensor:
        return ()
    name, imports = spell(labels.use, "tensorflow", "tf") if "tf." in tensor else ("tf", ())
    edits = wrap(labels.use, f"{{}}.map(lambda x, y: (x, {tensor.replace('tf.', f'{name}.')}))")
    return (*edits, *imports) if edits else ()


def respell(code: Code | Unknown, name: str, without: Iterable[str] = ()) -> tuple[Edit, ...]:
    """Replace the loss, given as a string, function or object, by another one (in snake case).

    Args:
        code: the loss argument.
        name: the other loss.
        without: arguments the other loss does not accept; if one is present, nothing is edited.
    """
    if isinstance(code, Unknown):
        return ()
    quoted = _QUOTED.fullmatch(code.text)
    if quoted:
        return (LearningEdit(code.location, f"{quoted['quote']}{name}{quoted['quote']}"),)
    named = _NAMED.fullmatch(code.text)
    if named is None or any(f"{argument}=" in code.text for argument in without):
        return ()
    new = camel_case(name) if named["name"][:1].isupper() else name
    path = named["path"]
    imports: tuple[Edit, ...] = ()
    if not path:
        keras, imports = spell(code, "keras", "keras")
        path = f"{keras}.losses."
    return (LearningEdit(code.location, f"{path}{new}{named['call'] or ''}"), *imports)


def camel_case(name: str) -> str:
    """Return the class name: `MeanSquaredError` for `mean_squared_error`."""
    return "".join(part.capitalize() for part in name.split("_"))


def respell_metrics(metrics: Iterable[MetricFacts], names: dict[str, str]) -> tuple[Edit, ...]:
    """Rename the metrics that can be renamed in place."""
    edits: list[Edit] = []
    for metric in metrics:
        if isinstance(metric.code, Unknown):
            continue
        text = metric.code.text
        quoted = _QUOTED.fullmatch(text)
        named = _NAMED.fullmatch(text)
        if quoted and quoted["name"] in names:
            edits.append(Edit(metric.code.location, text.replace(quoted["name"], names[quoted["name"]])))
        elif named and named["path"] and named["name"] in names:
            new = f"{named['path']}{names[named['name']]}{named['call'] or ''}"
            edits.append(Edit(metric.code.location, new))
    return tuple(edits)


def with_units(layer: LayerFacts | None, units: int, project: Project | None = None) -> tuple[Edit, ...]:
    """Set the units or filters of a layer, at the definition of the number if it has a name."""
    if layer is None:
        return ()
    setting = "units" if layer.setting("units") is not None else "filters"
    given = layer.code.argument(setting, 0) if isinstance(layer.code, Code) else None
    if given is not None and not given.text.isdigit() and project is not None:
        constant = constant_behind(project, given)
        if constant is not None:
            return (LearningEdit(constant.location, str(units)),)
    return set_argument(layer.code, setting, str(units), position=0)


def with_activation(layer: LayerFacts | None, name: str) -> tuple[Edit, ...]:
    """Set the activation of a layer."""
    if layer is None or isinstance(layer.code, Unknown):
        return ()
    if layer.class_name == "Activation":
        return set_argument(layer.code, "activation", f'"{name}"', position=0)
    if layer.setting("activation") is None:
        return ()
    recurrent = layer.class_name in ("LSTM", "GRU", "SimpleRNN")
    position = 1 if recurrent or layer.class_name == "Dense" else None
    given = next((each for each in layer.code.arguments if each.name == "activation"), None)
    # A setting that holds the name is changed where it is written.
    setting = given is not None and not given.text.strip("\"'").endswith(str(layer.setting("activation")))
    if name == "linear" and not recurrent and not setting:  # the default, except for recurrent layers
        left_out = remove_argument(layer.code, "activation", position)
        if left_out:
            return left_out
    return set_argument(layer.code, "activation", f'"{name}"', position=position)
