"""TensorFlow and Keras equivalents of NumPy functions, and the edits that insert them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import append_arguments, spell
from fitdoctor.source.module import Module

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
_WITH_MORE = {"fliplr": "[1]", "flipud": "[0]"}
"""Additional arguments that the TensorFlow function needs."""
_NEEDS_AXIS_BY_NAME = frozenset({"std", "var"})
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
_METHODS = {
    "mean": "reduce_mean",
    "sum": "reduce_sum",
    "max": "reduce_max",
    "min": "reduce_min",
    "astype": "cast",
    "reshape": "reshape",
    "argmax": "argmax",
    "argmin": "argmin",
    "squeeze": "squeeze",
    "flatten": "reshape",
    "ravel": "reshape",
}
"""Array methods, with the function that takes the tensor as its first argument."""


def twin_of(module: Module, call: ast.Call) -> tuple[str, str] | None:
    """Return the library (`tensorflow`, `keras`) and name of the equivalent function with the same arguments."""
    library, _, name = module.resolve(call.func).partition(".")
    if library == "math":
        return _in_library(module, _MATH.get(name), name if name in _IN_OPS else None)
    if library != "numpy":
        return None
    if name in ("array", "asarray") and call.args and isinstance(call.args[0], (ast.List, ast.Tuple)):
        return _in_library(module, "stack", "stack") if len(call.args) == 1 and not call.keywords else None
    if any(keyword.arg not in ("axis", "keepdims", "dtype", None) for keyword in call.keywords):
        return None
    positional = name in _NEEDS_AXIS_BY_NAME and len(call.args) > 2
    in_tf = None if positional or name == "where" and len(call.args) == 1 else _IN_TF.get(name)
    return _in_library(module, in_tf, name if name in _IN_OPS else None)


def _in_library(module: Module, in_tf: str | None, in_ops: str | None) -> tuple[str, str] | None:
    known = dict(module.spellings)
    if "tensorflow" in known and in_tf is not None:
        return "tensorflow", in_tf
    if "keras" in known and in_ops is not None and module.keras != 2:  # Keras 2 has no `ops`
        return "keras", f"ops.{in_ops}"
    return ("tensorflow", in_tf) if in_tf is not None else None


def twin_edits(module: Module, call: ast.Call) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how the equivalent is spelled in this file, and the edits that insert it."""
    found = twin_of(module, call)
    if found is None:
        return None
    library, name = found
    if library == "keras" and name.startswith("ops.") and "keras.ops" in dict(module.spellings):
        library, name = "keras.ops", name.removeprefix("ops.")
    usual = {"tensorflow": "tf"}.get(library, library)
    spelling, imports = spell(module.code(call), library, usual)
    text = f"{spelling}.{name}"
    more = _WITH_MORE.get(module.resolve(call.func).rpartition(".")[2])
    added = append_arguments(module.code(call), more) if more and library == "tensorflow" else ()
    return text, (Edit(module.location(call.func), text), *added, *imports)


def method_edits(module: Module, call: ast.Call) -> tuple[str, tuple[Edit, ...]] | None:
    """Rewrite `x.mean(axis=0)` as `tf.reduce_mean(x, axis=0)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
        return None
    if call.func.attr == "reshape" and len(call.args) != 1:
        return None
    code = module.code(call)
    spelling, imports = spell(code, "tensorflow", "tf")
    if code.open_paren_end is None:
        return None
    rest = (
        "[-1]"
        if call.func.attr in ("flatten", "ravel")
        else ", ".join(
            argument.text if not argument.name else f"{argument.name}={argument.text}"
            for argument in code.arguments
        )
    )
    asked = is_left_out(module, call.func.value)
    subject = module.segment(call.func.value.func.value if asked else call.func.value)  # type: ignore[attr-defined]
    name = f"{spelling}.{_METHODS[call.func.attr]}"
    text = f"{name}({subject}, {rest})" if rest else f"{name}({subject})"
    return name, (Edit(code.location, text), *imports)


def array_calls(module: Module, nodes: Iterator[ast.AST]) -> Iterator[ast.Call]:
    """Return the calls to NumPy and `math` functions among the nodes."""
    for node in nodes:
        if isinstance(node, ast.Call) and module.resolve(node.func).startswith(("numpy.", "math.")):
            yield node


# --- values that are asked for --------------------------------------------------------------------------------------


def is_left_out(module: Module, node: ast.AST) -> bool:
    """Return whether a `.numpy()` call can be dropped: its tensor has a name, or it is inside an expression."""
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr != "numpy"
    ):
        return False
    statement = module.statement(node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return not any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)


def left_out(module: Module, node: ast.AST) -> Edit:
    """Replace `tensor.numpy()` with the tensor; delete `x = x.numpy()`."""
    tensor = module.segment(node.func.value)  # type: ignore[attr-defined]
    statement = module.statement(node)
    if isinstance(statement, ast.Assign) and statement.value is node:
        if [module.segment(target) for target in statement.targets] == [tensor]:
            return Edit(module.location(statement).lines, "")
    return Edit(module.location(node), tensor)


def _picked(module: Module, asked: ast.AST) -> tuple[Edit, ...]:
    """Rewrite `p.numpy()[rows, columns]` with `gather_nd`."""
    part = module.parent(asked)
    if (
        not isinstance(part, ast.Subscript)
        or part.value is not asked
        or not isinstance(part.slice, ast.Tuple)
    ):
        return ()
    if any(isinstance(index, (ast.Slice, ast.Constant, ast.UnaryOp)) for index in part.slice.elts):
        return ()
    tf, imports = spell(module.code(part), "tensorflow", "tf")
    numpy, more = spell(module.code(part), "numpy", "np")
    tensor = module.segment(asked.func.value)  # type: ignore[attr-defined]
    places = f"{numpy}.stack([{module.segment(part.slice)}], axis=-1)"
    return (Edit(module.location(part), f"{tf}.gather_nd({tensor}, {places})"), *imports, *more)


def names_from(nodes: Iterable[ast.AST], found: Collection[ast.AST]) -> set[str]:
    """Return the names that assignments among the nodes derive from the given names."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and any(child in found for child in ast.walk(node.value)):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def as_tensors(module: Module, block: ast.AST, cut: ast.AST) -> tuple[Edit, ...]:
    """Rewrite a block to use only tensors: remove `.numpy()` and replace NumPy calls with their equivalents.

    Args:
        module: the file.
        block: the code to rewrite.
        cut: the first call in it that converts a tensor to an array.
    """
    nodes = list(ast.walk(block))
    asked = [node for node in nodes if is_left_out(module, node)]
    found: list[ast.AST] = [*asked, cut]
    for _ in range(3):
        tainted = names_from(nodes, found)
        for call in array_calls(module, iter(nodes)):
            touched = any(
                node in found or isinstance(node, ast.Name) and node.id in tainted
                for argument in call.args
                for node in ast.walk(argument)
            )
            if touched and call not in found:
                found.append(call)
    edits = [edit for node in asked for edit in _picked(module, node) or (left_out(module, node),)]
    for node in found:
        if node in asked:
            continue
        twin = twin_edits(module, node) if isinstance(node, ast.Call) else None
        if twin is None:
            return ()
        edits += twin[1]
    return tuple(dict.fromkeys(edits))
