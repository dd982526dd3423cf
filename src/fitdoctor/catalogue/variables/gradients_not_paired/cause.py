"""Gradients passed to the optimizer without their variables, or paired with the wrong ones.

## What happens

The optimizer in a custom training loop rejects its arguments with an error that does not say what it expects:
`apply_gradients() takes 2 positional arguments but 3 were given`, `not enough values to unpack (expected 2, got 1)`,
`object of type 'zip' has no len()`, or `'EagerTensor' object has no attribute '_unique_id'`. Gradients of one model's
weights that are paired with another model's variables raise `Incompatible shapes: [8,2] vs. [4,8]`. If the shapes
happen to match, they silently train the wrong weights.

## Why

`apply_gradients` expects one argument: `(gradient, variable)` pairs. In Keras 3, `apply` expects two: the list of
gradients and the list of variables.

## Fix

Write `optimizer.apply_gradients(zip(gradients, variables))` or `optimizer.apply(gradients, variables)`.

## Known limits

Pairs that another function creates are not followed. Those are reported only after the failure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.records import dataclass
from fitdoctor.source.keras_objects import defines, is_keras_optimizer
from fitdoctor.source.module import CallSite, Module

CAUSE = Cause(
    id="FIT508",
    slug="gradients-not-paired",
    severity=Severity.ERROR,
    raises=(
        "TypeError",
        "ValueError",
        "AttributeError",
        "OperatorNotAllowedInGraphError",
        "InvalidArgumentError",
    ),
    explains=("FIT302", "FIT320", "FIT408"),
)

_METHODS = ("apply_gradients", "apply")
_VARIABLES = ("trainable_variables", "trainable_weights", "variables", "weights")
_TRAINED = ("trainable_variables", "trainable_weights")


@dataclass(frozen=True)
class _Wrong:
    """An optimizer call with wrong arguments, and the correct ones."""

    what: str
    arguments: str
    """The correct arguments, or "" if they are unknown."""
    sources: ast.expr | None = None
    """The wrong sources passed to `tape.gradient`, if the call itself is correct."""


def _in_optimizer(failure: FailureFacts) -> bool:
    applies = any(each.library and each.function in _METHODS for each in failure.frames)
    return bool(failure.user_frames) and (applies or "apply_gradients()" in failure.message)


@CAUSE.rule(
    *_METHODS,
    says=r"apply_gradients\(\) takes 2 positional arguments but \d were given|object of type 'zip' has no len\(\)"
    r"|(?:not enough|too many) values to unpack \(expected 2(?!, got 0)|has no attribute '_unique_id'"
    r"|Iterating over a symbolic",
    fits=_in_optimizer,
    problem="the optimizer does not receive `(gradient, variable)` pairs",
    remedy="pass `zip(gradients, variables)`, with the gradient first in each pair",
    subject="apply_gradients",
)
def not_paired(module: Module) -> Iterator[Finding]:
    """Find calls whose arguments are gradients and variables, but not in the form the optimizer expects."""
    for site in _calls(module):
        wrong = _wrong(module, site)
        if wrong is not None:
            yield _finding(module, site, wrong)


@CAUSE.rule("apply_gradients", says="Incompatible shapes|Dimensions must be equal|broadcast", in_source=False)
def paired_with_others(module: Module) -> Iterator[Finding]:
    """Find gradients of one model that are paired with the variables of another."""
    for site in _calls(module):
        wrong = _mispaired(module, site)
        if wrong is not None:
            yield _finding(module, site, wrong)


def _calls(module: Module) -> Iterator[CallSite]:
    """Return the calls that apply gradients."""
    for site in module.method_calls(*_METHODS):
        receiver = site.receiver
        if site.name or site.node.keywords or any(isinstance(one, ast.Starred) for one in site.node.args):
            continue
        if is_keras_optimizer(module, receiver) or (
            site.method == "apply_gradients" and not defines(module, receiver, site.method)
        ):
            yield site


def _wrong(module: Module, site: CallSite) -> _Wrong | None:
    given = site.node.args
    if site.method == "apply":
        return _wrong_apply(module, given)
    if len(given) == 2 and _are_variables(module, given[1]):
        return _Wrong(
            "`apply_gradients` expects pairs, but receives gradients and variables as separate arguments",
            f"zip({module.segment(given[0])}, {module.segment(given[1])})",
        )
    if len(given) != 1:
        return None
    pair = _pair(module, given[0])
    if pair is not None:
        return _wrong_pair(module, given[0], *pair)
    made = _gradient(module, given[0])
    if made is None or isinstance(given[0], ast.Call):
        return None
    variables = module.segment(made.args[1]) if len(made.args) > 1 else ""
    return _Wrong(
        "`apply_gradients` expects pairs, but receives only the gradients",
        f"zip({module.segment(given[0])}, {variables})" if variables else "",
    )


def _wrong_apply(module: Module, given: list[ast.expr]) -> _Wrong | None:
    if len(given) == 1:
        pair = _pair(module, given[0]) if isinstance(given[0], ast.Call) else None
        if pair is None:
            return None
        return _Wrong(
            "`apply` expects gradients and variables as separate arguments, but receives pairs",
            f"{module.segment(pair[0])}, {module.segment(pair[1])}",
        )
    if len(given) == 2 and _are_variables(module, given[0]) and _gradient(module, given[1]) is not None:
        return _Wrong(
            "`apply` expects the gradients first, but receives the variables first",
            f"{module.segment(given[1])}, {module.segment(given[0])}",
        )
    return None


def _wrong_pair(module: Module, given: ast.expr, first: ast.expr, second: ast.expr) -> _Wrong | None:
    """Report `zip(variables, gradients)`, or two lists side by side."""
    right = f"zip({module.segment(first)}, {module.segment(second)})"
    if _are_variables(module, first) and _gradient(module, second) is not None:
        return _Wrong(
            "`apply_gradients` expects `(gradient, variable)` pairs, but these start with the variable",
            f"zip({module.segment(second)}, {module.segment(first)})",
        )
    if (
        isinstance(given, (ast.List, ast.Tuple))
        and _are_variables(module, second)
        and _gradient(module, first)
    ):
        return _Wrong("`apply_gradients` expects pairs, but receives two lists", right)
    return None


def _mispaired(module: Module, site: CallSite) -> _Wrong | None:
    """Report gradients of one model paired with variables of another, only after a failure.

    A worker that applies the gradients of its copy to the shared model does the same on purpose.
    """
    pair = _pair(module, site.node.args[0]) if site.method == "apply_gradients" and site.node.args else None
    made = _gradient(module, pair[0]) if pair is not None else None
    if pair is None or made is None or not _of_others(module, made.args[1], pair[1]):
        return None
    own = _own_gradients(module, site, module.segment(pair[1]))
    own = own if own != module.segment(pair[0]) else ""  # one name for the gradients of two tapes
    what = f"these are the gradients of `{module.segment(made.args[1])}`, but they are paired with other variables"
    if not own and _are_applied_elsewhere(module, site, module.segment(made.args[1])):
        return _Wrong(what, module.segment(pair[1]), made.args[1])
    right = (own, module.segment(pair[1])) if own else (module.segment(pair[0]), module.segment(made.args[1]))
    return _Wrong(what, f"zip({right[0]}, {right[1]})")


def _are_applied_elsewhere(module: Module, site: CallSite, variables: str) -> bool:
    """Return whether another call in the function applies gradients to these variables, so this tape's sources are wrong."""
    others = [each for each in _calls(module) if each is not site and each.function is site.function]
    pairs = [_pair(module, each.node.args[0]) for each in others if each.node.args]
    return any(pair is not None and module.segment(pair[1]) == variables for pair in pairs)


def _own_gradients(module: Module, site: CallSite, variables: str) -> str:
    """Return the name of the gradients of these variables in the same function, or "" if there is none."""
    for each in module.method_calls("gradient"):
        named = module.code(each.node).target
        if each.function is site.function and len(each.node.args) > 1 and named.isidentifier():
            if module.segment(each.node.args[1]) == variables:
                return named
    return ""


def _of_others(module: Module, sources: ast.expr, variables: ast.expr) -> bool:
    """Return whether two attributes name the weights of different models: two names, or a model and a part of it.

    Used only after a shape mismatch, so two names for constructor arguments mean two models.
    """
    one, other = module.made_by(sources), module.made_by(variables)
    if not (isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute)):
        return False
    if one.attr not in _TRAINED or other.attr not in _TRAINED:
        return False
    first, second = module.segment(one.value), module.segment(other.value)
    if first == second:
        return False
    if first.startswith(f"{second}.") or second.startswith(f"{first}."):
        return True
    makers = module.made_by(one.value), module.made_by(other.value)
    return makers[0] is not makers[1]


def _pair(module: Module, value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return the two parts of `zip(a, b)`, `list(zip(a, b))` or `[a, b]`."""
    if (
        isinstance(value, ast.Call)
        and module.resolve(value.func) in ("list", "tuple")
        and len(value.args) == 1
    ):
        return _pair(module, value.args[0])
    parts: list[ast.expr] = []
    if isinstance(value, ast.Call) and module.resolve(value.func) == "zip":
        parts = value.args
    elif isinstance(value, (ast.List, ast.Tuple)):
        parts = value.elts
    return (parts[0], parts[1]) if len(parts) == 2 else None


def _are_variables(module: Module, value: ast.expr) -> bool:
    made = module.made_by(value)
    return isinstance(made, ast.Attribute) and made.attr in _VARIABLES


def _gradient(module: Module, value: ast.expr) -> ast.Call | None:
    """Return the tape call that computed it for a list of sources; a single source has a single gradient."""
    made = module.made_by(value)
    if (
        isinstance(made, ast.Call)
        and isinstance(made.func, ast.Attribute)
        and made.func.attr == "gradient"
        and len(made.args) > 1
        and (_are_variables(module, made.args[1]) or isinstance(made.args[1], (ast.List, ast.Tuple)))
    ):
        return made
    return None


def _finding(module: Module, site: CallSite, wrong: _Wrong) -> Finding:
    if wrong.sources is not None:
        where = module.location(wrong.sources)
        return CAUSE.finding(
            wrong.what,
            where,
            Evidence("gradients of", module.segment(wrong.sources), wrong.arguments),
            Evidence("the gradients are applied here", location=module.location(site.node)),
            fix(f"compute the gradients of `{wrong.arguments}`", (Edit(where, wrong.arguments),)),
            subject="gradients",
        )
    call = f"{module.segment(site.node.func)}({wrong.arguments})"
    edits = (Edit(module.location(site.node), call),) if wrong.arguments else ()
    return CAUSE.finding(
        wrong.what,
        module.location(site.node),
        Evidence(
            "call",
            module.segment(site.node)[:100],
            call if wrong.arguments else "`zip(gradients, variables)`",
        ),
        fix(f"write `{call}`" if wrong.arguments else "pair them with `zip(gradients, variables)`", edits),
        subject=f"argument of {site.method}",
    )
