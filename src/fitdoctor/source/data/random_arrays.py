"""Random arrays of NumPy and TensorFlow: shape, dtype, and the range that enough draws certainly fill."""

from __future__ import annotations

from collections.abc import Callable

from fitdoctor.facts import Unknown
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import dtype_of, frozen, size_of, to_array
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles, handles_method
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    Bounds,
    Items,
    Made,
    Named,
    Plain,
    Value,
)
from fitdoctor.source.models.layer_settings import Dims, product

_GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator")


def _drawn(dims: Dims | Unknown, low: int, high: int) -> Bounds | None:
    """Return the range of uniform random integers, if there are enough draws to reach both ends."""
    size = UNTOLD if isinstance(dims, Unknown) else product(dims)
    bounds = Bounds(low, high, True)
    return bounds if isinstance(size, int) and high >= low and size >= arrays.likely_size(bounds) else None


def _random(names: str, position: int, dtype: str) -> None:
    """Register functions that take `size` at a position and draw numbers of one dtype."""

    def function(run: Interpreter, arguments: Arguments) -> Value:
        return _sized(run, arguments, arguments.get("size", position), dtype)

    def method(run: Interpreter, arguments: Arguments) -> Value:
        return _sized(run, arguments, arguments.get("size", position + 1), dtype)

    for name in names.split():
        handles(f"numpy.random.{name}")(function)
        for generator in _GENERATORS:
            handles_method(f"{generator}.{name}")(method)


def _sized(run: Interpreter, arguments: Arguments, size: Value | None, natural: str) -> Value:
    dims = size_of(run, size)
    if (size is None or size == Plain(None)) and not _plain_parameters(arguments):
        # parameters that are arrays give one draw each
        return UNTOLD
    dtype = dtype_of(arguments.get("dtype")) if natural.startswith("float") else None
    made = natural if dtype is None else dtype
    return Array(dims, made, fractions=natural.startswith("float") and made in arrays.FLOATS)


def _plain_parameters(arguments: Arguments) -> bool:
    values = (*arguments.positional, *(value for _, value in arguments.keywords))
    return arguments.complete and all(isinstance(value, (Plain, Made, Named)) for value in values)


_random("random random_sample standard_normal sample ranf", 0, "float64")
_random("uniform normal beta gamma laplace logistic lognormal gumbel", 2, "float64")
_random("exponential rayleigh standard_t", 1, "float64")
_random("binomial", 2, "int64")
_random("poisson geometric", 1, "int64")


def _by_axes(names: str) -> None:
    """`rand(d0, d1, …)`."""

    def dims_of(values: tuple[Value, ...]) -> Array:
        dims = tuple(UNTOLD if arrays.whole(value) is None else arrays.whole(value) for value in values)
        return Array(dims, "float64", fractions=True)

    for name in names.split():
        handles(f"numpy.random.{name}")(lambda run, arguments: _axes(arguments, dims_of, 0))
        handles_method(f"numpy.random.RandomState.{name}")(
            lambda run, arguments: _axes(arguments, dims_of, 1)
        )


def _axes(arguments: Arguments, dims_of: Callable[[tuple[Value, ...]], Array], first: int) -> Value:
    return dims_of(arguments.positional[first:]) if arguments.complete else UNTOLD


_by_axes("rand randn")


def _whole_numbers(run: Interpreter, arguments: Arguments, first: int, closed: bool = False) -> Value:
    low, high = arguments.get("low", first), arguments.get("high", first + 1)
    dims = size_of(run, arguments.get("size", first + 2))
    dtype = dtype_of(arguments.get("dtype", first + 3))
    if dims == () and not _plain_parameters(arguments):
        return UNTOLD
    if high is None or (isinstance(high, Plain) and high.value is None):
        low, high = Plain(0), low
    start, stop = arrays.whole(low), arrays.whole(high)
    bounds = None if start is None or stop is None else _drawn(dims, start, stop if closed else stop - 1)
    kinds = None if bounds is None else int(bounds.high - bounds.low) + 1
    return Array(dims, "int64" if dtype is None else dtype, bounds=bounds, kinds=kinds)


@handles("numpy.random.randint")
def _randint(run: Interpreter, arguments: Arguments) -> Value:
    return _whole_numbers(run, arguments, 0)


@handles_method("numpy.random.RandomState.randint")
def _state_randint(run: Interpreter, arguments: Arguments) -> Value:
    return _whole_numbers(run, arguments, 1)


@handles_method("numpy.random.default_rng.integers", "numpy.random.Generator.integers")
def _integers(run: Interpreter, arguments: Arguments) -> Value:
    closed = arguments.get("endpoint")
    if closed is not None and not isinstance(closed, Plain):
        return UNTOLD
    return _whole_numbers(run, arguments, 1, bool(closed and closed.value))


def _chosen(run: Interpreter, arguments: Arguments, first: int) -> Value:
    pool, size = arguments.get("a", first), arguments.get("size", first + 1)
    dims = size_of(run, size)
    evenly = arguments.get("p", first + 3) is None
    number = arrays.whole(pool)
    if number is not None:
        drawn = _drawn(dims, 0, number - 1) if evenly else None
        return Array(dims, "int64", bounds=drawn, kinds=None if drawn is None else number)
    options: Array | None = None
    if isinstance(pool, Array):
        options = pool
    elif pool is not None:
        inside = frozen(run, pool)
        options = arrays.literal_array(inside.items) if isinstance(inside, Items) else None
    if options is None or options.rank != 1 or options.dims == (0,):
        return UNTOLD
    bounds = _likely(options, dims) if evenly else None
    return Array(
        dims, options.dtype, bounds=bounds, kinds=_likely_kinds(run, options, dims, arguments, first)
    )


def _likely_kinds(
    run: Interpreter, options: Array, dims: Dims | Unknown, arguments: Arguments, first: int
) -> int | None:
    """Return how many options are certainly drawn: all, if there are enough draws for the least likely."""
    size = UNTOLD if isinstance(dims, Unknown) else product(dims)
    shares = arguments.get("p", first + 3)
    given = None if shares is None else to_array(run, shares)
    least = 1 / options.kinds if options.kinds else 0.0
    if given is not None:
        least = min(given.numbers or (0.0,)) if isinstance(given, Array) else 0.0
    return options.kinds if isinstance(size, int) and least > 0 and size * least >= 20 else None


def _likely(options: Array, dims: Dims | Unknown) -> Bounds | None:
    size = UNTOLD if isinstance(dims, Unknown) else product(dims)
    bounds = arrays.bounds_of(options)
    count = len(options.numbers or ())
    if bounds is None or not count or not isinstance(size, int) or size < 20 * count:
        return None
    return Bounds(bounds.low, bounds.high, bounds.integral)


@handles("numpy.random.choice")
def _choice(run: Interpreter, arguments: Arguments) -> Value:
    return _chosen(run, arguments, 0)


@handles_method(*(f"{generator}.choice" for generator in _GENERATORS))
def _generator_choice(run: Interpreter, arguments: Arguments) -> Value:
    if arguments.get("axis") is not None:
        return UNTOLD
    return _chosen(run, arguments, 1)


def _permuted(value: Value | None) -> Value:
    number = arrays.whole(value)
    if number is not None:
        return Array((number,), "int64", bounds=Bounds(0, number - 1, True, True) if number else None)
    if isinstance(value, Array):
        return Array(value.dims, value.dtype, bounds=arrays.bounds_of(value), unit_rows=value.unit_rows)
    return UNTOLD


@handles("numpy.random.permutation")
def _permutation(run: Interpreter, arguments: Arguments) -> Value:
    return _permuted(arguments.get("x", 0))


@handles_method(*(f"{generator}.permutation" for generator in _GENERATORS))
def _generator_permutation(run: Interpreter, arguments: Arguments) -> Value:
    return _permuted(arguments.get("x", 1))


@handles_method(*(f"{generator}.shuffle" for generator in _GENERATORS))
def _generator_shuffle(run: Interpreter, arguments: Arguments) -> Value:
    for value in arguments.positional[1:]:
        if not isinstance(value, Array):
            run.state.touch(value)
    return Plain(None)


def _rows_of_shares(
    run: Interpreter, arguments: Arguments, weights: Value | None, size: Value | None, dtype: str
) -> Value:
    options = to_array(run, weights)
    dims = size_of(run, size)
    if (
        not isinstance(options, Array)
        or options.rank != 1
        or isinstance(dims, Unknown)
        or isinstance(options.dims, Unknown)
    ):
        return UNTOLD
    return Array((*dims, options.dims[0]), dtype)


@handles_method(*(f"{generator}.dirichlet" for generator in _GENERATORS))
def _dirichlet(run: Interpreter, arguments: Arguments) -> Value:
    return _rows_of_shares(run, arguments, arguments.get("alpha", 1), arguments.get("size", 2), "float64")


@handles_method(*(f"{generator}.multinomial" for generator in _GENERATORS))
def _multinomial(run: Interpreter, arguments: Arguments) -> Value:
    if not isinstance(arguments.get("n", 1), Plain):
        return UNTOLD
    return _rows_of_shares(run, arguments, arguments.get("pvals", 2), arguments.get("size", 3), "int64")


def _tensor_random(name: str, integers: bool) -> None:
    def handler(run: Interpreter, arguments: Arguments) -> Value:
        dims = size_of(run, arguments.get("shape", 0))
        dtype = dtype_of(arguments.get("dtype", 3))
        made = "float32" if dtype is None else dtype
        low, high = (
            arrays.whole(arguments.get("minval", 1) or Plain(0)),
            arrays.whole(arguments.get("maxval", 2)),
        )
        bounds = None
        if (
            integers
            and isinstance(made, str)
            and made.startswith("int")
            and low is not None
            and high is not None
        ):
            bounds = _drawn(dims, low, high - 1)
        return Array(dims, made, "tensorflow.Tensor", bounds=bounds, fractions=made in arrays.FLOATS)

    handles(f"tensorflow.random.{name}", f"keras.random.{name}")(handler)


_tensor_random("normal", False)
_tensor_random("truncated_normal", False)
_tensor_random("uniform", True)
