"""A `test_step` written from a `train_step`: the same losses and metrics, without the gradients."""

from __future__ import annotations

import ast
import re

from fitdoctor.diagnosis import Edit
from fitdoctor.source.line_edits import indent_of, with_comment
from fitdoctor.source.module import ClassInfo, Module

_STEPS_OF_OPTIMIZER = ("apply_gradients", "apply", "minimize")
_WHILE_TRAINING = re.compile(r"\btraining\s*=\s*True\b")


def test_step_like_training(owner: ClassInfo) -> tuple[Edit, ...]:
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
            cut |= _stores(statement)
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


def _stores(statement: ast.stmt) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _steps(statement: ast.stmt) -> bool:
    """Whether a statement updates the weights."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(isinstance(func, ast.Attribute) and func.attr in _STEPS_OF_OPTIMIZER for func in calls)
