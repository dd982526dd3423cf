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

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.attribute_state import CONTAINERS, as_state, created_in_init
from fitdoctor.catalogue.graph.kept_reads import fatal_reads
from fitdoctor.catalogue.graph.kept_tensors import Kept, guard_of
from fitdoctor.catalogue.graph.leaks import Leak, declare_leaks
from fitdoctor.catalogue.graph.own_graphs import unwrapped
from fitdoctor.catalogue.graph.return_instead_of_store import return_instead_of_store
from fitdoctor.diagnosis import Edit, Fix, Severity
from fitdoctor.edits import fix, insert_after, spell, unsafe
from fitdoctor.source.module import Module

CAUSE = Cause(
    id="FIT401",
    slug="tensor-kept-on-attribute",
    severity=Severity.ERROR,
    raises=("TypeError", "InaccessibleTensorError", "AttributeError", "NotImplementedError"),
)


def _severity(leak: Leak) -> Severity:
    """Return a warning if the value is only carried from step to step: a step is usually traced once, so it is frozen."""
    carried = leak.kept is not None and leak.reads and all(read.how == "again" for read in leak.reads)
    if not carried or leak.kept is None or leak.failure is not None:
        return Severity.ERROR
    how = leak.kept.function.how
    once = (
        how in ("train_step", "tf.function") or how in ("loss", "metric") and not _validates(leak.kept.module)
    )
    return Severity.WARNING if once else Severity.ERROR


def _validates(module: Module) -> bool:
    fits = module.method_calls("fit")
    given = any(call.argument(name) for call in fits for name in ("validation_data", "validation_split"))
    return given or bool(module.method_calls("evaluate"))


def _fixes(kept: Kept) -> list[Fix]:
    guard, how = guard_of(kept), kept.function.how
    if guard is not None:
        # The attribute of a loss or metric is state rather than a lookup table.
        remedy = unsafe if how in ("loss", "metric") else fix
        return [
            remedy(f"recompute `{kept.place}` in every trace", unwrapped(kept.module, guard)),
            fix(f"store `{kept.place}` as a weight: `self.add_weight(…, trainable=False)`"),
        ]
    state = _state_beside(kept) or as_state(kept.function, kept.owner, kept.node, kept.value)
    if how == "tf.function":
        title = f"return the tensor from `{kept.function.name}` and store the result of the call"
        returned = fix(title, return_instead_of_store(kept.function, kept.node, kept.value))
        return [returned, *([state] if state is not None else [])]
    weight = (
        f"make `{kept.name}` a weight (`self.add_weight(…, trainable=False)`) and update it with `assign`"
    )
    return [
        *([state or fix(weight)] if not isinstance(kept.value, CONTAINERS) else []),
        fix("return it as an additional output, or call the layer where you need the value"),
    ]


def _state_beside(kept: Kept) -> Fix | None:
    """Let code outside the trace read a variable; None if no other function of the trace reads the tensor.

    A loss that reads the tensor needs its gradient, which a variable does not have.
    """
    module, owner = kept.module, kept.owner
    modules = module.project.modules if module.project is not None else (module,)
    fatal = [(read.module, read.node) for read in fatal_reads(kept)]
    outside = {node for _module, node in fatal}
    if owner is None or not fatal or not any(_reads_inside(kept, each, outside) for each in modules):
        return None
    init, name = owner.methods.get("__init__"), f"last_{kept.name.lstrip('_')}"
    if init is None or not isinstance(kept.node, ast.Assign) or isinstance(kept.node.value, CONTAINERS):
        return None
    if name in module.text:
        return None
    tf, imports = spell(module.code(kept.node), "tensorflow", "tf")
    made = f"{tf}.Variable(0.0, shape={tf}.TensorShape(None), trainable=False)"
    edits = created_in_init(module, init, [], name, made)
    stored = insert_after(module.code(kept.node), f"self.{name}.assign(self.{kept.name})")
    reads = [
        Edit(where.location(node), f"{where.segment(node.value)}.{name}")
        for where, node in fatal
        if isinstance(node, ast.Attribute)
    ]
    title = f"read the value from a variable `self.{name}`, which each step updates"
    return fix(title, edits, stored, reads, imports) if edits else None


def _reads_inside(kept: Kept, module: Module, outside: set[ast.expr]) -> bool:
    """Whether another traced function of a file reads the tensor."""
    reads = (node for node in module.attributes.get(kept.name, ()) if isinstance(node.ctx, ast.Load))
    inside = (module.function_of(node) for node in reads if node not in outside)
    return any(each is not None and each.traced is not None and each != kept.function for each in inside)


declare_leaks(CAUSE, True, _fixes, _severity)
