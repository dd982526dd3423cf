"""Variable created inside a `tf.function`.

## What happens

The first call of the function raises `ValueError: tf.function only supports singleton tf.Variables created on the
first call.` TensorFlow traces a function that creates a variable twice, to check whether it creates another one, so
the error appears on the very first call.

## Why

A variable is state that outlives the call. The body of a `tf.function` runs as Python in every trace, so it would
create a new variable each time.

## Fix

Create the variable once, outside the function, and use it inside. Or store it on an object and create it only if it
does not exist yet.

An optimizer creates its variables at its first step, and a model without an input shape creates its weights at its
first call. A function already traced with one model and optimizer cannot create the variables of the next pair.
Create them beforehand with `optimizer.build(variables)` and an `Input`.

## Known limits

A variable created under `if self.v is None` works and is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.tracing.renewed_in_loops import (
    APPLYING,
    Renewed,
    compiled_for_each,
    renewed_optimizers,
)
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.traceback_lines import made_on_last_line
from fitdoctor.catalogue.training_loops import TRAINING
from fitdoctor.catalogue.variables.made_in_build import made_in_build
from fitdoctor.catalogue.variables.made_once import Making, made_in_init
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.frames import is_keras
from fitdoctor.failure.traced_code import library_behind
from fitdoctor.source.callees import callers_of, returned_by
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import names_in
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes

CAUSE = Cause(id="FIT501", slug="variable-made-in-function", severity=Severity.ERROR, raises="ValueError")

MAKERS = ("tensorflow.Variable", "keras.Variable", "tensorflow.compat.v1.get_variable")
_TRACED_AS_FUNCTIONS = (
    "tf.function",
    "loss",
    "metric",
    "map",
    "train_step",
    "test_step",
    "call",
    "lambda layer",
)
SINGLETON = "tf.function only supports singleton tf.Variables"
NOT_FIRST = "non-first call"
"""The words of TensorFlow up to 2.6, and today of a function that is traced again."""
LIFTED = "Tried to create a tf.Variable inside a tf.function"
INITIAL = "could not be lifted out of a `tf.function`"
"""The initial value is a graph tensor."""


@CAUSE.in_source
@mentions("Variable", "get_variable", "optimizers")
def from_source(module: Module) -> Iterator[Finding]:
    """Report constructors in the body of a `tf.function`, which run in every trace."""
    for site in _makers(module):
        if _runs_on_every_trace(module, site):
            yield _finding(module, site)


@CAUSE.in_source
@mentions("apply_gradients", "minimize", ".apply(")
def from_loop(module: Module) -> Iterator[Finding]:
    """Report a loop that passes a new optimizer to one compiled function in each iteration."""
    if module.keras != 3 or not module.calls_under("keras.optimizers."):
        return
    for found in renewed_optimizers(module):
        yield _renewed(found)


def _makers(module: Module) -> Iterator[CallSite]:
    """Return the calls that create variables; a Keras 3 optimizer creates its counter and learning rate."""
    for site in module.calls_under(*MAKERS, "keras.optimizers."):
        if site.name in MAKERS or (module.keras == 3 and kind_of_call(module, site.node) == "Optimizer"):
            yield site


def _runs_on_every_trace(module: Module, site: CallSite) -> bool:
    function = site.function
    if function is None or function.traced is None or function.traced.eager:
        return False
    if function.traced.how not in _TRACED_AS_FUNCTIONS:
        return False
    if function.traced.how in ("call", "lambda layer") and _is_only_built(module):
        return False
    return not _is_guarded(module, site.node, function) and not _is_called_once(function)


def _is_only_built(module: Module) -> bool:
    """Return whether the program creates Keras 2 models but runs none: only `fit` and the like trace `call` twice."""
    modules = module.project.modules if module.project is not None else (module,)
    made = (one.definition(site.node.func) for one in modules for site in one.calls)
    return (
        module.keras == 2
        and not any(
            "tf.function" in one.text or one.method_calls(*TRAINING, "fit_generator", "save")
            for one in modules
        )
        and any(isinstance(each, ClassInfo) and each.kind in ("Layer", "Model") for each in made)
    )


def _is_called_once(function: FunctionInfo) -> bool:
    """Return whether all traced calls of a helper are guarded: `if self.slots is None: self.make_slots()`."""
    if function.traced is None or function.traced.direct:
        return False
    calls = [
        (module, call, caller)
        for module, call in callers_of(function)
        if (caller := module.function_of(call)) is not None and caller.traced is not None
    ]
    return bool(calls) and all(_is_guarded(module, call, caller) for module, call, caller in calls)


def _is_guarded(module: Module, node: ast.AST, function: FunctionInfo) -> bool:
    """Return whether the call is guarded by an `if`, an `or` or a `try`, so that it runs once."""
    parent = module.parent(node)
    while parent is not None and parent is not function.node:
        if isinstance(parent, (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.With, ast.Lambda)):
            return True
        parent = module.parent(parent)
    return False


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the user's last line of the traceback, which created the variable."""
    if not any(words in failure.message for words in (SINGLETON, NOT_FIRST, LIFTED, INITIAL)):
        return
    frame = failure.last_user_frame
    evidence = [Evidence("TensorFlow rejected a second variable")]
    if frame is not None and SINGLETON in failure.message:
        read = module_of(project, frame)
        late = _late_optimizer(failure, read)
        if late is None and read is not None:
            late = _late_model(failure, read)
        if late is not None:
            yield late
            return
    if frame is not None and project:
        module = module_of(project, frame)
        for site in _makers(module) if module is not None else ():
            assert module is not None
            if at_frame(module, site.node, frame):
                yield certain(_finding(module, site), failure)
                return
        if module is not None and _makes_something_else(module, frame):
            # A layer that creates its variables there is another cause.
            return
    made = made_on_last_line(failure)
    if made == "layer" or (made == "" and any(is_keras(frame.path) for frame in library_behind(failure))):
        return
    yield CAUSE.finding(
        "a `tf.Variable` is created inside a `tf.function`",
        frame.location if frame else None,
        *evidence,
        fix("create the variable once, outside the function"),
        subject="variable",
        notes=[] if made else [_UNSEEN],
        confidence=Confidence.CERTAIN if made else Confidence.LIKELY,
    )


_VARIABLE = "tensorflow.Variable"
_UNSEEN = "the line does not show what creates the variable; it may be a layer or another object that has variables (FIT502)"


def _makes_something_else(module: Module, frame: Frame) -> bool:
    return any(site.name not in MAKERS and at_frame(module, site.node, frame) for site in module.calls)


def _finding(module: Module, site: CallSite) -> Finding:
    where = site.function.qualname if site.function is not None else ""
    code = module.code(site.node)
    return CAUSE.finding(
        f"`{where}` creates {_what(site)} every time it is traced"
        if where
        else f"traced code creates {_what(site)}",
        code.location,
        Evidence("`tf.function` traces this function", location=_because(site)),
        _moved_out(module, site),
        subject=f"variable {code.target}" if code.target else "variable",
    )


def _what(site: CallSite) -> str:
    return "a variable" if site.name in MAKERS else "an optimizer"


def _because(site: CallSite) -> Location | None:
    traced = site.function.traced if site.function is not None else None
    return traced.because if traced is not None else None


def _moved_out(module: Module, site: CallSite) -> Fix:
    """Move `name = tf.Variable(…)` and similar variables before the function, if they do not depend on it."""
    function = site.function
    title = "create the variable once, outside the function"
    if function is None or isinstance(function.node, ast.Lambda):
        return fix(title)
    if not module.code(site.node).target.isidentifier():
        return fix(title)
    if function.owner is not None:
        return fix("create it once and use it here", _kept_by_object(site, function))
    makers = [
        each
        for each in module.calls
        if each.function is function
        and _stands_alone(module, each, function)
        and (each.node is site.node or _makes_variable(module, each))
    ]
    if site.node not in [each.node for each in makers]:
        return fix(title)
    statements = [module.statement(each.node) for each in makers]
    edits = []
    for each, statement in zip(makers, statements, strict=True):
        again = _anew(module, each, function)
        edits.append(Edit(module.location(statement) if again else module.location(statement).lines, again))
    first = min([function.node.lineno, *(node.lineno for node in function.node.decorator_list)])
    before = Location(module.path, first, 1, first, 1, module.location(site.node).cell)
    indent = indent_of(module, function.node)
    text = "".join(f"{indent}{module.segment(statement)}\n" for statement in statements)
    return fix(title, (Edit(before, f"{text}\n\n{indent}".rstrip(" ")), *edits))


def _stands_alone(module: Module, site: CallSite, function: FunctionInfo) -> bool:
    """Return whether the created object has a name and does not depend on the function."""
    code = module.code(site.node)
    return code.target.isidentifier() and code.statement is not None and not _uses_locals(site, function)


def _makes_variable(module: Module, site: CallSite) -> bool:
    """Return whether a call creates a variable, directly or through a function that does only that."""
    called = module.definition(site.node.func)
    made = returned_by(called) if isinstance(called, FunctionInfo) else site.node
    return isinstance(made, ast.Call) and module.resolve(made.func) in MAKERS


def _anew(module: Module, site: CallSite, function: FunctionInfo) -> str:
    """Add `total.assign(0.0)` if the function changes the variable, which was new on every call before."""
    name = module.code(site.node).target
    value = argument_of(site.node, "initial_value", 0)
    for node in own_nodes(function):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith(("assign", "scatter_")):
            continue
        changed = node.value.value if isinstance(node.value, ast.Subscript) else node.value
        if isinstance(changed, ast.Name) and changed.id == name and value is not None:
            return f"{name}.assign({module.segment(value)})"
    return ""


def _kept_by_object(site: CallSite, function: FunctionInfo) -> tuple[Edit, ...]:
    """Create the variable in `__init__`; a Keras 3 layer or model tracks only Keras variables."""
    module, owner = function.module, function.owner
    text, maker = module.segment(site.node), ""
    imports: tuple[Edit, ...] = ()
    if (
        module.keras == 3
        and owner is not None
        and owner.kind in ("Layer", "Model")
        and site.name == _VARIABLE
    ):
        keras, imports = spell(module.code(site.node), "keras", "keras")
        maker = f"{keras}.Variable"
        text = f"{maker}{text[len(module.segment(site.node.func)) :]}"
    again = _anew(module, site, function)
    edits = made_in_init(function, [Making(site.node, text, again)])
    edits = edits or (made_in_build(function, [site.node], maker) if not again else ())
    return (*edits, *imports) if edits else ()


def _uses_locals(site: CallSite, function: FunctionInfo) -> bool:
    names = names_in(site.node)
    bound = {
        node.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return bool(names & (bound | set(function.parameters)))


# --- variables of a model or optimizer that is called for the first time in the step ----------------------------------


def _late_optimizer(failure: FailureFacts, module: Module | None) -> Finding | None:
    """Return a finding if the user's last line applies gradients and Keras creates the optimizer's variables there."""
    frame = failure.last_user_frame
    if frame is None or not any("/optimizers/" in each.path for each in library_behind(failure)):
        return None
    site = _at(module, frame) if module is not None else None
    if site is None and not any(f".{name}(" in frame.text for name in APPLYING):
        return None
    made = _made(module, site) if module is not None and site is not None else None
    location = made[0].location(made[1]) if made is not None else frame.location
    name = made[0].code(made[1]).target if made is not None else ""
    return CAUSE.certain(
        "a second optimizer creates its variables in a `tf.function` that is already traced",
        location,
        raised_here(failure),
        Evidence("an optimizer creates its variables at its first step", location=frame.location),
        fix(f"create them before the first step: `{name or 'optimizer'}.build(model.trainable_variables)`"),
        _for_each(module),
        subject=f"optimizer {name}" if name else "optimizer",
    )


def _renewed(found: Renewed) -> Finding:
    """Return the same finding from source: a loop creates the optimizer, and a function outside it is traced once."""
    return CAUSE.finding(
        f"`{found.function.name}` is a `tf.function` that receives a new optimizer in each iteration, but only the first "
        "one can create its variables there",
        found.module.location(found.made),
        Evidence(
            "an optimizer creates its variables at its first step", location=found.module.location(found.call)
        ),
        fix(_EACH, compiled_for_each(found)),
        subject=f"optimizer {found.name}",
    )


_EACH = "create a `tf.function` for each model and its optimizer"


def _for_each(module: Module | None) -> Fix:
    found = next(renewed_optimizers(module), None) if module is not None else None
    return fix(_EACH, compiled_for_each(found) if found is not None else ())


def _late_model(failure: FailureFacts, module: Module) -> Finding | None:
    """Return the same finding for a model without an input shape, which creates its weights at its first call."""
    frame = failure.last_user_frame
    if frame is None or not any(is_keras(each.path) for each in library_behind(failure)):
        return None
    for site in module.calls:
        if site.name or not isinstance(site.node.func, ast.Name) or not at_frame(module, site.node, frame):
            continue
        origin = module.origin(site.node.func)
        made = origin.node if isinstance(origin.node, ast.Call) else None
        around = origin.module.function_of(made) if made is not None else None
        given = site.function is not None and site.node.func.id in site.function.parameters
        if made is None and not given or around is not None and around.traced is not None:
            continue  # a variable created in the function itself is FIT502
        if made is not None and kind_of_call(origin.module, made) not in ("Model", "Layer"):
            continue
        return CAUSE.finding(
            "a second model creates its weights in a `tf.function` that is already traced",
            origin.module.location(made) if made is not None else frame.location,
            raised_here(failure),
            Evidence("a model without an input shape is built at its first call", location=frame.location),
            fix("build the model before the first step: add an `Input`, or call it once on a batch"),
            _for_each(module),
            subject=f"model {site.node.func.id}",
        )
    return None


def _at(module: Module, frame: Frame) -> CallSite | None:
    sites = module.method_calls(*APPLYING)
    return next((site for site in sites if at_frame(module, site.node, frame)), None)


def _made(module: Module, site: CallSite) -> tuple[Module, ast.Call] | None:
    """Return where the optimizer is created, also if it is passed as an argument."""
    origin = module.origin(site.receiver)
    if isinstance(origin.node, ast.Call) and kind_of_call(origin.module, origin.node) == "Optimizer":
        return origin.module, origin.node
    return None
