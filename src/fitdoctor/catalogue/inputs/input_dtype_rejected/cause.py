"""Tensor dtype that an operation rejects.

## What happens

In a subclassed model, a custom layer or a `train_step`: `TypeError: Input 'b' of 'MatMul' Op has type float32 that
does not match type int32 of argument 'a'`, or `Value passed to parameter 'input' has DataType int64 not in list of
allowed values`. In eager code: `InvalidArgumentError: Value for attr 'T' of int64 is not in the list of allowed
values`, `cannot compute MatMul as input #1(zero-based) was expected to be a double tensor but is a float tensor`:
NumPy computes in float64, variables are float32. In the opposite case,
`tf.nn.sparse_softmax_cross_entropy_with_logits`, `tf.gather` and `tf.one_hot` reject labels or indices that are
floats, with the same messages.

## Why

Sequential and functional models cast their inputs to the dtype of their `Input`. Elsewhere Keras casts only floats:
integers stay integers until a TensorFlow operation combines them with float weights. A custom learning rate schedule
is called with an integer step.

## Fix

Cast the data (`x.astype("float32")`), or cast in the model: `tf.cast(inputs, self.compute_dtype)`. For labels and
indices: `tf.cast(labels, tf.int32)`.

## Known limits

A mix of float16 and float32 under mixed precision is explained only after the operation has failed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.contents import arrays_of
from fitdoctor.catalogue.knowledge.data.data_places import maker, map_samples, rework_data, reworked
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure, went_through
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, spell, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, Frame, ModelFacts, Unknown
from fitdoctor.failure.failed_line import module_of, nodes_at, raised_here
from fitdoctor.failure.patterns import DtypeMismatch, dtype_mismatch
from fitdoctor.records import replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import names_in
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of, own_nodes

CAUSE = Cause(
    id="FIT111",
    slug="input-dtype-rejected",
    severity=Severity.ERROR,
    aspect="dtype",
    raises=("TypeError", "InvalidArgumentError"),
)

_INTEGERS = ("int", "uint", "bool")
_LONG_FLOATS = ("float64", "double")
_FLOATS = ("float", "half", "bfloat")
_HALVES = ("half", "float16", "bfloat16")


@CAUSE.in_source
@mentions("LearningRateSchedule")
def from_schedule(module: Module) -> Iterator[Finding]:
    """Report a schedule that applies a float operation to the step, an integer in Keras 3."""
    for function, call, name in _steps_as_floats(module):
        said = DtypeMismatch(found="int64", expected="float32")
        yield replace(_of_parameter(said, function, call, name), confidence=Confidence.LIKELY)


@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report integers that the trial found in place of floats."""
    failure = forward_failure(data)
    if failure is None or data.role != "training":
        return
    said = _types_met(failure.type, failure.message)
    # Under mixed precision no array is wrong; the failed operation shows more.
    if said is not None and not _is_mixed(said):
        yield _finding(said, failure.place, data, fit)


def _types_met(kind: str, message: str) -> DtypeMismatch | None:
    """Return the two dtypes if float32 is combined with an integer, float64 or float16."""
    said = dtype_mismatch(message)
    if said is None or kind not in ("TypeError", "ValueError", "InvalidArgumentError", "NotFoundError"):
        return None
    if _is_mixed(said):
        return said
    if _wants_whole(said):
        return None
    wrong = [name for name in (said.found, said.expected) if name.startswith((*_INTEGERS, *_LONG_FLOATS))]
    return said if len(wrong) == 1 and _other(said, wrong[0]).startswith(_FLOATS) else None


def _is_mixed(said: DtypeMismatch) -> bool:
    """Whether a float32 met what Keras computes with under mixed precision."""
    names = (said.found, said.expected)
    return any(name in _HALVES for name in names) and any(name in ("float32", "float") for name in names)


def _other(said: DtypeMismatch, name: str) -> str:
    return said.expected if said.found == name else said.found


def _finding(
    said: DtypeMismatch, where: Location | None, data: DataFacts | Unknown, fit_call: FitFacts | Unknown
) -> Finding:
    wrong = _wrong_of(said)
    arrays = _arrays_of(data, wrong)
    names = listing(array.path for array in arrays) or "the input"
    operation = f" `{said.operation}`" if said.operation else ""
    return CAUSE.certain(
        f"{names} has dtype {wrong}, but the operation{operation} expects {_wanted(wrong)}",
        place(where, maker(arrays[0]) if arrays else None),
        replace(
            _types_that_met(said),
            fact="data.x.dtype",
            location=place(arrays[0].code, arrays[0].use) if arrays else None,
        ),
        *_fixes(arrays, data, fit_call),
        subject="dtype of the features",
    )


def _wrong_of(said: DtypeMismatch) -> str:
    if _is_mixed(said):
        return said.found if said.allowed else "float32"
    wrong = (*_INTEGERS, *_LONG_FLOATS)
    name = next(name for name in (said.found, said.expected) if name.startswith(wrong))
    return "float64" if name == "double" else name


def _types_that_met(said: DtypeMismatch) -> Evidence:
    return Evidence(
        "dtype of the operand",
        _wrong_of(said),
        ", ".join(said.allowed) or ("float16" if _is_mixed(said) else "float32"),
    )


def _wanted(wrong: str) -> str:
    if wrong in _HALVES:
        return "float32"
    return {"float64": "float32", "float32": "float16, the compute dtype of the layer"}.get(wrong, "floats")


def _arrays_of(data: DataFacts | Unknown, wrong: str) -> list[ArrayFacts]:
    """Return the array of that dtype; for an integer dtype, else an array of any integer dtype."""
    if isinstance(data, Unknown):
        return []
    kinds = _INTEGERS if wrong.startswith(_INTEGERS) else (wrong,)
    return [
        array
        for array in arrays_of(data)
        if array.dtype == wrong or (array in data.x and str(array.dtype).startswith(kinds))
    ][:1] or [array for array in data.y if str(array.dtype).startswith(kinds)][:1]


def _fixes(arrays: list[ArrayFacts], data: DataFacts | Unknown, fit_call: FitFacts | Unknown) -> list[Fix]:
    in_model = fix("cast in the model: `tf.cast(inputs, tf.float32)`")
    if not arrays or isinstance(data, Unknown):
        return [fix("cast the data to float32, or cast in the model: `tf.cast(inputs, tf.float32)`")]
    array = arrays[0]
    title = f"cast `{array.path}` to float32"
    named = isinstance(array.code, Code) and array.container in ("numpy.ndarray", "pandas.DataFrame")
    if data.form == "arrays" and named and array in data.x:
        return [fix(title, rework_data(array, fit_call, '{}.astype("float32")')), in_model]
    if data.form == "arrays" and array in data.y and array.container == "numpy.ndarray":
        # A step of the user's own computes with them; elsewhere they may serve as class labels.
        return [unsafe(title, wrap(reworked(array), '{}.astype("float32")')), in_model]
    edits = map_samples(data, array, "tf.cast(x, tf.float32)") if array in data.x else ()
    return [fix(f"{title}: `.map(lambda x, y: (tf.cast(x, tf.float32), y))`", edits), in_model]


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report the two dtypes that TensorFlow names."""
    said = _types_met(failure.type, failure.message)
    if said is None or (isinstance(data, DataFacts) and data.role != "training"):
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    location = failure.location
    # The model accepted the data: a loss or a custom step rejects something else.
    taken = isinstance(data, DataFacts) and went_through(data)
    # Keras casts floats to float32, so only the operation shows which tensor is wrong.
    wrong = _wrong_of(said)
    told = not taken and wrong not in ("float64", "float32") and bool(_arrays_of(data, wrong))
    operand = None if told else _operand(module, frame, said)
    parameter = _parameter_at(module, frame, said) if not told or taken else None
    if operand is not None:
        found = _finding(said, location, Unknown("the model accepted it") if taken else data, fit)
        yield _of_operand(found, said, *operand)
    elif parameter is not None and (isinstance(data, Unknown) or taken):
        yield _of_parameter(said, *parameter)
    else:
        found = _finding(said, location, Unknown("the model accepted it") if taken else data, fit)
        casts = [] if told else [*_cast_first(module, frame, said), *_cast_given(module, frame, said)]
        yield replace(found, fixes=(*casts, *found.fixes))


@CAUSE.after_failure
def of_whole_numbers(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report mixed int32 and int64, such as labels and `tf.argmax`, or floats used as indices."""
    yield from _refused(failure, project)
    yield from _floats_refused(failure, project)
    yield from _refused_by_signature(failure, project)


def _cast_first(module: Module | None, frame: Frame | None, said: DtypeMismatch) -> Iterator[Fix]:
    """Yield a cast for either operand if both are parameters and the message does not name the wrong one."""
    # `*` of bools is `and` and returns bools, so another operation of the line rejects them.
    kind, _name = _OPERATORS.get(said.operation, (ast.Mult, ""))
    for node in nodes_at(module, ast.BinOp, frame) if not said.argument else ():
        function = module.function_of(node) if module is not None else None
        if module is None or function is None or not isinstance(node.op, kind):
            continue
        one, other = module.segment(node.left), module.segment(node.right)
        if {one, other} <= set(function.parameters):
            yield _cast_parameter(function, one, f"{other}.dtype", unsafe)
            yield _cast_parameter(function, other, f"{one}.dtype", unsafe)


def _cast_given(module: Module | None, frame: Frame | None, said: DtypeMismatch) -> Iterator[Fix]:
    """Yield a cast for the argument of a TensorFlow call: `tf.reduce_mean(tf.equal(labels, guesses))`."""
    for call in (
        nodes_at(module, ast.Call, frame) if said.operation not in _OPERATORS and not said.types else ()
    ):
        assert module is not None
        name = module.resolve(call.func)
        if not name.startswith(("tensorflow.", "keras.backend.")) or name.endswith(("cast", "constant")):
            continue
        given = call.args[0] if call.args else None
        while isinstance(given, ast.BinOp):
            given = given.left  # a product of bools is a bool: casting it would be too late
        if given is None or isinstance(given, (ast.Constant, ast.Starred, ast.List, ast.Tuple)):
            continue
        yield _cast(module, given)
        behind = _parameter_behind(module, given)
        if behind is not None:
            yield _cast_parameter(*behind)


def _cast(module: Module, node: ast.expr, dtype: str = "tf.float32", title: str = "cast it") -> Fix:
    """Cast an expression where it is used."""
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    cast = f"{tf}.cast({module.segment(node)}, {dtype.replace('tf.', f'{tf}.')})"
    return fix(f"{title}: `{cast}`", (Edit(module.location(node), cast),), imports)


def _parameter_at(
    module: Module | None, frame: Frame | None, said: DtypeMismatch
) -> tuple[FunctionInfo, ast.Call, str] | None:
    """Return the TensorFlow call that raised, if its argument is a parameter of the enclosing function."""
    # An operation on two tensors is not a function of one.
    for call in nodes_at(module, ast.Call, frame) if said.operation not in _OPERATORS else ():
        assert module is not None
        function = module.function_of(call)
        if function is None or isinstance(function.node, ast.Lambda):
            continue
        of_library = module.resolve(call.func).startswith(("tensorflow.", "keras.ops."))
        for name in function.parameters:
            if of_library and _is_named(call.args, name):
                return function, call, name
    return None


def _of_parameter(said: DtypeMismatch, function: FunctionInfo, call: ast.Call, name: str) -> Finding:
    """Report a parameter the framework passes, such as the step of a schedule."""
    assert not isinstance(function.node, ast.Lambda)
    module = function.module
    wrong = _wrong_of(said)
    return CAUSE.certain(
        f"`{name}` of {name_of(function)} has dtype {wrong}, but `{module.segment(call.func)}` expects "
        f"{_wanted(wrong)}",
        module.location(call),
        _types_that_met(said),
        _cast_parameter(function, name),
        subject=f"dtype of {name}",
    )


_OPERATORS = {
    "MatMul": (ast.MatMult, "matmul"),
    "AddV2": (ast.Add, "add"),
    "Sub": (ast.Sub, "subtract"),
    "Mul": (ast.Mult, "multiply"),
    "RealDiv": (ast.Div, "divide"),
    "Pow": (ast.Pow, "pow"),
}
"""The operator or function name of each operation on two tensors."""


def _operand(
    module: Module | None, frame: Frame | None, said: DtypeMismatch
) -> tuple[Module, ast.expr] | None:
    """Return the operand of the wrong dtype if the line has only one matching operation."""
    if module is None or said.types:
        return _part(module, frame, said)
    if said.operation not in _OPERATORS:
        return None
    kind, name = _OPERATORS[said.operation]
    pairs = [pair for done, pair in _operations(module, frame) if isinstance(done, kind) or done == name]
    named = int(said.argument) if said.argument.isdigit() else int(said.argument not in ("a", "x"))
    # The message names the dtype of the first operand as expected.
    at = named if _is_wrong(said, said.found) else 1 - named
    behind = {_parameter_behind(module, pair[at]) for pair in pairs} if at in (0, 1) else set()
    # Several are one if all come from the same parameter: `y_true * y_pred + (1 - y_true) * (1 - y_pred)`.
    if not behind or len(pairs) > 1 and (len(behind) > 1 or None in behind):
        return None
    return module, pairs[0][at]


def _operations(
    module: Module | None, frame: Frame | None
) -> Iterator[tuple[ast.operator | str, tuple[ast.expr, ast.expr]]]:
    """Yield the operations of a line on two tensors, by operator or function name."""
    for node in nodes_at(module, ast.BinOp, frame):
        yield node.op, (node.left, node.right)
    for call in nodes_at(module, ast.Call, frame):
        if module is not None and len(call.args) == 2:
            yield module.called(call).rpartition(".")[2], (call.args[0], call.args[1])
    for changed in nodes_at(module, ast.AugAssign, frame):
        yield changed.op, (changed.target, changed.value)
    for compared in nodes_at(module, ast.Compare, frame):
        if len(compared.comparators) == 1:
            yield "equal", (compared.left, compared.comparators[0])


def _part(module: Module | None, frame: Frame | None, said: DtypeMismatch) -> tuple[Module, ast.expr] | None:
    """Return the part of the wrong dtype in a call such as `tf.concat([noise, labels], axis=1)`."""
    wrong = next((at for at, name in enumerate(said.types) if _is_wrong(said, name)), None)
    given = [argument_of(call, "values", 0) for call in nodes_at(module, ast.Call, frame)]
    lists = [
        parts.elts
        for parts in given
        if isinstance(parts, (ast.List, ast.Tuple)) and len(parts.elts) == len(said.types)
    ]
    return (module, lists[0][wrong]) if module is not None and wrong is not None and len(lists) == 1 else None


def _is_wrong(said: DtypeMismatch, name: str) -> bool:
    return name not in _HALVES if _is_mixed(said) else name.startswith((*_INTEGERS, *_LONG_FLOATS))


def _of_operand(found: Finding, said: DtypeMismatch, module: Module, operand: ast.expr) -> Finding:
    """Add the name of the tensor and a cast where it is used."""
    text, wrong = module.segment(operand), _wrong_of(said)
    message = f"`{text}` has dtype {wrong}, but the operation `{said.operation}` expects {_wanted(wrong)}"
    if isinstance(getattr(operand, "ctx", None), ast.Store):
        return _started_as_float(replace(found, message=message), module, operand)
    here = _cast(module, operand, "self.compute_dtype" if _is_mixed(said) else "tf.float32")
    if _is_mixed(said) and not text.startswith("self."):
        here = fix(here.title)  # there may be no layer whose dtype it could be
    first = _parameter_behind(module, operand) if not _is_mixed(said) else None
    if first is None:
        return replace(found, message=message, fixes=(here,))
    # A parameter that is read several times is cast once, before all of them.
    function, name = first
    several = len([read for read in module.reads.get(name, ()) if module.function_of(read) == function]) > 1
    fixes = (_cast_parameter(*first), here) if several else (here, _cast_parameter(*first))
    return replace(found, message=message, fixes=fixes)


def _parameter_behind(module: Module, operand: ast.expr) -> tuple[FunctionInfo, str] | None:
    """Return the only parameter an operand is computed from, with its function."""
    function = module.function_of(operand)
    if function is None or isinstance(function.node, ast.Lambda):
        return None
    names, seen = names_in(operand), set[str]()
    while names - seen:
        name = next(iter(names - seen))
        seen.add(name)
        for given in module.assignments(name, operand) if name not in function.parameters else ():
            names |= names_in(given.value) if given.value is not None else set()
    behind = [name for name in names if name in function.parameters and name != "self"]
    return (function, behind[0]) if len(behind) == 1 else None


def _cast_parameter(
    function: FunctionInfo, name: str, dtype: str = "tf.float32", make: Callable[..., Fix] = fix
) -> Fix:
    """Insert the cast as the first line of the function."""
    assert not isinstance(function.node, ast.Lambda)
    first = function.module.code(function.node.body[0])
    tf, imports = spell(first, "tensorflow", "tf")
    cast = f"{name} = {tf}.cast({name}, {dtype.replace('tf.', f'{tf}.')})"
    return make(f"cast it first: `{cast}`", insert_before(first, cast), imports)


def _started_as_float(found: Finding, module: Module, target: ast.expr) -> Finding:
    """Change `total = 0` to `0.0` before a graph loop that adds floats to it."""
    title = "initialize it with a float"
    scope = module.scope(target).node
    for given in module.assignments(target.id, scope) if isinstance(target, ast.Name) else ():
        value = given.value
        if given.how == "=" and isinstance(value, ast.Constant) and type(value.value) is int:
            text = f"{value.value}.0"
            location = module.location(value)
            remedy = fix(f"{title}: `{text}`", (Edit(location, text),))
            return replace(found, location=location, fixes=(remedy,))
    return replace(found, fixes=(fix(title),))


# --- integers and floats --------------------------------------------------------------------------------------------


_WHOLE = re.compile(r"u?int\d{1,2}")
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript)
_COMPARED = ("equal", "add", "subtract", "multiply", "not_equal", "greater")


def _refused(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report an operation on two different integer dtypes."""
    said, frame = dtype_mismatch(failure.message), failure.last_user_frame
    if (
        said is None
        or frame is None
        or failure.type not in ("TypeError", "ValueError", "InvalidArgumentError")
    ):
        return
    if not all(_WHOLE.fullmatch(name) for name in (said.found, said.expected)) or said.found == said.expected:
        return
    yield CAUSE.certain(
        f"the operation{_named(said)} receives {said.expected} and {said.found}, but both must have the same dtype",
        frame.location,
        Evidence("dtype of the operand", said.found, said.expected, location=frame.location),
        raised_here(failure),
        _one_cast(module_of(project, frame), frame),
        subject="dtypes of an operation",
    )


def _wants_whole(said: DtypeMismatch) -> bool:
    """Whether an operation accepts only integers but received floats."""
    return (
        bool(said.allowed)
        and all(_WHOLE.fullmatch(name) for name in said.allowed)
        and said.found in ("float", "double", "half", "float16", "float32", "float64", "bfloat16")
    )


_SIZES = ("shape", "dims", "size", "multiples", "paddings", "num_split", "axis")
"""Arguments that are a size, not labels or indices: FIT327."""


def _floats_refused(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report labels or indices that are floats, such as labels from a table or the result of a division."""
    said, frame = dtype_mismatch(failure.message), failure.last_user_frame
    if said is None or frame is None or not _wants_whole(said) or said.argument in _SIZES:
        return
    found = {"float": "float32", "double": "float64"}.get(said.found, said.found)
    yield CAUSE.certain(
        f"the operation{_named(said)} expects integer labels or indices, but receives {found}",
        frame.location,
        Evidence("dtype received", found, ", ".join(said.allowed), location=frame.location),
        raised_here(failure),
        _made_whole(module_of(project, frame), frame),
        subject="dtypes of an operation",
    )


_WHOLE_ARGUMENTS = {
    "sparse_softmax_cross_entropy_with_logits": ("labels", 0),
    "one_hot": ("indices", 0),
    "gather": ("indices", 1),
    "gather_nd": ("indices", 1),
    "embedding_lookup": ("ids", 1),
    "take": ("indices", 1),
}
"""The integer argument of each function and its position."""


def _made_whole(module: Module | None, frame: Frame) -> Fix:
    """Cast the only argument on the line that must be an integer."""
    given = [
        argument_of(call, *_WHOLE_ARGUMENTS[last])
        for call in nodes_at(module, ast.Call, frame)
        if module is not None and (last := module.called(call).rpartition(".")[2]) in _WHOLE_ARGUMENTS
    ]
    if module is None or len(given) != 1 or given[0] is None:
        return fix("cast the labels or indices: `tf.cast(labels, tf.int32)`")
    return _cast(module, given[0], "tf.int32")


def _named(said: DtypeMismatch) -> str:
    return f" `{said.operation}`" if said.operation else ""


def _one_cast(module: Module | None, frame: Frame) -> Fix:
    """Cast the first operand to the dtype of the second, if the line has one operation on two tensors."""
    pairs = [
        pair for done, pair in _operations(module, frame) if not isinstance(done, str) or done in _COMPARED
    ]
    simple = all(
        isinstance(part, _SIMPLE) and isinstance(part.ctx, ast.Load) for pair in pairs for part in pair
    )
    title = "cast one to the dtype of the other"
    if module is None or len(pairs) != 1 or not simple:
        return fix(title)
    return _cast(module, pairs[0][0], f"{module.segment(pairs[0][1])}.dtype", title)


# --- steps of schedules ---------------------------------------------------------------------------------------------


_SCHEDULE = "keras.optimizers.schedules.LearningRateSchedule"
_ON_FLOATS = frozenset("sqrt rsqrt exp log log1p sin cos tan tanh sigmoid reciprocal".split())


def _steps_as_floats(module: Module) -> Iterator[tuple[FunctionInfo, ast.Call, str]]:
    """Yield the first such call of each schedule with its parameter; the step is int64 in Keras 3."""
    for owner in module.classes if module.keras == 3 else ():
        function = owner.methods.get("__call__")
        if function is None or _SCHEDULE not in owner.bases or len(function.parameters) < 2:
            continue
        step = function.parameters[1]
        if len(module.index.scopes[function.node].bindings.get(step, ())) != 1:  # cast first
            continue
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and _takes_floats(module, node) and _is_named(node.args, step):
                yield function, node, step
                break


def _takes_floats(module: Module, call: ast.Call) -> bool:
    home, _, last = module.resolve(call.func).rpartition(".")
    return home in ("tensorflow", "tensorflow.math") and last in _ON_FLOATS


def _is_named(arguments: list[ast.expr], name: str) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], ast.Name) and arguments[0].id == name


# --- input signatures -----------------------------------------------------------------------------------------------


_REFUSED = re.compile(
    r"Can not cast TensorSpec\(shape=[^\n]{0,100}?, dtype=tf\.(?P<found>\w+), name=[^)\n]{0,60}\) to "
    r"TensorSpec\(shape=[^\n]{0,100}?, dtype=tf\.(?P<expected>\w+),"
)


def _refused_by_signature(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a dtype that differs from the `input_signature` of a function."""
    rejected = _REFUSED.search(failure.message)
    frame = failure.last_user_frame
    if rejected is None or frame is None or rejected["found"] == rejected["expected"]:
        return
    module = module_of(project, frame)
    written = list(_written(module, rejected["expected"])) if module is not None else []
    yield CAUSE.certain(
        f"the `input_signature` declares {rejected['expected']}, but the function receives {rejected['found']}",
        module.location(written[0]) if module is not None and written else frame.location,
        raised_here(failure),
        *_signature_fixes(module, written, rejected["found"], rejected["expected"]),
        subject="dtype of the features",
    )


def _written(module: Module, name: str) -> Iterator[ast.Attribute]:
    """Yield the dtype expression of each `tf.TensorSpec` with that dtype."""
    for site in module.calls_to("tensorflow.TensorSpec"):
        kind = argument_of(site.node, "dtype", 1)
        if isinstance(kind, ast.Attribute) and kind.attr == name:
            yield kind


def _signature_fixes(
    module: Module | None, written: list[ast.Attribute], found: str, expected: str
) -> list[Fix]:
    cast = fix(f"cast the argument: `tf.cast(x, tf.{expected})`")
    # The weights would then reject floats of another width.
    if module is None or not written or not found.startswith("int"):
        return [cast]
    edits = [Edit(module.location(each), f"{module.segment(each.value)}.{found}") for each in written]
    return [fix(f"use `tf.{found}` in the signature", edits), cast]
