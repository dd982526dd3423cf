"""`add_loss` called where it has no effect, or the removed `add_metric`.

## What happens

- In `build` or `__init__`, Keras accepts the `add_loss` call and then drops the loss: it clears a layer's losses
  before each step. Training runs without the penalty.
- `model.add_loss(tensor)` on a functional model raises a `NotImplementedError` with an empty message.
- `add_loss(lambda: …)` raises `ValueError: add_loss() can only be called from inside build() or call(), on a tensor
  input`.
- `add_metric` raises an error: Keras 3 removed the method.
- A custom `train_step` or training loop whose loss omits `model.losses` trains without the penalties that layers
  add in `call`, and without the regularizers of the layers.

## Why

Keras 3 collects the losses that `call` adds while the step is traced. A tensor computed anywhere else is not part of
that step.

## Fix

Call `add_loss` inside `call`, where the tensor is computed. In a functional model, do it in a small layer that
returns its input unchanged. Replace `add_metric` with a `keras.metrics.Mean` that you store on the layer and update
in `call`. In a custom training step, add `sum(model.losses)` to the loss, or compute it with `self.compute_loss`.

## Known limits

If any line of the project reads the losses of a model, every training step counts as using them.

A penalty that depends only on a weight can be a regularizer of that weight instead. Regularizers also work when the
weight is created in `build`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_code import calls_in_model, trained_models
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import Tape, tapes
from fitdoctor.catalogue.reorder_statements import first_statement, needed_assignments
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after, insert_before, spell, unsafe, wrap
from fitdoctor.facts import Code, FailureFacts
from fitdoctor.source.callees import is_self
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.line_edits import delete_lines, with_comment
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project

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


# --- a step that omits the losses of the model ------------------------------------------------------------------

_USES_LOSSES = frozenset({"losses", "compute_loss", "compiled_loss"})
_REGULARIZES = ("kernel_regularizer", "bias_regularizer", "embeddings_regularizer", "activity_regularizer")


@CAUSE.in_source
@mentions("add_loss", "regularizer")
def from_step(module: Module, project: Project) -> Iterator[Finding]:
    """Report a tape whose loss omits what the layers of the model add to it."""
    if not module.calls_to("tensorflow.GradientTape") or any(
        node.attr in _USES_LOSSES and not one.resolve(node)
        for one in project.modules
        for node in one.nodes(ast.Attribute)
    ):
        return
    for tape in tapes(module):
        gradient = next((each for each in tape.gradients if _trains(module, each)), None)
        loss = gradient.args[0] if gradient is not None and gradient.args else None
        if not isinstance(loss, ast.Name):
            continue
        called = {module.segment(node.func): node.func for node in tape.nodes if isinstance(node, ast.Call)}
        for text, model in {**trained_models(tape), **called}.items():
            added = next(_adding(module, model), None)
            if added is not None:
                yield _omitted(tape, loss, text, added)
                break


def _trains(module: Module, gradient: ast.Call) -> bool:
    """Whether the gradient is one for weights that the same function then updates."""
    asked = [module.origin(each).node for each in gradient.args[1:2]]
    function = module.function_of(gradient)
    applied = [site for site in module.method_calls("apply_gradients", "apply") if site.function is function]
    return bool(applied) and any("trainable" in ast.unparse(each) for each in asked)


def _adding(module: Module, model: ast.expr) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the calls in the code of a model that add a loss to it."""
    for where, call in calls_in_model(module, model):
        if where.called(call).startswith("keras.layers."):
            if any(
                (each.arg or "") in _REGULARIZES and _penalizes(where, each.value) for each in call.keywords
            ):
                yield where, call
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "add_loss":
            owner, function = where.class_of(call), where.function_of(call)
            if (
                owner is not None
                and owner.kind == "Layer"
                and function is not None
                and function.name == "call"
            ):
                yield where, call


def _penalizes(module: Module, given: ast.expr) -> bool:
    """Whether a regularizer is certainly one: a name, or a call with a factor other than 0."""
    given = module.made_by(given)
    if isinstance(given, ast.Constant):
        return isinstance(given.value, str)
    if not isinstance(given, ast.Call) or not module.called(given).startswith("keras.regularizers."):
        return False
    factors = [*given.args, *(keyword.value for keyword in given.keywords)]
    return not factors or any(getattr(module.made_by(factor), "value", 1) != 0 for factor in factors)


def _omitted(tape: Tape, loss: ast.Name, model: str, added: tuple[Module, ast.Call]) -> Finding:
    module = tape.module
    stored = [node for node in tape.nodes if isinstance(node, ast.Name) and node.id == loss.id]
    stores = [module.statement(node) for node in stored if isinstance(node.ctx, ast.Store)]
    statement = stores[-1] if stores else module.statement(loss)
    edits = insert_after(module.code(statement), f"{loss.id} += sum({model}.losses)") if stores else ()
    source, adding = added
    return CAUSE.finding(
        f"`{loss.id}` omits `{model}.losses`, so the penalties that its layers add are not trained",
        module.location(statement),
        Evidence("the model collects this penalty", source.segment(adding), location=source.location(adding)),
        unsafe("add the losses of the model to the loss", edits),
        subject=f"losses of {model}",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
    )


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
