"""Loss reported as 0.0 because its metric is never updated.

## What happens

Training runs and the weights are updated, but the history, the progress bar and every callback that monitors the loss see
0.0 in every epoch. `EarlyStopping` stops training, and the checkpoint of the best loss never changes. If `compile` gets
metrics and the step updates none of them, Keras 3 raises at the end of the first epoch: `ValueError: Cannot get result()
since the metric has not yet been built.`

## Why

If the keys that `train_step` returns are the names of the model's metrics, Keras ignores the returned values and reads
the metrics instead. In a model compiled without metrics, `{"loss": loss}` uses the name of Keras's own loss tracker,
which the step has not updated. The same holds for `return self.compute_metrics(…)`, which updates the metrics passed to
`compile` but not the loss, and for a custom metric that is only read.

## Fix

Update the loss metric before it is read.

## Known limits

A metric that the analysis cannot follow is assumed to be updated. Keys other than metric names show the value of the last
batch, which is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import (
    differentiated,
    is_plain,
    reached_methods,
    returned,
    steps_of,
)
from fitdoctor.catalogue.model.step_returns import compared, update_of_each
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import name_of, own_nodes

CAUSE = Cause(id="FIT317", slug="reported-loss-not-updated", severity=Severity.WARNING, keeps_training=True)

KERAS_TRACKER = "_loss_tracker"
_READS = frozenset({"result", "reset_state", "reset_states", "name"})
_MAY_UPDATE = frozenset({KERAS_TRACKER, "update_state", "metrics"})
"""Words in a function called by a step that may update any metric."""


_MODELS = ("keras.Model", "keras.Sequential")
"""Base classes whose steps update the same loss tracker."""


@CAUSE.in_source
@mentions("train_step")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a step that returns a metric nothing updates; Keras 2 shows the returned value instead."""
    if module.keras != 3:
        return
    for step in steps_of(module):
        if step.name != "train_step" or step.owner is None or not is_plain(step.owner, _MODELS):
            continue
        values = returned(step)
        if len(values) != 1 or _trains_elsewhere(step):
            continue
        made = step.module.origin(values[0])  # `return self.update(batch)`: what that method returns
        maker = made.module.function_of(made.node)
        if maker is not None and maker is not step and maker in reached_methods(step):
            step, values = maker, [made.node]
        found = _own_tracker(step, values[0]) or _keras_tracker(step, values[0])
        if found is not None:
            yield found


def _trains_elsewhere(step: FunctionInfo) -> bool:
    """Whether the step calls the base step, which updates the tracker."""
    return any(
        site.method == "train_step" and site.module.called(site.receiver) == "super"
        for method in reached_methods(step)
        for site in method.calls
    )


# --- a custom loss metric ------------------------------------------------------------------------------------------


def _own_tracker(step: FunctionInfo, value: ast.expr) -> Finding | None:
    """Report `{"loss": self.tracker.result()}` if the metric is only ever read."""
    module, owner = step.module, step.owner
    if owner is not None and _reads_all_metrics(module, value):
        for listed in _listed_metrics(owner):
            if kind_of_value(owner.module, listed) == "Metric" and not _may_be_updated(module, listed.attr):
                return _finding(step, value, f"self.{listed.attr}", listed.attr)
    if not isinstance(value, ast.Dict) or owner is None:
        return None
    for key, reported in zip(value.keys, value.values, strict=True):
        attribute = _tracker_read(module, reported)
        if attribute and kind_of_value(module, reported.func.value) == "Metric":  # type: ignore[attr-defined]
            if not _may_be_updated(module, attribute):
                name = key.value if isinstance(key, ast.Constant) else attribute
                return _finding(step, value, f"self.{attribute}", str(name))
    return None


def _listed_metrics(owner: ClassInfo) -> list[ast.Attribute]:
    """Return the attributes of `self` that the `metrics` property lists, if it lists nothing else."""
    method = owner.module.method(owner, "metrics")
    values = returned(method) if method is not None else []
    if method is None or len(values) != 1 or not isinstance(values[0], (ast.List, ast.Tuple)):
        return []
    listed = values[0].elts
    found = [each for each in listed if isinstance(each, ast.Attribute) and method.module.own_attribute(each)]
    return found if len(found) == len(listed) else []


def _tracker_read(module: Module, value: ast.expr) -> str:
    """Return the attribute of `self` whose `result()` an expression reads."""
    called = value.func if isinstance(value, ast.Call) else None
    is_read = isinstance(called, ast.Attribute) and called.attr == "result"
    return module.own_attribute(called.value) if is_read and isinstance(called, ast.Attribute) else ""


def _may_be_updated(module: Module, attribute: str) -> bool:
    """Whether anything in the project may update an attribute of that name."""
    modules = module.project.modules if module.project is not None else (module,)
    for one in modules:
        for node in one.nodes(ast.Attribute):
            if node.attr == attribute and isinstance(node.ctx, ast.Load) and not _only_reads(one, node):
                return True
        if one.calls_to("getattr") or _loops_over_metrics(one):
            return True
    return False


def _only_reads(module: Module, node: ast.Attribute) -> bool:
    around, function = module.parent(node), module.function_of(node)
    if isinstance(around, ast.Attribute) and around.attr in _READS:
        return True
    # `return [self.loss_tracker]` in the `metrics` property.
    listed = isinstance(around, (ast.List, ast.Tuple, ast.Return))
    return listed and function is not None and function.name == "metrics"


def _loops_over_metrics(module: Module) -> bool:
    """Whether `update_state` is called in a loop or through a name, so that any metric may be updated."""
    return any(not isinstance(site.receiver, ast.Attribute) for site in module.method_calls("update_state"))


# --- Keras's own tracker -------------------------------------------------------------------------------------------


def _keras_tracker(step: FunctionInfo, value: ast.expr) -> Finding | None:
    """Report a step that returns metric names as keys without updating Keras's own loss tracker."""
    owner = step.owner
    assert owner is not None
    own = ("metrics", "compute_metrics", "get_metrics_result")
    if any(owner.module.method(owner, name) is not None for name in own) or _has_metric_called_loss(owner):
        return None
    if _updates_loss(step) or not _reports_keras_tracker(step, value, owner):
        return None
    return _finding(step, value, "", "loss")


def _reports_keras_tracker(step: FunctionInfo, value: ast.expr, owner: ClassInfo) -> bool:
    module = step.module
    if isinstance(value, ast.Dict):
        keys = [key.value for key in value.keys if isinstance(key, ast.Constant)]
        alone = keys == ["loss"] and len(value.keys) == 1
        return alone and not _has_metrics(owner) and _is_compiled_without_metrics(module)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return module.own_attribute(value.func) in ("compute_metrics", "get_metrics_result")
    return _reads_all_metrics(module, value)


def _reads_all_metrics(module: Module, value: ast.expr) -> bool:
    """Whether it is `{metric.name: metric.result() for metric in self.metrics}`."""
    loops = value.generators if isinstance(value, ast.DictComp) else []
    return len(loops) == 1 and not loops[0].ifs and module.own_attribute(loops[0].iter) == "metrics"


def _updates_loss(step: FunctionInfo) -> bool:
    """Whether the step may update Keras's loss tracker."""
    for method in reached_methods(step):
        module = method.module
        for node in own_nodes(method):
            if isinstance(node, FUNCTIONS):
                attributes = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
                if attributes & _MAY_UPDATE:
                    return True
            elif isinstance(node, ast.Attribute) and node.attr == KERAS_TRACKER:
                if not _only_reads(module, node):
                    return True
        updates = [site for site in method.calls if site.method == "update_state"]
        if any(not _leaves_loss_out(module, site.node, site.receiver) for site in updates):
            return True
    return False


def _leaves_loss_out(module: Module, call: ast.Call, receiver: ast.expr) -> bool:
    """Whether an update certainly leaves out Keras's loss tracker."""
    if isinstance(receiver, ast.Attribute):
        return module.own_attribute(receiver) not in ("", KERAS_TRACKER)
    if not isinstance(receiver, ast.Name):
        return False
    # for metric in self.metrics: if metric.name != "loss": metric.update_state(y, y_pred)
    test = f"{receiver.id}.name != 'loss'"
    checks = [
        each for each in module.parents(call) if isinstance(each, ast.If) and ast.unparse(each.test) == test
    ]
    return any(call in ast.walk(statement) for each in checks for statement in each.body)


def _has_metrics(owner: ClassInfo) -> bool:
    """Whether the class has metrics, or layers that may have some, which Keras would report too."""
    for ancestor in owner.module.ancestry(owner):
        module = ancestor.module
        for targets in module.attribute_stores(ancestor.node).values():
            statements = [module.statement(target) for target in targets]
            values = [each.value for each in statements if isinstance(each, (ast.Assign, ast.AnnAssign))]
            if any(value is not None and "metrics." in module.segment(value) for value in values):
                return True
    return False


def _has_metric_called_loss(owner: ClassInfo) -> bool:
    """Whether the class has its own metric named `loss`, which replaces Keras's."""
    texts = [ancestor.module.segment(ancestor.node) for ancestor in owner.module.ancestry(owner)]
    return any('name="loss"' in text or "name='loss'" in text for text in texts)


def _is_compiled_without_metrics(module: Module) -> bool:
    """Whether the program calls `compile` but never with metrics."""
    modules = module.project.modules if module.project is not None else (module,)
    calls = [site for one in modules for site in one.method_calls("compile") if not site.name]
    return bool(calls) and all(
        len(site.node.args) <= 2
        and all(
            keyword.arg is not None and keyword.arg not in ("metrics", "weighted_metrics")
            for keyword in site.node.keywords
        )
        and not any(isinstance(value, ast.Starred) for value in site.node.args)
        for site in calls
    )


# --- the finding ---------------------------------------------------------------------------------------------------


def _finding(step: FunctionInfo, value: ast.expr, tracker: str, name: str) -> Finding:
    module = step.module
    statement = module.statement(value)
    older = _older_update(step) if not tracker else None
    if older is not None:
        return _of_predictions(step, older, name)
    return CAUSE.finding(
        f"{name_of(step)} reports the metric `{name}` but never updates it: it will show 0.0",
        module.location(statement),
        Evidence(
            "for metric names, Keras shows the metric's state, not the returned value",
            f"{f'`{tracker}`' if tracker else 'the loss tracker'} is never updated",
            "`update_state(loss)` before the return",
            location=module.location(statement),
        ),
        _update(step, statement, tracker),
        subject=step.qualname,
    )


def _older_update(step: FunctionInfo) -> ast.Call | None:
    """Return a Keras 2 call `self.compiled_metrics.update_state(y, y_pred)`."""
    for method in reached_methods(step):
        for site in method.calls:
            if (
                site.method == "update_state"
                and method.module.own_attribute(site.receiver) == "compiled_metrics"
            ):
                return site.node
    return None


def _of_predictions(step: FunctionInfo, update: ast.Call, name: str) -> Finding:
    """Report predictions that Keras 3 passes to every `Mean` metric, including its loss tracker."""
    where = step.module.location(update)
    return CAUSE.finding(
        f"{name_of(step)} updates the metric `{name}` with the predictions: "
        "it will show their mean, not the loss",
        where,
        Evidence(
            "in Keras 3, `compiled_metrics` updates all metrics, including the loss tracker",
            step.module.segment(update)[:80],
            "`update_state(loss)` for the loss tracker",
            location=where,
        ),
        _each_by_its_own(step, update),
        subject=step.qualname,
    )


def _each_by_its_own(step: FunctionInfo, update: ast.Call) -> Fix:
    """Replace the update by a loop, unless the class has another `Mean`, whose value is not known here."""
    title = "loop over `self.metrics`: update `loss` with the loss, the others with labels and predictions"
    module, loss = step.module, differentiated(step)
    statement = module.statement(update)
    if not loss or not isinstance(statement, ast.Expr) or step.owner is None or _has_metrics(step.owner):
        return fix(title)
    if module.function_of(update) is not step:
        return fix(title)
    others = ", ".join(module.segment(each) for each in (*update.args, *update.keywords))
    text = update_of_each(module.code(statement), loss, others)
    return fix(title, (Edit(module.location(statement), text),))


def _update(step: FunctionInfo, statement: ast.stmt, tracker: str) -> Fix:
    module, loss = step.module, differentiated(step)
    title = "update the metric with the loss before reporting it"
    if not loss:
        return fix(title)
    code = module.code(statement)
    if tracker:
        others = any(site.method == "update_state" for site in step.calls)
        # With several metrics it is unclear which value this one expects, unless its name says so.
        sure = not others or any(word in tracker for word in ("loss", "total"))
        return fix(title, insert_before(code, f"{tracker}.update_state({loss})") if sure else ())
    deeper = f"{code.indent}    "
    text = f'for metric in self.metrics:\n{deeper}if metric.name == "loss":\n{deeper}    metric.update_state({loss})'
    return fix(title, insert_before(code, text))


# --- compiled metrics that no step updates ------------------------------------------------------------------------

_UPDATES = frozenset({"update_state", "compute_metrics", "compiled_metrics"})


@CAUSE.rule(
    says=r"Cannot get result\(\) since the metric has not yet been built",
    fits=lambda failure: failure.called == "fit",
    in_source=False,
    anywhere=True,
    problem="the training step never updates the metrics passed to `compile`",
    remedy="update the metrics in `train_step`: `metric.update_state(y, y_pred)`",
    subject="metrics",
    unread=True,
)
def compiled_metrics(module: Module) -> Iterator[Finding]:
    """Report a step that updates no compiled metric."""
    for step in steps_of(module):
        values = returned(step)
        if step.name != "train_step" or _touches_metrics(step) or len(values) != 1:
            continue
        statement = module.statement(values[0])
        yield CAUSE.finding(
            f"{name_of(step)} updates none of the metrics passed to `compile`",
            module.location(statement),
            Evidence("Keras reads the metrics at the end of the epoch", "no `update_state` in the step"),
            _updated(step, statement, values[0]),
            subject=step.qualname,
            severity=Severity.ERROR,
        )


def _touches_metrics(step: FunctionInfo) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in _UPDATES
        for method in reached_methods(step)
        for node in own_nodes(method)
    )


def _updated(step: FunctionInfo, statement: ast.stmt, value: ast.expr) -> Fix:
    """Update all metrics of the model, then return all of them."""
    title = "update the metrics: `loss` with the loss, the others with labels and predictions"
    module, loss = step.module, differentiated(step)
    names = compared(step)
    if not loss or names is None or not isinstance(statement, ast.Return):
        return fix(title)
    code = module.code(statement)
    reported = "{metric.name: metric.result() for metric in self.metrics}"
    text = update_of_each(code, loss, ", ".join(names))
    return fix(title, insert_before(code, text), (Edit(module.location(value), reported),))
