"""Edits that keep a stored tensor for the code of its own trace, and a variable beside it for everything else."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.graph.attribute_state import created_in_init
from fitdoctor.catalogue.graph.kept_reads import fatal_reads
from fitdoctor.catalogue.graph.kept_tensors import Kept
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, insert_after, spell
from fitdoctor.source.module import Module


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
