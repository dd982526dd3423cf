"""`add_loss` called where it has no effect, or the removed `add_metric`.

## What happens

- In `build` or `__init__`, Keras accepts the `add_loss` call and then drops the loss: it clears a layer's losses
  before each step. Training runs without the penalty.
- `model.add_loss(tensor)` on a functional model raises a `NotImplementedError` with an empty message.
- `add_loss(lambda: …)` raises `ValueError: add_loss() can only be called from inside build() or call(), on a tensor
  input`.
- `add_metric` raises an error: Keras 3 removed the method.

## Why

Keras 3 collects the losses that `call` adds while the step is traced. A tensor computed anywhere else is not part of
that step.

## Fix

Call `add_loss` inside `call`, where the tensor is computed. In a functional model, do it in a small layer that
returns its input unchanged. Replace `add_metric` with a `keras.metrics.Mean` that you store on the layer and update
in `call`.

## Known limits

A penalty that depends only on a weight can be a regularizer of that weight instead. Regularizers also work when the
weight is created in `build`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.reorder_statements import first_statement, needed_assignments
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after, insert_before, spell, wrap
from fitdoctor.facts import Code, FailureFacts
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.line_edits import delete_lines, with_comment
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module

CAUSE = Cause(
    id="FIT410",
    slug="add-loss-misplaced",
    severity=Severity.ERROR,
    raises=("NotImplementedError", "ValueError", "AttributeError"),
)

_GONE = r"has no attribute 'add_metric'|`add_metric\(\)` method is deprecated"
_LAMBDA = r"`add_loss\(\)` can only be called from inside"


@CAUSE.rule("add_loss", "add_metric", says=rf"^\s*$|{_LAMBDA}|{_GONE}")
def misplaced(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find calls in places where Keras 3 drops or rejects them."""
    for site in module.method_calls("add_loss", "add_metric"):
        found = _judged(module, site) if module.keras == 3 or failure is not None else None
        if found is not None:
            yield found


_IN_CALL = "call `add_loss` inside a layer's `call`, where the tensor is computed"
CAUSE.message(
    _GONE,
    "Keras 3 removed `add_metric`",
    "store a `keras.metrics.Mean` on the layer and call its `update_state` in `call`",
    subject="add_metric",
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    _LAMBDA,
    "`add_loss` did not receive a tensor computed in `call`",
    _IN_CALL,
    subject="add_loss",
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    r"^\s*$",
    "a functional model does not accept symbolic tensors in `add_loss`",
    _IN_CALL,
    subject="add_loss",
    types=("NotImplementedError",),
    fits=lambda failure: failure.last_user_frame is not None and "add_loss" in failure.last_user_frame.text,
    confidence=Confidence.CERTAIN,
)


def _judged(module: Module, site: CallSite) -> Finding | None:
    own, owner = is_self(module, site.receiver), module.class_of(site.node)
    added = site.node.args[0] if site.node.args else None
    if own and (owner is None or owner.kind not in ("Layer", "Model") or module.method(owner, site.method)):
        return None
    if not own and kind_of_value(module, site.receiver) not in ("Model", "Layer"):
        return None
    if site.method == "add_metric":
        return _metric(module, site, owner if own else None)
    if not own and (not _is_functional(module, site.receiver) or _is_constant(module, site)):
        return None
    if isinstance(added, ast.Lambda):
        return _callable(module, site, added)
    if not own:
        return _on_functional(module, site)
    prepares = site.function is not None and site.function.name in ("build", "__init__")
    return _dropped(module, site, owner, site.function) if prepares and owner and site.function else None


def _is_functional(module: Module, receiver: ast.expr) -> bool:
    """Return whether the model was created by `keras.Model(inputs, outputs)`."""
    made = module.origin(receiver)
    given = isinstance(made.node, ast.Call) and (made.node.args or made.node.keywords)
    return bool(given) and made.module.called(made.node) == "keras.Model"


def _is_constant(module: Module, site: CallSite) -> bool:
    """Return whether a plain number or eager constant is added, which Keras accepts (and drops)."""
    made = module.made_by(site.node.args[0]) if site.node.args else None
    return isinstance(made, ast.Constant) or (module.called(made) == "tensorflow.constant")


def _on_functional(module: Module, site: CallSite) -> Finding:
    return CAUSE.finding(
        f"`{module.segment(site.node.func)}` receives a symbolic tensor of a functional model, which Keras 3 rejects",
        module.location(site.node),
        Evidence("this is a functional model, built from inputs and outputs"),
        fix(
            "compute the loss in a layer's `call` and pass it to `self.add_loss` there",
            in_a_layer(module, site),
        ),
        fix("subclass `keras.Model` and add the term in `compute_loss`"),
        subject="add_loss",
    )


def _callable(module: Module, site: CallSite, value: ast.Lambda) -> Finding:
    edits: tuple[Edit, ...] = ()
    if not value.args.args and site.function is not None and site.function.name == "call":
        edits = (Edit(module.location(value), module.segment(value.body)),)
    return CAUSE.finding(
        "`add_loss` receives a function, but Keras 3 accepts only tensors",
        module.location(site.node),
        fix("pass the tensor itself to `add_loss`, inside `call`", edits),
        subject="add_loss",
    )


def _dropped(module: Module, site: CallSite, owner: ClassInfo, function: FunctionInfo) -> Finding:
    return CAUSE.finding(
        f"`add_loss` in `{owner.name}.{function.name}` has no effect: Keras drops it before the first step",
        module.location(site.node),
        Evidence("Keras clears a layer's losses before each step, then collects those that `call` adds"),
        _moved_to_call(module, site, owner),
        subject=f"add_loss in {owner.name}",
        severity=Severity.WARNING,
    )


def _moved_to_call(module: Module, site: CallSite, owner: ClassInfo) -> Fix:
    """Move the statement to the start of `call` if it needs only `self`."""
    title = "move the `add_loss` call into `call`"
    call, statement = owner.methods.get("call"), module.statement(site.node)
    names = (node for node in ast.walk(site.node) if isinstance(node, ast.Name))
    local = any(node.id != "self" and not module.resolve(node) for node in names)
    if call is None or isinstance(call.node, ast.Lambda) or local or not isinstance(statement, ast.Expr):
        return fix(title)
    body = call.node.body[1:] if ast.get_docstring(call.node) is not None else call.node.body
    if not body or statement.lineno != statement.end_lineno:
        return fix(title)
    moved = insert_before(module.code(body[0]), with_comment(module, statement))
    return fix(title, moved, (delete_lines(module, statement),))


def _metric(module: Module, site: CallSite, owner: ClassInfo | None) -> Finding:
    return CAUSE.finding(
        "Keras 3 removed `add_metric`",
        module.location(site.node),
        _tracked(module, site, owner),
        subject="add_metric",
    )


def _tracked(module: Module, site: CallSite, owner: ClassInfo | None) -> Fix:
    """Create a `keras.metrics.Mean` in `__init__` and update it in `call`."""
    title = "store a `keras.metrics.Mean` on the layer and update it in `call`"
    init = owner.methods.get("__init__") if owner is not None else None
    name = getattr(site.argument("name"), "value", None)
    body = init.node.body if init is not None and not isinstance(init.node, ast.Lambda) else []
    after = next((each for each in body if module.segment(each).startswith("super(")), None)
    if after is None or not site.node.args or not isinstance(name, str) or not name.isidentifier():
        return fix(title)
    keras, imports = spell(module.code(site.node), "keras", "keras")
    made = f'self.{name}_tracker = {keras}.metrics.Mean(name="{name}")'
    updated = f"self.{name}_tracker.update_state({module.segment(site.node.args[0])})"
    changed = Edit(module.location(site.node), updated)
    return fix(title, insert_after(module.code(after), made), (changed,), imports)


# edits that add a loss to a functional model through a layer, where Keras 3 collects it.


NAME = "AddedLoss"
_CLASS = """\
class {name}({keras}.layers.Layer):
    def call(self, inputs):
        outputs, loss = inputs
        self.add_loss(loss)
        return outputs


"""


def in_a_layer(module: Module, site: CallSite) -> tuple[Edit, ...]:
    """Replace `model.add_loss(loss)` with a layer that the outputs pass through and that adds the loss."""
    receiver, statement = site.receiver, module.statement(site.node)
    made = module.made_by(receiver)
    if not isinstance(receiver, ast.Name) or not isinstance(made, ast.Call) or len(site.node.args) != 1:
        return ()
    model = module.statement(made)
    block = getattr(module.parent(model), "body", [])
    outputs = module.code(made).argument("outputs", 1)
    if model not in block or statement not in block or outputs is None or outputs.text[:1] in "[({":
        return ()
    between = block[block.index(model) + 1 : block.index(statement)]
    needed = needed_assignments(between, site.node.args[0], receiver.id)
    if needed is None or NAME in module.text:
        return ()
    keras, imports = spell(module.code(made), "keras", "keras")
    passed = f"{NAME}()([{{}}, {module.segment(site.node.args[0])}])"
    head = "\n" + _CLASS.format(name=NAME, keras=keras).rstrip("\n")
    moved = f"\n{module.code(made).indent}".join(module.segment(each) for each in needed)
    first = first_statement(module, model)
    if isinstance(first, (ast.FunctionDef, ast.ClassDef)):
        head = head.lstrip("\n")  # there are already two blank lines before it
    here = insert_before(
        module.code(first), f"{head}\n\n{moved}" if first is model and moved else f"{head}\n\n"
    )
    if moved and first is not model:
        here += insert_before(module.code(made), moved)
    return (
        *here,
        *wrap(Code(outputs.location, outputs.text), passed),
        *(delete_lines(module, each) for each in (*needed, statement)),
        *imports,
    )
