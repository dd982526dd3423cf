"""TensorFlow and Keras equivalents of NumPy functions."""

from __future__ import annotations

import ast

from fitdoctor.records import dataclass

_SAME_IN_TF = frozenset(
    "exp sqrt square abs sign sin cos tan sinh cosh tanh maximum minimum add subtract multiply divide negative "
    "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_not where stack "
    "expand_dims squeeze reshape transpose tile repeat zeros_like ones_like cumsum matmul round floor sort "
    "argsort roll argmax argmin zeros ones eye linspace tensordot einsum".split()
)
_IN_TF = {
    **{name: name for name in _SAME_IN_TF},
    **{name: f"math.{name}" for name in ("log", "log1p", "expm1", "ceil", "cumprod", "floormod")},
    **{name: f"reduce_{name}" for name in ("mean", "sum", "prod", "max", "min", "all", "any")},
    "amax": "reduce_max",
    "amin": "reduce_min",
    "std": "math.reduce_std",
    "var": "math.reduce_variance",
    "absolute": "abs",
    "fabs": "abs",
    "power": "pow",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "clip": "clip_by_value",
    "concatenate": "concat",
    "isnan": "math.is_nan",
    "isinf": "math.is_inf",
    "isfinite": "math.is_finite",
    "linalg.norm": "norm",
    "linalg.inv": "linalg.inv",
    "linalg.det": "linalg.det",
    "array": "convert_to_tensor",
    "asarray": "convert_to_tensor",
    "arange": "range",
    "fliplr": "reverse",
    "flipud": "reverse",
}
_WITH_MORE = {"fliplr": ", [1]", "flipud": ", [0]"}
"""Additional arguments that the TensorFlow function needs."""
_NEEDS_AXIS_BY_NAME = frozenset({"std", "var"})
_KEYWORDS = frozenset({"axis", "keepdims", "dtype"})
_IN_OPS = frozenset(
    "log log1p log2 log10 exp expm1 sqrt square abs absolute sign sin cos tan sinh cosh tanh arcsin arccos arctan "
    "arctan2 maximum minimum add subtract multiply divide true_divide negative equal not_equal greater "
    "greater_equal less less_equal logical_and logical_or logical_not where stack concatenate expand_dims "
    "squeeze reshape transpose tile repeat zeros_like ones_like cumsum cumprod matmul dot round floor ceil sort "
    "argsort roll argmax argmin zeros ones eye linspace mean sum prod max min amax amin all any std var median "
    "quantile clip isnan isinf isfinite power flip array arange average diag diagonal diff dot einsum "
    "full_like hstack vstack inner outer moveaxis nan_to_num pad ravel reciprocal select sign split "
    "swapaxes take take_along_axis tensordot trace tril triu vdot count_nonzero digitize histogram "
    "linalg.norm linalg.inv linalg.det".split()
)
_MATH = {
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "math.log",
    "log1p": "math.log1p",
    "pow": "pow",
    "fabs": "abs",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "tanh": "tanh",
    "floor": "floor",
    "ceil": "math.ceil",
    "isnan": "math.is_nan",
    "isfinite": "math.is_finite",
}
_NEEDS_AXIS = frozenset({"argmax", "argmin", "cumsum", "cumprod", "roll"})
"""Functions that flatten in NumPy without an axis, and not in TensorFlow."""


@dataclass(frozen=True)
class Twin:
    """The function that does with tensors what a NumPy function does with arrays."""

    name: str
    more: str = ""
    """Further arguments that it needs, with the comma before them."""


def twin_in(library: str, name: str, call: ast.Call, method: bool = False) -> Twin | None:
    """Return the equivalent that accepts the call's arguments; None if the library has none.

    Args:
        library: `tensorflow`, or `keras` for `keras.ops`.
        name: the resolved name, such as `numpy.mean` or `math.sqrt`.
        call: the call.
        method: whether the array is the object of a method call, not the first argument.
    """
    owner, _, short = name.partition(".")
    arguments = len(call.args) + method
    keywords = {keyword.arg for keyword in call.keywords}
    if any(isinstance(argument, ast.Starred) for argument in call.args) or keywords - _KEYWORDS:
        return None
    if short in ("array", "asarray"):
        # Of a list of tensors, that is; a tensor stays as it is.
        return Twin("stack") if arguments == 1 and not keywords else None
    if short == "where" and arguments == 1 or short in _NEEDS_AXIS_BY_NAME and arguments > 2:
        return None
    if library == "keras":
        return Twin(short) if short in _IN_OPS else None
    has_axis = arguments > 1 + (short == "roll") or "axis" in keywords
    if short in _NEEDS_AXIS and not has_axis:
        return None
    found = _MATH.get(short) if owner == "math" else _IN_TF.get(short)
    more = ", axis=0" if short == "concatenate" and not has_axis else _WITH_MORE.get(short, "")
    return Twin(found, more) if found is not None else None
