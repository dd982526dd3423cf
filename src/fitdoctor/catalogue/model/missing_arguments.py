"""Layers of Keras that the user's code calls without an argument which they need: `attention(x)` for `attention(x, x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.patterns import argument_count
from fitdoctor.source.callees import callee
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.project import Project

_ATTENTION = ("keras.layers.MultiHeadAttention", "keras.layers.GroupedQueryAttention")
_NEEDED = {"query": 0, "value": 1}
"""Of a layer of attention, with their positions."""
_OF_KERAS = frozenset({"training", "mask"})
"""What Keras gives to layers that have such a parameter: it needs a default where they are called otherwise."""
_BY_KERAS = frozenset("fit evaluate predict train_on_batch test_on_batch predict_on_batch".split())


def attention_in_source(cause: Cause, module: Module) -> Iterator[Finding]:
    """An attention layer that is made in this file, and called with one tensor."""
    if not any(name.rpartition(".")[2] in module.text for name in _ATTENTION):
        return
    for site in module.calls:
        if site.name or any(word.arg is None for word in site.node.keywords):
            continue
        if any(isinstance(given, ast.Starred) for given in site.node.args):
            continue
        missing = [name for name, position in _NEEDED.items() if site.argument(name, position) is None]
        # To follow what is called comes last: it costs most.
        if missing and callee(module, site.node) is None and _is_attention(module, site.node):
            yield _finding(cause, module, site.node, missing[0], Confidence.LIKELY, [])


def refused(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Python names what the call of a layer lacks, and the call stands in the user's code."""
    count = argument_count(failure.message) if failure.type == "TypeError" else None
    frame = failure.last_user_frame
    if count is None or not count.missing or count.function not in ("", "call"):
        return
    # What Keras calls by itself is told by the causes about what it passes.
    if frame is None or called_in(frame) in _BY_KERAS or not failure.frames[-1].library:
        return
    module, name, evidence = module_of(project, frame), count.missing[0], [raised_here(failure)]
    for site in module.calls if module is not None else ():
        if module is not None and _is_attention(module, site.node) and at_frame(module, site.node, frame):
            if site.argument(name, _NEEDED.get(name, 0)) is None:
                yield _finding(cause, module, site.node, name, Confidence.CERTAIN, evidence)
                return
    remedy = fix(f"give it `{name}` where it is called")
    declared = _declared(module, frame, name) if module is not None and name in _OF_KERAS else None
    default = [fix(f"give it a default: `{name}=None`", (Edit(declared.end, "=None"),))] if declared else []
    yield cause.finding(
        f"a layer is called without its argument `{name}`",
        subject=f"argument {name}",
        location=declared or frame.location,
        evidence=evidence,
        fixes=[*default, remedy],
        confidence=Confidence.LIKELY,
    )


def _declared(module: Module, frame: Frame, name: str) -> Location | None:
    """Where `call` of the layer that is called on that line declares a parameter without a default."""
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
        # One before it would need a default, too.
        if last is not None and last.arg == name and last.annotation is None:
            return method.module.location(last)
    return None


def _is_attention(module: Module, call: ast.Call) -> bool:
    """Whether a call surely calls an attention layer, and does not make one."""
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
        f"`{module.segment(call.func)}` is called without its argument `{name}`: attention takes a query and values",
        subject=f"argument {name}",
        location=module.location(call),
        evidence=[
            Evidence(claim="what it is given", observed=f"({given})", expected="(query, value)"),
            *evidence,
        ],
        fixes=[_self_attention(module, call, name)],
        confidence=confidence,
    )


def _self_attention(module: Module, call: ast.Call, name: str) -> Fix:
    """`attention(x)` as `attention(x, x)`."""
    if name != "value" or len(call.args) != 1:
        return fix(f"give it `{name}`")
    query = call.args[0]
    text = module.segment(query)
    title = f"attend from `{text}` to itself: `({text}, {text})`"
    return unsafe(title, (Edit(module.location(query).end, f", {text}"),))


_BUILT_WITHOUT_SHAPE = frozenset(("Wrapper", "Embedding", "ReversibleEmbedding", "TextVectorization"))
"""Layers of Keras whose `build` can do without the shape."""


def bare_builds(cause: Cause, module: Module, confidence: Confidence) -> Iterator[Finding]:
    """`super().build()` in the `build` of a layer or model: that of Keras wants the shape."""
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
            f"`super().build()` lacks `{shape}`, which the `build` of Keras wants",
            subject=f"{owner.name}.build",
            location=module.location(call),
            evidence=[
                Evidence("the call", f"`{module.segment(call)}`", f"`{module.segment(call)[:-1]}{shape})`")
            ],
            fixes=[fix(f"give it the shape: `super().build({shape})`", (Edit(before, shape),))],
            confidence=confidence,
        )
