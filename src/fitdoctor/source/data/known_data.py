"""Datasets shipped with Keras and scikit-learn, with their shapes, dtypes and ranges."""

from __future__ import annotations

import math

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import to_array
from fitdoctor.source.interpreter import objects
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.joining import samples_in_a_list
from fitdoctor.source.interpreter.library import ATTRIBUTES, handles, handles_method
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Bounds,
    Items,
    ListRecord,
    Made,
    Named,
    Plain,
    Ref,
    Value,
)
from fitdoctor.source.models.layer_settings import Dim


def _pair(x: Array, y: Array) -> Items:
    return Items((x, y))


def _images(count: int, axes: tuple[Dim, ...], classes: int, column: bool) -> Items:
    labels = (count, 1) if column else (count,)
    return _pair(
        Array((count, *axes), "uint8", bounds=Bounds(0, 255, True)),
        Array(labels, "uint8", bounds=Bounds(0, classes - 1, True), kinds=classes),
    )


@handles("keras.datasets.mnist.load_data", "keras.datasets.fashion_mnist.load_data")
def _mnist(run: Interpreter, arguments: Arguments) -> Value:
    return Items((_images(60000, (28, 28), 10, False), _images(10000, (28, 28), 10, False)))


def _colored(run: Interpreter) -> tuple[Dim, ...]:
    """Return the axes of a CIFAR image: the channels come first if Keras is set so."""
    return (32, 32, 3) if run.plain_defaults else (UNTOLD, UNTOLD, UNTOLD)


@handles("keras.datasets.cifar10.load_data")
def _cifar10(run: Interpreter, arguments: Arguments) -> Value:
    return Items((_images(50000, _colored(run), 10, True), _images(10000, _colored(run), 10, True)))


@handles("keras.datasets.cifar100.load_data")
def _cifar100(run: Interpreter, arguments: Arguments) -> Value:
    mode = arguments.get("label_mode", 0)
    classes = {None: 100, "fine": 100, "coarse": 20}.get(mode.value if isinstance(mode, Plain) else None, 100)
    if mode is not None and not isinstance(mode, Plain):
        return UNTOLD
    sets = (_images(50000, _colored(run), classes, True), _images(10000, _colored(run), classes, True))
    untyped = [
        Items(
            tuple(
                replace(part, dtype=UNTOLD) if at else part
                for at, part in enumerate(one.items)
                if isinstance(part, Array)
            )
        )
        for one in sets
    ]
    return Items(tuple(untyped))


@handles("keras.datasets.imdb.load_data")
def _imdb(run: Interpreter, arguments: Arguments) -> Value:
    if set(arguments.names()) & {"maxlen"} or len(arguments.positional) > 3:
        return UNTOLD
    texts = Array((25000,), "object")
    labels = Array((25000,), "int64", bounds=Bounds(0, 1, True))
    return Items((_pair(texts, labels), _pair(texts, labels)))


@handles("keras.datasets.reuters.load_data")
def _reuters(run: Interpreter, arguments: Arguments) -> Value:
    if set(arguments.names()) & {"maxlen", "test_split"} or len(arguments.positional) > 3:
        return UNTOLD
    labels = Bounds(0, 45, True)
    return Items(
        tuple(
            _pair(Array((count,), "object"), Array((count,), "int64", bounds=labels, kinds=46))
            for count in (8982, 2246)
        )
    )


@handles("keras.datasets.boston_housing.load_data")
def _boston(run: Interpreter, arguments: Arguments) -> Value:
    if arguments.get("test_split", 1) is not None:
        return UNTOLD
    return Items(
        (
            _pair(Array((404, 13), "float64"), Array((404,), "float64")),
            _pair(Array((102, 13), "float64"), Array((102,), "float64")),
        )
    )


# --- scikit-learn -----------------------------------------------------------------------------------------------------

_BUNDLED: dict[str, tuple[int, int, int]] = {
    "load_iris": (150, 4, 3),
    "load_digits": (1797, 64, 10),
    "load_breast_cancer": (569, 30, 2),
    "load_wine": (178, 13, 3),
    "load_diabetes": (442, 10, 0),
    "fetch_california_housing": (20640, 8, 0),
}
"""Samples, features, and classes (0 for regression)."""


_MEASURED = {
    "load_diabetes": Bounds(25, 346, True),
    "fetch_california_housing": Bounds(0.14999, 5.00001, False),
}
"""Target ranges of the regression datasets."""


def _bundled(name: str) -> Items:
    samples, features, classes = _BUNDLED[name]
    bounds = Bounds(0, classes - 1, True) if classes else _MEASURED.get(name)
    y = Array((samples,), "int64" if classes else "float64", bounds=bounds, kinds=classes or None)
    return _pair(Array((samples, features), "float64"), y)


def _loader(name: str) -> None:
    full = f"sklearn.datasets.{name}"

    def handler(run: Interpreter, arguments: Arguments) -> Value:
        if objects.truth(run, arguments.get("as_frame") or Plain(False)) is not False or arguments.get(
            "n_class"
        ):
            return UNTOLD
        whole = objects.truth(run, arguments.get("return_X_y") or Plain(False))
        if whole is None:
            return UNTOLD
        return _bundled(name) if whole else Made(full, node=arguments.node)

    handles(full)(handler)


def _bunch_attribute(run: Interpreter, made: Made, name: str) -> Value | None:
    """Return `bunch.data` and `bunch.target` of scikit-learn datasets."""
    loader = made.name.removeprefix("sklearn.datasets.")
    if loader in _BUNDLED and name in ("data", "target"):
        return _bundled(loader).items[name == "target"]
    if (loader, name) == ("load_digits", "images"):
        return Array((1797, 8, 8), "float64")
    return None


for _name in _BUNDLED:
    _loader(_name)
    ATTRIBUTES[f"sklearn.datasets.{_name}"] = _bunch_attribute


@handles("sklearn.datasets.make_classification")
def _make_classification(run: Interpreter, arguments: Arguments) -> Value:
    samples = _number(arguments, "n_samples", 0, 100)
    features = _number(arguments, "n_features", 1, 20)
    classes = _number(arguments, "n_classes", None, 2)
    drawn = isinstance(samples, int) and isinstance(classes, int) and samples >= 40 * classes
    even = arguments.get("weights") is None and len(arguments.positional) <= 2
    bounds = Bounds(0, classes - 1, True) if drawn and even and isinstance(classes, int) else None
    kinds = None if bounds is None or isinstance(classes, Unknown) else classes
    return _pair(
        Array((samples, features), "float64"), Array((samples,), "int64", bounds=bounds, kinds=kinds)
    )


@handles("sklearn.datasets.make_regression")
def _make_regression(run: Interpreter, arguments: Arguments) -> Value:
    samples = _number(arguments, "n_samples", 0, 100)
    features = _number(arguments, "n_features", 1, 100)
    targets = _number(arguments, "n_targets", None, 1)
    if len(arguments.positional) > 2 or arguments.get("coef") is not None:
        return UNTOLD
    y: tuple[Dim, ...] = (samples,) if targets == 1 else (samples, targets)
    if isinstance(targets, Unknown):
        return Items((Array((samples, features), "float64"), UNTOLD))
    return _pair(Array((samples, features), "float64"), Array(y, "float64", fractions=True))


@handles("sklearn.datasets.make_blobs")
def _make_blobs(run: Interpreter, arguments: Arguments) -> Value:
    samples = _number(arguments, "n_samples", 0, 100)
    features = _number(arguments, "n_features", 1, 2)
    centers = _number(arguments, "centers", 2, 3)
    if arguments.get("return_centers") is not None or not isinstance(samples, int):
        return UNTOLD
    if isinstance(centers, Unknown):
        features = UNTOLD if not arrays.is_whole(arguments.get("n_features", 1)) else features
    told = isinstance(centers, int) and samples >= centers
    bounds = Bounds(0, centers - 1, True) if told and isinstance(centers, int) else None
    kinds = None if bounds is None or isinstance(centers, Unknown) else centers
    return _pair(
        Array((samples, features), "float64"), Array((samples,), "int64", bounds=bounds, kinds=kinds)
    )


@handles("sklearn.datasets.make_moons", "sklearn.datasets.make_circles")
def _make_moons(run: Interpreter, arguments: Arguments) -> Value:
    samples = _number(arguments, "n_samples", 0, 100)
    bounds = Bounds(0, 1, True) if isinstance(samples, int) and samples >= 2 else None
    return _pair(Array((samples, 2), "float64"), Array((samples,), "int64", bounds=bounds))


def _number(arguments: Arguments, name: str, position: int | None, default: int) -> int | Unknown:
    value = arguments.get(name, position)
    if value is None:
        return default
    number = arrays.whole(value)
    return UNTOLD if number is None else number


@handles("sklearn.model_selection.train_test_split")
def _split(run: Interpreter, arguments: Arguments) -> Value:
    if not arguments.complete:
        return UNTOLD
    parts: list[Value] = []
    for value in arguments.positional:
        parts.extend(_split_one(run, value, arguments))
    return Items(tuple(parts))


def _split_one(run: Interpreter, value: Value, arguments: Arguments) -> tuple[Value, Value]:
    record = run.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord):
        part = samples_in_a_list(record)
        return run.allocate(part), run.allocate(part)
    if not isinstance(value, Array) or isinstance(value.dims, Unknown):
        return UNTOLD, UNTOLD
    train, test = split_counts(value.dims[0], arguments.get("train_size"), arguments.get("test_size"))
    return _rows(value, train), _rows(value, test)


def split_counts(count: Dim, train: Value | None, test: Value | None) -> tuple[Dim, Dim]:
    """Return the number of samples on either side of `train_test_split`."""
    if not isinstance(count, int) or (train is not None and train != Plain(None)):
        return UNTOLD, UNTOLD
    share = 0.25 if test is None or test == Plain(None) else test.value if isinstance(test, Plain) else None
    if isinstance(share, bool) or not isinstance(share, (int, float)):
        return UNTOLD, UNTOLD
    held = math.ceil(share * count) if isinstance(share, float) else share
    return (count - held, held) if 0 < held < count else (UNTOLD, UNTOLD)


def _rows(array: Array, count: Dim) -> Array:
    """Return a random subset of the rows, which keeps the value range if it is large enough."""
    assert not isinstance(array.dims, Unknown)
    bounds = arrays.bounds_of(array)
    size = count if len(array.dims) == 1 else UNTOLD
    keeps = (
        bounds is not None
        and bounds.integral
        and isinstance(size, int)
        and size >= arrays.likely_size(bounds)
    )
    columns = None
    if array.columns is not None:
        columns = tuple((name, replace(column, dims=(count,))) for name, column in array.columns)
    return Array(
        (count, *array.dims[1:]),
        array.dtype,
        array.container,
        bounds=replace(bounds, complete=False) if keeps and bounds is not None else None,
        unit_rows=array.unit_rows,
        columns=columns,
        kinds=array.kinds if isinstance(count, int) and count >= 20 * (array.kinds or 0) else None,
        fractions=array.fractions,
    )


_SCALERS = tuple(
    f"sklearn.preprocessing.{name}"
    for name in (
        "StandardScaler",
        "MinMaxScaler",
        "RobustScaler",
        "MaxAbsScaler",
        "Normalizer",
        "QuantileTransformer",
    )
)


@handles_method(
    *(
        f"{scaler}.{method}"
        for scaler in _SCALERS
        for method in ("fit_transform", "transform", "inverse_transform")
    )
)
def _scaled(run: Interpreter, arguments: Arguments) -> Value:
    array = to_array(run, arguments.get("X", 1))
    if not isinstance(array, Array) or array.rank != 2:
        return UNTOLD
    dtype: str | Unknown = array.dtype if array.dtype in ("float32", "float64") else UNTOLD
    if array.dtype in ("int64", "int32", "uint8", "bool"):
        dtype = "float64"
    return Array(array.dims, dtype, fractions=array.fractions)


@handles_method(*(f"{scaler}.fit" for scaler in _SCALERS))
def _fitted(run: Interpreter, arguments: Arguments) -> Value:
    return arguments.positional[0]


@handles_method("sklearn.model_selection.KFold.split", "sklearn.model_selection.StratifiedKFold.split")
def _folds(run: Interpreter, arguments: Arguments) -> Value:
    folds = arguments.positional[0]
    data = arguments.get("X", 1)
    count = arrays.whole(folds.get("n_splits", 0) or Plain(5)) if isinstance(folds, Made) else None
    if count is None or not 2 <= count <= 50:
        return UNTOLD
    dims = data.dims if isinstance(data, Array) else UNTOLD
    samples = dims[0] if not isinstance(dims, Unknown) and dims else UNTOLD
    pairs: list[Value] = []
    for fold in range(count):
        held: Dim = UNTOLD
        if isinstance(samples, int) and isinstance(folds, Made) and folds.name.endswith(".KFold"):
            held = samples // count + (fold < samples % count)
        rest = samples - held if isinstance(samples, int) and isinstance(held, int) else UNTOLD
        pairs.append(Items((Array((rest,), "int64"), Array((held,), "int64"))))
    return Items(tuple(pairs))


# --- pictures ---------------------------------------------------------------------------------------------------------

_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
_PICTURE = "keras.utils.load_img"


@handles("keras.utils.load_img", "keras.preprocessing.image.load_img")
def _load_img(run: Interpreter, arguments: Arguments) -> Value:
    # In Keras 2 `grayscale` comes second.
    later = 1 if run.module.keras == 2 else 0
    size = run.sequence(arguments.get("target_size", 2 + later)) or (UNTOLD, UNTOLD)
    mode = arguments.get("color_mode", 1 + later) or Plain("rgb")
    grey = arguments.get("grayscale", later or None) or Plain(False)
    if grey != Plain(False):
        mode = Plain("grayscale") if grey == Plain(True) else UNTOLD
    depth = _CHANNELS.get(mode.value) if isinstance(mode, Plain) else None
    if depth is None or len(size) != 2 or not arguments.complete:
        return UNTOLD
    picture = Array((*(arrays.dim_of(side) for side in size), depth), "float32")
    return Made(_PICTURE, (picture,), node=arguments.node)


@handles("keras.utils.img_to_array", "keras.preprocessing.image.img_to_array")
def _img_to_array(run: Interpreter, arguments: Arguments) -> Value:
    picture = arguments.get("img", 0)
    if isinstance(picture, Made) and picture.name == _PICTURE and len(arguments.positional) == 1:
        return picture.positional[0]
    return UNTOLD


@handles("cv2.imread")
def _imread(run: Interpreter, arguments: Arguments) -> Value:
    flags = arguments.get("flags", 1)
    name = flags.name if isinstance(flags, Named) else ""
    if flags in (None, Plain(1)) or name == "cv2.IMREAD_COLOR":
        return Array((UNTOLD, UNTOLD, 3), "uint8")
    return Array((UNTOLD, UNTOLD), "uint8") if flags == Plain(0) or name == "cv2.IMREAD_GRAYSCALE" else UNTOLD


@handles("cv2.resize")
def _cv2_resize(run: Interpreter, arguments: Arguments) -> Value:
    """The size is width, then height."""
    picture, size = arguments.get("src", 0), run.sequence(arguments.get("dsize", 1))
    if not isinstance(picture, Array) or isinstance(picture.dims, Unknown) or size is None or len(size) != 2:
        return UNTOLD
    return Array((arrays.dim_of(size[1]), arrays.dim_of(size[0]), *picture.dims[2:]), picture.dtype)


@handles("cv2.cvtColor")
def _cvt_color(run: Interpreter, arguments: Arguments) -> Value:
    picture, code = arguments.get("src", 0), arguments.get("code", 1)
    name = code.name if isinstance(code, Named) else ""
    if not isinstance(picture, Array) or picture.rank != 3 or isinstance(picture.dims, Unknown):
        return UNTOLD
    if name.endswith("2GRAY"):
        return Array(picture.dims[:2], picture.dtype)
    return Array(picture.dims, picture.dtype) if name.endswith(("2RGB", "2BGR", "2HSV", "2LAB")) else UNTOLD
