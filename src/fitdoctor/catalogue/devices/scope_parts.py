"""Parts of a model that the source creates outside the strategy scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.devices.strategies import in_scope, scope_of, scopes
from fitdoctor.catalogue.devices.strategy_loops import is_built, loops
from fitdoctor.records import dataclass
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import is_keras_model, kind_of_call
from fitdoctor.source.module import Module


@dataclass(frozen=True)
class Part:
    """Something created or called outside the strategy scope."""

    node: ast.AST
    what: str
    """The start of a message: `the model is created`."""
    raises: bool = True
    """If False, the model trains, but without the strategy."""
    also: ast.Call | None = None
    """What has to move along: the optimizer passed to `compile`."""


def made_outside(module: Module, *, failed: bool = False) -> Iterator[Part]:
    """Yield what is outside, for a model that is created or compiled inside.

    Args:
        module: the file.
        failed: the program shows that something is outside, so what is compiled need not be known to be a model.
    """
    if not scopes(module):
        return
    for site in module.method_calls("compile"):
        assert isinstance(site.node.func, ast.Attribute)
        receiver, given = site.node.func.value, site.argument("optimizer", 0)
        if not failed and not is_keras_model(module, receiver):
            continue
        maker = _maker(module, receiver)
        optimizer = _optimizer(module, given, failed)
        parts = [part for part in (site.node, maker, optimizer) if isinstance(part, ast.Call)]
        if maker is None or any(scope_of(module, part) is None for part in parts):
            continue
        compiled_inside = in_scope(module, site.node)
        made_inside = isinstance(maker, ast.Call) and in_scope(module, maker)
        apart = optimizer is not None and not in_scope(module, optimizer)
        if compiled_inside and isinstance(maker, ast.Call) and not made_inside:
            # If the optimizer is outside too, nothing in the model uses the strategy; Keras 2 rejects that as well.
            yield Part(
                maker,
                "the model is created",
                raises=not apart or module.keras != 3,
                also=optimizer if apart else None,
            )
        elif made_inside and not compiled_inside and module.keras == 3 and not is_plain_sgd(module, given):
            if optimizer is None or apart:
                own = optimizer is None or module.statement(optimizer) is module.statement(site.node)
                yield Part(site.node, "`compile` is called", also=None if own else optimizer)
        # An optimizer of Keras 2 creates its variables in the first step, which is in the scope.
        late = module.keras == 2 or is_plain_sgd(module, given)
        if compiled_inside and optimizer is not None and apart and not late:
            yield Part(optimizer, "the optimizer is created")
        if made_inside and isinstance(maker, ast.Call):
            yield from _built_outside(module, maker)
    for loop in loops(module) if module.keras == 3 else ():
        inside = isinstance(loop.model_made, ast.Call) and in_scope(module, loop.model_made)
        if inside and not in_scope(module, loop.made) and not is_plain_sgd(module, loop.made):
            if not is_built(module, loop.optimizer):
                yield Part(loop.made, "the optimizer is created")


def _optimizer(module: Module, given: ast.expr | None, failed: bool) -> ast.Call | None:
    """Return the call in this file that gives `compile` its optimizer: a constructor, or a function that returns one."""
    if given is None:
        return None
    origin = module.origin(given)
    known = isinstance(origin.node, ast.Call) and kind_of_call(origin.module, origin.node) == "Optimizer"
    here = given if isinstance(given, ast.Call) else (_last_made(module, given) or [origin.node])[-1]
    inside = here is not origin.node or origin.module is module
    return here if isinstance(here, ast.Call) and inside and (known or failed) else None


def is_plain_sgd(module: Module, given: ast.expr | None) -> bool:
    """Whether the optimizer is SGD without momentum, which has no variables to create."""
    if given is None:
        return False
    origin = module.origin(given)
    made = origin.node
    if isinstance(made, ast.Constant):
        return str(made.value).lower() == "sgd"
    return (
        isinstance(made, ast.Call)
        and origin.module.resolve(made.func) == "keras.optimizers.SGD"
        and not any(keyword.arg in (None, "momentum", "use_ema") for keyword in made.keywords)
        and len(made.args) < 2
    )


def _maker(module: Module, receiver: ast.expr) -> ast.expr | None:
    """Return the call that created the model; None if it is created in a scope on one way, and outside on another."""
    made = _last_made(module, receiver)
    places = {scope_of(module, one) for one in made if isinstance(one, ast.Call)}
    if len(places) > 1:
        return None
    return made[-1] if made and isinstance(made[-1], ast.Call) else module.made_by(receiver)


def _last_made(module: Module, receiver: ast.expr) -> list[ast.expr]:
    """Return what a name or attribute was set to on the ways that lead to a place; builder functions are not followed."""
    owner = module.class_of(receiver)
    if isinstance(receiver, ast.Name):
        values = [assignment.value for assignment in module.assignments(receiver.id, receiver)]
    elif isinstance(receiver, ast.Attribute) and owner is not None and is_self(module, receiver.value):
        targets = module.attribute_stores(owner.node).get(receiver.attr, [])
        values = [getattr(module.parent(target), "value", None) for target in targets]
        if any(module.function_of(target) != module.function_of(receiver) for target in targets):
            return [value for value in values if value is not None]
    else:
        return []
    found: list[ast.expr] = []
    for value in values:
        if value is None or _position(value) >= _position(receiver):
            continue
        if _surely_before(module, value, receiver):
            found.clear()
        found.append(value)
    return found


def _surely_before(module: Module, node: ast.AST, later: ast.AST) -> bool:
    """Return whether a node is on every way to a later one: in no branch that does not hold both."""
    block = module.parent(module.statement(node))
    while isinstance(block, ast.With):
        block = module.parent(block)
    around = module.parent(later)
    while around is not None and around is not block:
        around = module.parent(around)
    return around is not None and not (
        isinstance(block, ast.If) and _in_other_branch(module, block, node, later)
    )


def _in_other_branch(module: Module, block: ast.If, node: ast.AST, later: ast.AST) -> bool:
    lines = range(block.body[0].lineno, (block.body[-1].end_lineno or 0) + 1)
    return (module.statement(node).lineno in lines) != (module.statement(later).lineno in lines)


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


# --- a model that uses parts built before -----------------------------------------------------------------------


def _built_outside(module: Module, maker: ast.Call) -> Iterator[Part]:
    """Yield models built outside the scope that are part of one created inside.

    A layer that is only constructed outside is harmless: it is built where it is first called.
    """
    if module.resolve(maker.func) in ("keras.Model", "keras.models.Model"):
        first = _first_call(module, maker)
        if first is not None and not in_scope(module, first):
            yield Part(first, "a layer is called")
            return
    block = _scope_of(module, maker)
    for node in ast.walk(block) if block is not None else ():
        used = [node.func, *node.args] if isinstance(node, ast.Call) else getattr(node, "elts", [])
        for name in used:
            if isinstance(name, (ast.Name, ast.Attribute)) and isinstance(name.ctx, ast.Load):
                made = module.made_by(name)
                # A builder function may be called outside as well.
                placed = [made, *_last_made(module, name)[-1:]]
                if not isinstance(made, ast.Call) or any(in_scope(module, one) for one in placed if one):
                    continue
                built = gives_built_model(module, made) and not _is_frozen(module, name)
                if built:
                    yield Part(made, f"`{module.segment(name)}`, a part of the model, is created")
                    return


def _scope_of(module: Module, node: ast.AST) -> ast.With | None:
    blocks = [block for block, _name in scopes(module)]
    parent = module.parent(node)
    while parent is not None and parent not in blocks:
        parent = module.parent(parent)
    return parent if isinstance(parent, ast.With) else None


def _first_call(module: Module, maker: ast.Call) -> ast.Call | None:
    """Return the first layer call of a functional model, followed back from its outputs; None if unclear."""
    outputs = module.call(maker).argument("outputs", 1)
    found: ast.Call | None = None
    for _step in range(200):
        made = module.made_by(outputs) if outputs is not None else None
        if not isinstance(made, ast.Call) or len(made.args) != 1 or not isinstance(made.func, ast.expr):
            break
        layer = module.made_by(made.func)
        if not isinstance(layer, ast.Call) or kind_of_call(module, layer) not in ("Layer", "Model"):
            break
        found, outputs = made, made.args[0]
    return found


def gives_built_model(module: Module, made: ast.Call) -> bool:
    """Whether a construction certainly returns a model with weights."""
    name = module.resolve(made.func)
    if name.startswith("keras.applications.") or name.endswith(".load_model"):
        return kind_of_call(module, made) == "Model"
    if name in ("keras.Model", "keras.models.Model"):
        return True
    if name != "keras.Sequential" and name != "keras.models.Sequential":
        return False
    listed = module.made_by(made.args[0]) if made.args else None
    first = listed.elts[0] if isinstance(listed, (ast.List, ast.Tuple)) and listed.elts else None
    if not isinstance(first, ast.Call):
        return False
    shaped = any(keyword.arg in ("input_shape", "input_dim") for keyword in first.keywords)
    return shaped or module.resolve(first.func).endswith((".Input", ".InputLayer"))


def _is_frozen(module: Module, part: ast.expr) -> bool:
    """Whether the program sets `trainable` on the part or its layers, so that its weights may be frozen."""
    name = module.segment(part)
    for node in module.nodes(ast.Attribute):
        if node.attr == "trainable" and isinstance(node.ctx, ast.Store):
            owner = module.segment(node.value)
            made = module.origin(node.value).node
            if owner == name or module.segment(made).startswith(f"{name}."):
                return True
    return False
