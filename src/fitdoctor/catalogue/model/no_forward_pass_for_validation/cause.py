"""Validation of a model without a forward pass.

## What happens

The first epoch trains, then validation (or `evaluate`, or `predict`) raises `NotImplementedError: Model VAE does
not have a call() method implemented.`

## Why

The custom `train_step` calls the parts of the model itself, so training needs no `call`. Validation runs the default
`test_step`, which calls the model on `x` and passes the result to the loss. A class without a custom step (whose forward
pass is named `forward`, as in PyTorch) fails in the first step.

## Fix

Write a `test_step` that computes the same loss without a gradient, or a `call` method. Or remove the validation data.

## Known limits

For a class that inherits from anything other than `keras.Model`, the problem is reported only after the failure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import class_of_model, is_plain
from fitdoctor.catalogue.training_loops import bound_in
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, merged_removal, unsafe
from fitdoctor.facts import Code, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.line_edits import indent_of, with_comment
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT318", slug="no-forward-pass-for-validation", severity=Severity.ERROR, raises="NotImplementedError"
)

_SAID = "does not have a `call()` method implemented"
_SAID_BY_KERAS_2 = "Unimplemented `tf.keras.Model.call()`"
_STEPS = {"fit": "test_step", "evaluate": "test_step", "test_on_batch": "test_step"}
_STEPS |= {"predict": "predict_step", "predict_on_batch": "predict_step"}
_MAKERS = {"test_step": "make_test_function", "predict_step": "make_predict_function"}


@CAUSE.in_source
@CAUSE.before_fit
@mentions("train_step", "forward")
def from_model(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report validation of a model that has a `train_step` but no `call` or `test_step`."""
    step = _STEPS.get(fit.method, "")
    if model.kind != "subclassed" or not step:
        return
    if "train_step" not in model.overrides:
        yield from _named_otherwise(model, project)
        return
    if {"call", "__call__", "evaluate", step, _MAKERS[step]} & set(model.overrides):
        return
    if fit.method == "fit" and (not _validates(fit) or "validation_freq" in fit.given):
        return
    owner = class_of_model(model, project)
    if owner is not None and is_plain(owner):
        yield _finding(owner, fit.method, step, place(fit.code), fit.code, [])


def _named_otherwise(model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report a class with `forward`, as in PyTorch, but no method that Keras runs."""
    owner = class_of_model(model, project)
    if owner is None or not is_plain(owner) or "forward" not in owner.methods or _RUN & set(model.overrides):
        return
    if not any(_gives(ancestor, _RUN) for ancestor in owner.module.ancestry(owner)):
        yield replace(_without_any(owner, []), confidence=Confidence.LIKELY)


_RUN = frozenset(
    ("call", "__call__", "fit", "evaluate", "make_train_function", *_STEPS.values(), *_MAKERS.values())
)


def _gives(owner: ClassInfo, names: frozenset[str]) -> bool:
    """Whether a class defines one of the names, as a method or as `call = forward`."""
    assigned = [each for each in owner.node.body if not isinstance(each, ast.FunctionDef)]
    return bool(names & {*owner.methods, *(name for each in assigned for name in bound_in(each))})


def _validates(fit: FitFacts) -> bool:
    """Whether `fit` gets validation data; any tuple literal counts."""
    if fit.has_validation or isinstance(fit.code, Unknown):
        return fit.has_validation
    given = fit.code.argument("validation_data")
    return given is not None and given.text.startswith("(") and given.text.endswith(")")


def _finding(
    owner: ClassInfo,
    method: str,
    step: str,
    where: Location | None,
    code: Code | Unknown,
    evidence: list[Evidence],
) -> Finding:
    what = "validation" if method == "fit" else f"`{method}`"
    steps = "has a `train_step` but " if "train_step" in owner.methods else "has "
    return CAUSE.certain(
        f"{what} cannot run `{owner.name}`: the class {steps}neither `call` nor `{step}`",
        where,
        _methods(owner, f"`{step}` or `call`"),
        *evidence,
        *_fixes(owner, method, step, code),
        subject=f"model {owner.name}",
    )


def _methods(owner: ClassInfo, expected: str) -> Evidence:
    return Evidence(
        "methods of the class",
        ", ".join(f"`{name}`" for name in owner.methods),
        expected,
        fact="model.overrides",
        location=owner.module.location(owner.node),
    )


def _fixes(owner: ClassInfo, method: str, step: str, code: Code | Unknown) -> list[Fix]:
    written = _test_step_like_training(owner) if step == "test_step" else ()
    told = f"write a `{step}` or a `call` for `{owner.name}`"
    step_fix = fix(f"write a `{step}` with the losses of `train_step`" if written else told, written)
    found = [step_fix]
    if method == "fit":
        names = ("validation_data", "validation_split", "validation_steps", "validation_batch_size")
        found.append(unsafe("remove the validation", merged_removal(code, names)))
    return found


@CAUSE.after_failure
def from_failure(failure: FailureFacts, fit: FitFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Read the class without `call` from the Keras error."""
    if _SAID in failure.message:
        name = failure.message.partition("Model ")[2].partition(" ")[0]
    elif _SAID_BY_KERAS_2 in failure.message:
        name = failure.layer_class
    else:
        return
    owner = project.class_named(name) if project else None
    method = fit.method if isinstance(fit, FitFacts) else failure.called
    evidence = [Evidence("Keras calls the model")]
    if owner is None:
        yield CAUSE.certain(
            f"`{name}` has neither a `call` nor a custom step",
            failure.location,
            *evidence,
            fix("write a `test_step` or a `call`"),
            subject=f"model {name}",
        )
        return
    if owner.module.method(owner, "train_step") is None:
        yield _without_any(owner, evidence)
        return
    code = fit.code if isinstance(fit, FitFacts) else Unknown()
    where = place(code, failure.location)
    step = _STEPS.get(method, "test_step")
    yield _finding(owner, method, step, where, code, evidence)


def _without_any(owner: ClassInfo, evidence: list[Evidence]) -> Finding:
    """Report a class without a forward pass, or with one under another name."""
    module = owner.module
    named = owner.methods.get("forward") or owner.methods.get("predict")
    where, advice, other = module.location(owner.node), fix("write a `call`"), ""
    if named is not None and isinstance(named.node, ast.FunctionDef):
        other, line = f", only `{named.name}`", module.location(named.node)
        where = replace(line, end_line=line.line)
        start = named.node.col_offset + len("def ") + 1
        called = replace(line, column=start, end_line=line.line, end_column=start + len(named.name))
        edits = (Edit(called, "call"),) if _is_only_defined(owner, named.name) else ()
        advice = fix(f"rename `{named.name}` to `call`: Keras does not run `{named.name}`", edits)
    return CAUSE.certain(
        f"`{owner.name}` has no `call`{other}: Keras cannot run it",
        where,
        _methods(owner, "`call`"),
        *evidence,
        advice,
        subject=f"model {owner.name}",
    )


def _is_only_defined(owner: ClassInfo, name: str) -> bool:
    """Whether nothing in the file calls the method by its name."""
    return not any(node.attr == name for node in owner.module.nodes(ast.Attribute))


# --- a `test_step` like the `train_step` ----------------------------------------------------------------------------


_STEPS_OF_OPTIMIZER = ("apply_gradients", "apply", "minimize")
_WHILE_TRAINING = re.compile(r"\btraining\s*=\s*True\b")


def _test_step_like_training(owner: ClassInfo) -> tuple[Edit, ...]:
    """Write `test_step` after `train_step`; no edits if training is more than one pass with its gradients."""
    train = owner.methods.get("train_step")
    if train is None or not isinstance(train.node, ast.FunctionDef):
        return ()
    module, node = owner.module, train.node
    kept = _without_gradients(module, node.body)
    last = module.code(node.body[-1]).statement
    if kept is None or last is None or not isinstance(kept[-1], ast.Return):
        return ()
    indent, inner = indent_of(module, node), indent_of(module, node.body[0])
    lines = [f"{indent}def test_step({ast.unparse(node.args)}):"]
    for statement in kept:
        text = with_comment(module, statement)
        # Statements move out of the tape block; continuation lines keep their relative indent.
        deeper = indent_of(module, statement).removeprefix(inner)
        lines.append(inner + text.replace(f"\n{inner}{deeper}", f"\n{inner}"))
    text = _WHILE_TRAINING.sub("training=False", "\n".join(lines))
    return (Edit(last.end, f"\n\n{text}"),)


def _without_gradients(module: Module, body: list[ast.stmt]) -> list[ast.stmt] | None:
    """Return the statements without tapes, gradients and the optimizer; None if they cannot be separated."""
    kept: list[ast.stmt] = []
    cut: set[str] = set()
    tapes = 0
    for statement in body:
        if isinstance(statement, ast.With) and (names := _tape_names(module, statement)) is not None:
            cut |= names
            tapes += 1
            kept += statement.body
        elif _reads(statement) & cut or _steps(statement):
            if isinstance(statement, ast.Return):
                return None
            cut |= bound_in(statement)
        elif "GradientTape" in module.segment(statement):
            return None
        else:
            kept.append(statement)
    # A kept line must not read a value that was removed with the gradients.
    needs = {name for statement in kept for name in _reads(statement)}
    return kept if tapes and kept and not needs & cut else None


def _tape_names(module: Module, block: ast.With) -> set[str] | None:
    """Return the names of the tapes that a `with` opens; None if it opens something else."""
    names = set()
    for item in block.items:
        call = item.context_expr
        if not isinstance(call, ast.Call) or module.resolve(call.func) != "tensorflow.GradientTape":
            return None
        if isinstance(item.optional_vars, ast.Name):
            names.add(item.optional_vars.id)
    return names


def _reads(statement: ast.stmt) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _steps(statement: ast.stmt) -> bool:
    """Whether a statement updates the weights."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(isinstance(func, ast.Attribute) and func.attr in _STEPS_OF_OPTIMIZER for func in calls)
