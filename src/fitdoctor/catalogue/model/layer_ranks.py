"""The number of axes that a layer expects and gets, and edits that make them agree."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.model.layer_source import (
    found_in,
    insert_layer,
    is_layer_call,
    layer_of,
    nodes_after,
    removed,
    wrapped_in,
)
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import correction, fix, set_argument, unsafe
from fitdoctor.facts import LayerFacts, Shape, Unknown
from fitdoctor.failure.patterns import input_mismatch, parse_shape
from fitdoctor.patterns import pattern
from fitdoctor.records import dataclass, replace
from fitdoctor.source.callees import callers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.module import FunctionInfo, Module
    from fitdoctor.source.project import Project


@dataclass(frozen=True)
class Ranks:
    """The number of axes that a layer expects, and the number it got."""

    expected: int
    found: int
    shape: Shape | None


_TIME_DISTRIBUTED = pattern(
    r"`TimeDistributed`[^\n]{0,120}at least 3 (?:axes|dimensions), received: (?P<shape>\([^)]*\))"
)
_KERNEL = pattern(
    r"Kernel shape must have the same length as input(?:, but received kernel of shape (?P<kernel>\([^)]*\)) and "
    r"input of shape|:) (?P<shape>\([^)]*\))"
)


def ranks_in(message: str) -> Ranks | None:
    """Read the numbers of axes from an error message."""
    said = input_mismatch(message)
    if (
        said is not None
        and said.expected_rank is not None
        and said.found_rank is not None
        and not said.target
    ):
        return Ranks(said.expected_rank, said.found_rank, said.found)
    wrapped = _TIME_DISTRIBUTED.search(message)
    if wrapped:
        shape = parse_shape(wrapped["shape"])
        return Ranks(3, len(shape), shape) if shape is not None else None
    kernel = _KERNEL.search(message)
    if kernel:
        shape, window = parse_shape(kernel["shape"]), parse_shape(kernel["kernel"] or "x")
        if shape is not None and window is not None:
            return Ranks(len(window), len(shape), shape)
    return None


def speaks_of_ranks(message: str) -> bool:
    """Whether a message is about the number of axes."""
    return ranks_in(message) is not None


def axes_words(count: int) -> str:
    """Describe a number of axes."""
    return f"{count} axes including the batch axis"


# --- edits ------------------------------------------------------------------------------------------------------


def recurrent_name(layer: LayerFacts) -> str:
    """Return the class of a recurrent layer, unwrapped from `Bidirectional`."""
    if layer.class_name == "Bidirectional" and layer.sublayers:
        return layer.sublayers[0].class_name
    return layer.class_name


def sequences_in_loop(layer: LayerFacts, after: LayerFacts, project: Project | Unknown) -> list[Fix]:
    """Set `return_sequences` on all but the last of the layers created in a loop, also through a helper."""
    found = found_in(project, layer.code)
    if found is None or layer.code != after.code:
        return []
    module, call = _recurrent_call(*found)
    title = f"set `return_sequences=True` on every `{recurrent_name(layer)}` except the last"
    function = module.function_of(call)
    callers = callers_of(function) if function is not None else []
    last = _not_last(module, call)
    if last is not None:
        return [correction(title, last[1], set_argument(module.code(call), "return_sequences", last[0]))]
    if function is None or isinstance(function.node, ast.Lambda) or not callers:
        return []
    passed = _passed_through(function, call)
    if len(callers) == 1:
        last = _not_last(*callers[0])
        edits = (*last[1], *_given(callers[0], last[0])) if last is not None else ()
    else:
        edits = tuple(edit for each in callers[:-1] for edit in _given(each, "True"))
    return [correction(title, passed, edits)] if edits else []


def _recurrent_call(module: Module, call: ast.Call) -> tuple[Module, ast.Call]:
    """Return the call that creates the recurrent layer itself: inside `Bidirectional`."""
    inner = call.args[0] if call.args else None
    wraps = module.resolve(call.func).endswith(".Bidirectional")
    return module, inner if wraps and isinstance(inner, ast.Call) else call


def _given(caller: tuple[Module, ast.Call], value: str) -> tuple[Edit, ...]:
    return set_argument(caller[0].code(caller[1]), "return_sequences", value)


def _passed_through(function: FunctionInfo, call: ast.Call) -> tuple[Edit, ...]:
    """Let a helper accept `return_sequences` and pass it to the layer, unless it passes all keywords on."""
    module, arguments = function.module, function.node.args
    forwarded = arguments.kwarg is not None and any(
        keyword.arg is None and module.segment(keyword.value) == arguments.kwarg.arg
        for keyword in call.keywords
    )
    if forwarded:
        return ()
    last = (*arguments.posonlyargs, *arguments.args)[-1:]
    if not last or arguments.vararg is not None or arguments.kwonlyargs:
        return ()
    end = arguments.defaults[-1] if arguments.defaults else last[0]
    place = module.location(end)
    behind = replace(place, line=place.end_line, column=place.end_column)
    return (
        Edit(behind, ", return_sequences=False"),
        *set_argument(module.code(call), "return_sequences", "return_sequences"),
    )


def _not_last(module: Module, call: ast.Call) -> tuple[str, tuple[Edit, ...]] | None:
    """Return the condition that is false in the last round of the loop around a call, and the edits that it needs."""
    loop = module.parent(module.statement(call))
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return None
    over, name = module.segment(loop.iter), loop.target.id
    counted = isinstance(loop.iter, ast.Call) and module.resolve(loop.iter.func) == "range"
    if counted and isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1:
        ignored = name == "_" and "i" not in module.scope(loop).bindings
        renamed = (Edit(module.location(loop.target), "i"),) if ignored else ()
        return f"{'i' if ignored else name} < {module.segment(loop.iter.args[0])} - 1", renamed
    number = "i" if name != "i" and "i" not in module.scope(loop).bindings else f"{name}_number"
    if not isinstance(loop.iter, (ast.Name, ast.Attribute, ast.List, ast.Tuple)):
        return None
    target, given = module.location(loop.target), module.location(loop.iter)
    edits = (Edit(target, f"{number}, {name}"), Edit(given, f"enumerate({over})"))
    return f"{number} < len({over}) - 1", edits


def sequences_fix(layer: LayerFacts, project: Project | Unknown, value: str) -> Fix:
    """Set `return_sequences` on a recurrent layer."""
    code = layer.code
    if layer.class_name == "Bidirectional":
        found = found_in(project, code)
        inner = found[1].args[0] if found is not None and found[1].args else None
        code = (
            found[0].code(inner)
            if found is not None and isinstance(inner, ast.Call)
            else Unknown("the layer was not found")
        )
    # Without it the next layer refuses its input: `True` is what was meant.
    make = correction if value == "True" else fix
    return make(
        f"set `return_sequences={value}` on `{recurrent_name(layer)}`",
        set_argument(code, "return_sequences", value),
    )


def left_out_fix(layer: LayerFacts, project: Project | Unknown, wanted: int) -> Fix:
    """Remove the layer, or apply it per time step if there would still be more axes than `wanted`."""
    found = found_in(project, layer.code)
    given = layer.input_shapes
    if layer.class_name == "Flatten" and not isinstance(given, Unknown) and given and len(given[0]) > wanted:
        title = "flatten each time step separately: `TimeDistributed(Flatten())`"
        return fix(title, wrapped_in(*found, "TimeDistributed") if found is not None else ())
    edits = removed(*found) if found is not None else ()
    later = _flattened_later(*found) if found is not None and layer.class_name == "Flatten" and edits else ()
    if later:
        return unsafe("flatten after the convolutions, not before them", (*edits, *later))
    return unsafe(f"remove this `{layer.class_name}`", edits)


def _flattened_later(module: Module, node: ast.Call) -> tuple[Edit, ...]:
    """Insert `Flatten` before the first `Dense` that follows only convolutions."""
    for each in nodes_after(module, node):
        if not isinstance(each, ast.Call) or not is_layer_call(module, each):
            return ()
        name = layer_of(module, each).class_name
        if name == "Dense":
            return insert_layer(module, each, "Flatten")
        if not _KEEPS_PLACES.fullmatch(name):
            return ()
    return ()


_KEEPS_PLACES = pattern(
    r"(Separable|Depthwise)?Conv\dD(Transpose)?|(Max|Average)Pooling\dD|ZeroPadding\dD|(Spatial)?Dropout(\dD)?"
    r"|BatchNormalization|Activation|ReLU|LeakyReLU"
)


_OF_A_RANK = pattern(
    r"(?P<stem>(?:Global)?(?:Max|Average)Pooling|Conv|SeparableConv|UpSampling|ZeroPadding)\dD"
)


def same_for_rank(layer: LayerFacts, rank: int) -> str:
    """Return the variant of a layer for a number of axes: `Conv1D`, `Conv2D`, `Conv3D`."""
    match = _OF_A_RANK.fullmatch(layer.class_name)
    if match is None or not 3 <= rank <= 5 or (match["stem"] == "SeparableConv" and rank == 5):
        return ""
    return f"{match['stem']}{rank - 2}D"


def renamed_fix(layer: LayerFacts, name: str) -> Fix:
    """Replace the class of a layer."""
    code = layer.code
    title = f"use `{name}`"
    if isinstance(code, Unknown) or any("(" in argument.text for argument in code.arguments):
        return fix(title)
    spelt = code.text.split("(")[0]
    path, dot, last = spelt.rpartition(".")
    if not dot:
        return fix(title)
    here = code.location
    span = Location(here.path, here.line, here.column, here.line, here.column + len(spelt), here.cell)
    if "\n" in spelt or not last.isidentifier():
        return fix(title)
    return unsafe(title, (Edit(span, f"{path}.{name}"),))


def adapting_fixes(layer: LayerFacts, ranks: Ranks, project: Project | Unknown) -> list[Fix]:
    """Insert a layer that reshapes the input to the expected number of axes."""
    found = found_in(project, layer.code)
    shape = ranks.shape
    if ranks.found == 2 and ranks.expected == 3:
        title = "turn the vector into a sequence: `Reshape((-1, 1))` or `RepeatVector(steps)`"
        return [unsafe(title, insert_layer(*found, "Reshape", "(-1, 1)") if found is not None else ())]
    if ranks.found == 4 and ranks.expected == 3 and shape is not None and None not in shape[1:]:
        target = f"({shape[1]}, {(shape[2] or 0) * (shape[3] or 0)})"
        title = f"turn the rows of the image into a sequence: `Reshape({target})`"
        return [fix(title, insert_layer(*found, "Reshape", target) if found is not None else ())]
    if ranks.expected == 2:
        return [
            fix("add `Flatten()` before it", insert_layer(*found, "Flatten") if found is not None else ())
        ]
    return [fix(f"reshape the input of `{layer.class_name}` to {ranks.expected} axes with `Reshape`")]
