"""Function or method that does not accept the arguments Keras passes.

## What happens

`TypeError: PrintLoss.on_epoch_end() takes 2 positional arguments but 3 were given`, `mape() missing 1 required
positional argument`, `update_state() got an unexpected keyword argument 'sample_weight'`. The traceback shows none of
your own lines after `fit`, because Keras made the call.

## Why

Keras calls these functions with fixed arguments: a loss or metric function with `(y_true, y_pred)`, `update_state` with
`sample_weight=` even if `fit` got no weights, `on_epoch_end` with `(epoch, logs)`, `train_step` with the whole batch as
one argument, `compute_loss` with `(x, y, y_pred, sample_weight)`.

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
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import head
from fitdoctor.catalogue.model.call_signature_mismatch.contract_edits import (
    made_optional,
    with_missing_parameters,
)
from fitdoctor.catalogue.model.call_signature_mismatch.dataset_lengths import broken_lengths
from fitdoctor.catalogue.model.keras_contracts import Contract, contracts_in, misfit
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, wrap
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, stands_at
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.patterns import argument_count, unexpected_keyword
from fitdoctor.records import replace
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

_TOO_MANY = "too many positional arguments"
_NO_INTEGER = re.compile(r"'(?:numpy\.)?float\d*' object cannot be interpreted as an integer")
_NO_POSITIONAL = "should have a single positional argument, the input tensor"


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report functions whose parameters do not accept Keras's call."""
    for function, contract, kind in contracts_in(module):
        why = misfit(function, contract)
        if _made_functions(function) and kind in ("loss", "metric"):
            yield _factory(function, kind, Confidence.LIKELY, [])
        elif why:
            yield _finding(function, contract, kind, why, Confidence.LIKELY, [])


@CAUSE.in_source
@mentions("()]", "(),", "())")
def called_in_source(module: Module) -> Iterator[Finding]:
    """Report `compile(metrics=[r2()])`, which calls the user's function instead of passing it."""
    if "compile" in module.text:
        from fitdoctor.catalogue.model.call_signature_mismatch.called_too_soon import called_too_soon

        yield from called_too_soon(CAUSE, module, Confidence.LIKELY)


@CAUSE.after_failure
def called_before(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the `TypeError` of such a call."""
    frame = failure.last_user_frame
    if "missing 2 required positional arguments" not in failure.message or frame is None:
        return
    module = module_of(project, frame)
    for finding in called_in_source(module) if module is not None else ():
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)


@CAUSE.in_source
@mentions(".build()")
def build_without_shape(module: Module) -> Iterator[Finding]:
    """Report `super().build()` without the input shape."""
    from fitdoctor.catalogue.model.call_signature_mismatch.missing_arguments import bare_builds

    yield from bare_builds(CAUSE, module, Confidence.LIKELY)


@CAUSE.after_failure
def build_refused(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the `TypeError` of such a call."""
    from fitdoctor.catalogue.model.call_signature_mismatch.missing_arguments import bare_builds

    module = module_of(project, failure.last_user_frame)
    if module is not None and "build() missing 1 required positional argument" in failure.message:
        yield from bare_builds(CAUSE, module, Confidence.CERTAIN)


@CAUSE.in_source
@mentions("initial_state")
def states_in_source(module: Module) -> Iterator[Finding]:
    """Report an LSTM called with one state."""
    from fitdoctor.catalogue.model.recurrent_states import lone_states

    yield from lone_states(CAUSE, module)


@CAUSE.in_source
@mentions("return_state")
def states_unpacked(module: Module) -> Iterator[Finding]:
    """Report a recurrent layer whose output and states are unpacked into the wrong number of names."""
    from fitdoctor.catalogue.model.recurrent_states import unpacked_in_source

    yield from unpacked_in_source(CAUSE, module)


@CAUSE.after_failure
def states_missing(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a missing second state, or an unpacking error."""
    from fitdoctor.catalogue.model.recurrent_states import second_missing, unpacked_states

    yield from second_missing(CAUSE, failure, project)
    yield from unpacked_states(CAUSE, failure, project)


@CAUSE.in_source
@mentions("MultiHeadAttention", "GroupedQueryAttention")
def attention_called(module: Module) -> Iterator[Finding]:
    """Report an attention layer called with one tensor."""
    from fitdoctor.catalogue.model.call_signature_mismatch.missing_arguments import attention_in_source

    yield from attention_in_source(CAUSE, module)


@CAUSE.in_source
@mentions("Add(", "verage(", "oncatenate(", "aximum(", "inimum(", "ultiply(", "ubtract(", "layers.add(")
def tensors_one_by_one(module: Module) -> Iterator[Finding]:
    """Report a merging layer called with separate tensors."""
    from fitdoctor.catalogue.model.call_signature_mismatch.separate_tensors import called_one_by_one

    yield from called_one_by_one(CAUSE, module)


@CAUSE.after_failure
def refused_one_by_one(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the `TypeError` of such a call."""
    from fitdoctor.catalogue.model.call_signature_mismatch.separate_tensors import refused

    yield from refused(CAUSE, failure, project)


@CAUSE.after_failure
def argument_missing(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a Keras layer that the user's code called with a missing argument."""
    from fitdoctor.catalogue.model.call_signature_mismatch.missing_arguments import refused

    yield from refused(CAUSE, failure, project)


@CAUSE.after_failure
def labels_second(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a loss called with labels and predictions swapped."""
    from fitdoctor.catalogue.model.call_signature_mismatch.swapped_labels import refused

    yield from refused(CAUSE, failure, project)


@CAUSE.in_source
@mentions("callbacks", "optimizers")
def callback_classes(module: Module) -> Iterator[Finding]:
    """Report a class passed to `fit` as a callback, or to `compile` as the optimizer."""
    from fitdoctor.catalogue.model.call_signature_mismatch.unmade_objects import classes_given

    yield from classes_given(CAUSE, module)


@CAUSE.after_failure
def object_not_made(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a class used where Keras expects an instance."""
    from fitdoctor.catalogue.model.call_signature_mismatch.unmade_objects import class_called, class_refused

    yield from class_refused(CAUSE, failure, project)
    yield from class_called(CAUSE, failure, project)


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


def _factory(function: FunctionInfo, kind: str, confidence: Confidence, evidence: list[Evidence]) -> Finding:
    """Report `loss=focal` instead of `loss=focal(2.0)`."""
    handed = function.traced.because if function.traced is not None else None
    arguments = function.node.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    wanted = ", ".join(function.parameters[:required])
    edits: tuple[Edit, ...] = ()
    if handed is not None and not required and _is_name(function.module, handed, function.name):
        end = Location(
            handed.path, handed.end_line, handed.end_column, handed.end_line, handed.end_column, handed.cell
        )
        edits = (Edit(end, "()"),)
    return CAUSE.finding(
        f"{name_of(function)} returns a {kind} but is not one: Keras calls it with `y_true` and `y_pred`",
        handed or head(function),
        Evidence(
            "it returns a function",
            f"({', '.join(function.parameters)})",
            "(y_true, y_pred)",
            location=head(function),
        ),
        *evidence,
        fix(f"call it: `{function.name}({wanted})`", edits),
        subject=f"{function.qualname} ({kind})",
        confidence=confidence,
    )


def _is_name(module: Module, place: Location, name: str) -> bool:
    line = module.line_text(place.line, place.cell)
    return place.line == place.end_line and line[place.column - 1 : place.end_column - 1] == name


def _finding(
    function: FunctionInfo,
    contract: Contract,
    kind: str,
    why: str,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    signature = f"({contract.signature})"
    return CAUSE.finding(
        f"Keras cannot call {name_of(function)}: {why}",
        head(function),
        Evidence("parameters", f"({', '.join(function.parameters)})", signature, location=head(function)),
        *evidence,
        *_fixes(function, contract),
        subject=f"{function.qualname} ({kind})",
        confidence=confidence,
    )


def _fixes(function: FunctionInfo, contract: Contract) -> list[Fix]:
    title = f"accept the arguments that Keras passes: `({contract.signature})`"
    return [fix(title, with_missing_parameters(function, contract))]


@CAUSE.in_source
@mentions("PyDataset", "Sequence")
def lengths_in_source(module: Module) -> Iterator[Finding]:
    """Report a `PyDataset.__len__` that returns a float."""
    for function, value in broken_lengths(module):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            continue  # FIT715 reports quotients
        yield CAUSE.finding(
            f"{name_of(function)} returns a float, but a length must be an int",
            module.location(value),
            Evidence("return value", module.segment(value), "an int"),
            fix("convert it to an int", wrap(module.code(value), "int({})")),
            subject=name_of(function),
            confidence=Confidence.LIKELY,
        )


@CAUSE.after_failure
def from_length(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain the error about the length of a `PyDataset`."""
    if not _NO_INTEGER.search(failure.message) or isinstance(project, Unknown):
        return
    for module in project.modules:
        for finding in lengths_in_source(module):
            yield replace(finding, confidence=Confidence.CERTAIN)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Read the rejected arguments from the error of a function that Keras calls, or of a custom layer."""
    twice = _TWICE.search(failure.message) if failure.type == "TypeError" else None
    if twice is not None:
        yield CAUSE.finding(
            f"`{twice['name']}` is passed to a layer twice: by position and by name, or by the user and by Keras",
            failure.last_user_frame.location if failure.last_user_frame else None,
            Evidence("Python rejects the call", twice[0], fact="failure.message"),
            fix(
                f"pass `{twice['name']}` once; a layer of a package may need the Keras version it was made for"
            ),
            subject=twice["name"],
            confidence=Confidence.LIKELY,
        )
        return
    told = _told(failure)
    if told is None:
        yield from _function_as_value(failure, project)
        return
    owner, name, words = told
    evidence = [Evidence("Python rejects the call", words, fact="failure.message")]
    by_keras = _called_by_keras(failure)
    line = failure.last_user_frame.text if failure.last_user_frame else ""
    if (
        by_keras
        and name
        and re.search(rf"(?<!def )\b{re.escape(name)}\(", line)
        and isinstance(project, Unknown)
    ):
        return  # the program makes the call itself
    if isinstance(project, Project) and by_keras and name:
        for function, contract, kind in _named(project, owner, name):
            why = misfit(function, contract)
            if why and _made_functions(function) and kind in ("loss", "metric"):
                yield _factory(function, kind, Confidence.CERTAIN, evidence)
                return
            if why:
                yield _finding(function, contract, kind, why, Confidence.CERTAIN, evidence)
                return
        unlisted = _plainly_named(project, owner, name)
        if unlisted is not None:
            yield _unlisted(unlisted, words, evidence)
            return
    if isinstance(project, Project) and not name:
        yield from _layer_called(failure, project, evidence)
        return
    if by_keras and name and not isinstance(project, Project) and _is_users(owner, name):
        yield CAUSE.finding(
            f"Keras cannot call `{f'{owner}.' if owner else ''}{name}`: {_of_it(words)}",
            failure.last_user_frame.location if failure.last_user_frame else None,
            *evidence,
            fix("accept the arguments that Keras passes"),
            subject=name,
            confidence=Confidence.LIKELY,
        )
    elif name == "call" and isinstance(project, Unknown):
        yield CAUSE.finding(
            f"a layer or model is called with arguments that its `call` does not accept: {words}",
            failure.last_user_frame.location if failure.last_user_frame else None,
            *evidence,
            fix("pass only the arguments of `call`, by name where they are optional"),
            subject=name,
            confidence=Confidence.LIKELY,
        )


_TWICE = re.compile(
    r"got multiple values for (?:keyword )?argument '(?P<name>training|mask|inputs|input_shape|name|units)'"
)
_OF_KERAS = ("compute_output_spec", "make_train_function", "make_test_function", "jit")
_FUNCTION_VALUE = re.compile(r"<function [\w.<>]*?(?P<factory>\w+)\.<locals>\.[\w<>]+ at 0x")


def _function_as_value(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a function where a value was expected: Keras called a loss factory as the loss."""
    shown = _FUNCTION_VALUE.search(failure.message)
    if shown is None or failure.type.endswith("Warning") or shown["factory"] in _OF_KERAS:
        return
    said = failure.message.strip().splitlines()[0][:160]
    evidence = [Evidence("got a function instead of a value", said, fact="failure.message")]
    if isinstance(project, Unknown):
        name, frame = shown["factory"], failure.last_user_frame
        yield CAUSE.finding(
            f"`{name}` returns a loss function, but is passed as the loss itself",
            frame.location if frame is not None else None,
            *evidence,
            fix(f"call it where the loss is passed: `{name}(…)`"),
            subject=name,
            confidence=Confidence.LIKELY,
        )
        return
    for function, _contract, kind in _named(project, "", shown["factory"]):
        if _made_functions(function) and kind in ("loss", "metric"):
            yield _factory(function, kind, Confidence.CERTAIN, evidence)
            return


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
    """Whether a function is the user's, judged without source: not a name that Keras itself uses."""
    return name not in _KERAS_OWN and not owner.endswith("Trainer")


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


def _unlisted(function: FunctionInfo, words: str, evidence: list[Evidence]) -> Finding:
    return CAUSE.finding(
        f"Keras cannot call {name_of(function)} with its current parameters",
        head(function),
        Evidence("parameters", f"({', '.join(function.parameters)})", location=head(function)),
        *evidence,
        fix(f"accept the arguments that Keras passes: {words}", made_optional(function, words)),
        subject=function.qualname,
        confidence=Confidence.LIKELY,
    )


def _layer_called(failure: FailureFacts, project: Project, evidence: list[Evidence]) -> Iterator[Finding]:
    """Explain a custom layer called with arguments its `call` does not accept: `sig.bind` names no function."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if frame is None or module is None:
        return
    if _NO_POSITIONAL in failure.message:
        name = failure.message.partition("Layer ")[2].split(" ")[0]
        owner = project.class_named(name)
        method = owner.module.method(owner, "call") if owner is not None else None
        if method is not None:
            yield _unlisted(method, failure.message.splitlines()[0], evidence)
        return
    if _TOO_MANY not in failure.message:
        return
    for call, method in _calls_of_layers(module):
        room = len(method.parameters) - 1
        if at_frame(module, call, frame) and len(call.args) > room and method.node.args.vararg is None:
            yield _too_many(module, call, method, evidence)
            return


def _calls_of_layers(module: Module) -> Iterator[tuple[ast.Call, FunctionInfo]]:
    """Yield calls of custom layers and models in a file, with their `call` method."""
    for site in module.calls:
        origin = module.origin(site.node.func)
        made = origin.node if isinstance(origin.node, ast.Call) else None
        owner = origin.module.definition(made.func) if made is not None else None
        if isinstance(owner, ClassInfo) and owner.kind in ("Layer", "Model"):
            method = owner.module.method(owner, "call")
            if method is not None:
                yield site.node, method


def _too_many(module: Module, call: ast.Call, method: FunctionInfo, evidence: list[Evidence]) -> Finding:
    takes = len(method.parameters) - 1
    return CAUSE.finding(
        f"{name_of(method)} takes {takes} argument{'s' * (takes != 1)}, but is called with {len(call.args)}",
        module.location(call),
        Evidence("parameters", f"({', '.join(method.parameters)})", location=head(method)),
        *evidence,
        fix("call it with the arguments that `call` declares, or add parameters to `call`"),
        subject=module.segment(call.func),
        confidence=Confidence.CERTAIN,
    )
