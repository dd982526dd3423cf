"""Edits that give a functional model its further loss through a layer, which Keras 3 asks for its losses."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.handed_out import delete_lines
from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, spell, wrap
from fitdoctor.facts import Code
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
    """The outputs of the model pass a layer that adds the loss, in the place of `model.add_loss(loss)`."""
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
    needed = _needed(between, site.node.args[0], receiver.id)
    if needed is None or NAME in module.text:
        return ()
    keras, imports = spell(module.code(made), "keras", "keras")
    passed = f"{NAME}()([{{}}, {module.segment(site.node.args[0])}])"
    head = "\n" + _CLASS.format(name=NAME, keras=keras).rstrip("\n")
    moved = f"\n{module.code(made).indent}".join(module.segment(each) for each in needed)
    first = _first_statement(module, model)
    if isinstance(first, (ast.FunctionDef, ast.ClassDef)):
        head = head.lstrip("\n")  # two lines are free before it already
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


def _first_statement(module: Module, model: ast.stmt) -> ast.stmt:
    """The first statement of the file behind its imports; that of the model where it stands before one of them."""
    body = module.tree.body
    imports = [index for index, each in enumerate(body) if isinstance(each, (ast.Import, ast.ImportFrom))]
    behind = body[imports[-1] + 1 :] if imports else body
    return behind[0] if behind and behind[0].lineno < model.lineno else model


def _needed(between: list[ast.stmt], loss: ast.expr, model: str) -> list[ast.stmt] | None:
    """The assignments between model and `add_loss` that the loss is made of; None where they need the model."""
    names = _names(loss)
    found: list[ast.stmt] = []
    for statement in reversed(between):
        if not isinstance(statement, ast.Assign):
            continue
        bound = {name for target in statement.targets for name in _names(target)}
        if bound & names:
            found.insert(0, statement)
            names |= _names(statement.value)
    return None if model in names else found


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
