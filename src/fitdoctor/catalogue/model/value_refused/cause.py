"""Invalid argument value for a layer, an optimizer or `fit`.

## What happens

`Dropout(50)` raises `ValueError: Invalid value received for argument rate. Expected a float value between 0 and 1`,
`Dense(len(x) / 2)` raises `Received an invalid value for units, expected a positive integer`, `Adam("1e-3")` raises
`Argument learning_rate should be float`. `fit(epochs="10")` raises `'str' object cannot be interpreted as an integer`
inside Keras. `Embedding(501, 50, weights=[matrix])` with a matrix of 500 rows raises `weight shape (501, 50) is not
compatible with provided weight shape (500, 50)`.

## Why

The value is a percentage instead of a fraction, a quotient (`/` returns a float even without a remainder), or a string:
from a configuration file, an environment variable, or `argparse` without `type=int`.

## Fix

Write a fraction instead of a percentage, use `//` instead of `/`, or convert a string with `int(…)` or `float(…)`. (Keras
2 accepts a float as a size.)

## Known limits

`lint` checks only literal numbers and strings, quotients, and `argparse` options with a string default.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, set_argument, unsafe
from fitdoctor.facts import FailureFacts, Shape
from fitdoctor.failure.failed_line import calls_at, raised_here
from fitdoctor.failure.patterns import rejected_integer
from fitdoctor.failure.shapes import parse_shape
from fitdoctor.records import replace
from fitdoctor.source.definitions import CallSite
from fitdoctor.source.keras_objects import defines, is_keras_model
from fitdoctor.source.models.layer_settings import POSITIONAL
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT327", slug="value-refused", severity=Severity.ERROR, raises=("ValueError", "TypeError"), stage=2
)

_NAMED = re.compile(r"`(\w+)`|\b([a-z_]+)=")
_OTHERS = re.compile(r"Could not interpret|must end in|to a shape")
"""Unknown names, file extensions and shapes have their own causes."""
_WANTED = re.compile(r"(?:[Ee]xpected|must be|should be|cannot be)\s+([^.,;(]{3,80})")
_OF_TEXT = re.compile(
    r"'str' object cannot be interpreted as an integer|unsupported operand type\(s\) for /: 'int' and 'str'"
)
_COUNTS = {"epochs": 3, "initial_epoch": None, "steps_per_epoch": None, "batch_size": 2}
"""Integer arguments of `fit`, and their positions."""
_SHARES = frozenset({"rate"})
_SIZES = {"Dense": "units", "Embedding": "output_dim"}
_SHARE, _SIZE, _COUNT = "a float value between 0 and 1", "a positive integer", "an integer"


@CAUSE.in_source
@mentions("Dropout")
def from_shares(module: Module) -> Iterator[Finding]:
    """Report literal fractions above 1."""
    for kind, name, node in _of_layers(module):
        if name in _SHARES and "Dropout" in kind and _is_no_share(_sure(module, node)):
            yield replace(_finding(module, name, node, _SHARE), confidence=Confidence.CERTAIN)


@CAUSE.in_source
@mentions("/", ".0")
def from_sizes(module: Module) -> Iterator[Finding]:
    """Report sizes that are not integers; Keras 2 rounds them down."""
    for kind, name, node in _of_layers(module) if module.keras == 3 else ():
        if name == _SIZES.get(kind) and _is_float(_sure(module, node)):
            yield replace(_finding(module, name, node, _SIZE), confidence=Confidence.CERTAIN)


@CAUSE.in_source
@mentions("add_argument", 'epochs="', "epochs='", "optimizers")
def from_text(module: Module) -> Iterator[Finding]:
    """Report strings where a number is expected."""
    for call in module.method_calls("fit"):
        for name, position in _COUNTS.items():
            given = call.argument(name, position)
            if given is not None and _is_text(module, given) and _is_of_model(module, call):
                yield _finding(module, name, given, _COUNT)
    for call in module.calls_under("keras.optimizers."):
        for name, given in _arguments(call):
            if name == "learning_rate" and _is_text(module, given):
                yield _finding(module, name, given, "a float")


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain an error that names an argument of the failed call, or a string as a count in `fit`."""
    calls = calls_at(failure, project)
    if not calls or failure.type not in ("ValueError", "TypeError"):
        return
    if _OF_TEXT.search(failure.message):
        yield from _of_text(calls[0].module, failure, calls)
        return
    said = failure.message.split("\n\n")[0]
    if _OTHERS.search(said) or rejected_integer(said) is not None:
        return
    named = {word for pair in _NAMED.findall(said) for word in pair if word}
    for call in calls:
        kind = call.name.rpartition(".")[2]
        if not call.name.startswith("keras.") or not kind[:1].isupper() or failure.called not in (kind, ""):
            continue
        for name, node in _arguments(call):
            if name in named:
                found = _finding(call.module, name, node, _rule(said))
                yield certain(found, failure, confidence=Confidence.LIKELY)
                return


def _of_text(module: Module, failure: FailureFacts, calls: list[CallSite]) -> Iterator[Finding]:
    """Report the only count in `fit` that is not a literal number."""
    given = [
        (name, node)
        for call in calls
        if call.method == "fit"
        for name, position in _COUNTS.items()
        if (node := call.argument(name, position)) is not None and not isinstance(node, ast.Constant)
    ]
    written = [(name, node) for name, node in given if _is_text(module, node)] or given
    if len(written) == 1:
        name, node = written[0]
        yield certain(_finding(module, name, node, _COUNT), failure)


def _of_layers(module: Module) -> Iterator[tuple[str, str, ast.expr]]:
    """Yield class, name and value of each argument of a Keras layer."""
    for call in module.calls_under("keras.layers."):
        for name, node in _arguments(call):
            yield call.name.rpartition(".")[2], name, node


def _arguments(call: CallSite) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments of a call whose names are known."""
    home, _, kind = call.name.rpartition(".")
    is_optimizer = home == "keras.optimizers" and kind[:1].isupper()
    order = ("learning_rate",) if is_optimizer else POSITIONAL.get(kind, ())
    if not any(isinstance(node, ast.Starred) for node in call.node.args):
        yield from zip(order, call.node.args, strict=False)
    yield from ((word.arg, word.value) for word in call.node.keywords if word.arg is not None)


def _sure(module: Module, node: ast.expr) -> ast.expr | None:
    """Return the expression that a value comes from, if there is only one."""
    made = module.origin(node)
    return made.node if made.certain and not made.path and not made.writes else None


def _number(node: ast.expr | None) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _number(node.operand)
        return None if number is None else -number
    plain = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return node.value if plain else None  # type: ignore[union-attr]


def _is_no_share(value: ast.expr | None) -> bool:
    number = _number(value)
    return number is not None and not 0 <= number <= 1


def _is_float(value: ast.expr | None) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        return True
    return isinstance(value, ast.Constant) and isinstance(value.value, float)


def _is_text(module: Module, node: ast.expr) -> bool:
    """Whether a value is a literal string, or an untyped option with a string default."""
    value = _sure(module, node)
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    made = _sure(module, node.value)
    if not isinstance(made, ast.Call) or getattr(made.func, "attr", "") != "parse_args":
        return False
    options = [call for call in module.method_calls("add_argument") if _names_option(call, node.attr)]
    default = options[0].argument("default") if len(options) == 1 else None
    typed = len(options) == 1 and any(
        word.arg in ("type", "action", None) for word in options[0].node.keywords
    )
    return not typed and isinstance(default, ast.Constant) and isinstance(default.value, str)


def _names_option(call: CallSite, name: str) -> bool:
    words = [node.value for node in call.node.args if isinstance(node, ast.Constant)]
    target = call.argument("dest")
    if target is not None:
        words = [target.value] if isinstance(target, ast.Constant) else []
    return any(isinstance(word, str) and word.lstrip("-").replace("-", "_") == name for word in words)


def _is_of_model(module: Module, call: CallSite) -> bool:
    return is_keras_model(module, call.receiver) and not defines(module, call.receiver, "fit")


def _rule(said: str) -> str:
    """Return the message's description of valid values."""
    wanted = _WANTED.search(said)
    return " ".join(wanted[1].split()) if wanted else "a valid value"


def _finding(module: Module, name: str, node: ast.expr, wanted: str) -> Finding:
    return CAUSE.finding(
        f"`{name}` is {_described(module, node)}, but Keras expects {wanted}",
        module.location(node),
        Evidence(f"value of `{name}`", module.segment(node), wanted),
        _remedy(module, name, node, wanted),
        subject=f"argument {name}",
    )


def _described(module: Module, node: ast.expr) -> str:
    value, text = _sure(module, node), module.segment(node)
    shown = "" if value is None or value is node else module.segment(value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        return f"the float `{shown or text}`"
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return f"the string `{shown or text}`"
    return f"`{text}`" + (f", which is `{shown}`" if isinstance(value, ast.Constant) and shown else "")


def _remedy(module: Module, name: str, node: ast.expr, wanted: str) -> Fix:
    value, here, text = _sure(module, node), module.location(node), module.segment(node)
    number = _number(value)
    if name in _SHARES and number is not None and 1 < number <= 100:
        return fix(f"write {number:g}% as a fraction", (Edit(here, f"{number / 100:g}"),))
    whole = "integer" in wanted
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        left, right = module.location(node.left).end, module.location(node.right).start
        if whole and left.line == right.line and module.segment(node.right)[:1] != "(":
            return fix("use integer division: `//`", (Edit(left.through(right), " // "),))
    if whole and (number is None or number > 0):
        return fix("convert it to an `int`", (Edit(here, f"int({text})"),))
    if "float" in wanted and number is None:
        return fix("convert it to a `float`", (Edit(here, f"float({text})"),))
    return fix(f"set `{name}` to a valid value: {wanted}")


def _divides_by_batch_size(failure: FailureFacts) -> bool:
    return bool(failure.frames) and "// self.batch_size" in failure.frames[-1].text


CAUSE.message(
    r"division",
    "`batch_size` is 0, so Keras cannot compute the number of batches",
    "pass a batch size of at least 1; a size computed by a division needs `max(1, …)`",
    subject="argument batch_size",
    types=("ZeroDivisionError",),
    fits=_divides_by_batch_size,
)
CAUSE.message(
    r"^'int' object is not iterable$",
    "`shape` is a number, but Keras expects a tuple",
    "pass a tuple: `(n,)`; `(n)` is only a number",
    subject="argument",
    types=("TypeError",),
    raised_in=("Input",),
)
CAUSE.message(
    r"^Invalid (?P<name>\w+): (?P<value>[^;\n]{1,80}); expected one of:? (?P<allowed>[^\n]{1,200})",
    "`{name}` is {value}, but Keras expects one of {allowed}",
    "use one of the values that the message lists",
    subject="argument",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)


# --- shapes of weights ----------------------------------------------------------------------------------------------


_SAID = re.compile(
    r"Layer (?:(?P<layer>\S+) )?weight shape (?P<own>\([^)]*\)) (?:is )?not compatible with provided weight shape "
    r"(?P<given>\([^)]*\))"
)
_SIZE_ARGUMENTS = (("input_dim", 0), ("output_dim", 1))
"""The arguments of `Embedding` that make the shape of its weights."""


@CAUSE.after_failure
def from_weights(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the layer, and the sizes that the weights would need."""
    said = _SAID.search(failure.message)
    own, given = (parse_shape(said["own"]), parse_shape(said["given"])) if said is not None else (None, None)
    if said is None or own is None or given is None:
        return
    name = f"layer `{said['layer']}`" if said["layer"] else "the layer"
    calls = calls_at(failure, project)
    setting = next((call for call in calls if call.method == "set_weights"), None)
    site = _embedding(calls, setting)
    shown = setting or site
    place = shown.module.location(shown.node) if shown is not None else failure.location
    yield CAUSE.certain(
        f"the weights have shape {shape_words(given)}, but {name} has weights of shape {shape_words(own)}",
        place,
        Evidence("shape of the weights", shape_words(given), shape_words(own)),
        raised_here(failure),
        _matching_size(site, own, given),
        subject="weights of a layer",
    )


def _embedding(calls: list[CallSite], setting: CallSite | None) -> CallSite | None:
    """Return the `Embedding(…)` on the line, or the one that `set_weights` is called on."""
    if setting is not None:
        made = setting.module.made_by(setting.receiver)
        calls = [setting.module.call(made)] if isinstance(made, ast.Call) else []
    found = [call for call in calls if call.name.rpartition(".")[2] == "Embedding"]
    return found[0] if len(found) == 1 else None


def _matching_size(site: CallSite | None, own: Shape, given: Shape) -> Fix:
    wrong = [
        (name, at) for name, at in _SIZE_ARGUMENTS if len(own) == len(given) == 2 and own[at] != given[at]
    ]
    if site is None or not wrong:
        return fix("change the layer to the sizes of the weights, or create weights of the layer's shape")
    sizes = " and ".join(f"`{name}={given[at]}`" for name, at in wrong)
    code = site.module.code(site.node)
    edits = [set_argument(code, name, str(given[at]), position=at) for name, at in wrong]
    return unsafe(f"change the layer to the sizes of the weights: {sizes}", *edits)
