"""Function or method that does not accept the arguments Keras passes.

## What happens

`TypeError: PrintLoss.on_epoch_end() takes 2 positional arguments but 3 were given`, `mape() missing 1 required
positional argument`, `update_state() got an unexpected keyword argument 'sample_weight'`. The traceback shows none of
your own lines after `fit`, because Keras made the call.

## Why

Keras calls these functions with fixed arguments: a loss or metric function with `(y_true, y_pred)`, `update_state` with
`sample_weight=` even if `fit` got no weights, `on_epoch_end` with `(epoch, logs)`, `train_step` with the whole batch as
one argument, `compute_loss` with `(x, y, y_pred, sample_weight)`.

Nothing fails if the name is wrong: Keras never calls a callback's `on_epoch_start` or a layer's `comput_output_shape`.

## Fix

Declare the parameters that Keras passes. For further settings of a loss, use an enclosing function, or a `Loss` class
that takes them in `__init__`.

## Known limits

`lint` does not check functions wrapped in a decorator or `functools.partial`. A `call` that takes several inputs as
separate arguments is a separate cause, FIT321 (`inputs-as-separate-arguments`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.labels.argument_order import exchanged
from fitdoctor.catalogue.knowledge.labels.called_losses import arguments_of_loss
from fitdoctor.catalogue.knowledge.labels.targets import SPARSE
from fitdoctor.catalogue.knowledge.models.model_classes import called_layers, head
from fitdoctor.catalogue.model.call_signature_mismatch.misspelt_methods import misspelt_methods
from fitdoctor.catalogue.model.keras_contracts import Contract, contracts_in, is_static, misfit
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import counted, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, unsafe, wrap
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.patterns import argument_count, unexpected_keyword
from fitdoctor.failure.shapes import target_and_output
from fitdoctor.records import replace
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.callees import callee
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of, own_nodes

CAUSE = Cause(
    id="FIT314",
    slug="call-signature-mismatch",
    severity=Severity.ERROR,
    raises=("TypeError", "ValueError", "IndexError"),
    explains=("FIT302",),
)


def _is_called_as_argument(failure: FailureFacts) -> bool:
    """Whether the user's last line calls the function where Keras expects the function itself: `loss=squared()`."""
    frame, refused = failure.last_user_frame, _LACKS.match(failure.message)
    if frame is None or refused is None or failure.frames[-1].library:
        return False
    name = re.escape(refused["name"].rpartition(".")[2])
    return bool(
        re.search(rf"\b(?:{_TAKES_FUNCTION})\s*=\s*\[?(?:[^=\]]*,)?\s*(?:\w+\.)*{name}\(\s*\)", frame.text)
    )


_TAKES_FUNCTION = "loss|metrics|weighted_metrics|activation|loss_fn|metric"
_LACKS = re.compile(r"(?P<name>\w+(?:\.\w+)*)\(\) missing \d+ required positional arguments?: ")
CAUSE.message(
    _LACKS.pattern,
    "`{name}` is called here, but Keras expects the function itself and calls it later",
    "pass the function without parentheses: `{name}`",
    subject="function passed to Keras",
    types=("TypeError",),
    fits=_is_called_as_argument,
)


# --- functions that Keras calls -------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report functions whose parameters do not accept Keras's call."""
    for function, contract, kind in contracts_in(module):
        yield from _misfit(function, contract, kind)


def _misfit(function: FunctionInfo, contract: Contract, kind: str) -> Iterator[Finding]:
    why = misfit(function, contract)
    if _made_functions(function) and kind in ("loss", "metric"):
        yield _factory(function, kind)
    elif why:
        title = f"accept the arguments that Keras passes: `({contract.signature})`"
        yield CAUSE.finding(
            f"Keras cannot call {name_of(function)}: {why}",
            head(function),
            _parameters(function, f"({contract.signature})"),
            fix(title, _with_missing_parameters(function, contract)),
            *_with_customary_defaults(function, function.parameters[len(contract.positional) :]),
            subject=f"{function.qualname} ({kind})",
        )


@CAUSE.in_source
@mentions("allback", "Layer", "Model", "Metric", "Loss")
def never_called(module: Module) -> Iterator[Finding]:
    """Report methods that Keras does not call, because their names are slips of the ones that it calls."""
    for method, meant in misspelt_methods(module):
        place = head(method)
        start = place.column + len("def ")
        named = replace(place, column=start, end_column=start + len(method.name))
        yield CAUSE.finding(
            f"nothing calls {name_of(method)}: Keras calls "
            + (f"`{meant}`" if meant else "only the `on_…` methods that it documents"),
            named,
            unsafe(f"rename it to `{meant}`", (Edit(named, meant),))
            if meant
            else fix("use a method that Keras calls, such as `on_epoch_end`"),
            subject=f"{method.qualname} (never called)",
            severity=Severity.WARNING,
        )


def _parameters(function: FunctionInfo, expected: str = "", what: str = "parameters") -> Evidence:
    return Evidence(what, f"({', '.join(function.parameters)})", expected, location=head(function))


def _made_functions(function: FunctionInfo) -> bool:
    """Whether a function only returns functions it defines: `def focal(gamma): def loss(…): … return loss`."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return isinstance(node.body, ast.Lambda)
    inner = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    values = [part.value for part in own_nodes(function) if isinstance(part, ast.Return)]
    return bool(values) and all(
        isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in inner)
        for value in values
    )


def _factory(function: FunctionInfo, kind: str, passed: Location | None = None) -> Finding:
    """Report `loss=focal` instead of `loss=focal(2.0)`."""
    handed = function.traced.because if function.traced is not None else passed
    arguments = function.node.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    wanted = ", ".join(function.parameters[:required])
    named = handed is not None and _is_name(function.module, handed, function.name)
    return CAUSE.finding(
        f"{name_of(function)} returns a {kind} but is not one: Keras calls it with `y_true` and `y_pred`",
        handed or head(function),
        _parameters(function, "(y_true, y_pred)", "it returns a function"),
        fix(
            f"call it: `{function.name}({wanted})`",
            (Edit(handed.end, "()"),) if handed is not None and named and not required else (),
        ),
        subject=f"{function.qualname} ({kind})",
    )


def _is_name(module: Module, place: Location, name: str) -> bool:
    line = module.line_text(place.line, place.cell)
    return place.line == place.end_line and line[place.column - 1 : place.end_column - 1] == name


def _with_missing_parameters(function: FunctionInfo, contract: Contract) -> tuple[Edit, ...]:
    """Add missing parameters if the existing ones are in the right positions."""
    node = function.node
    arguments = node.args
    listed = [*arguments.posonlyargs, *arguments.args]
    bound = function.is_method and not is_static(function)
    names = [argument.arg for argument in (listed[1:] if bound else listed)]
    if isinstance(node, ast.Lambda) or arguments.kwonlyargs or arguments.vararg or (bound and not listed):
        return ()
    wanted = (*contract.positional, *contract.keywords)
    if names == list(wanted[: len(names)]) and len(names) < len(wanted):
        # `def on_epoch_end(self, epoch)`: append the rest.
        added = [f"{name}=None" if name in _OPTIONAL else name for name in wanted[len(names) :]]
        if not listed or (arguments.defaults and any("=" not in part for part in added)):
            return ()
        end = function.module.location(arguments.defaults[-1] if arguments.defaults else listed[-1]).end
        return (Edit(end, "".join(f", {part}" for part in added)),)
    if wanted == ("data",) and len(names) > 1 and not arguments.defaults:
        return _taken_apart(function, listed, names)
    if names == ["y_pred"] and wanted[:2] == ("y_true", "y_pred") and not _reads_globals(function):
        # A loss that uses only the predictions still gets the labels first.
        return (Edit(function.module.location(listed[-1]).start, "y_true, "),)
    return ()


def _taken_apart(function: FunctionInfo, listed: list[ast.arg], names: list[str]) -> tuple[Edit, ...]:
    """Turn `def train_step(self, x, y)` into one that takes `data` and unpacks it first."""
    assert not isinstance(function.node, ast.Lambda)
    module, after = function.module, (function.statements or function.node.body)[0]
    where = module.location(listed[-len(names)]).through(module.location(listed[-1]))
    return (Edit(where, "data"), *insert_before(module.code(after), f"{', '.join(names)} = data"))


def _reads_globals(function: FunctionInfo) -> bool:
    """Whether the function uses global data, which the labels of the batch should replace."""
    bindings = function.module.index.module.bindings
    return any(
        isinstance(node, ast.Name) and any(isinstance(bound, ast.Name) for bound in bindings.get(node.id, ()))
        for node in own_nodes(function)
    )


_OPTIONAL = frozenset({"logs", "sample_weight"})


_CUSTOMARY = {
    "alpha": "0.25",
    "axis": "-1",
    "beta": "1.0",
    "delta": "1.0",
    "eps": "1e-7",
    "epsilon": "1e-7",
    "gamma": "2.0",
    "label_smoothing": "0.0",
    "smooth": "1.0",
    "temperature": "1.0",
    "threshold": "0.5",
}
"""Settings of losses and metrics that Keras does not pass, with the values that Keras and papers use by default."""


def _with_customary_defaults(function: FunctionInfo, names: Sequence[str]) -> Iterator[Fix]:
    """Suggest a default for each of these parameters if they are the last without one."""
    given = function.node.args
    without = [each.arg for each in given.args[: len(given.args) - len(given.defaults)]]
    lacking = [name for name in names if name in without]
    if lacking and without[-len(lacking) :] == lacking and all(name in _CUSTOMARY for name in lacking):
        listed = {each.arg: function.module.location(each).end for each in given.args}
        spaced = {each.arg: " = " if each.annotation is not None else "=" for each in given.args}
        defaults = tuple(Edit(listed[name], f"{spaced[name]}{_CUSTOMARY[name]}") for name in lacking)
        shown = ", ".join(f"{name}={_CUSTOMARY[name]}" for name in lacking)
        yield unsafe(f"give what Keras does not pass a default: `{shown}`", defaults)


_MAY_LACK = frozenset({"sample_weight", "logs", "training", "mask"})
"""Parameters that Keras does not pass on every call."""


def _made_optional(function: FunctionInfo, words: str) -> tuple[Edit, ...]:
    """Accept an argument that Keras passes by name, or the one that it lacks if it is the last without a default."""
    given = function.node.args
    unexpected = re.search(r"unexpected keyword argument '(\w+)'", words)
    if (
        unexpected is not None
        and given.args
        and not given.vararg
        and not isinstance(function.node, ast.Lambda)
    ):
        last = (given.defaults or given.args)[-1]
        return (Edit(function.module.location(last).end, f", {unexpected[1]}=None"),)
    without = given.args[: len(given.args) - len(given.defaults)]
    missing = [name for name in _MAY_LACK if f"missing 1 required positional argument: '{name}'" in words]
    if not missing or not without or without[-1].arg != missing[0] or without[-1].annotation is not None:
        return ()
    return (Edit(function.module.location(without[-1]), f"{missing[0]}=None"),)


_NO_POSITIONAL = "should have a single positional argument, the input tensor"
_TOO_MANY = "too many positional arguments"


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the rejected arguments from the error of a function that Keras calls, or of a custom layer."""
    told = _told(failure)
    if told is None or told[1] == "get_updates" and not project:
        return  # an optimizer of another version: FIT901
    owner, name, words = told
    evidence = Evidence("Python rejects the call", words)
    by_keras = _called_by_keras(failure)
    frame = failure.last_user_frame
    here = failure.location
    if project:
        if by_keras and name:
            for function, contract, kind in _named(project, owner, name):
                if misfit(function, contract):
                    yield from (
                        certain(each, failure, evidence) for each in _misfit(function, contract, kind)
                    )
                    return
            unlisted = _plainly_named(project, owner, name)
            if unlisted is not None:
                yield _unlisted(unlisted, words, evidence)
        elif not name:
            yield from _layer_called(failure, project, evidence)
        return
    if by_keras and name and frame is not None and re.search(rf"(?<!def )\b{re.escape(name)}\(", frame.text):
        return  # the program makes the call itself
    stage = _STAGE.search(frame.text) if frame is not None else None
    if by_keras and name and stage is not None and not failure.message.startswith(f"{stage['name']}("):
        yield CAUSE.finding(
            f"`{stage['name']}` cannot call its function with the parts of an element: {_of_it(words)}",
            here,
            evidence,
            fix("declare one parameter per part: `lambda x, y: …` if the dataset yields pairs"),
            subject=name,
        )
    elif by_keras and name and _is_users(owner, name):
        yield CAUSE.finding(
            f"Keras cannot call `{f'{owner}.' if owner else ''}{name}`: {_of_it(words)}",
            here,
            evidence,
            fix("accept the arguments that Keras passes"),
            subject=name,
        )
    elif name == "call":
        yield CAUSE.finding(
            f"a layer or model is called with arguments that its `call` does not accept: {words}",
            here,
            evidence,
            fix("pass only the arguments of `call`, by name where they are optional"),
            subject=name,
        )


CAUSE.message(
    r"got multiple values for (?:keyword )?argument '(?P<name>training|mask|inputs|input_shape|name|units)'",
    "`{name}` is passed to a layer twice: by position and by name, or by the user and by Keras",
    "pass `{name}` once; a layer of a package may need the Keras version it was made for",
    subject="{name}",
    types=("TypeError",),
)


@CAUSE.after_failure
def function_as_value(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain a function where a value was expected: Keras called a loss factory as the loss."""
    shown = _FUNCTION_VALUE.search(failure.message) if _told(failure) is None else None
    if shown is None or failure.type.endswith("Warning") or shown["factory"] in _OF_KERAS:
        return
    said = failure.message.strip().splitlines()[0][:160]
    evidence = Evidence("got a function instead of a value", said)
    if not project:
        name, _frame = shown["factory"], failure.last_user_frame
        yield CAUSE.finding(
            f"`{name}` returns a loss function, but is passed as the loss itself",
            failure.location,
            evidence,
            fix(f"call it where the loss is passed: `{name}(…)`"),
            subject=name,
        )
        return
    for function, _contract, kind in _named(project, "", shown["factory"]):
        if _made_functions(function) and kind in ("loss", "metric"):
            yield certain(_factory(function, kind), failure, evidence)
            return
    factory = _plainly_named(project, "", shown["factory"])
    if factory is not None and _made_functions(factory):  # through a registry or a helper
        found = _factory(factory, "loss or metric", _passed(project, factory))
        yield certain(found, failure, evidence)


def _passed(project: Project, function: FunctionInfo) -> Location | None:
    """Return the only place that names a function without calling it."""
    places = [
        module.location(node)
        for module in project.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name)
        and node.id == function.name
        and getattr(module.parent(node), "func", None) is not node
        and module.definition(node) is function
    ]
    return places[0] if len(places) == 1 else None


_OF_KERAS = ("compute_output_spec", "make_train_function", "make_test_function", "jit")
_FUNCTION_VALUE = re.compile(r"<function [\w.<>]*?(?P<factory>\w+)\.<locals>\.[\w<>]+ at 0x")


def _told(failure: FailureFacts) -> tuple[str, str, str] | None:
    """Return class, function and problem; the function is "" if the message does not name it."""
    words = failure.message.strip().splitlines()[0] if failure.message.strip() else ""
    if _NO_POSITIONAL in failure.message:
        return "", "", words
    if failure.type != "TypeError":
        return None
    count = argument_count(failure.message)
    if count is not None:
        return (count.owner, count.function, words) if count.function or count.missing else None
    keyword = unexpected_keyword(failure.message)
    if keyword is not None and keyword.function:
        return keyword.owner, keyword.function, words
    return ("", "", words) if _TOO_MANY in failure.message else None


_STAGE = re.compile(r"\.(?P<name>map|filter|flat_map|interleave)\(")


def _of_it(words: str) -> str:
    """Return Python's complaint about a call as a clause, without the name of the function."""
    _, _, rest = words.partition("() ")
    return f"it {'is ' * rest.startswith('missing')}{rest}" if rest else words


def _called_by_keras(failure: FailureFacts) -> bool:
    """Whether Keras made the rejected call: the last frame is not the user's."""
    last = failure.frames[-1] if failure.frames else None
    if last is None:
        return False
    return last.library and (is_framework(last.path) or failure.called in ("fit", "evaluate", "predict"))


_KERAS_OWN = frozenset({"fit", "evaluate", "predict", "compile", "__init__", "Input"})


def _is_users(owner: str, name: str) -> bool:
    """Whether a function is the user's, judged without source: not a name that Keras itself uses, or a private one."""
    return name not in _KERAS_OWN and not re.match("_[a-z]", name) and not owner.endswith("Trainer")


def _named(project: Project, owner: str, name: str) -> Iterator[tuple[FunctionInfo, Contract, str]]:
    for module in project.modules:
        for function, contract, kind in contracts_in(module):
            if function.name == name and (not owner or _owner_of(function) == owner):
                yield function, contract, kind


def _owner_of(function: FunctionInfo) -> str:
    """Return the class in the qualified name, as Python prints it."""
    return function.owner.name if function.owner is not None else ""


def _plainly_named(project: Project, owner: str, name: str) -> FunctionInfo | None:
    """Return the only function of that name, whoever calls it: initializers, schedules, functions of Lambda layers."""
    if name == "__init__":
        return None
    found = [
        function
        for module in project.modules
        for function in module.functions
        if function.name == name and _owner_of(function) == owner
    ]
    return found[0] if len(found) == 1 else None


def _unlisted(function: FunctionInfo, words: str, evidence: Evidence) -> Finding:
    return CAUSE.finding(
        f"Keras cannot call {name_of(function)} with its current parameters",
        head(function),
        _parameters(function),
        evidence,
        fix(f"accept the arguments that Keras passes: {words}", _made_optional(function, words)),
        *_with_customary_defaults(function, re.findall(r"'(\w+)'", words.partition(" missing ")[2])),
        subject=function.qualname,
    )


def _layer_called(failure: FailureFacts, project: Project, evidence: Evidence) -> Iterator[Finding]:
    """Explain a custom layer called with arguments its `call` does not accept: `sig.bind` names no function."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None:
        return
    if _NO_POSITIONAL in failure.message:
        owner = project.class_named(failure.message.partition("Layer ")[2].split(" ")[0])
        method = owner.module.method(owner, "call") if owner is not None else None
        if method is not None:
            yield _unlisted(method, failure.message.splitlines()[0], evidence)
    elif _TOO_MANY in failure.message:
        for call, owner in called_layers(module, frame):
            method = owner.module.method(owner, "call")
            if method is None:
                continue
            room = len(method.parameters) - 1
            if len(call.args) > room and method.node.args.vararg is None:
                yield CAUSE.certain(
                    f"{name_of(method)} takes {counted(room, 'argument')}, but is called with {len(call.args)}",
                    module.location(call),
                    _parameters(method),
                    evidence,
                    fix("call it with the arguments that `call` declares, or add parameters to `call`"),
                    subject=module.segment(call.func),
                )
                return


# --- functions that are called instead of passed --------------------------------------------------------------------


@CAUSE.rule("()]", "(),", "())", says="missing 2 required positional arguments")
def called_too_soon(module: Module) -> Iterator[Finding]:
    """Report `compile(metrics=[r2()])`, which calls the user's function instead of passing it."""
    for site in module.method_calls("compile"):
        for name, position in (("loss", 1), ("metrics", 2), ("weighted_metrics", None)):
            given = argument_of(site.node, name, position)
            parts: list[ast.expr | None] = [given]
            if isinstance(given, (ast.List, ast.Tuple)):
                parts = list(given.elts)
            elif isinstance(given, ast.Dict):
                parts = list(given.values)
            for call in parts:
                if not isinstance(call, ast.Call) or call.args or call.keywords:
                    continue
                function = module.definition(call.func)
                if isinstance(function, FunctionInfo) and _wants_two(function):
                    shown = module.segment(call.func)
                    yield CAUSE.finding(
                        f"`{shown}()` is called without arguments: Keras calls it with labels and predictions",
                        module.location(call),
                        Evidence(
                            "arguments",
                            "()",
                            f"({', '.join(function.parameters)})",
                            location=function.module.location(function.node),
                        ),
                        fix(f"pass the function itself: `{shown}`", (Edit(module.location(call), shown),)),
                        subject=f"function {shown}",
                    )


def _wants_two(function: FunctionInfo) -> bool:
    node = function.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or function.is_method:
        return False
    given = node.args
    return len(given.args) - len(given.defaults) == 2 and not given.kwonlyargs and not given.posonlyargs


@CAUSE.after_failure
def labels_second(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain a loss that the program calls with the predictions first: its outputs have fewer axes than its labels."""
    shapes, frame = target_and_output(failure.message), failure.last_user_frame
    if shapes is None or shapes.rule != "one rank less" or len(shapes.output) >= len(shapes.target):
        return
    if frame is None or called_in(frame) in _BY_KERAS:
        return
    given = arguments_of_loss(project, failure, SPARSE)
    edits: tuple[Edit, ...] = ()
    if given is not None:
        edits = exchanged(*given)
    yield CAUSE.certain(
        "the loss is called with the predictions first, but it expects the labels first",
        frame.location,
        Evidence(
            "shapes read as labels and predictions",
            f"{shape_words(shapes.target)} and {shape_words(shapes.output)}",
            "labels with one axis fewer than the predictions",
            location=frame.location,
        ),
        fix("pass the labels first: `loss(y_true, y_pred)`", edits),
        subject="arguments of the loss",
    )


# --- layers called without an argument ------------------------------------------------------------------------------

_BY_KERAS = frozenset(
    "fit evaluate predict train_on_batch test_on_batch predict_on_batch compute_loss".split()
)
_ARGUMENT_MISSING = (
    r"(?:\bcall\(\) missing \d+ required (?:positional|keyword-only) arguments?"
    r"|missing a required (?:keyword-only )?argument): '(?P<name>\w+)'"
)
_ATTENTION = ("keras.layers.MultiHeadAttention", "keras.layers.GroupedQueryAttention")


def _is_of_program(failure: FailureFacts) -> bool:
    """Whether the program called the layer: calls made by Keras have their own causes."""
    frame = failure.last_user_frame
    return frame is not None and called_in(frame) not in _BY_KERAS and failure.frames[-1].library


@CAUSE.rule(
    "MultiHeadAttention",
    "GroupedQueryAttention",
    says=_ARGUMENT_MISSING,
    types=("TypeError",),
    problem="a layer is called without its argument `{name}`",
    remedy="pass `{name}` in the call",
    subject="argument {name}",
    fits=_is_of_program,
)
def attention_without_value(module: Module) -> Iterator[Finding]:
    """Report an attention layer called with one tensor: `attention(x)` instead of `attention(x, x)`."""
    for site in module.calls:
        call = site.node
        if site.name or any(word.arg is None for word in call.keywords):
            continue
        if any(isinstance(given, ast.Starred) for given in call.args):
            continue
        missing = [
            name for name, position in (("query", 0), ("value", 1)) if not site.argument(name, position)
        ]
        # Resolving the callee is the most expensive check, so it comes last.
        if not missing or callee(module, call) is not None or not _is_attention(module, call):
            continue
        name = missing[0]
        remedy = fix(f"pass `{name}`")
        if name == "value" and len(call.args) == 1:
            text = module.segment(call.args[0])
            title = f"use self-attention: `({text}, {text})`"
            remedy = unsafe(title, (Edit(module.location(call.args[0]).end, f", {text}"),))
        given = ", ".join(module.segment(part) for part in (*call.args, *call.keywords))
        yield CAUSE.finding(
            f"`{module.segment(call.func)}` is called without `{name}`: attention needs a query and values",
            module.location(call),
            Evidence("arguments", f"({given})", "(query, value)"),
            remedy,
            subject=f"argument {name}",
        )


def _is_attention(module: Module, call: ast.Call) -> bool:
    """Whether a call certainly calls an attention layer, rather than creating one."""
    end = module.origin(call.func)
    known = isinstance(end.node, ast.Call) and end.certain and not end.path
    return known and isinstance(end.node, ast.Call) and end.module.resolve(end.node.func) in _ATTENTION


@CAUSE.rule(says=_ARGUMENT_MISSING, in_source=False, types=("TypeError",), fits=_is_of_program)
def parameter_without_default(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Report a `call` that declares `training` or `mask` without a default: only Keras passes them."""
    for call, owner in called_layers(module, frame):
        method = owner.module.method(owner, "call")
        if method is None:
            continue
        arguments = method.node.args
        required = arguments.args[: len(arguments.args) - len(arguments.defaults)]
        # Parameters after it would need a default too.
        if required and required[-1].arg in ("training", "mask") and required[-1].annotation is None:
            name, declared = required[-1].arg, method.module.location(required[-1])
            yield CAUSE.finding(
                f"a layer is called without its argument `{name}`",
                declared,
                Evidence("the call", location=module.location(call)),
                fix(f"add a default: `{name}=None`", (Edit(declared.end, "=None"),)),
                fix(f"pass `{name}` in the call"),
                subject=f"argument {name}",
            )


_BUILT_WITHOUT_SHAPE = frozenset(
    ("Sequential", "Wrapper", "Embedding", "ReversibleEmbedding", "TextVectorization")
)
"""Keras classes whose `build` does not need the shape."""


@CAUSE.rule(".build()", says=r"build\(\) missing 1 required positional argument")
def bare_build(module: Module) -> Iterator[Finding]:
    """Report `super().build()` without the shape that Keras's `build` requires."""
    for site in module.method_calls("build"):
        call, function = site.node, site.function
        owner = function.owner if function is not None else None
        if call.args or call.keywords or function is None or owner is None or function.name != "build":
            continue
        if not isinstance(site.receiver, ast.Call) or ast.unparse(site.receiver.func) != "super":
            continue
        ancestry = module.ancestry(owner)
        own = any("build" in ancestor.methods for ancestor in ancestry[1:])
        if own or owner.kind not in ("Layer", "Model") or len(function.parameters) < 2:
            continue
        if {base.rpartition(".")[2] for each in ancestry for base in each.bases} & _BUILT_WITHOUT_SHAPE:
            continue
        shape, text = function.parameters[1], module.segment(call)
        whole = f"{text[:-1]}{shape})"
        yield CAUSE.finding(
            f"`super().build()` is called without `{shape}`, which Keras requires",
            module.location(call),
            Evidence("the call", f"`{text}`", f"`{whole}`"),
            fix(f"pass the shape: `super().build({shape})`", (Edit(module.location(call), whole),)),
            subject=f"{owner.name}.build",
        )


# --- merging layers called with separate tensors --------------------------------------------------------------------

_MERGING = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")
_MERGERS = frozenset(f"keras.layers.{name}" for name in _MERGING)
_MERGES = frozenset(f"keras.layers.{snake_case(name)}" for name in _MERGING)


@CAUSE.rule(
    *("Add(", "verage(", "oncatenate(", "aximum(", "inimum(", "ultiply(", "ubtract(", "layers.add("),
    says=".",
    types=("TypeError", "ValueError"),
)
def called_one_by_one(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report `Add()(a, b)` instead of `Add()([a, b])`."""
    if failure is not None and failure.type == "TypeError" and "positional argument" not in failure.message:
        return
    # Skip files that create no merging layer: a called layer is not identifiable by name.
    for site in module.calls if module.calls_to(*_MERGERS) else module.calls_to(*_MERGES):
        node, given, name = site.node, site.node.args, site.name
        if len(given) < 2 or any(isinstance(one, (ast.Starred, ast.List, ast.Tuple)) for one in given):
            continue
        if not name:
            made = node.func if isinstance(node.func, ast.Call) else module.made_by(node.func)
            name = module.resolve(made.func) if isinstance(made, ast.Call) else ""
        elif name not in _MERGES:
            continue
        # `concatenate(tensors, axis)` is correct, so the first argument must be a single tensor.
        if name == "keras.layers.concatenate" and not isinstance(module.made_by(given[0]), ast.Call):
            continue
        if name in _MERGES | _MERGERS:
            first, last = module.location(given[0]), module.location(given[-1])
            shown = name.rpartition(".")[2]
            yield CAUSE.finding(
                f"`{shown}` expects its tensors in one list, but receives them as separate arguments",
                module.location(node),
                Evidence("tensors", f"{len(given)} arguments", "one list"),
                fix("pass the tensors as a list", (Edit(first.start, "["), Edit(last.end, "]"))),
                subject=f"arguments of {shown}",
            )


# --- classes instead of instances -----------------------------------------------------------------------------------


@CAUSE.rule(
    "callbacks",
    says=r"\bset_(?:model|params)\(\) missing 1 required positional argument",
    problem="a class is passed as a callback instead of an instance",
    remedy="create the callback: call the class",
    subject="callbacks of fit",
    confidence=Confidence.CERTAIN,
    anywhere=True,
)
def callback_class(module: Module) -> Iterator[Finding]:
    """Report `callbacks=[EarlyStopping]`."""
    for site in module.method_calls("fit"):
        whole = site.argument("callbacks", 5)
        if whole is None:
            continue
        end = module.origin(whole)
        parts = end.node.elts if isinstance(end.node, (ast.List, ast.Tuple)) else [end.node]
        for part in parts if end.certain and not end.path else ():
            yield from _unmade(end.module, part, "callbacks")


@CAUSE.rule(
    "optimizers",
    says=r"Could not interpret optimizer identifier:.{0,4}<class '[\w.]*?(?P<name>\w+)'>",
    problem="a class is passed as an optimizer instead of an instance",
    remedy="create the optimizer: `{name}()`",
    subject="optimizer of compile",
    confidence=Confidence.CERTAIN,
    anywhere=True,
)
def optimizer_class(module: Module) -> Iterator[Finding]:
    """Report `optimizer=Adam`."""
    for site in module.method_calls("compile"):
        given = site.argument("optimizer", 0)
        if given is not None:
            yield from _unmade(module, given, "optimizers")


@CAUSE.rule(
    says=r"^\w+\.\w+\(\) missing \d+ required positional arguments?: ", in_source=False, anywhere=True
)
def class_called(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Report a method called on a Keras class: `model = Sequential`, then `model.add(…)`."""
    for site in module.calls if frame is not None else ():
        if isinstance(site.node.func, ast.Attribute) and frame is not None:
            if at_frame(module, site.node, frame):
                yield from _unmade(module, site.node.func.value, "", module.location(site.node))


def _unmade(module: Module, node: ast.expr, home: str, used: Location | None = None) -> Iterator[Finding]:
    """Report a class, of Keras or a custom callback, that a value certainly is."""
    end = module.origin(node)
    if not end.certain or end.path or not isinstance(end.node, (ast.Name, ast.Attribute)):
        return
    module, given = end.module, end.node
    inside = r"(?:\w+\.)?" if not home else rf"{home}\."
    of_keras = re.fullmatch(rf"keras\.{inside}[A-Z]\w*", module.resolve(given))
    owner = module.definition(given) if home == "callbacks" else None
    if of_keras or isinstance(owner, ClassInfo) and owner.kind == "Callback":
        name, here = module.segment(given), module.location(given)
        yield CAUSE.finding(
            f"the class `{name}` is used instead of an instance",
            here,
            Evidence("value", name, f"{name}(…)", location=used),
            fix(f"create an instance: `{name}()`", (Edit(here.end, "()"),)),
            subject=f"class {name}",
        )


# --- lengths --------------------------------------------------------------------------------------------------------

_FLOATS = ("numpy.ceil", "numpy.floor", "numpy.round", "numpy.divide", "float", "tensorflow.math.ceil")


@CAUSE.rule(
    "PyDataset",
    "Sequence",
    says=r"'(?:numpy\.)?float\d*' object cannot be interpreted as an integer",
    anywhere=True,
)
def broken_length(module: Module) -> Iterator[Finding]:
    """Report a `PyDataset.__len__` that returns a float."""
    for info in module.classes:
        length = info.methods.get("__len__") if info.kind == "PyDataset" else None
        for node in module.returns.get(length.node, ()) if length is not None else ():
            value = node.value
            quotient = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)  # FIT715
            if length is not None and value is not None and not quotient and _is_float(module, value):
                yield CAUSE.finding(
                    f"{name_of(length)} returns a float, but a length must be an int",
                    module.location(value),
                    Evidence("return value", module.segment(value), "an int"),
                    fix("convert it to an int", wrap(module.code(value), "int({})")),
                    subject=name_of(length),
                )


def _is_float(module: Module, node: ast.expr) -> bool:
    node = module.made_by(node)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return True
        arithmetic = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
        return arithmetic and (_is_float(module, node.left) or _is_float(module, node.right))
    return isinstance(node, ast.Call) and module.resolve(node.func) in _FLOATS


# --- states of recurrent layers -------------------------------------------------------------------------------------

_ONE_STATE = "`LSTM` receives one initial state, but expects two: h and c"


def _is_of_states(failure: FailureFacts) -> bool:
    return failure.layer_class == "LSTM" and "initial_state" in dict(failure.arguments)


@CAUSE.rule(
    "initial_state",
    says="list index out of range",
    types=("IndexError",),
    problem=_ONE_STATE,
    remedy="pass both states: `initial_state=[h, c]`",
    subject="LSTM",
    confidence=Confidence.CERTAIN,
    fits=_is_of_states,
    anywhere=True,
)
def lone_state(module: Module) -> Iterator[Finding]:
    """Report an LSTM called with a list of one state, or with a single tensor."""
    for node in module.nodes(ast.Call):
        state = argument_of(node, "initial_state")
        if state is None or not _is_layer(module, node.func, "LSTM"):
            continue
        given = module.made_by(state)
        if isinstance(given, (ast.List, ast.Tuple)):
            one = given.elts[0] if len(given.elts) == 1 else None
        else:  # the output of a `Dense` is a single tensor
            of_dense = isinstance(given, ast.Call) and _is_layer(module, given.func, "Dense")
            given, one = state, state if of_dense else None
        if one is None or isinstance(one, ast.Starred):
            continue
        text, other = module.segment(one), _other_state(module, one)
        both = Edit(module.location(given), f"[{text}, {other or text}]")
        title = f"pass both states: `[{text}, {other}]`" if other else "pass both states: `[h, c]`"
        repair = fix(title, (both,)) if other else unsafe(title, (both,))
        # A named list is edited where it is created.
        where = module.location(node if given is state else given)
        yield CAUSE.finding(_ONE_STATE, where, repair, subject="LSTM")


def _other_state(module: Module, state: ast.expr) -> str:
    """Return `c` if the program unpacks `outputs, h, c = lstm(x)` and passes `h`."""
    found = last_assignment(module, state) if isinstance(state, ast.Name) else None
    if found is None or found[0].path != (1,):
        return ""
    statement = module.statement(found[0].target)
    taken = statement.targets[0] if isinstance(statement, ast.Assign) else None
    names = taken.elts if isinstance(taken, ast.Tuple) else []
    return names[2].id if len(names) == 3 and isinstance(names[2], ast.Name) and names[2].id != "_" else ""


def _is_layer(module: Module, called: ast.expr, name: str) -> bool:
    """Whether an expression is a layer of Keras of that class."""
    made = module.made_by(called)
    return isinstance(made, ast.Call) and module.resolve(made.func).endswith(f"keras.layers.{name}")


_VALUES = {"keras.layers.LSTM": 3, "keras.layers.GRU": 2, "keras.layers.SimpleRNN": 2}
"""Number of values that a layer returns with `return_state=True`: the output and its states."""


@CAUSE.rule("return_state", says=r"(?:too many|not enough) values to unpack \(expected \d+")
def unpacked_states(module: Module) -> Iterator[Finding]:
    """Report a recurrent layer whose output and states are unpacked into the wrong number of names."""
    for node in module.nodes(ast.Assign):
        target, called = node.targets[0], node.value
        if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(called, ast.Call):
            continue
        maker = module.made_by(called.func)
        name, given = _with_states(module, maker) if isinstance(maker, ast.Call) else ("", 0)
        least = len([one for one in target.elts if not isinstance(one, ast.Starred)])
        if given and least != given and not (least < len(target.elts) and least < given):
            yield CAUSE.finding(
                f"`{name}` returns {given} values with `return_state=True`, but {least} are unpacked",
                module.location(target),
                _unpacked(module, target, given),
                subject=name,
            )


def _with_states(module: Module, maker: ast.Call) -> tuple[str, int]:
    """Return a recurrent layer's name and its number of return values; 0 if unknown."""
    kind = module.resolve(maker.func)
    if kind == "keras.layers.Bidirectional" and argument_of(maker, "merge_mode") is None:
        inner = argument_of(maker, "layer", 0)
        made = module.made_by(inner) if inner is not None else None
        name, given = _with_states(module, made) if isinstance(made, ast.Call) else ("", 0)
        # One output, then the states of both directions.
        return f"Bidirectional({name})", 2 * given - 1 if given else 0
    asked = argument_of(maker, "return_state")
    told = isinstance(asked, ast.Constant) and asked.value is True
    return kind.rpartition(".")[2], _VALUES.get(kind, 0) if told else 0


def _unpacked(module: Module, target: ast.Tuple | ast.List, given: int) -> Fix:
    """Use `output, *states = …`, which keeps the states together as `initial_state` expects them."""
    names = [module.segment(name) for name in target.elts]
    if len(names) != 2 or given < 3:
        return fix(f"unpack {given} values: the output, then its states")
    text = f"{names[0]}, *{names[1]}"
    return fix(f"keep the states together: `{text} = …`", (Edit(module.location(target), text),))
