"""Encoders of scikit-learn and pandas: integer class labels, one-hot labels, and the number of classes."""

from __future__ import annotations

from fitdoctor.facts import Unknown
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import dtype_of, to_array
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import ATTRIBUTES, handles, handles_method
from fitdoctor.source.interpreter.values import UNTOLD, Arguments, Array, Bounds, Items, Made, Plain, Value
from fitdoctor.source.models.layer_settings import Dim

_ENCODERS = ("LabelEncoder", "LabelBinarizer", "OneHotEncoder", "OrdinalEncoder")
_SPARSE = "sklearn.preprocessing.OneHotEncoder.sparse"


def codes(array: Array) -> Array:
    """Return integer class labels, one per value."""
    bounds = None if not array.kinds else Bounds(0, array.kinds - 1, True)
    return Array(array.dims, "int64", bounds=bounds, kinds=array.kinds)


def unit_rows(rows: Dim, kinds: int | None, dtype: str | Unknown, container: str = "numpy.ndarray") -> Array:
    """Return one-hot labels for that many classes."""
    bounds = Bounds(0, 1, True) if kinds and kinds > 1 else None
    return Array((rows, UNTOLD if kinds is None else kinds), dtype, container, bounds=bounds, unit_rows=True)


def _data(run: Interpreter, arguments: Arguments) -> Array | None:
    """Return the data passed to an encoder, which is the receiver."""
    array = to_array(run, arguments.get("y", 1) or arguments.get("X"))
    return array if isinstance(array, Array) and not isinstance(array.dims, Unknown) else None


def _note(run: Interpreter, arguments: Arguments, array: Array | None) -> None:
    """Record the number of classes that the encoder saw; unknown if it is fitted twice."""
    encoder = arguments.positional[0]
    if isinstance(encoder, Made) and encoder.node is not None:
        kinds = None if array is None else array.kinds
        run.classes[encoder.node] = kinds if run.classes.get(encoder.node, kinds) == kinds else None


@handles_method(*(f"sklearn.preprocessing.{name}.fit" for name in _ENCODERS))
def _fit(run: Interpreter, arguments: Arguments) -> Value:
    _note(run, arguments, _data(run, arguments))
    return arguments.positional[0]


def _known_classes(run: Interpreter, made: Made, name: str) -> Value | None:
    """Return `encoder.classes_` of a fitted encoder."""
    if name != "classes_" or made.node is None:
        return None
    kinds = run.classes.get(made.node)
    return UNTOLD if kinds is None else Array((kinds,), UNTOLD)


for _name in ("LabelEncoder", "LabelBinarizer"):
    ATTRIBUTES[f"sklearn.preprocessing.{_name}"] = _known_classes


@handles_method("sklearn.preprocessing.LabelEncoder.fit_transform")
def _encoded(run: Interpreter, arguments: Arguments) -> Value:
    array = _data(run, arguments)
    _note(run, arguments, array)
    return codes(array) if array is not None and array.rank == 1 else UNTOLD


@handles_method("sklearn.preprocessing.LabelEncoder.transform")
def _encoded_again(run: Interpreter, arguments: Arguments) -> Value:
    array = _data(run, arguments)
    return Array(array.dims, "int64") if array is not None and array.rank == 1 else UNTOLD


@handles_method("sklearn.preprocessing.LabelBinarizer.fit_transform")
def _binarized(run: Interpreter, arguments: Arguments) -> Value:
    array = _data(run, arguments)
    _note(run, arguments, array)
    if array is None or isinstance(array.dims, Unknown) or array.rank != 1:
        return UNTOLD
    rows, kinds = array.dims[0], array.kinds
    if kinds is None:
        return Array((rows, UNTOLD), "int64")
    if kinds <= 2:
        # two classes take one column
        return Array((rows, 1), "int64", bounds=Bounds(0, 1, True) if kinds == 2 else None)
    return unit_rows(rows, kinds, "int64")


@handles_method(
    "sklearn.preprocessing.OneHotEncoder.fit_transform", "sklearn.preprocessing.OneHotEncoder.transform"
)
def _one_hot(run: Interpreter, arguments: Arguments) -> Value:
    encoder, array = arguments.positional[0], _data(run, arguments)
    if not isinstance(encoder, Made) or array is None or isinstance(array.dims, Unknown):
        return UNTOLD
    if array.rank != 2 or encoder.get("drop") is not None:
        return UNTOLD
    again = arguments.node.func
    kinds = array.kinds if array.dims[1] == 1 and getattr(again, "attr", "") == "fit_transform" else None
    made = unit_rows(array.dims[0], kinds, "float64")
    if array.dims[1] != 1:
        made = Array(made.dims, made.dtype)
    sparse = encoder.get("sparse_output") or encoder.get("sparse") or Plain(True)
    if objects.truth(run, sparse) is None:
        return UNTOLD
    return made if objects.truth(run, sparse) is False else Made(_SPARSE, (made,), node=arguments.node)


@handles_method(f"{_SPARSE}.toarray", f"{_SPARSE}.todense")
def _dense(run: Interpreter, arguments: Arguments) -> Value:
    sparse = arguments.positional[0]
    return sparse.positional[0] if isinstance(sparse, Made) else UNTOLD


@handles("pandas.get_dummies")
def _dummies(run: Interpreter, arguments: Arguments) -> Value:
    given = arguments.get("data", 0)
    array = given if isinstance(given, Array) else to_array(run, given)
    dtype = dtype_of(arguments.get("dtype", 7)) or "bool"
    plain = set(arguments.names()) <= {"data", "dtype", "prefix"} and len(arguments.positional) <= 1
    if not isinstance(array, Array) or isinstance(array.dims, Unknown) or not array.dims:
        return Array((UNTOLD, UNTOLD), UNTOLD, "pandas.DataFrame")
    rows = array.dims[0]
    if array.rank == 1:
        dropped = "drop_first" in arguments.names()
        return (
            unit_rows(rows, array.kinds if plain else None, dtype, "pandas.DataFrame")
            if not dropped
            else (Array((rows, UNTOLD), dtype, "pandas.DataFrame"))
        )
    width = _width(array) if plain else UNTOLD
    return Array((rows, width), UNTOLD, "pandas.DataFrame")


def _width(table: Array) -> Dim:
    """Return the number of columns after every text column has become one per category."""
    total = 0
    for _, column in table.columns or (("", Array()),):
        if not isinstance(column.dtype, str) or (column.dtype == "str" and column.kinds is None):
            return UNTOLD
        if column.dtype not in ("str", *arrays.SIZES, *arrays.FLOATS, "bool"):
            return UNTOLD
        total += column.kinds or 1 if column.dtype == "str" else 1
    return total


@handles("pandas.factorize")
def _factorized(run: Interpreter, arguments: Arguments) -> Value:
    array = to_array(run, arguments.get("values", 0))
    if not isinstance(array, Array) or array.rank != 1:
        return UNTOLD
    kinds = UNTOLD if array.kinds is None else array.kinds
    return Items((codes(array), Array((kinds,), UNTOLD)))


@handles("numpy.unique", "pandas.unique")
def _unique(run: Interpreter, arguments: Arguments) -> Value:
    array = to_array(run, arguments.positional[0]) if arguments.positional else UNTOLD
    if not isinstance(array, Array) or len(arguments.positional) > 1 or arguments.keywords:
        return UNTOLD
    return Array((UNTOLD if array.kinds is None else array.kinds,), array.dtype, kinds=array.kinds)


@handles("sklearn.utils.class_weight.compute_class_weight")
def _class_weights(run: Interpreter, arguments: Arguments) -> Value:
    """Return one weight per class, in the order of `classes`."""
    classes = to_array(run, arguments.get("classes"))
    rows: Dim = UNTOLD
    if isinstance(classes, Array) and not isinstance(classes.dims, Unknown) and classes.rank == 1:
        rows = classes.dims[0]
    return Array((rows,), "float64")
