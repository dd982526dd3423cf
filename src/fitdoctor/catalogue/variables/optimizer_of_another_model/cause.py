"""One optimizer shared by two models.

## What happens

The first model trains, but the first step of the second model raises `ValueError: Unknown variable: <Variable
path=sequential_1/dense_2/kernel …>. This optimizer can only be called for the variables it was originally built
with.`

## Why

An optimizer keeps state per variable. It creates that state at its first step, for the variables it gets then. In a
loop over folds or settings, or with two networks, it does not have state for the variables of the next model.

## Fix

Create a new optimizer for each model: create it inside the loop, or pass its name (`optimizer="adam"`).

## Known limits

Two networks whose variables go to one optimizer in a single call work and are not reported. An optimizer that is
created in one file and used in another is reported only after the failure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.run_order import is_chosen
from fitdoctor.catalogue.training_loops import Loop, loops_around
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_after
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.records import replace
from fitdoctor.source.assignments import element_of, last_assignment
from fitdoctor.source.callees import callee, is_self
from fitdoctor.source.keras_objects import kind_of_call, kind_of_value
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT504", slug="optimizer-of-another-model", severity=Severity.ERROR, raises=("ValueError", "KeyError")
)


_DEEPEST = 4
"""The maximum number of calls to follow up to module level."""


@CAUSE.in_source
@mentions("apply")
def from_steps(module: Module) -> Iterator[Finding]:
    """Report a function that applies gradients to the weights of two models with one optimizer, in separate calls."""
    if _is_built(module):
        return
    first: dict[tuple[ast.AST | None, ast.AST], tuple[CallSite, str]] = {}
    for site in module.method_calls("apply_gradients", "apply"):
        made, model = _optimizer(site), _model_of_weights(site)
        if made is None or not model:
            continue
        # A module-level or attribute optimizer serves the models of all functions that run.
        shared = _is_made_once(module, made) and _is_shared(site) and _runs(site)
        key = (None if shared or site.function is None else site.function.node, made)
        known = first.setdefault(key, (site, model))
        if known[1] != model:
            yield _finding(module, made, site)
            return


def _is_built(module: Module) -> bool:
    """Return whether an optimizer is built beforehand for the variables of all models."""
    return any(_optimizer(site) is not None for site in module.method_calls("build"))


def _is_made_once(module: Module, made: ast.Call) -> bool:
    around = module.function_of(made)
    return around is None or (around.name == "__init__" and around.owner is not None)


def _is_shared(site: CallSite) -> bool:
    """Return whether a step uses a global model, or an attribute of the object that created the optimizer."""
    weights = _weights(site)
    root: ast.AST | None = weights
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    if is_self(site.module, root):
        return True
    scope = site.module.index.lookup(root.id, site.module.scope(root))
    values = [assignment.value for assignment in site.module.assignments(root.id)]
    plain = len(values) == 1 and not isinstance(values[0], ast.Name)  # a second name of the same model
    return scope is site.module.index.module and plain


def _runs(site: CallSite) -> bool:
    """Return whether this file certainly calls the function that contains a step."""
    return site.function is None or _is_called(site.module, site.function, 0)


def _is_called(module: Module, function: FunctionInfo, depth: int) -> bool:
    for other in module.calls if depth < _DEEPEST else ():
        if callee(module, other.node) is function and not is_chosen(module, other.node):
            if other.function is None or _is_called(module, other.function, depth + 1):
                return True
    return False


def _optimizer(site: CallSite) -> ast.Call | None:
    """Return the constructor, in the same file, of the optimizer that a method is called on."""
    made = site.module.origin(site.receiver)
    if not isinstance(made.node, ast.Call) or made.module is not site.module:
        return None
    return made.node if _is_built_once(made.module, made.node) else None


def _is_built_once(module: Module, made: ast.Call) -> bool:
    """Return whether a call creates an optimizer that accepts only the variables it was first used with."""
    return kind_of_call(module, made) == "Optimizer" and ".legacy." not in module.resolve(made.func)


def _model_of_weights(site: CallSite) -> str:
    """Return whose weights `apply_gradients(zip(grads, model.trainable_variables))` updates, or "" if unclear."""
    weights = _weights(site)
    if isinstance(weights, ast.Attribute) and weights.attr in ("trainable_variables", "trainable_weights"):
        return site.module.segment(weights.value)
    return ""


def _weights(site: CallSite) -> ast.expr | None:
    """Return the second argument of `zip`."""
    given = site.argument("grads_and_vars", 0)
    zipped = isinstance(given, ast.Call) and site.module.resolve(given.func) == "zip" and len(given.args) == 2
    weights = given.args[1] if isinstance(given, ast.Call) and zipped else None
    made = site.module.origin(weights) if isinstance(weights, ast.Name) else None
    named = made is not None and made.certain and not made.path and made.module is site.module
    return made.node if made is not None and named and isinstance(made.node, ast.Attribute) else weights


@CAUSE.in_source
@mentions("for", "while")
def from_source(module: Module) -> Iterator[Finding]:
    """Report `compile` with an optimizer created before the loop that creates the models."""
    for site in module.method_calls("compile"):
        loop = _loop_around(module, site.node)
        given = _given(site)
        if loop is None or given is None:
            continue
        made = module.made_by(given)
        if not isinstance(made, ast.Call) or not _is_built_once(module, made) or _inside(made, loop):
            continue
        if _is_made_anew(module, given, loop):
            continue
        if _is_made_in(module, site.receiver, loop):
            yield _finding(module, made, site)


@CAUSE.in_source
@mentions("optimizers")
def from_fits(module: Module) -> Iterator[Finding]:
    """Report one optimizer that trains two models without a shared layer, following the program."""
    from fitdoctor.source.fits.fit_sites import shared_optimizers

    for shared in shared_optimizers(module):
        if module.parent(shared.made) is not None and module.parent(shared.compiled) is not None:
            yield _finding(module, shared.made, module.call(shared.compiled))
            return


@CAUSE.in_source
@mentions("trainable")
def from_unfrozen(module: Module) -> Iterator[Finding]:
    """Report a model that is trained, unfrozen and recompiled with the same optimizer."""
    for first, second in pairwise(sorted(module.method_calls("compile"), key=lambda each: each.node.lineno)):
        one, other = _given(first), _given(second)
        if first.function is not second.function or one is None or other is None:
            continue
        made = module.made_by(one)
        if not isinstance(made, ast.Call) or made is not module.made_by(other):
            continue
        if not _is_built_once(module, made) or _is_built(module):
            continue
        if is_unfrozen_between(first, second):
            found = _finding(module, made, second)
            yield replace(
                found, message="the optimizer accepts only the variables that it was first used with"
            )


@CAUSE.in_source
@mentions("for", "while")
def from_builder(module: Module) -> Iterator[Finding]:
    """Report a builder function that compiles each model with a global optimizer, if a loop fits its results."""
    for site in module.method_calls("compile"):
        given = _given(site)
        builder = site.function
        if builder is None or given is None or _is_parameter(given, builder.parameters):
            continue
        made = module.made_by(given)
        if not isinstance(made, ast.Call) or not _is_built_once(module, made):
            continue
        model = module.made_by(site.receiver)
        if module.function_of(made) is None and module.function_of(model) is builder:
            if any(
                _fitted_in_loop(module, call.node)
                for call in module.calls
                if callee(module, call.node) is builder
            ):
                yield _finding(module, made, site)
                return


def _is_made_anew(module: Module, given: ast.expr, loop: ast.AST) -> bool:
    """Return whether a function called in the loop returns the optimizer, and so a new one each time."""
    found = last_assignment(module, given) if isinstance(given, ast.Name) else None
    value = given if found is None else found[0].value
    return isinstance(value, ast.Call) and _inside(value, loop)


def _is_made_in(module: Module, model: ast.expr, loop: ast.AST) -> bool:
    """Return whether a loop creates the model that it compiles, directly or through a function."""
    found = last_assignment(module, model) if isinstance(model, ast.Name) else None
    made = found[0].value if found is not None and not found[0].path else module.made_by(model)
    first = module.origin(model)
    new = _inside(first.node, loop) or first.module.function_of(first.node) is not None
    return (
        isinstance(made, ast.Call) and new and _inside(made, loop) and kind_of_value(module, model) == "Model"
    )


def _given(site: CallSite) -> ast.expr | None:
    """Return the optimizer argument of a `compile`, also from `**settings`."""
    given = site.argument("optimizer", 0)
    for keyword in site.node.keywords if given is None else ():
        if keyword.arg is None:
            given = element_of(site.module.made_by(keyword.value), "optimizer") or given
    return given


def _is_parameter(given: ast.expr, parameters: tuple[str, ...]) -> bool:
    return isinstance(given, ast.Name) and given.id in parameters


def _fitted_in_loop(module: Module, call: ast.Call) -> bool:
    """Return whether a loop creates a model with this call and fits it."""
    loop = _loop_around(module, call)
    return loop is not None and any(
        _inside(site.node, loop) and (site.receiver is call or _holds(module, site.receiver, call))
        for site in module.method_calls("fit")
    )


def _holds(module: Module, name: ast.expr, call: ast.Call) -> bool:
    found = last_assignment(module, name) if isinstance(name, ast.Name) else None
    return found is not None and found[0].value is call


def _loop_around(module: Module, node: ast.AST) -> Loop | None:
    return next(loops_around(module, node), None)


def _inside(node: ast.AST, loop: ast.AST) -> bool:
    return any(node is other for other in ast.walk(loop))


def _finding(module: Module, made: ast.Call, use: CallSite | None) -> Finding:
    uses = [Evidence("passed to a model here", location=use.module.location(use.node))] if use else []
    return CAUSE.finding(
        "one optimizer is used for the variables of more than one model",
        module.location(made),
        *uses,
        _own_optimizer(module, made, use),
        subject="optimizer",
    )


def _own_optimizer(module: Module, made: ast.Call, use: CallSite | None) -> Fix:
    title = "create a new optimizer for each model"
    given = use.argument("optimizer", 0) if use is not None else None
    for keyword in use.node.keywords if use is not None and use.method == "compile" else ():
        if keyword.arg is None and given is None:
            held = module.segment(keyword.value)
            copy = f'type({held}["optimizer"]).from_config({held}["optimizer"].get_config())'
            edit = Edit(module.location(keyword.value), f'{{**{held}, "optimizer": {copy}}}')
            return fix(title, (edit,))
    if use is not None and isinstance(given, (ast.Name, ast.Attribute, ast.Subscript)):
        return fix(title, tuple(_copied(module, made, *each) for each in _users(module, made, use, given)))
    return fix(title, _in_settings(module, made) or _second_optimizer(module, made))


def _users(module: Module, made: ast.Call, use: CallSite, given: ast.expr) -> list[tuple[Module, ast.expr]]:
    """Return the arguments that need an optimizer of their own: of several `compile` calls, all but the first."""
    found: list[tuple[Module, ast.expr]] = [
        (site.module, other)
        for each in _modules(module)
        for site in each.method_calls("compile")
        if isinstance(other := _given(site), (ast.Name, ast.Attribute, ast.Subscript))
        and each.origin(other).node is made
    ]
    return found[1:] if len(found) > 1 else [(use.module, given)]


def _copied(module: Module, made: ast.Call, where: Module, given: ast.expr) -> Edit:
    """Write another optimizer with the same settings where one is passed."""
    name = where.segment(given)
    held = isinstance(module.parent(made), (ast.List, ast.Tuple, ast.Dict))
    plain = _is_plain(made) and not held and where is module
    copy = module.segment(made) if plain else f"type({name}).from_config({name}.get_config())"
    return Edit(where.location(given), copy)


def _in_settings(module: Module, made: ast.Call) -> tuple[Edit, ...]:
    """Replace the optimizer in `compile(**SETTINGS)` with a new one."""
    around, statement = module.parent(made), module.statement(made)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is around else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    key = next(
        (key for key, value in zip(around.keys, around.values, strict=True) if value is made)
        if isinstance(around, ast.Dict)
        else iter(()),
        None,
    )
    if not isinstance(key, ast.Constant) or key.value != "optimizer" or not _is_plain(made):
        return ()
    return tuple(
        Edit(
            module.location(given.value),
            f"{{**{given.value.id}, {module.segment(key)}: {module.segment(made)}}}",
        )
        for site in module.method_calls("compile")
        for given in site.node.keywords
        if given.arg is None and isinstance(given.value, ast.Name) and given.value.id in names
    )


def _second_optimizer(module: Module, made: ast.Call) -> tuple[Edit, ...]:
    """Create another optimizer of the same kind on the next line, for the models after the first."""
    code = module.code(made)
    named = _name_of_another(module, made)
    if code.statement is None or not named:
        return ()
    models: dict[str, list[ast.expr]] = {}
    for site in module.method_calls("apply_gradients", "apply"):
        model = _model_of_weights(site)
        if _optimizer(site) is not made:
            continue
        if not model:
            return ()
        models.setdefault(model, []).append(site.receiver)
    edits: list[Edit] = []
    lines: list[str] = []
    for model, receivers in list(models.items())[1:]:
        name = named.replace("{}", model.rpartition(".")[2].lower())
        lines.append(f"{name} = {module.segment(made)}")
        edits += [Edit(module.location(receiver), name) for receiver in receivers]
    if not lines or any(name.endswith((")", "]")) for name in models):
        return ()
    return (*insert_after(code, f"\n{code.indent}".join(lines)), *edits)


def _name_of_another(module: Module, made: ast.Call) -> str:
    """Return a name for an additional optimizer, with `{}` for the model: a name, an attribute or a dict key."""
    statement, holder = module.statement(made), module.parent(made)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    if holder is statement and isinstance(target, (ast.Name, ast.Attribute)):
        return f"{module.segment(target)}_of_{{}}"
    key = ""
    if isinstance(holder, ast.keyword) and holder.arg and module.parent(holder) is statement.value:
        key = holder.arg if module.resolve(statement.value.func) == "dict" else ""  # type: ignore[attr-defined]
    elif isinstance(holder, ast.Dict) and holder is statement.value:
        named = holder.keys[holder.values.index(made)]
        key = named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else ""
    return f'{target.id}["{key}_of_{{}}"]' if key and isinstance(target, ast.Name) else ""


def _is_plain(made: ast.Call) -> bool:
    """Return whether the constructor can be moved anywhere, because its arguments are literals."""
    values = [*made.args, *(keyword.value for keyword in made.keywords)]
    return all(isinstance(node, (ast.Constant, ast.UnaryOp, ast.BinOp)) for node in values)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the variable that the optimizer does not know."""
    if "can only be called for the variables it was originally built with" not in failure.message and (
        "The optimizer cannot recognize variable" not in failure.message
    ):
        return
    evidence = [
        Evidence(
            "the optimizer was not built with this variable",
            failure.message.split("path=")[-1].split(",")[0] if "path=" in failure.message else "",
            fact="failure.message",
            location=_last(failure),
        )
    ]
    for module in project.modules if isinstance(project, Project) else ():
        for made, use in _shared(module, failure):
            yield certain(_finding(module, made, use), failure)
            return
    for module in project.modules if isinstance(project, Project) else ():
        for where, made, use in _shared_across_files(module):
            yield certain(_finding(where, made, use), failure)
            return
    yield CAUSE.finding(
        "one optimizer is used for the variables of more than one model",
        _last(failure),
        *evidence,
        fix("create a new optimizer for each model"),
        subject="optimizer",
        confidence=Confidence.CERTAIN,
    )


def _shared(module: Module, failure: FailureFacts) -> Iterator[tuple[ast.Call, CallSite | None]]:
    """Return the constructor of the failing optimizer, else the only one in the file, or one in a list."""
    for frame in reversed(failure.user_frames):
        for site in module.method_calls("apply_gradients", "apply"):
            if frame.path == module.path and at_frame(module, site.node, frame):
                made = module.origin(site.receiver)
                if isinstance(made.node, ast.Call) and made.module is module:
                    yield made.node, None
    for site in module.method_calls("compile"):
        given = _given(site)
        if given is not None and kind_of_value(module, given) == "Optimizer":
            made = module.origin(given)
            if (
                isinstance(made.node, ast.Call)
                and made.module is module
                and not _next_to(module, made.node, site)
            ):
                yield made.node, site
    makers = [site.node for site in module.calls if kind_of_call(module, site.node) == "Optimizer"]
    if len(makers) == 1 and not any(_shared_across_files(each) for each in _modules(module)):
        yield makers[0], _compiled_with(module, makers[0])
        return
    # several, in a list or dict that a loop reads
    for maker in makers:
        if isinstance(module.parent(maker), (ast.List, ast.Tuple, ast.Dict)):
            yield (
                maker,
                next(
                    (
                        site
                        for site in module.method_calls("compile")
                        if _loop_around(module, site.node) is not None
                    ),
                    None,
                ),
            )


def _compiled_with(module: Module, made: ast.Call) -> CallSite | None:
    """Return the only `compile` call with the attribute that holds an optimizer: `compile(optimizer=recipe.optimizer)`."""
    holder = module.parent(made)
    targets = [target for target in getattr(holder, "targets", []) if isinstance(target, ast.Attribute)]
    uses = [
        site
        for each in _modules(module)
        for site in each.method_calls("compile")
        if isinstance(given := _given(site), ast.Attribute) and given.attr in [each.attr for each in targets]
    ]
    return uses[0] if len(uses) == 1 else None


def _modules(module: Module) -> Sequence[Module]:
    return module.project.modules if module.project is not None else [module]


def _shared_across_files(module: Module) -> list[tuple[Module, ast.Call, CallSite]]:
    """Return the optimizers of other files that this file compiles models with, each with its file."""
    found = []
    for site in module.method_calls("compile"):
        given = _given(site)
        made = module.origin(given) if given is not None else None
        if made is None or made.module is module or not isinstance(made.node, ast.Call):
            continue
        if kind_of_call(made.module, made.node) == "Optimizer" and not isinstance(given, ast.Call):
            found.append((made.module, made.node, site))
    return found


def _next_to(module: Module, made: ast.Call, use: CallSite) -> bool:
    """Return whether the optimizer is created in the call that uses it, and so is new each time."""
    return any(made is node for node in ast.walk(use.node)) or (
        _loop_around(module, made) is not None
        and _loop_around(module, made) is _loop_around(module, use.node)
    )


def _last(failure: FailureFacts) -> Location | None:
    return failure.last_user_frame.location if failure.last_user_frame is not None else None


# layers that a program unfreezes between two trainings of one model.


def is_unfrozen_between(first: CallSite, second: CallSite) -> bool:
    """Return whether weights are frozen before one `compile` and trainable before the other, with a `fit` in between."""
    module = first.module
    model = module.segment(first.receiver)
    if module.segment(second.receiver) != model:
        return False
    start, end = first.node.lineno, second.node.lineno
    trained = any(
        start < site.node.lineno < end
        and site.function is first.function
        and isinstance(site.node.func, ast.Attribute)
        and module.segment(site.node.func.value) == model
        for site in module.method_calls("fit", "train_on_batch")
    )
    frozen = {place for place, value in _set(module) if place[0] < start and value is False}
    freed = {place for place, value in _set(module) if start < place[0] < end and value is True}
    return trained and bool({name for _line, name in frozen} & {name for _line, name in freed})


def _set(module: Module) -> list[tuple[tuple[int, str], object]]:
    """Return where `x.trainable` is set to a constant, by line and name, and its value."""
    found: list[tuple[tuple[int, str], object]] = []
    for node in module.attributes.get("trainable", ()):
        statement = module.statement(node)
        if isinstance(node.ctx, ast.Store) and isinstance(statement, ast.Assign):
            if isinstance(statement.value, ast.Constant):
                found.append(((node.lineno, module.segment(node.value)), statement.value.value))
    return found
