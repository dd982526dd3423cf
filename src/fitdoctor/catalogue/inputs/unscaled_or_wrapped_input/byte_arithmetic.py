"""Arithmetic on uint8 arrays that wraps around: 100 - 128 is 228."""

from __future__ import annotations

import ast

from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin, origin

MOST_STEPS = 12
_KEEPS_METHODS = frozenset(
    "copy reshape transpose repeat ravel flatten squeeze swapaxes take astype view clip".split()
)
_KEEPS_FUNCTIONS = frozenset(
    f"numpy.{name}"
    for name in (
        "repeat stack concatenate expand_dims reshape squeeze transpose moveaxis tile flip roll copy vstack hstack "
        "swapaxes rot90 ascontiguousarray array asarray fliplr flipud"
    ).split()
)
_READS_BYTES = frozenset({"cv2.imread", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread"})
_BYTE_DATASETS = tuple(
    f"keras.datasets.{name}.load_data" for name in ("mnist", "fashion_mnist", "cifar10", "cifar100")
)


@dataclass(frozen=True)
class Bytes:
    """The range of the values of a uint8 array."""

    low: int = 0
    high: int = 255
    known: bool = True
    """Whether values near both ends occur; otherwise they may be anywhere in between."""
    painted: bool = False
    """Whether it is a mask: zeros or ones with literal numbers assigned into it."""


ANY = Bytes(known=False)
PICTURE = Bytes()
Path = tuple[int | str | None, ...]


BYTE_WORDS = ("uint8", "imread", "load_data", "Image.open")
"""A file that creates uint8 arrays contains one of these."""


def reads_bytes(module: Module) -> bool:
    """Whether a file may make uint8 arrays at all: most do not, and following every sum would cost."""
    return any(map(module.mentions, BYTE_WORDS))


def wraps(module: Module, node: ast.AST) -> bool:
    """Whether a sum, difference or product of uint8 surely leaves 0..255 for values that may be there."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        left: ast.expr = node.target
        right, operation = node.value, node.op
    elif isinstance(node, ast.BinOp):
        left, right, operation = node.left, node.right, node.op
    else:
        return False
    if not isinstance(operation, (ast.Sub, ast.Add, ast.Mult)):
        return False
    if _is_number(module, left) and _is_number(module, right):
        return False
    one = _operand(module, left)
    other = _operand(module, right) if one is not None else None
    if one is None or other is None:
        return False
    if isinstance(operation, ast.Sub):
        if one.painted and other.painted:
            return False  # the difference of nested masks is a ring and cannot wrap
        # Labels that start at 1 are shifted this way: ignore arrays not known to contain a 0.
        shifts = (one.low, one.high) == (0, 255) and isinstance(right, ast.Constant) and right.value == 1
        return one.low < other.high and not shifts
    # Unknown bytes may be small: only what is known to become too large counts.
    most = one.high * other.high if isinstance(operation, ast.Mult) else one.high + other.high
    return one.known and other.known and most > 255


def _operand(module: Module, expr: ast.expr, steps: int = MOST_STEPS) -> Bytes | None:
    """Return the range of a uint8 array or of an integer that NumPy casts to uint8, else None."""
    if isinstance(expr, ast.Constant):
        value = expr.value
        return Bytes(value, value) if type(value) is int and 0 <= value <= 255 else None
    if isinstance(expr, ast.Name) and steps > 0:
        number = _constant(module, expr)
        if number is not None:
            return _operand(module, number, steps - 1)
    return byte_range(module, expr, (), steps)


def _is_number(module: Module, expr: ast.expr) -> bool:
    """Whether an operand is a number of Python, written there or by name, which never wraps by itself."""
    return isinstance(expr, ast.Constant) or _constant(module, expr) is not None


def _constant(module: Module, expr: ast.expr) -> ast.Constant | None:
    """Return the constant that a name surely stands for."""
    end = origin(module, expr) if isinstance(expr, ast.Name) else None
    if end is not None and isinstance(end.node, ast.Constant) and end.certain and not end.path:
        return end.node
    return None


def byte_range(module: Module, expr: ast.expr, path: Path = (), steps: int = MOST_STEPS) -> Bytes | None:
    """Return the range of an expression that is certainly a uint8 array, else None."""
    if steps <= 0:
        return None
    if isinstance(expr, (ast.Name, ast.Attribute)):
        return _of_name(module, expr, path, steps)
    if isinstance(expr, ast.Subscript):
        return byte_range(module, expr.value, path, steps - 1)
    if isinstance(expr, ast.Call):
        return _of_call(module, expr, path, steps)
    if isinstance(expr, ast.BinOp) and not isinstance(expr.op, (ast.Div, ast.MatMult, ast.Pow)):
        one = _operand(module, expr.left, steps - 1)
        other = _operand(module, expr.right, steps - 1)
        numbers = _is_number(module, expr.left) and _is_number(module, expr.right)
        return ANY if one is not None and other is not None and not numbers else None
    return None


def _of_name(module: Module, expr: ast.Name | ast.Attribute, path: Path, steps: int) -> Bytes | None:
    end = origin(module, expr, path)
    if end.node is expr:
        return _of_parameter(module, expr, steps) if isinstance(expr, ast.Name) else None
    if isinstance(end.node, ast.Name) and isinstance(end.module.parent(end.node), ast.AugAssign):
        return None
    if isinstance(end.node, ast.Name):
        found = _of_parameter(end.module, end.node, steps - 1)
    else:
        found = byte_range(end.module, end.node, end.path, steps - 1)
    return _written(found, end) if found is not None and end.writes else found


def _written(start: Bytes, end: Origin) -> Bytes:
    """Return the range after assignments into the array: literal numbers, or any value."""
    numbers = [_number_written(step.node) for step in end.writes]
    known = [one for one in numbers if one is not None]
    if start.low != start.high or len(known) != len(numbers):
        return ANY
    return Bytes(min(start.low, *known), max(start.high, *known), known=False, painted=True)


def _number_written(write: ast.AST) -> int | None:
    """Return the number that `mask[rows, columns] = 1` assigns."""
    value = write.value if isinstance(write, ast.Assign) else None
    number = value.value if isinstance(value, ast.Constant) else None
    return number if type(number) is int and 0 <= number <= 255 else None


def _of_parameter(module: Module, name: ast.Name, steps: int) -> Bytes | None:
    """Return the range of a parameter that every caller passes bytes for."""
    function = module.scope(name).node
    if not isinstance(function, FUNCTIONS):
        return None
    info = module.function(function)
    calls = (module.project.calls_of if module.project is not None else module.calls_of).get(function, [])
    if name.id not in info.parameters or not calls:
        return None
    ranges = []
    for calling, call in calls:
        argument = argument_for(info, call, name.id)
        ranges.append(None if argument is None else byte_range(calling, argument, (), steps - 1))
    known = [found for found in ranges if found is not None]
    if len(known) != len(ranges):
        return None
    low, high = min(found.low for found in known), max(found.high for found in known)
    return Bytes(low, high, all(found.known for found in known))


def _of_call(module: Module, call: ast.Call, path: Path, steps: int) -> Bytes | None:
    name = module.resolve(call.func)
    if name in _READS_BYTES:
        return PICTURE
    if name.endswith(_BYTE_DATASETS):
        return PICTURE if len(path) == 2 and path[1] == 0 else None
    if name == "numpy.uint8" and len(call.args) == 1:
        mean = isinstance(call.args[0], ast.Call) and "mean" in ast.dump(call.args[0].func)
        return ANY if mean else _operand(module, call.args[0], steps - 1)
    given = _dtype(module, call)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if given == "uint8":
        return _declared(call, method, name)
    if given:
        return None
    if name in _KEEPS_FUNCTIONS and call.args:
        return _of_argument(module, call.args[0], steps)
    if method in _KEEPS_METHODS and not name and isinstance(call.func, ast.Attribute):
        return byte_range(module, call.func.value, path, steps - 1)
    made = origin(module, call, path)
    return None if made.node is call else byte_range(made.module, made.node, made.path, steps - 1)


def _of_argument(module: Module, argument: ast.expr, steps: int) -> Bytes | None:
    """Return the range of the argument of a NumPy function: an array or a list of arrays."""
    if isinstance(argument, ast.Subscript) or not isinstance(argument, (ast.List, ast.Tuple)):
        if _opens_image(module, argument):
            return PICTURE
        return byte_range(module, argument, (), steps - 1)
    ranges = [byte_range(module, element, (), steps - 1) for element in argument.elts]
    known = [found for found in ranges if found is not None]
    return ANY if known and len(known) == len(ranges) else None


def _opens_image(module: Module, argument: ast.expr) -> bool:
    """Whether the expression is `Image.open(path)`, possibly converted or resized."""
    while isinstance(argument, ast.Call):
        if module.resolve(argument.func) == "PIL.Image.open":
            return True
        if not isinstance(argument.func, ast.Attribute) or argument.func.attr not in ("convert", "resize"):
            return False
        if any(isinstance(one, ast.Constant) and one.value in ("F", "I") for one in argument.args):
            return False
        argument = argument.func.value
    return False


def _dtype(module: Module, call: ast.Call) -> str:
    """Return the dtype of a call, from `dtype=` or `astype(…)`, "" if there is none."""
    wanted = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in ("astype", "view") and call.args:
        wanted.append(call.args[0])
    if not wanted and module.resolve(call.func) in (
        "numpy.zeros",
        "numpy.ones",
        "numpy.array",
        "numpy.empty",
    ):
        wanted = call.args[1:2]
    if not wanted:
        return ""
    value = wanted[0]
    if isinstance(value, ast.Constant):
        return str(value.value)
    return module.resolve(value).rpartition(".")[2] or "unknown"


def _declared(call: ast.Call, method: str, name: str) -> Bytes:
    """Return the range of an array created as uint8."""
    if (
        method == "astype"
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Compare)
    ):
        return Bytes(0, 1)
    if name == "numpy.zeros":
        return Bytes(0, 0)
    if name == "numpy.ones":
        return Bytes(1, 1)
    if method == "astype" and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        call = call.func.value
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in ("integers", "randint"):
        limits = [
            one.value for one in call.args[:2] if isinstance(one, ast.Constant) and type(one.value) is int
        ]
        if len(limits) == 2:
            return Bytes(max(limits[0], 0), min(limits[1] - 1, 255))
        if len(limits) == 1 and len(call.args) == 1:
            return Bytes(0, min(limits[0] - 1, 255))
    return ANY
