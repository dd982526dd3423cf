"""Find the layer setting that gives an output the lengths of its labels, by trying on shapes alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import set_argument
from fitdoctor.facts import Code, LayerFacts, Shape, Unknown
from fitdoctor.records import dataclass, replace
from fitdoctor.source.models.layer_rules import apply_layer
from fitdoctor.source.models.layer_settings import LayerPlan

_MOST_LAYERS = 40
_PADDED = re.compile(r"(?:\w*Conv\dD(?:Transpose)?|(?:Max|Average)Pooling\dD)")
"""Layers with a padding, which defaults to `valid`."""
_FACTORS = ("strides", "size", "pool_size")
"""Settings that multiply or divide a length."""


@dataclass(frozen=True)
class Change:
    """A new value for a setting of a layer."""

    layer: LayerFacts
    setting: str
    value: str
    """As source text."""
    also: tuple[LayerFacts, ...] = ()
    """Other layers that need the same change."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Return the source edits; empty if a layer is created elsewhere."""
        made = [self._edits(layer) for layer in (self.layer, *self.also)]
        return tuple(dict.fromkeys(edit for edits in made for edit in edits)) if all(made) else ()

    def _edits(self, layer: LayerFacts) -> tuple[Edit, ...]:
        first = ("filters", "kernel_size") if "Conv" in layer.class_name else ("pool_size",)
        order = (*first, "strides", "padding")
        position = order.index(self.setting) if self.setting in order else 0
        return set_argument(layer.code, self.setting, self.value, position=position)


def change_for(way: tuple[LayerFacts | str, ...], wanted: Shape) -> Change | None:
    """Return the change nearest to the output that produces the shape `wanted`; paddings come first."""
    layers = _chain(way)
    found = [change for change in _changes(layers, wanted) if isinstance(change.layer.code, Code)]
    paddings = [change for change in found if change.setting == "padding"]
    return next(iter(paddings or found), None) or _all_padded(layers, wanted)


def _all_padded(layers: list[LayerFacts], wanted: Shape) -> Change | None:
    """Return `padding="same"` for every shortening layer if that produces the shape."""
    layers = [layer for layer in layers if layer.class_name != "InputLayer"]
    shapes = layers[-1].input_shapes if layers else Unknown("no layer")
    if isinstance(shapes, Unknown) or len(shapes) != 1 or None in shapes[0][1:]:
        return None
    bare = [layer for layer in layers if ("padding", "same") in _others(layer) and _shortens(layer)]
    plans = [
        replace(plan, settings={**plan.settings, "padding": "same"}) if layer in bare else plan
        for layer in reversed(layers)
        for plan in (_plan(layer),)
    ]
    if len(bare) < 2 or _through(plans, shapes[0]) != wanted[1:]:
        return None
    first, *others = reversed(bare)
    return Change(first, "padding", '"same"', tuple(others))


def _shortens(layer: LayerFacts) -> bool:
    if isinstance(layer.input_shapes, Unknown):
        return False
    given = layer.input_shapes[0]
    left = _through([_plan(layer)], given)
    return left is not None and left[:-1] != given[1:-1]


def _chain(way: tuple[LayerFacts | str, ...]) -> list[LayerFacts]:
    """Return the layers from the output back while each has one input."""
    chain: list[LayerFacts] = []
    for step in way[:_MOST_LAYERS]:
        if isinstance(step, str) or len(step.fed_by) > 1:
            break
        chain.append(step)
    return chain


def _changes(layers: list[LayerFacts], wanted: Shape) -> Iterator[Change]:
    for index, layer in enumerate(layers):
        shapes = layer.input_shapes
        if isinstance(shapes, Unknown) or len(shapes) != 1 or None in shapes[0][1:]:
            continue
        for setting, value in _others(layer):
            plan = _plan(layer)
            changed = LayerPlan(plan.class_name, {**plan.settings, setting: value}, plan.inner)
            if _through([changed, *map(_plan, reversed(layers[:index]))], shapes[0]) == wanted[1:]:
                yield Change(layer, setting, f'"{value}"' if isinstance(value, str) else str(value))


def _others(layer: LayerFacts) -> Iterator[tuple[str, Any]]:
    """Yield other values for the settings that determine lengths."""
    if layer.class_name == "RepeatVector":
        yield from (("n", n) for n in range(1, 1000) if str(n) != layer.setting("n"))
    padding = layer.setting("padding") or ("valid" if _PADDED.fullmatch(layer.class_name) else "")
    if padding in ("same", "valid"):
        yield "padding", "valid" if padding == "same" else "same"
    for setting in _FACTORS:
        now = _literal(layer.setting(setting))
        if isinstance(now, tuple) and len(set(now)) == 1 and now[0] > 1:
            yield from ((setting, factor) for factor in (1, 2, 3, 4) if factor != now[0])


def _through(plans: list[LayerPlan], shape: Shape) -> Shape | None:
    """Return the shape of a sample after the layers."""
    dims: Shape = (None, *shape[1:])
    for plan in plans:
        outputs = apply_layer(plan, (dims,)).outputs
        if isinstance(outputs, Unknown) or len(outputs) != 1:
            return None
        if not all(isinstance(length, int) for length in outputs[0][1:]):
            return None
        dims = (None, *outputs[0][1:])  # type: ignore[arg-type]
    return dims[1:]


def _plan(layer: LayerFacts) -> LayerPlan:
    inner = _plan(layer.sublayers[0]) if len(layer.sublayers) == 1 else None
    return LayerPlan(layer.class_name, {name: _literal(text) for name, text in layer.config}, inner)


def _literal(text: str | None) -> Any:
    try:
        return ast.literal_eval(text or "None")
    except (ValueError, SyntaxError):
        return text
