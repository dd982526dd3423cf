"""Keras layers called without a required argument: `attention(x)` instead of `attention(x, x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.patterns import argument_count
from fitdoctor.source.callees import callee
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

_ATTENTION = ("keras.layers.MultiHeadAttention", "keras.layers.GroupedQueryAttention")
_NEEDED = {"query": 0, "value": 1}
"""Arguments of attention layers, with their positions."""
_OF_KERAS = frozenset({"training", "mask"})
"""Arguments that Keras passes to layers that declare them; they need a default for other callers."""
_BY_KERAS = frozenset("fit evaluate predict train_on_batch test_on_batch predict_on_batch".split())


def attention_in_source(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report attention layers created in this file and called with one tensor."""
    if not any(name.rpartition(".")[2] in module.text for name in _ATTENTION):
        return
    for site in module.calls:
        if site.name or any(word.arg is None for word in site.node.keywords):
            continue
        if any(isinstance(given, ast.Starred) for given in site.node.args):
            continue
        missing = [name for name, position in _NEEDED.items() if site.argument(name, position) is None]
        # Resolving the callee is the most expensive check, so it comes last.
        if missing and callee(module, site.node) is None and _is_attention(module, site.node):
            yield _finding(cause, module, site.node, missing[0], Confidence.LIKELY, [])


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Explain a missing argument in a layer call of the user's code."""
    count = argument_count(failure.message) if failure.type == "TypeError" else None
    frame = failure.last_user_frame
    if count is None or not count.missing or count.function not in ("", "call"):
        return
    # Calls made by Keras have their own causes.
    if frame is None or called_in(frame) in _BY_KERAS or not failure.frames[-1].library:
        return
    module, name, evidence = module_of(project, frame), count.missing[0], [raised_here(failure)]
    for site in module.calls if module is not None else ():
        if module is not None and _is_attention(module, site.node) and at_frame(module, site.node, frame):
            if site.argument(name, _NEEDED.get(name, 0)) is None:
                yield _finding(cause, module, site.node, name, Confidence.CERTAIN, evidence)
                return
    remedy = fix(f"pass `{name}` in the call")
    declared = _declared(module, frame, name) if module is not None and name in _OF_KERAS else None
    default = [fix(f"add a default: `{name}=None`", (Edit(declared.end, "=None"),))] if declared else []
    yield cause.finding(
        f"a layer is called without its argument `{name}`",
        declared or frame.location,
        *evidence,
        *default,
        remedy,
        subject=f"argument {name}",
        confidence=Confidence.LIKELY,
    )


def _declared(module: Module, frame: Frame, name: str) -> Location | None:
    """Return where the called layer's `call` declares a parameter without a default."""
    for site in module.calls:
        if not at_frame(module, site.node, frame):
            continue
        end = module.origin(site.node.func)
        made = end.node if isinstance(end.node, ast.Call) else None
        owner = end.module.definition(made.func) if made is not None else None
        method = owner.methods.get("call") if isinstance(owner, ClassInfo) else None
        node = method.node if method is not None else None
        if method is None or not isinstance(node, ast.FunctionDef):
            continue
        required = node.args.args[: len(node.args.args) - len(node.args.defaults)]
        last = required[-1] if required else None
        # Parameters after it would need a default too.
        if last is not None and last.arg == name and last.annotation is None:
            return method.module.location(last)
    return None


def _is_attention(module: Module, call: ast.Call) -> bool:
    """Whether a call certainly calls an attention layer, rather than creating one."""
    end = module.origin(call.func)
    return (
        isinstance(end.node, ast.Call)
        and end.certain
        and not end.path
        and end.module.resolve(end.node.func) in _ATTENTION
    )


def _finding(
    cause: Cause, module: Module, call: ast.Call, name: str, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    given = ", ".join(module.segment(part) for part in (*call.args, *call.keywords))
    return cause.finding(
        f"`{module.segment(call.func)}` is called without `{name}`: attention needs a query and values",
        module.location(call),
        Evidence("arguments", f"({given})", "(query, value)"),
        *evidence,
        _self_attention(module, call, name),
        subject=f"argument {name}",
        confidence=confidence,
    )


def _self_attention(module: Module, call: ast.Call, name: str) -> Fix:
    """Turn `attention(x)` into `attention(x, x)`."""
    if name != "value" or len(call.args) != 1:
        return fix(f"pass `{name}`")
    query = call.args[0]
    text = module.segment(query)
    title = f"use self-attention: `({text}, {text})`"
    return unsafe(title, (Edit(module.location(query).end, f", {text}"),))


_BUILT_WITHOUT_SHAPE = frozenset(
    ("Sequential", "Wrapper", "Embedding", "ReversibleEmbedding", "TextVectorization")
)
"""Keras classes whose `build` does not need the shape."""


def bare_builds(cause: Cause, module: Module, confidence: Confidence) -> Iterator[Finding]:
    """Report `super().build()` without the shape that Keras's `build` requires."""
    for site in module.method_calls("build"):
        call, function = site.node, module.function_of(site.node)
        owner = function.owner if function is not None else None
        assert isinstance(call.func, ast.Attribute)
        base = call.func.value
        if call.args or call.keywords or not isinstance(base, ast.Call) or function is None or owner is None:
            continue
        if not isinstance(base.func, ast.Name) or base.func.id != "super" or function.name != "build":
            continue
        own = any("build" in ancestor.methods for ancestor in module.ancestry(owner)[1:])
        if own or owner.kind not in ("Layer", "Model") or len(function.parameters) < 2:
            continue
        bases = {base.rpartition(".")[2] for each in module.ancestry(owner) for base in each.bases}
        if bases & _BUILT_WITHOUT_SHAPE:
            continue
        shape, end = function.parameters[1], module.location(call).end
        before = Location(end.path, end.line, end.column - 1, end.line, end.column - 1, end.cell)
        yield cause.finding(
            f"`super().build()` is called without `{shape}`, which Keras requires",
            module.location(call),
            Evidence("the call", f"`{module.segment(call)}`", f"`{module.segment(call)[:-1]}{shape})`"),
            fix(f"pass the shape: `super().build({shape})`", (Edit(before, shape),)),
            subject=f"{owner.name}.build",
            confidence=confidence,
        )
