"""Symbolic tensor stored in an attribute.

## What happens

`self.x = tensor` inside `call`, `train_step`, a loss or a `tf.function` stores a symbolic tensor. Reading it while
another graph is traced raises `InaccessibleTensorError: … is out of scope`. Reading it from plain Python (a callback,
the script) raises `TypeError: … is out of scope`, `'SymbolicTensor' object has no attribute 'numpy'`, `Cannot convert
a symbolic tf.Tensor … to a numpy array` or a `TypeError` from `float()`, depending on the code that reads it. The
error has nothing to do with freed memory or devices.

## Why

The function runs as Python only once, while TensorFlow traces it. Its tensors are names of nodes in the traced graph.
Values exist only while the graph runs, and only what the function returns leaves the graph. Keras traces a layer more
than once: for its output shape, for training and for validation. An attribute that is set once (`if self.x is None`)
or updated from call to call therefore leaks into the next trace.

## Fix

Return the tensor. To inspect a value later, store a weight (`self.add_weight(…, trainable=False)`) and update it with
`assign`, or use a `keras.metrics.Mean`. If a tensor is cheap to compute, recompute it in every trace.

## Known limits

Not reported, because it works: a tensor that is stored and read within one trace (a layer that normalizes and later
denormalizes), and an attribute that is read after calling the model directly as `model(x)`, which stores a value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.attribute_state import as_state, created_in_init
from fitdoctor.catalogue.graph.handed_out import handed_out
from fitdoctor.catalogue.graph.held_tensors import held_evidence, held_message, still_held
from fitdoctor.catalogue.graph.kept_reads import Read, fatal_reads
from fitdoctor.catalogue.graph.kept_tensors import Kept, guard_of, kept_tensors
from fitdoctor.catalogue.graph.leaks import (
    Leak,
    kept_message,
    leak_evidence,
    leak_of,
    location_of,
    read_evidence,
    subject_of,
)
from fitdoctor.catalogue.graph.own_graphs import unwrapped
from fitdoctor.diagnosis import Confidence, Edit, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after, spell, unsafe
from fitdoctor.facts import FailureFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT401",
    slug="tensor-kept-on-attribute",
    severity=Severity.ERROR,
    raises=("TypeError", "InaccessibleTensorError", "AttributeError", "NotImplementedError"),
)


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(project: Project, module: Module) -> Iterator[Finding]:
    """Report a traced method that stores a tensor in an attribute that is read outside the trace."""
    for kept in kept_tensors(module):
        if kept.holder == "attribute":
            reads = fatal_reads(kept, project.modules)
            if reads:
                yield _finding(kept, reads)


@CAUSE.before_fit
def before_fit(project: Project, model: ModelFacts) -> Iterator[Finding]:
    """Report the same for the classes of the model that is about to be trained."""
    if model.run_eagerly:
        return
    living = {model.class_name, *(layer.class_name for layer in model.every_layer())}
    living |= {loss.name for loss in model.losses}
    for module in project.modules:
        for kept in kept_tensors(module):
            if kept.holder == "attribute" and kept.owner is not None and kept.owner.name in living:
                reads = fatal_reads(kept, project.modules)
                if reads:
                    yield _finding(kept, reads)


def _finding(kept: Kept, reads: list[Read]) -> Finding:
    return CAUSE.finding(
        kept_message(kept),
        kept.module.location(kept.node),
        *read_evidence(kept, reads),
        *_fixes(kept),
        subject=subject_of(kept),
        severity=_severity(kept, reads),
    )


@CAUSE.while_training
def after_tracing(training: TrainingFacts, project: Project) -> Iterator[Finding]:
    """Report tensors that the running program still references after tracing."""
    for still in still_held(training, project):
        if not still.on_attribute:
            continue
        if still.kept is not None and still.reads:
            found = _finding(still.kept, still.reads)
            yield replace(found, evidence=(*found.evidence, held_evidence(still)))
            continue
        yield CAUSE.finding(
            held_message(still),
            still.location,
            held_evidence(still),
            fix("return the tensor to the code that needs it, or delete the assignment"),
            subject=subject_of(still.kept)
            if still.kept is not None
            else f"tensor stored in {still.held.path}",
            confidence=Confidence.CERTAIN,
            severity=still.severity,
        )


def _severity(kept: Kept, reads: list[Read]) -> Severity:
    """Return a warning if the value is only carried from step to step: a step is usually traced once, so it is frozen."""
    how = kept.function.traced.how if kept.function.traced is not None else ""
    carried = all(read.how == "again" for read in reads)
    if carried and (how == "train_step" or how in ("loss", "metric") and not _validates(kept.module)):
        return Severity.WARNING
    return Severity.ERROR


def _validates(module: Module) -> bool:
    given = ("validation_data", "validation_split")
    return bool(module.method_calls("evaluate")) or any(
        keyword.arg in given for call in module.method_calls("fit") for keyword in call.node.keywords
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a leaked tensor: TensorFlow reports where it was created, and the source shows where it is stored."""
    leak = leak_of(failure, project)
    if leak is None or not leak.on_attribute:
        return
    yield CAUSE.finding(
        _leak_message(leak),
        location_of(leak),
        *leak_evidence(leak),
        *(
            _fixes(leak.kept)
            if leak.kept is not None
            else [fix("return the tensor from the traced function")]
        ),
        subject=subject_of(leak.kept) if leak.kept is not None else "stored tensor",
        confidence=Confidence.CERTAIN
        if leak.kept is not None or leak.held is not None
        else Confidence.LIKELY,
    )


def _leak_message(leak: Leak) -> str:
    if leak.kept is not None:
        return kept_message(leak.kept)
    holder = f" in `{leak.held.path}`" if leak.held is not None else ""
    made = f" from `{leak.made.function}`" if leak.made is not None and leak.made.function else ""
    return f"a symbolic tensor{made} was stored{holder} and used outside its trace"


# --- fixes --------------------------------------------------------------------------------------------------------


def _fixes(kept: Kept) -> list[Fix]:
    guard = guard_of(kept)
    if guard is not None:
        made_anew = _without_guard(kept, guard)
        return [made_anew, fix(f"store `{kept.place}` as a weight: `self.add_weight(…, trainable=False)`")]
    state = state_beside(kept) or as_state(kept.function, kept.owner, kept.node, kept.value)
    remedies = [state] if state is not None else []
    how = kept.function.traced.how if kept.function.traced is not None else ""
    if how == "tf.function":
        edits = handed_out(kept.module, kept.function, kept.node, kept.value)
        title = f"return the tensor from `{kept.function.name}` and store the result of the call"
        return [fix(title, edits), *remedies]
    return [
        *(
            remedies
            or [
                fix(
                    f"make `{kept.name}` a weight (`self.add_weight(…, trainable=False)`) and update it with `assign`"
                )
            ]
        ),
        fix("return it as an additional output, or call the layer where you need the value"),
    ]


def _without_guard(kept: Kept, guard: ast.If) -> Fix:
    title = f"recompute `{kept.place}` in every trace"
    edits = unwrapped(kept.module, guard)
    return unsafe(title, edits) if _carries_state(kept) else fix(title, edits)


def _carries_state(kept: Kept) -> bool:
    """Return whether other traced code stores the attribute too, so that it is state rather than a lookup table."""
    how = kept.function.traced.how if kept.function.traced is not None else ""
    return how in ("loss", "metric")


# edits that keep a stored tensor for the code of its own trace, and a variable beside it for everything else.


def state_beside(kept: Kept) -> Fix | None:
    """Let code outside the trace read a variable; None if no other function of the trace reads the tensor.

    A loss that reads the tensor needs its gradient, which a variable does not have.
    """
    module, owner = kept.module, kept.owner
    modules = module.project.modules if module.project is not None else (module,)
    fatal = [(read.module, read.node) for read in fatal_reads(kept, tuple(modules))]
    outside = {node for _module, node in fatal}
    if owner is None or not fatal or not any(_reads_inside(kept, each, outside) for each in modules):
        return None
    init, name = owner.methods.get("__init__"), f"last_{kept.name.lstrip('_')}"
    if init is None or not isinstance(kept.node, ast.Assign) or name in module.text:
        return None
    if not all(isinstance(node, ast.Attribute) for _module, node in fatal):
        return None
    tf, imports = spell(module.code(kept.node), "tensorflow", "tf")
    made = f"{tf}.Variable(0.0, shape={tf}.TensorShape(None), trainable=False)"
    edits = created_in_init(module, init, [], name, made)
    if not edits:
        return None
    stored = insert_after(module.code(kept.node), f"self.{name}.assign(self.{kept.name})")
    reads = [
        Edit(where.location(node), f"{where.segment(node.value)}.{name}")
        for where, node in fatal
        if isinstance(node, ast.Attribute)
    ]
    return fix(
        f"read the value from a variable `self.{name}`, which each step updates",
        edits,
        stored,
        reads,
        imports,
    )


def _reads_inside(kept: Kept, module: Module, outside: set[ast.expr]) -> bool:
    """Whether another traced function of a file reads the tensor."""
    for node in module.attributes.get(kept.name, ()):
        function = module.function_of(node)
        traced = (
            function is not None and function.traced is not None and function.node is not kept.function.node
        )
        if traced and isinstance(node.ctx, ast.Load) and node not in outside:
            return True
    return False
