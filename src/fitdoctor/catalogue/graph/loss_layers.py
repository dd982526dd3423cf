"""Edits that add a loss to a functional model through a layer, where Keras 3 collects it."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.moved_up import first_statement, needed_assignments
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, spell, wrap
from fitdoctor.facts import Code
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import CallSite, Module

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
    receiver = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    statement, made = module.statement(site.node), module.made_by(receiver) if receiver is not None else None
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
