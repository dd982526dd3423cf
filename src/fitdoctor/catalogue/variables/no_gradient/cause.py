"""Loss without a gradient for the weights.

## What happens

The first step raises `ValueError: No gradients provided for any variable.` The loss has a value, but TensorFlow
cannot differentiate it with respect to any weight.

## Why

There are three possible reasons:

- An operation without a gradient lies between the weights and the loss: `argmax`, `round`, a comparison, a cast to
  integers, `stop_gradient`, NumPy, `numpy_function`, or a `py_function` that computes with NumPy. A `py_function`
  fails later, in the backward pass, with an unrelated error: `Input tensor must be at least 2D`.
- The loss does not use the predictions.
- The model's `call` is a `tf.function`. Keras 3 traces it while building the layers, and their weights are constants
  in that trace, which is then reused for training.

## Fix

Replace the operation with a smooth one: probabilities instead of `argmax`, a product instead of a threshold, a
cross-entropy instead of an error count. Move hard decisions into metrics, which need no gradient. Remove
`tf.function` from `call`: Keras compiles the whole step itself.

## Known limits

Functions that the loss calls are followed a few levels deep, but only as far as they use the predictions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.mixed_inputs import predicted_under_tape
from fitdoctor.catalogue.knowledge.labels.loss_choice import suggested_loss
from fitdoctor.catalogue.knowledge.models.model_classes import is_plain
from fitdoctor.catalogue.knowledge.tracing.array_bodies import as_tensor_code
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import (
    Tape,
    asked_about,
    assigned_under_tape,
    first_cut,
    layer_cut,
    losses_that_ignore_predictions,
    tape_cut,
    tape_cut_of_model,
    tapes,
    with_functions,
)
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.variables.cut_layers import cutting_layers, has_other_ways
from fitdoctor.catalogue.variables.straight_through import without_stop
from fitdoctor.catalogue.variables.tape_moves import stores
from fitdoctor.catalogue.variables.traced_while_building import (
    compiled_finding,
    compiled_while_building,
    is_fitted,
    is_fitted_unbuilt,
)
from fitdoctor.catalogue.variables.uncalled_under_tape import Uncalled, asked_at, uncalled_at
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.patterns import missing_gradients
from fitdoctor.records import replace
from fitdoctor.source.index import names_in
from fitdoctor.source.line_edits import put_instead
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.gradients import PREDICTS, Cut, is_py_function
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(
    id="FIT505",
    slug="no-gradient",
    severity=Severity.ERROR,
    raises=("ValueError", "LookupError", "InvalidArgumentError", "AttributeError"),
    explains=("FIT002",),
)


@CAUSE.in_source
@mentions("def", "lambda", "GradientTape")
def from_source(module: Module) -> Iterator[Finding]:
    """Report losses in which every path from `y_pred` to the result is blocked."""
    for function in module.functions:
        if function.traced is not None and function.traced.how == "loss" and function.traced.direct:
            spared = _is_one_of_several(module, function) or _is_only_measured(module, function)
            spared = spared or (function.owner is not None and not _is_made_as_loss(function.owner))
            cut = None if spared else first_cut(module, function)
            if cut is not None and not _is_zero(cut) and not _raises_before(cut):
                yield _finding(cut, _around(cut))
    under_tape = tape_cut_of_model(module)
    if under_tape is not None:
        yield _finding(under_tape, _around(under_tape))
    yield from _unused_outputs(module)
    for function, result in losses_that_ignore_predictions(module):
        measured = _is_only_measured(module, function)
        if not _is_placeholder(result) and not _is_one_of_several(module, function) and not measured:
            yield _ignoring(module, function, result)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("def", "lambda")
def from_layers(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a custom layer that blocks the gradient of all trainable layers."""
    for found in cutting_layers(model, project) if fit.method in _TRAINS else ():
        if found.is_everything:
            yield _finding(found.cut, found.function)


@CAUSE.in_source
@mentions("def", "lambda")
def from_call(module: Module) -> Iterator[Finding]:
    """Report a fitted model whose `call` blocks every path from its layers to its output."""
    for owner in module.classes:
        call = owner.methods.get("call")
        if owner.kind != "Model" or call is None or call.traced is None or not is_fitted(owner):
            continue
        cut = first_cut(module, call) if is_plain(owner) and not has_other_ways(owner) else None
        if cut is not None and not _raises_before(cut):
            yield _finding(cut, _around(cut))


def _raises_before(cut: Cut) -> bool:
    """Return whether Keras fails before it can miss a gradient: `np.round` of a symbolic tensor (FIT407)."""
    return cut.needs_value and not cut.module.runs_eagerly


@CAUSE.in_source
@mentions("function")
def from_compiled_call(module: Module) -> Iterator[Finding]:
    """Report a model whose whole `call` is a `tf.function` and builds its layers in the first trace."""
    for compiled in compiled_while_building(module):
        if compiled.owner.kind == "Model" and compiled.is_whole_call and is_fitted_unbuilt(compiled):
            yield compiled_finding(CAUSE, compiled, "")


def _is_one_of_several(module: Module, function: FunctionInfo) -> bool:
    """Return whether a loss is in a list or dict with others that can train the model."""
    places: list[ast.AST] = [function.node, *module.reads.get(function.name, ())]
    for place in places:
        match module.parent(place):
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(values=items):
                if len(items) > 1:
                    return True
    return False


_TRAINS = ("fit", "train_on_batch", "fit_generator")


def _is_made_as_loss(owner: ClassInfo) -> bool:
    """Return whether the program creates an instance of a class elsewhere than in a list of metrics."""
    if owner.kind != "Loss":
        return True  # `compute_loss` of a model
    project = owner.module.project
    for module in project.modules if project is not None else (owner.module,):
        for call in module.nodes(ast.Call) if owner.name in module.text else ():
            made = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if made == owner.name and not _is_in_metrics(module, call):
                return True
    return False


def _is_in_metrics(module: Module, node: ast.AST) -> bool:
    around = module.parent(node)
    while isinstance(around, (ast.List, ast.Tuple, ast.Dict)):
        around = module.parent(around)
    return isinstance(around, ast.keyword) and around.arg in ("metrics", "weighted_metrics")


def _is_only_measured(module: Module, function: FunctionInfo) -> bool:
    """Return whether a model compiled with this loss is only evaluated, and recompiled before it is fitted."""
    compiles = [
        site
        for site in module.method_calls("compile")
        if any(function.name in names_in(value) for value in (*site.node.args, *site.node.keywords))
    ]
    return bool(compiles) and all(_is_evaluated_next(module, site) for site in compiles)


def _is_evaluated_next(module: Module, compiled: CallSite) -> bool:
    """Return whether the model is evaluated but not trained before the next `compile`."""
    name = module.segment(compiled.receiver)
    methods = []
    for site in module.method_calls("compile", "evaluate", *_TRAINS):
        place = (site.node.lineno, site.node.col_offset)
        same = module.segment(site.receiver) == name and site.function is compiled.function
        if same and place > (compiled.node.lineno, compiled.node.col_offset):
            methods.append((place, site.method))
    following = [method for _place, method in sorted(methods)]
    until = following.index("compile") if "compile" in following else len(following)
    return "evaluate" in following[:until] and not any(method in _TRAINS for method in following[:until])


def _is_zero(cut: Cut) -> bool:
    """Return whether the loss is zero on purpose, for an output that is only measured or trained by `add_loss`."""
    called = cut.module.segment(cut.node.func) if isinstance(cut.node, ast.Call) else ""
    return called.endswith(("zeros_like", "zeros"))


def _is_placeholder(result: ast.AST) -> bool:
    """Return whether a plain number replaces the loss on purpose, with `add_loss` or another output training the model."""
    match result.value if isinstance(result, ast.Return) else result:
        case ast.Call(func=ast.Attribute(attr="zeros")) | ast.Constant(value=int() | float()):
            return True
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(isinstance(side, ast.Constant) and side.value == 0 for side in (left, right))
    return False


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, project: Project, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Report the failure and where the source loses the gradient."""
    missing = missing_gradients(failure.message)
    undefined = _UNDEFINED.search(failure.message) if failure.type == "LookupError" else None
    number = failure.type == "AttributeError" and _NUMBER.search(failure.message) is not None
    # `apply_gradients([])`: the program removed the missing gradients itself, and none was left.
    emptied = _EMPTIED in failure.message and any(
        each.library and each.function == "apply_gradients" for each in failure.frames
    )
    if undefined is None and not number and not emptied and (missing is None or not missing.every):
        if _BACKWARDS in failure.node and project:
            yield from _from_outside(failure, project)
        predicted = predicted_under_tape(failure, project)
        if predicted is not None:
            evidence = [Evidence("Keras rejects the mix of an array and tensors")]
            yield certain(_finding(predicted, _around(predicted)), failure)
        return
    said = f"`{undefined['operation']}` has no gradient" if undefined else "no gradient reached any variable"
    if number:
        if asked_at(failure, project) is None:
            return
        said = "the gradient of a plain number is computed"
    evidence = [Evidence(said)]
    frame = failure.last_user_frame
    uncalled = uncalled_at(failure, project)
    if uncalled is not None and uncalled.before is None:
        yield certain(_unseen(uncalled), failure)
        return
    for module in project.modules:
        for cut in _cuts(module):
            finding = certain(_finding(cut, _around(cut)), failure)
            fixes = (*_watched(cut, model, data), *finding.fixes)
            yield replace(finding, fixes=fixes, severity=Severity.ERROR)
            return
        for compiled in compiled_while_building(module):
            yield certain(compiled_finding(CAUSE, compiled, ""), failure)
            return
        for function, result in losses_that_ignore_predictions(module):
            yield certain(_ignoring(module, function, result), failure)
            return
    asked = asked_at(failure, project)
    for unused in _unused_outputs(asked[0].module, asked[1]) if asked is not None else ():
        yield certain(unused, failure)
        return
    yield CAUSE.finding(
        "the loss cannot be differentiated with respect to any weight",
        asked[0].module.location(asked[1]) if asked is not None else frame.location if frame else None,
        *evidence,
        fix("use only operations that have a gradient between the weights and the loss"),
        subject="loss",
        notes=[_MAY_BE_THE_TAPE] if not project and failure.called != "fit" else [],
    )


_BACKWARDS = "gradient_tape/"


def _from_outside(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a loss computed by `py_function`, whose scalar zero gradient fails in the backward pass."""
    for module in project.modules if any("py_function" in each.text for each in project.modules) else ():
        for cut in _cuts(module):
            if is_py_function(cut.module, cut.node):
                yield certain(_finding(cut, _around(cut)), failure, confidence=Confidence.LIKELY)
                return


def _unseen(uncalled: Uncalled) -> Finding:
    """Report weights of a model that the tape never recorded."""
    module, weights = uncalled.module, uncalled.weights
    return CAUSE.certain(
        f"the tape computes gradients for `{uncalled.model}`, which is not called inside the `with` block",
        module.location(weights.value),
        Evidence("the tape records here", location=module.location(uncalled.tape.block)),
        fix(f"compute the loss with `{uncalled.model}` inside the `with` block"),
        subject="loss",
    )


CAUSE.message(
    r"None values not supported|Tried to convert '\w+' to a tensor and failed\. Error: None values",
    "the gradient of a weight is `None`: the loss does not depend on it through differentiable operations",
    "compute the loss from the outputs of the model, without `argmax`, `round`, comparisons, casts to integers and NumPy",
    subject="loss",
    types=("ValueError",),
    raised_in=("get_updates",),
)
_EMPTIED = "not enough values to unpack (expected 2, got 0)"
_UNDEFINED = re.compile(r"No gradient defined for operation[^\n]{0,200}\(op type: (?P<operation>\w+)\)")
"""TensorFlow's error if a tape recorded the operation, as in `predict` of Keras 2."""
_NUMBER = re.compile(r"^'(?:numpy\.)?(?:float|int)\d*' object has no attribute '(?:_id|dtype)'")
"""The error of a tape that is asked for the gradient of a Python or NumPy number."""
_MAY_BE_THE_TAPE = (
    "the source is not available; in a custom training loop, the loss or the forward pass may also be outside the "
    "`with` block of the tape (FIT507)"
)


def _around(cut: Cut) -> FunctionInfo | None:
    """Return the function that contains an operation."""
    return cut.module.function_of(cut.node)


def _cuts(module: Module) -> Iterator[Cut]:
    """Return blocking operations, first in losses, then in the model, then under a tape."""
    for kinds in (("loss",), ("call", "lambda layer"), ("train_step",)):
        for function in module.functions:
            if function.traced is not None and function.traced.how in kinds:
                cut = first_cut(module, function) or layer_cut(function)
                if cut is not None:
                    yield cut
    for under_tape in (tape_cut_of_model, tape_cut, assigned_under_tape):
        cut = under_tape(module)
        if cut is not None:
            yield cut


def _finding(cut: Cut, function: FunctionInfo | None) -> Finding:
    module = cut.module
    where = f" in {name_of(function)}" if function is not None else ""
    # The gradient of `sign` is zero: nothing raises, and nothing is learned.
    silent = cut.what.endswith("sign`")
    return CAUSE.finding(
        f"{cut.what}{where} blocks the gradient, so the weights cannot learn from this loss",
        module.location(cut.node),
        Evidence(
            "the operation that blocks the gradient",
            module.segment(cut.node)[:80],
            location=module.location(cut.node),
        ),
        *_open_ways(cut),
        subject="loss",
        severity=Severity.WARNING if silent else Severity.ERROR,
    )


def _open_ways(cut: Cut) -> list[Fix]:
    """Return fixes with a gradient: call the model instead of `predict`, or use the value before thresholding."""
    kept = _kept_in_tensors(cut)
    if kept:
        return [fix("use tensor operations: a tape does not record NumPy", kept)]
    if cut.what.endswith("stop_gradient`") and isinstance(cut.node, ast.Call):
        return [unsafe("remove `tf.stop_gradient`", without_stop(cut.module, cut.node))]
    replaced = _called(cut) or _soft(cut)
    told = fix("replace the operation with one that has a gradient, or move it into a metric")
    if replaced is None:
        return [told]
    node, text = replaced
    edits = (put_instead(cut.module, node, text),)
    if text.endswith("training=True)"):
        return [fix("call the model directly: a tape does not record `predict`", edits)]
    return [unsafe("use the value itself, which has a gradient", edits), told]


def _watched(cut: Cut, model: ModelFacts | Unknown, data: DataFacts | Unknown) -> Iterator[Fix]:
    """Turn a counting loss into a metric, next to a loss that suits the labels and output."""
    function = _around(cut)
    if isinstance(model, Unknown) or isinstance(data, Unknown) or function is None or _soft(cut) is not None:
        return
    loss = suggested_loss(model, data)
    given = model.compile_code.argument("loss", 1) if isinstance(model.compile_code, Code) else None
    if loss is None or given is None or given.text != function.name:
        return
    metrics = model.compile_code.argument("metrics") if isinstance(model.compile_code, Code) else None
    if metrics is None:
        added = append_arguments(model.compile_code, f"metrics=[{given.text}]")
    elif metrics.text.startswith("[") and metrics.text.endswith("]"):
        added = (Edit(metrics.location, f"{metrics.text[:-1].rstrip(', ')}, {given.text}]"),)
    else:
        return
    title = f"train with `{loss}`, which has a gradient, and track `{given.text}` as a metric"
    yield unsafe(title, (Edit(given.location, f'"{loss}"'),), added)


def _kept_in_tensors(cut: Cut) -> tuple[Edit, ...]:
    """Replace `.numpy()` and NumPy functions, under a tape or in a loss, with tensor operations."""
    module, node = cut.module, cut.node
    asks = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "numpy"
    if not asks and not module.called(node).startswith(("numpy.", "math.")):
        return ()
    function = _around(cut)
    block = module.around(node, ast.With) or (function.node if function is not None else None)
    found = as_tensor_code(module, ast.walk(block), [node]) if block is not None else None
    return found.edits if found is not None else ()


def _called(cut: Cut) -> tuple[ast.expr, str] | None:
    """Return `model(x, training=True)` for `model.predict(x, verbose=0)`."""
    match cut.node:
        case ast.Call(func=ast.Attribute(value=model, attr=method), args=[given]) if method in PREDICTS:
            return cut.node, f"{cut.module.segment(model)}({cut.module.segment(given)}, training=True)"
    return None


def _soft(cut: Cut) -> tuple[ast.expr, str] | None:
    """Return `p` for `tf.round(p)` and `tf.cast(p > 0.5, tf.float32)`."""
    module, cast = cut.module, cut.module.parent(cut.node)
    match cut.node, cast:
        case ast.Call(args=[given]), _ if module.called(cut.node).endswith((".round", ".rint")):
            return cut.node, module.segment(given)
        case (
            ast.Compare(left=left, ops=[ast.Gt() | ast.GtE(), *_], comparators=[ast.Constant(), *_]),
            ast.Call(args=[first, *_]),
        ) if first is cut.node and module.called(cast).endswith(".cast"):
            return cast, module.segment(left)
    return None


def _ignoring(module: Module, function: FunctionInfo, result: ast.AST) -> Finding:
    return CAUSE.finding(
        f"{name_of(function)} does not use the predictions, so its value does not depend on any weight",
        module.location(result),
        fix("compute the loss from `y_pred`"),
        subject="loss",
    )


# --- models that are called under a tape but whose output the loss does not use -------------------------------------


def _unused_outputs(module: Module, only: ast.Call | None = None) -> Iterator[Finding]:
    """Report tapes whose model is called once and whose output is never read, or only the one of a `gradient` call."""
    for tape in tapes(module):
        for asked in tape.gradients:
            model, loss = asked_about(module, asked), asked.args[0] if asked.args else None
            made = [each for each in tape.block.body if getattr(loss, "id", "") in stores(each)]
            output = _only_output(tape, model) if model not in ("", "self") else None
            if len(made) != 1 or output is None or only is not None and asked is not only:
                continue
            scope = module.index.lookup(output.id, module.scope(output))
            reads = module.reads.get(output.id, [])
            if any(module.index.lookup(read.id, module.scope(read)) is scope for read in reads):
                continue
            yield CAUSE.finding(
                f"the loss does not use `{output.id}`, the output of `{model}`, so no gradient reaches its weights",
                module.location(made[0]),
                Evidence("this output is never read", location=module.location(output)),
                Evidence(f"the gradients of `{model}` are computed here", location=module.location(asked)),
                fix(f"compute the loss from `{output.id}`"),
                subject="loss",
            )


def _only_output(tape: Tape, model: str) -> ast.Name | None:
    """Return the name of the model output, if the block does nothing else with the model."""
    module = tape.module
    named = [
        node
        for inner in with_functions(module, tape.block.body)
        for node in ast.walk(inner)
        if isinstance(node, (ast.Name, ast.Attribute)) and module.segment(node) == model
    ]
    call = module.parent(named[0]) if len(named) == 1 else None
    match module.parent(call) if isinstance(call, ast.Call) and call.func is named[0] else None:
        case ast.Assign(targets=[ast.Name() as target]) as statement if statement in tape.block.body:
            return target
    return None
