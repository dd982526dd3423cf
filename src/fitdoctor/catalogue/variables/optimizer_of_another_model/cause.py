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

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.run_order import is_chosen
from fitdoctor.catalogue.training_loops import loops_around
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after
from fitdoctor.facts import FailureFacts
from fitdoctor.records import replace
from fitdoctor.source.assignments import element_of, last_assignment
from fitdoctor.source.callees import callee, is_self
from fitdoctor.source.fits.fit_sites import shared_optimizers
from fitdoctor.source.index import names_in
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.origins import Origin

CAUSE = Cause(
    id="FIT504", slug="optimizer-of-another-model", severity=Severity.ERROR, raises=("ValueError", "KeyError")
)

_SAYS = "can only be called for the variables it was originally built with|The optimizer cannot recognize variable"
_PROBLEM = "one optimizer is used for the variables of more than one model"
_REMEDY = "create a new optimizer for each model"
_DEEPEST = 4
"""The maximum number of calls to follow up to module level."""


@CAUSE.rule("apply", says=_SAYS, anywhere=True)
def in_steps(module: Module) -> Iterator[Finding]:
    """Find a function that applies gradients to the weights of two models with one optimizer, in separate calls."""
    if _is_built(module):
        return
    first: dict[tuple[ast.AST | None, ast.AST], str] = {}
    for site in module.method_calls("apply_gradients", "apply"):
        made, model = _optimizer(site), _model_of_weights(site)
        if made is None or made.module is not module or not model:
            continue
        # A module-level or attribute optimizer serves the models of all functions that run.
        around = module.function_of(made.node)
        once = around is None or around.name == "__init__" and around.owner is not None
        shared = once and _is_shared(site) and (site.function is None or _is_called(site.function, 0))
        key = (None if shared or site.function is None else site.function.node, made.node)
        if first.setdefault(key, model) != model:
            yield _finding(made, site)
            return


def _is_built(module: Module) -> bool:
    """Return whether an optimizer is built beforehand for the variables of all models."""
    return any(_optimizer(site) is not None for site in module.method_calls("build"))


def _is_shared(site: CallSite) -> bool:
    """Return whether a step uses a global model, or an attribute of the object that created the optimizer."""
    module, root = site.module, _weights(site)
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name) or is_self(module, root):
        return isinstance(root, ast.Name)
    values = [assignment.value for assignment in module.assignments(root.id)]
    plain = len(values) == 1 and not isinstance(values[0], ast.Name)  # a second name of the same model
    return plain and module.index.lookup(root.id, module.scope(root)) is module.index.module


def _is_called(function: FunctionInfo, depth: int) -> bool:
    """Return whether its file certainly calls a function."""
    module = function.module
    callers = (
        call.function
        for call in (module.calls if depth < _DEEPEST else ())
        if callee(module, call.node) is function and not is_chosen(module, call.node)
    )
    return any(each is None or _is_called(each, depth + 1) for each in callers)


def _given(site: CallSite) -> ast.expr | None:
    """Return the optimizer of a `compile`, also from `**settings`, or the one whose method is called."""
    if site.method != "compile":
        return site.receiver
    given = site.argument("optimizer", 0)
    for keyword in site.node.keywords if given is None else ():
        if keyword.arg is None:
            given = element_of(site.module.made_by(keyword.value), "optimizer") or given
    return given


def _optimizer(site: CallSite) -> Origin | None:
    """Return the constructor of an optimizer that accepts only the variables it was first used with."""
    given = _given(site)
    made = site.module.origin(given) if given is not None else None
    if made is None or not isinstance(made.node, ast.Call) or ".legacy." in made.module.called(made.node):
        return None
    return made if kind_of_call(made.module, made.node) == "Optimizer" else None


def _model_of_weights(site: CallSite) -> str:
    """Return whose weights `apply_gradients(zip(grads, model.trainable_variables))` updates, or "" if unclear."""
    weights = _weights(site)
    if isinstance(weights, ast.Attribute) and weights.attr in ("trainable_variables", "trainable_weights"):
        return site.module.segment(weights.value)
    return ""


def _weights(site: CallSite) -> ast.expr | None:
    """Return the second argument of `zip`."""
    match site.argument("grads_and_vars", 0):
        case ast.Call(args=[_, ast.Name() as name]) as given if site.module.called(given) == "zip":
            made = site.module.origin(name)
            named = made.certain and not made.path and made.module is site.module
            return made.node if named and isinstance(made.node, ast.Attribute) else name
        case ast.Call(args=[_, weights]) as given if site.module.called(given) == "zip":
            return weights
    return None


def _last_value(module: Module, name: ast.expr) -> ast.expr | None:
    """Return the value that a name has there; any other expression is itself."""
    if not isinstance(name, ast.Name):
        return name
    found = last_assignment(module, name)
    return found[0].value if found is not None and not found[0].path else None


@CAUSE.rule("optimizers", says=_SAYS, anywhere=True)
def in_fits(module: Module) -> Iterator[Finding]:
    """Find one optimizer that trains two models without a shared layer, following the program."""
    for shared in shared_optimizers(module):
        if module.parent(shared.made) is not None and module.parent(shared.compiled) is not None:
            yield _finding(Origin(module, shared.made), module.call(shared.compiled))
            return


@CAUSE.rule("trainable", says=_SAYS, anywhere=True)
def after_unfreezing(module: Module) -> Iterator[Finding]:
    """Find a model that is trained, unfrozen and recompiled with the same optimizer."""
    for first, second in pairwise(sorted(module.method_calls("compile"), key=lambda each: each.node.lineno)):
        one, other = _optimizer(first), _optimizer(second)
        if (
            one is None
            or other is None
            or one.node is not other.node
            or first.function is not second.function
        ):
            continue
        if _is_unfrozen_between(first, second) and not _is_built(module):
            message = "the optimizer accepts only the variables that it was first used with"
            yield replace(_finding(one, second), message=message)


def _is_unfrozen_between(first: CallSite, second: CallSite) -> bool:
    """Return whether weights are frozen before one `compile` and trainable before the other, with a `fit` in between."""
    module, model = first.module, first.module.segment(first.receiver)
    start, end = first.node.lineno, second.node.lineno
    trained = any(
        start < site.node.lineno < end
        and site.function is first.function
        and module.segment(site.receiver) == model
        for site in module.method_calls("fit", "train_on_batch")
    )
    frozen: dict[bool, set[str]] = {True: set(), False: set()}
    for node in module.attributes.get("trainable", ()):
        match module.parent(node):
            case ast.Assign(value=ast.Constant(value=bool() as value)) if node.lineno < (
                end if value else start
            ):
                if not value or node.lineno > start:
                    frozen[value].add(module.segment(node.value))
    return trained and module.segment(second.receiver) == model and bool(frozen[True] & frozen[False])


@CAUSE.rule(
    says=_SAYS,
    in_source=False,
    anywhere=True,
    problem=_PROBLEM,
    remedy=_REMEDY,
    subject="optimizer",
    confidence=Confidence.CERTAIN,
)
def after_failure(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find the optimizer that failed: the one applied on a line of the traceback, one that is passed on, or the only one."""
    for site in module.method_calls("apply_gradients", "apply", "compile"):
        made = _optimizer(site)
        if made is None or any(made.node is node for node in ast.walk(site.node)):
            continue
        loop = _loop_around(made.module, made.node)
        if loop is None or loop is not _loop_around(module, site.node):  # otherwise it is new each time
            yield _finding(made, site)
    for site in _compiles(module):
        given = _given(site)
        kept = site.module.origin(given) if given is not None else None
        if kept is not None and _optimizer(site) is None and _shared_result(kept) is not None:
            yield _finding(kept, site)
            return
    makers = [site.node for site in module.calls if kind_of_call(module, site.node) == "Optimizer"]
    looped = [site for site in module.method_calls("compile") if _loop_around(module, site.node) is not None]
    for site in looped:  # whatever the function looks up that is called for the optimizer once
        given, loop = _given(site), _loop_around(module, site.node)
        made_once = _last_value(module, given) if isinstance(given, ast.Name) else None
        if isinstance(made_once, ast.Call) and loop is not None and not _inside(made_once, loop):
            yield _finding(Origin(module, made_once), site)
    for maker in makers:
        listed = isinstance(module.parent(maker), (ast.List, ast.Tuple, ast.Dict))
        if len(makers) == 1 or listed:
            yield _finding(Origin(module, maker), _compiled_with(module, maker) or next(iter(looped), None))


def _compiled_with(module: Module, made: ast.Call) -> CallSite | None:
    """Return the only `compile` call with the attribute that holds an optimizer: `compile(optimizer=recipe.optimizer)`."""
    names = list(_attributes(module, made))
    uses = [site for site in _compiles(module) if getattr(_given(site), "attr", None) in names]
    return uses[0] if len(uses) == 1 else None


def _attributes(module: Module, made: ast.Call) -> Iterator[str]:
    """Yield the attributes that hold an optimizer: `self.optimizer = …`, a field of a dataclass, `Settings(optimizer=…)`."""
    parent = module.parent(made)
    if isinstance(parent, ast.Assign):
        yield from (target.attr for target in parent.targets if isinstance(target, ast.Attribute))
    if isinstance(parent, ast.keyword) and parent.arg:
        yield parent.arg
    statement = module.statement(made)
    if isinstance(statement, ast.AnnAssign) and isinstance(module.parent(statement), ast.ClassDef):
        yield getattr(statement.target, "id", "")


def _compiles(module: Module) -> list[CallSite]:
    """Return the `compile` calls of the program."""
    return [site for each in _modules(module) for site in each.method_calls("compile")]


def _modules(module: Module) -> Sequence[Module]:
    return module.project.modules if module.project is not None else (module,)


def _loop_around(module: Module, node: ast.AST) -> ast.AST | None:
    return next(loops_around(module, node), None)


def _inside(node: ast.AST, loop: ast.AST) -> bool:
    return any(node is other for other in ast.walk(loop))


def _finding(made: Origin, use: CallSite | None) -> Finding:
    assert isinstance(made.node, ast.Call)
    uses = [Evidence("passed to a model here", location=use.module.location(use.node))] if use else []
    shared = _shared_result(made)
    if shared is not None and kind_of_call(*shared[:2]) != "Optimizer":
        module, call, name = shared
        own = (Edit(module.location(name), module.segment(call)), *_unread(module, call, [name]))
        return CAUSE.finding(_PROBLEM, module.location(call), *uses, fix(_REMEDY, own), subject="optimizer")
    return CAUSE.finding(
        _PROBLEM,
        made.module.location(made.node),
        *uses,
        _own_optimizer(made.module, made.node, use),
        subject="optimizer",
    )


def _shared_result(made: Origin) -> tuple[Module, ast.Call, ast.Name] | None:
    """Return the call of a function that creates the optimizer, if a name keeps its result for a loop, and the name."""
    ends = [(step.module, step.node, step.how) for step in made.steps[1:]] + [
        (made.module, made.node, "return")
    ]
    for use, (module, call, how) in zip(made.steps, ends, strict=False):
        if use.how == "name" and how == "return" and use.module is module and isinstance(use.node, ast.Name):
            loop = _loop_around(module, use.node)
            if isinstance(call, ast.Call) and loop is not None and not _inside(call, loop):
                return module, call, use.node
    return None


_COPY = "type({0}).from_config({0}.get_config())"


# --- fixes --------------------------------------------------------------------------------------------------------


def _own_optimizer(module: Module, made: ast.Call, use: CallSite | None) -> Fix:
    if use is None or use.method != "compile":
        return fix(_REMEDY, _second_optimizer(Origin(module, made)))
    given = use.argument("optimizer", 0)
    if isinstance(given, (ast.Name, ast.Attribute, ast.Subscript)):
        users = _users(made, use, given)
        copies = tuple(_copied(module, made, *each) for each in users)
        return fix(_REMEDY, copies, _unread(module, made, [node for _, node in users]))
    for keyword in use.node.keywords if given is None else ():
        if keyword.arg is None:
            held = use.module.segment(keyword.value)
            copy = _COPY.format(f'{held}["optimizer"]')
            return fix(
                _REMEDY, (Edit(use.module.location(keyword.value), f'{{**{held}, "optimizer": {copy}}}'),)
            )
    return fix(_REMEDY)


def _users(made: ast.Call, use: CallSite, given: ast.expr) -> list[tuple[Module, ast.expr]]:
    """Return the arguments that need an optimizer of their own: of several `compile` calls, all but the first."""
    found: list[tuple[Module, ast.expr]] = [
        (site.module, other)
        for site in _compiles(use.module)
        if isinstance(other := _given(site), (ast.Name, ast.Attribute, ast.Subscript))
        and site.module.origin(other).node is made
    ]
    return found[1:] if len(found) > 1 else [(use.module, given)]


def _unread(module: Module, made: ast.Call, replaced: list[ast.expr]) -> tuple[Edit, ...]:
    """Delete the assignment of the optimizer if nothing else reads its local name."""
    function, statement = module.function_of(made), module.statement(made)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is made and function is not None:
            reads = [node for node in ast.walk(function.node) if getattr(node, "id", "") == name]
            if len(reads) == 1 + len(replaced) and all(node in reads for node in replaced):
                return (delete_lines(module, statement),)
    return ()


def _copied(module: Module, made: ast.Call, where: Module, given: ast.expr) -> Edit:
    """Write another optimizer with the same settings where one is passed."""
    name = where.segment(given)
    used = {each for part in (*made.args, *made.keywords) for each in names_in(part)}
    near = module.function_of(made) is where.function_of(given)
    same = not used or near and all(len(module.assignments(each)) <= 1 for each in used)
    held = isinstance(module.parent(made), (ast.List, ast.Tuple, ast.Dict))
    plain = same and not held and where is module
    copy = module.segment(made) if plain else _COPY.format(name)
    return Edit(where.location(given), copy)


def _second_optimizer(made: Origin) -> tuple[Edit, ...]:
    """Create another optimizer of the same kind where the first one is stored, for the models after the first."""
    sites: dict[tuple[Module, str], list[CallSite]] = {}
    for module in _modules(made.module):
        for site in module.method_calls("apply_gradients", "apply"):
            found = _optimizer(site)
            # What a method receives is not followed: that attribute may hold the optimizer as well.
            if found.node is made.node if found is not None else _held_in_parameter(site) is not None:
                sites.setdefault((module, module.segment(site.receiver)), []).append(site)
    for (module, name), applied in sites.items():
        models: dict[str, list[CallSite]] = {}
        for site in applied:
            models.setdefault(_model_of_weights(site), []).append(site)
        stored = made.module.parent(made.node) if module is made.module else None
        if not isinstance(stored, ast.Assign):
            stored = _held_in_parameter(applied[0])
        odd = any(not each or each.endswith((")", "]")) for each in models)
        if odd or len(models) < 2 or stored is None or [module.segment(t) for t in stored.targets] != [name]:
            continue
        value = module.segment(stored.value)
        again = value if stored.value is made.node else _COPY.format(value)
        edits: list[Edit] = []
        lines: list[str] = []
        for model, users in list(models.items())[1:]:
            other = f"{name}_of_{model.rpartition('.')[2].lower()}"
            lines.append(f"{other} = {again}")
            edits += [Edit(module.location(site.receiver), other) for site in users]
        code = module.code(stored.value)
        return (*insert_after(code, f"\n{code.indent}".join(lines)), *edits)
    return ()


def _held_in_parameter(site: CallSite) -> ast.Assign | None:
    """Return `self.optimizer = optimizer` if the method that stores the attribute receives its value."""
    owner = site.module.class_of(site.node)
    for method in owner.methods.values() if owner is not None and _is_own(site) else ():
        for node in ast.walk(method.node):
            match node:
                case ast.Assign(targets=[target], value=ast.Name(id=name)) if name in method.parameters:
                    if site.module.segment(target) == site.module.segment(site.receiver):
                        return node
    return None


def _is_own(site: CallSite) -> bool:
    """Return whether the receiver is an attribute of `self`."""
    return isinstance(site.receiver, ast.Attribute) and is_self(site.module, site.receiver.value)
