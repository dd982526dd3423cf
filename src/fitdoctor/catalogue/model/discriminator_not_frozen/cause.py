"""Discriminator that is trained together with the generator.

## What happens

Nothing fails, but the generator does not learn: while it is trained through the combined model, the discriminator
learns as well, to call generated samples real. The losses of both stay near each other, and the samples stay noise.

## Why

The combined model contains the discriminator. Each `train_on_batch` of it changes all weights that are trainable.

## Fix

Set `discriminator.trainable = True` before its own step, and `False` before the step of the combined model. Under
Keras 2, setting it to `False` once, before the combined model is compiled, was enough: the discriminator, compiled
before, continued to learn. Keras 3 reads `trainable` at the first step, so it would not learn at all.

## Known limits

Only models trained with `train_on_batch` are checked. If any line of the project sets `trainable`, nothing is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.model_code import calls_in_model
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import insert_before, unsafe
from fitdoctor.source.module import CallSite, Module

CAUSE = Cause(id="FIT333", slug="discriminator-not-frozen", severity=Severity.WARNING)


@CAUSE.rule("train_on_batch")
def trained_with_the_whole(module: Module) -> Iterator[Finding]:
    """Find models that are trained by themselves and again as a part of another model."""
    known = (module,) if module.project is None else module.project.modules
    if any("trainable" in each.attributes or "trainable=" in each.text for each in known):
        return
    by_model: dict[ast.AST, CallSite] = {}
    for site in module.method_calls("train_on_batch"):
        by_model.setdefault(module.origin(site.receiver).node, site)
    for whole, site in by_model.items() if len(by_model) > 1 else ():
        parts = set(_parts(module, site.receiver))
        for part, alone in by_model.items():
            if part is not whole and part in parts:
                yield _finding(module, site, alone)


def _parts(module: Module, model: ast.expr) -> Iterator[ast.AST]:
    """Yield what the models and layers in the code of a model were made by."""
    for where, call in calls_in_model(module, model):
        listed = [
            each for given in call.args for each in (given.elts if isinstance(given, ast.List) else [given])
        ]
        for used in (call.func, *listed):
            if isinstance(used, (ast.Name, ast.Attribute)):
                yield where.origin(used).node


def _finding(module: Module, site: CallSite, alone: CallSite) -> Finding:
    whole, part = module.segment(site.receiver), module.segment(alone.receiver)
    own, combined = module.statement(alone.node), module.statement(site.node)
    return CAUSE.finding(
        f"training `{whole}` also trains `{part}`, which is a part of it and is trained by itself",
        module.location(combined),
        Evidence(f"`{part}` is trained by itself", location=module.location(own)),
        unsafe(
            f"freeze `{part}` while `{whole}` is trained",
            insert_before(module.code(own), f"{part}.trainable = True"),
            insert_before(module.code(combined), f"{part}.trainable = False"),
        ),
        subject=f"training of {whole}",
    )
