"""NumPy, `float()` or another Python library applied to a symbolic tensor.

## What happens

The error comes from traced code: a loss, a metric, `call`, `train_step`, a `Dataset.map` function or a `tf.function`.

- A NumPy call raises `NotImplementedError: Cannot convert a symbolic tf.Tensor … to a numpy array`.
- `.numpy()` raises `AttributeError: 'SymbolicTensor' object has no attribute 'numpy'`.
- `float()`, `int()`, `math` functions, `open()`, `os.path` functions and a dict lookup with a tensor as the key raise
  `TypeError`. If Keras adds that you should implement `compute_output_spec`, ignore it: that is not the problem.
- A size that depends on the data (`x.shape[0]`) is None while tracing: `unsupported operand type(s) for *: 'NoneType'
  and 'int'`, or `Failed to convert elements of (None, 6) to Tensor`.
- `x[i] = value` raises `TypeError: … does not support item assignment`.

## Why

While TensorFlow traces a function, its tensors have no values yet. NumPy, `float()` and libraries such as
scikit-learn need values. Tensors are also immutable, so they do not support item assignment.

## Fix

Call the TensorFlow equivalent: `tf.math.log1p` for `np.log1p`, `tf.reduce_mean` for `np.mean`, or `keras.ops`, which
uses NumPy's names. Compute a metric from another library in a callback that calls `predict`. As a last resort,
`tf.py_function` runs Python code at run time, without a gradient. For a size known only at run time, use
`tf.shape(x)[0]`.

## Known limits

Not reported, because both work: static sizes (`x.shape[1]`), which are Python integers that NumPy accepts, and
`float(tensor)` or `int(tensor)` in code that AutoGraph converts (`tf.function`, `Dataset.map`), where they become
casts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.numpy_on_symbolic_tensor.value_remedies import value_remedies
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.failed_line import at_frame, function_at, module_of, raised_here
from fitdoctor.failure.traced_code import (
    ARRAY_METHODS,
    CASTS,
    LIBRARIES,
    VALUE_METHODS,
    raised_in_trace,
    wants_a_value,
)
from fitdoctor.records import dataclass
from fitdoctor.source.conditions import passes_over_failure
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.decided_branches import rests_on_a_flag
from fitdoctor.source.traced.symbolic import (
    holds_symbolic,
    holds_written,
    is_one_tensor,
    is_symbolic,
    is_variable,
    name_of,
    own_nodes,
    traced_evidence,
    traced_functions,
)

CAUSE = Cause(
    id="FIT407",
    slug="numpy-on-symbolic-tensor",
    severity=Severity.ERROR,
    raises=("NotImplementedError", "AttributeError", "TypeError"),
    # Tracing ends before gradients exist.
    explains=("FIT505",),
)

_OF_VALUES = ("keras.backend.eval", "keras.backend.get_value")
_HARMLESS = frozenset(
    f"numpy.{name}"
    for name in (
        *("shape", "ndim", "size", "isscalar", "iterable", "issubdtype", "dtype", "result_type", "flip"),
        *("array_equal", "array_equiv", "tril_indices_from", "triu_indices_from"),
    )
)
_OF_PYTHON_OBJECTS = VALUE_METHODS - ARRAY_METHODS | {"copy", "sort", "mean"}
"""Methods that a list, a dict, a string or a distribution of TensorFlow Probability has, too."""
_OF_PATHS = frozenset({"open", "os.listdir", "os.stat", "pathlib.Path", "json.loads", "json.dumps"})


@dataclass(frozen=True, eq=False)
class _Use:
    """A place that needs the value of a symbolic tensor."""

    node: ast.expr
    what: str
    """The operation in words: `np.log1p`, `.numpy()`, `float()`."""
    tensor: str


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report traced code that passes a tensor to something that needs its value, once per statement."""
    for function in traced_functions(module):
        seen: set[ast.stmt] = set()
        for use in _uses(module, function):
            statement = module.statement(use.node)
            tried = passes_over_failure(module, use.node, function.node)
            if statement not in seen and not tried and not rests_on_a_flag(function, use.node):
                seen.add(statement)
                yield _finding(module, function, use)


def _uses(module: Module, function: FunctionInfo) -> Iterator[_Use]:
    converted = function.traced is not None and function.traced.autograph
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            use = _use_in_call(module, node, converted)
            if use is not None:
                yield use
        elif isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            if is_symbolic(module, node.value):
                yield _Use(node.value, "a format spec", module.segment(node.value))


def _use_in_call(module: Module, call: ast.Call, converted: bool) -> _Use | None:
    if isinstance(call.func, ast.Attribute) and call.func.attr in VALUE_METHODS:
        base = call.func.value
        if call.func.attr == "append":
            return None  # a list, then: the outputs of a layer may be one
        symbolic = is_one_tensor if call.func.attr in _OF_PYTHON_OBJECTS else is_symbolic
        if symbolic(module, base) or call.func.attr == "numpy" and is_variable(module, base):
            return _Use(call, f"`.{call.func.attr}()`", module.segment(base))
    name = module.resolve(call.func)
    if not name or name in _HARMLESS:
        return None
    if name in CASTS and not converted or name in ("round", "complex", *_OF_VALUES):
        wanted = call.args[:1]
    elif name in _OF_PATHS or name.startswith("os.path."):
        wanted = [argument for argument in call.args if is_symbolic(module, argument)]
    elif name.startswith(("numpy.", "math.", *LIBRARIES)):
        wanted = [*call.args, *(keyword.value for keyword in call.keywords)]
    else:
        return None
    for argument in wanted:
        if holds_symbolic(module, argument) or holds_written(module, argument):
            return _Use(call, f"`{module.segment(call.func)}`", module.segment(argument))
    return None


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a failing line that ran in a trace; a tensor that leaked out of one is another cause."""
    hashed = bool(project) and "Tensor is unhashable" in failure.message  # otherwise FIT406
    asked = wants_a_value(failure) or hashed
    if not asked or not raised_in_trace(failure, project):
        return
    frame = failure.last_user_frame
    evidence = [raised_here(failure)]
    module = module_of(project, frame)
    if module is not None and frame is not None:
        function = function_at(module, frame.line, frame.cell)
        use = _use_at(module, function, frame, failure.message) if function is not None else None
        if function is not None and use is not None:
            yield certain(_finding(module, function, use), failure)
            return
    yield CAUSE.certain(
        "traced code needs the value of a symbolic tensor",
        place(frame.code if frame is not None else None, frame.location if frame is not None else None),
        *evidence,
        fix("use the equivalent `tf` or `keras.ops` function"),
        subject="value of a symbolic tensor",
    )


@CAUSE.after_failure
def from_unknown_size(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a size that is None while tracing but used as a number."""
    if not raised_in_trace(failure, project):
        return
    size = unknown_size(failure, project)
    if size is None:
        return
    found = _of_size(size)
    yield certain(found, failure, confidence=Confidence.CERTAIN if size.text else Confidence.LIKELY)


@CAUSE.in_source
@mentions("shape")
def size_in_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report code that uses the unknown batch size of a Keras tensor as a number."""
    if site.failure is None or not says_open_size(site.failure.message) or site.layer is None:
        return
    found = node_of(project, site.layer.code)
    if found is None or not isinstance(found[1], ast.Call) or not _runs_while_building(*found):
        return
    size = size_given(found[0], found[1])
    if size is not None:
        yield _of_size(size, Evidence("used here", location=size.place))


def _runs_while_building(module: Module, node: ast.AST) -> bool:
    """Return whether Keras runs the code on symbolic tensors, because the layer does not define its output shape."""
    owner, function = module.class_of(node), module.function_of(node)
    if function is not None and function.how == "lambda layer":
        return False
    told = ("compute_output_shape", "compute_output_spec")
    return owner is None or all(module.method(owner, name) is None for name in told)


def _of_size(size: UnknownSize, *used: Evidence) -> Finding:
    here = size.module.location(size.node) if size.module is not None and size.node is not None else None
    named = f"`{size.text}`" if size.text else "a dimension of the tensor's shape"
    tf = dict(size.module.spellings).get("tensorflow", "") if size.module is not None else ""
    edit = as_tensor(size, tf) if tf else None
    title = "read the size at run time with `tf.shape(x)[axis]`"
    return CAUSE.finding(
        f"{named} is None while the graph is traced, but the code uses it as a number",
        here or size.place,
        *used,
        fix(title, (edit,)) if edit is not None else fix(f"{title}, and loop over it with `tf.range`"),
        subject="size unknown while tracing",
    )


_ADVICE = (
    "create a new tensor with `tf.where(mask, value, x)`, `tf.tensor_scatter_nd_update` or `keras.ops.slice_update`, "
    "or collect the parts in a list and join them with `tf.stack`"
)
_IN_PLACE = "`x[i] = value` does not work on a tensor: tensors are immutable"


@CAUSE.rule(
    "def",
    "lambda",
    says=r"'[\w.]*Tensor' object does not support item (?:assignment|deletion)",
    problem=_IN_PLACE,
    remedy=_ADVICE,
    subject="tensor written in place",
    confidence=Confidence.CERTAIN,
)
def written_in_place(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find `tensor[i] = x`: unlike arrays, tensors are immutable."""
    written: list[ast.Assign | ast.AugAssign] = [*module.nodes(ast.Assign), *module.nodes(ast.AugAssign)]
    for node in written:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        target, function = targets[0], module.function_of(node)
        if len(targets) > 1 or not isinstance(target, ast.Subscript):
            continue
        if failure is None and (function is None or not _is_tensor_item(function, target)):
            continue
        yield CAUSE.finding(
            _IN_PLACE,
            module.location(node),
            *([traced_evidence(function)] if function is not None and function.traced is not None else []),
            *_as_new_tensor(module, node),
            fix(_ADVICE),
            subject="tensor written in place",
        )


def _is_tensor_item(function: FunctionInfo, target: ast.Subscript) -> bool:
    """Return whether traced code writes to what is certainly a tensor."""
    named = isinstance(target.value, ast.Name) and is_one_tensor(function.module, target.value)
    if not function.runs_traced or not named or not isinstance(target.value, ast.Name):
        return False
    if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        return False  # certainly a dict
    # The inputs of a layer may be a list or dict, which is mutable.
    whole = isinstance(target.slice, (ast.Compare, ast.Slice, ast.Tuple))
    return whole or target.value.id not in function.parameters


def _as_new_tensor(module: Module, node: ast.stmt) -> list[Fix]:
    """Rewrite `x[x < 0] = 0.0` as `x = tf.where(x < 0, 0.0, x)`."""
    known = dict(module.spellings)
    ops = known.get("tensorflow") or known.get("keras.ops") or known.get("keras", "") + ".ops"
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name() as name, slice=ast.Compare() as mask)],
            value=ast.Constant() as value,
        ) if ops != ".ops":
            tensor, condition, new = (module.segment(part) for part in (name, mask, value))
            text = f"{tensor} = {ops}.where({condition}, {new}, {tensor})"
            return [fix(f"create a new tensor: `{text}`", (Edit(module.location(node), text),))]
    return []


CAUSE.message(
    r"'[\w.]*Variable' object does not support item (?:assignment|deletion)",
    "`x[i] = value` does not work on a variable: update it with `assign`",
    "assign to the slice with `variable[i].assign(value)`",
    subject="tensor written in place",
    confidence=Confidence.CERTAIN,
)


def _use_at(module: Module, function: FunctionInfo, frame: Frame, message: str) -> _Use | None:
    """Return the failing use on the line: the one the interpreter marks, otherwise the one the source shows."""
    converted = function.traced is not None and function.traced.autograph
    here = [
        node for node in own_nodes(function) if isinstance(node, ast.Call) and at_frame(module, node, frame)
    ]
    named = None if isinstance(frame.code, Unknown) else frame.code.location
    for node in here:
        if named is not None and module.location(node) == named:
            return _use_in_call(module, node, converted) or _any_use(module, node)
    uses = [use for use in (_use_in_call(module, node, converted) for node in here) if use is not None]
    uses = uses or [use for use in (_any_use(module, node) for node in here) if use is not None]
    # Of `float(loss.numpy())`, the message names the attribute that is missing.
    missing = _MISSING_METHOD.search(message)
    for node in here if missing is not None else ():
        if isinstance(node.func, ast.Attribute) and missing is not None and node.func.attr == missing["name"]:
            return _any_use(module, node) or (uses[0] if uses else None)
    return uses[0] if uses else None


_MISSING_METHOD = re.compile(r"object has no attribute '(?P<name>\w+)'")


def _any_use(module: Module, call: ast.Call) -> _Use | None:
    """Return what a call needs if only the failure, not the source, shows that it gets a tensor."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("numpy", "item", "tolist"):
        return _Use(call, f"`.{call.func.attr}()`", module.segment(call.func.value))
    name = module.resolve(call.func)
    if call.args and (name in (*CASTS, "round") or name.startswith(("numpy.", "math.", *LIBRARIES))):
        return _Use(call, f"`{module.segment(call.func)}`", module.segment(call.args[0]))
    return None


def _finding(module: Module, function: FunctionInfo, use: _Use) -> Finding:
    tensor = use.tensor if len(use.tensor) <= 40 else use.tensor[:39] + "…"
    return CAUSE.finding(
        f"{use.what} needs the value of `{tensor}`, which is symbolic in {name_of(function)}",
        module.location(use.node),
        traced_evidence(function),
        *value_remedies(module, function, use.node, [each.node for each in _uses(module, function)]),
        subject=f"{use.what} in {function.qualname}",
    )


CAUSE.message(
    r"'[\w.]*EagerTensor' object has no attribute '(?P<name>flatten|ravel|astype|tolist|copy|reshape|squeeze"
    r"|transpose|mean|sum|std|min|max|argmax|round|clip|size|T)'",
    "a tensor has no `{name}`, which belongs to NumPy arrays",
    "convert the tensor with `.numpy()` first, or use the TensorFlow function, such as `tf.reshape` or `tf.cast`",
    subject="tensor written in place",
    types=("AttributeError",),
)
CAUSE.message(
    r"Failed to convert object of type <class '(?:list|tuple)'> to Tensor\. Contents: [^\n]{0,200}\bNone\b",
    "a size that is unknown while tracing (None) is used as a number",
    "take the size from the tensor when it runs: `tf.shape(x)[i]`",
    subject="tensor written in place",
    types=("TypeError", "ValueError"),
)
CAUSE.message(
    r"'[\w.]*(?:Eager|Keras|Symbolic)?Tensor' object has no attribute '(?P<name>assign(?:_add|_sub)?)'",
    "`{name}` does not work on a tensor: tensors are immutable",
    "create a `tf.Variable`, which can be assigned to",
    subject="tensor written in place",
    types=("AttributeError",),
    confidence=Confidence.CERTAIN,
)


# --- sizes that are None while tracing --------------------------------------------------------------------------------

_NONE_IN_SHAPE = re.compile(
    r"Failed to convert elements of [(\[][^\n]{0,200}\bNone\b|"
    r"Contents: [(\[][^\n]{0,200}\bNone\b[^\n]{0,200}[)\]]\. Consider casting|"
    r"Cannot convert a partially known TensorShape|Cannot convert an unknown Dimension"
)
"""TensorFlow reports a shape that contains None."""
_NONE_AS_NUMBER = re.compile(
    r"unsupported operand type\(s\) for [^\n]{1,20}: (?:'NoneType' and '(?:int|float|NoneType|Tensor|SymbolicTensor)'"
    r"|'(?:int|float|Tensor|SymbolicTensor)' and 'NoneType')|"
    r"'NoneType' object cannot be interpreted as an integer|"
    r"Expected int(?:32|64)[^\n]{0,80}, but got None of type 'NoneType'|"
    r"(?:int|float)\(\) argument must be [^\n]{0,80} not 'NoneType'|"
    r"None values not supported|'[<>]=?' not supported between instances of '(?:NoneType|int)' and '(?:NoneType|int)'"
)
"""Python or TensorFlow got None instead of a number, from any source."""
_SIZE_IN_TEXT = re.compile(r"\.shape\b|\.get_shape\(|\bint_shape\(|\.as_list\(")


@dataclass(frozen=True, eq=False)
class UnknownSize:
    """Where code reads a size that is unknown during tracing."""

    module: Module | None
    node: ast.expr | None
    """`x.shape[0]`, or `x.shape` as a whole; None if there is no source."""
    text: str
    place: Location
    """Where the size is used."""


def unknown_size(failure: FailureFacts, project: Project) -> UnknownSize | None:
    """Return the size that a failure is about, or None if it is about something else."""
    frame = failure.last_user_frame
    surely = bool(_NONE_IN_SHAPE.search(failure.message))
    if frame is None or not surely and not _NONE_AS_NUMBER.search(failure.message):
        return None
    module = module_of(project, frame)
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    if module is not None and function is not None:
        here = [
            node
            for node in own_nodes(function)
            if isinstance(node, ast.expr) and at_frame(module, node, frame)
        ]
        for node in _sizes_behind(module, function, here, frame.line):
            return UnknownSize(module, node, module.segment(node), frame.location)
    if _SIZE_IN_TEXT.search(frame.text) or surely:
        return UnknownSize(None, None, "", frame.location)
    return None


def says_open_size(message: str) -> bool:
    """Return whether a message is about a shape that contains None."""
    return _NONE_IN_SHAPE.search(message) is not None


def size_given(module: Module, call: ast.Call) -> UnknownSize | None:
    """Return the size passed to a call as a number; the nearest if there are several."""
    function = module.function_of(call)
    own = [node for node in ast.walk(call) if isinstance(node, ast.expr)]
    sizes = _sizes_behind(module, function, own, call.lineno) if function is not None else _sizes(module, own)
    first = next(sizes, None)
    return UnknownSize(module, first, module.segment(first), module.location(call)) if first else None


def _sizes_behind(
    module: Module, function: FunctionInfo, here: list[ast.expr], line: int
) -> Iterator[ast.expr]:
    """Return the sizes that expressions read, directly first, then through their names."""
    own = list(own_nodes(function))
    yield from _sizes(module, here)
    names = {node.id for node in here if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in own:
        if not isinstance(node, ast.Assign) or node.lineno > line:
            continue
        bound = {
            each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)
        }
        if bound & names:
            yield from _sizes(module, [each for each in ast.walk(node.value) if isinstance(each, ast.expr)])


def _sizes(module: Module, nodes: list[ast.expr]) -> Iterator[ast.expr]:
    for node in nodes:
        if not _is_shape(module, node):
            continue
        parent = module.parent(node)
        # also match a trailing `.as_list()`, but not a call that takes the shape
        while (
            isinstance(parent, ast.Attribute | ast.Call)
            and node is (parent.value if isinstance(parent, ast.Attribute) else parent.func)
            and _SIZE_IN_TEXT.search(module.segment(parent)[-12:])
        ):
            node, parent = parent, module.parent(parent)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            if isinstance(parent.slice, ast.Slice):
                continue  # part of the shape: the axis is unknown
            yield parent
        else:
            yield node


def _is_shape(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" and not module.resolve(node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get_shape":
        return True
    return module.resolve(node.func).endswith(".int_shape")


def as_tensor(size: UnknownSize, tf: str) -> Edit | None:
    """Rewrite `x.shape[0]` as `tf.shape(x)[0]` inside a TensorFlow call; other code may need a number."""
    module, node = size.module, size.node
    if module is None or node is None:
        return None
    subscript = node if isinstance(node, ast.Subscript) else None
    shape = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(shape, ast.Attribute) or not _in_tensorflow_call(module, node):
        return None
    index = f"[{module.segment(subscript.slice)}]" if subscript is not None else ""
    return Edit(module.location(node), f"{tf}.shape({module.segment(shape.value)}){index}")


def _in_tensorflow_call(module: Module, node: ast.expr) -> bool:
    parent = module.parent(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.BinOp | ast.keyword):
        parent = module.parent(parent)
    if isinstance(parent, ast.Assign):
        return all(
            _in_tensorflow_call(module, read)
            for target in parent.targets
            if isinstance(target, ast.Name)
            for read in module.reads.get(target.id, [])
            if module.function_of(read) == module.function_of(node)
        ) and all(isinstance(target, ast.Name) for target in parent.targets)
    return module.called(parent).startswith("tensorflow.")
