"""A layer that rejects the output of the layers before it, known from source, a trial or a failure."""

from __future__ import annotations

from collections.abc import Callable

from fitdoctor.catalogue.graph.traced import module_of
from fitdoctor.catalogue.inputs.shapes import forward_failure
from fitdoctor.catalogue.model.layer_source import layer_of, layers_before, made_at
from fitdoctor.diagnosis import Confidence, Location
from fitdoctor.facts import (
    DataFacts,
    FailureFacts,
    FailureSummary,
    Frame,
    LayerFacts,
    ModelFacts,
    Shape,
    Unknown,
)
from fitdoctor.failure.patterns import input_mismatch
from fitdoctor.records import dataclass, replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite


@dataclass(frozen=True)
class Refusal:
    """A layer that rejects its input, and the layers before it."""

    message: str
    layer: LayerFacts | None
    ways: tuple[tuple[LayerFacts, ...], ...] = ()
    """For each input, the layers before it, last first."""
    shapes: tuple[Shape, ...] = ()
    """The input shapes."""
    place: Location | None = None
    """The user's line that raised."""
    confidence: Confidence = Confidence.LIKELY
    fixed_input: bool = True
    """Whether the model fixes its input shape, so that the data is not to blame."""

    @property
    def way(self) -> tuple[LayerFacts, ...]:
        """Return the layers before its only, or first, input."""
        return self.ways[0] if self.ways else ()

    @property
    def name(self) -> str:
        """Return the class or name of the layer."""
        if self.layer is None:
            said = input_mismatch(self.message)
            return said.layer if said is not None else "a layer"
        return self.layer.class_name


def of_site(site: ModelSite) -> Refusal | None:
    """Return the rejection that the source alone shows."""
    if site.failure is None:
        return None
    ways = site.ways or (((site.previous,),) if site.previous is not None else ())
    return Refusal(
        site.failure.message,
        site.layer,
        ways,
        tuple(spec.shape for spec in site.failure.inputs if isinstance(spec.shape, tuple)),
        site.call or site.failure.place,
        Confidence.LIKELY,
        fixed_input=site.model.kind != "sequential" or not isinstance(site.model.inputs, Unknown),
    )


def of_trial(model: ModelFacts, data: DataFacts) -> Refusal | None:
    """Return the rejection that the abstract forward pass found."""
    failure = forward_failure(data)
    return _in_model(failure, model) if failure is not None else None


def _in_model(failure: FailureSummary, model: ModelFacts) -> Refusal:
    layer = next((each for each in model.every_layer() if each.name == failure.layer), None)
    return Refusal(
        failure.message,
        layer,
        (_leading_to(model, layer),) if layer is not None else (),
        tuple(spec.shape for spec in failure.inputs if isinstance(spec.shape, tuple)),
        failure.place,
        Confidence.CERTAIN,
        fixed_input=not isinstance(model.inputs, Unknown),
    )


def _leading_to(model: ModelFacts, layer: LayerFacts) -> tuple[LayerFacts, ...]:
    """Return the layers before one: along the graph, else in order of creation."""
    siblings = next((level for level in _levels(model.layers) if layer in level), ())
    by_name = {each.name: each for each in siblings}
    if layer.fed_by:
        way: list[LayerFacts] = []
        current = layer
        while len(current.fed_by) == 1 and current.fed_by[0] in by_name and len(way) < len(siblings):
            current = by_name[current.fed_by[0]]
            way.append(current)
        return tuple(way)
    return tuple(reversed(siblings[: siblings.index(layer)])) if layer in siblings else ()


def _levels(layers: tuple[LayerFacts, ...]) -> list[tuple[LayerFacts, ...]]:
    levels, waiting = [], [layers]
    while waiting:
        level = waiting.pop()
        levels.append(level)
        waiting.extend(layer.sublayers for layer in level if layer.sublayers)
    return levels


def of_failure(
    failure: FailureFacts,
    project: Project | Unknown,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    same: Callable[[str], bool],
) -> Refusal | None:
    """Return what is known about the layer whose rejection raised.

    Args:
        failure: the exception.
        project: the source files, if known.
        model: the model that `fit` was called on, if the failure came from there.
        data: the data passed to `fit`.
        same: whether a message is of the same kind as the failure's.
    """
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        tried = forward_failure(data)
        if tried is not None and same(tried.message):
            return _in_model(tried, model)
    return (
        _from_source(failure, project, same) or _in_sequence(failure, model) or _from_line(failure, project)
    )


def _in_sequence(failure: FailureFacts, model: ModelFacts | Unknown) -> Refusal | None:
    """Return the named layer and those before it in a `Sequential` known from source only."""
    said = input_mismatch(failure.message)
    if said is None or isinstance(model, Unknown) or model.kind != "sequential" or not failure.from_text:
        return None
    layer = next((each for each in model.layers[1:] if each.name == said.layer), None)
    if layer is None:
        return None
    frame = failure.last_user_frame
    return Refusal(
        failure.message,
        layer,
        (_leading_to(model, layer),),
        (said.found,) if said.found is not None else (),
        frame.location if frame is not None else None,
        Confidence.LIKELY,
        fixed_input=not isinstance(model.inputs, Unknown),
    )


def _from_source(
    failure: FailureFacts, project: Project | Unknown, same: Callable[[str], bool]
) -> Refusal | None:
    """Return the same rejection as predicted from the source."""
    if isinstance(project, Unknown):
        return None
    from fitdoctor.source.fits.fit_sites import model_sites

    for module, frames in _frames_by_module(failure, project).items():
        sites = [
            site for site in model_sites(module) if site.failure is not None and same(site.failure.message)
        ]
        for site in sites:
            told = of_site(site)
            same_place = _under_way(module, frames, site) or _same_layer(failure, site)
            if told is not None and (same_place or len(sites) == 1):
                return replace(told, message=failure.message, confidence=Confidence.CERTAIN)
    return None


def _frames_by_module(failure: FailureFacts, project: Project) -> dict[Module, list[Frame]]:
    found: dict[Module, list[Frame]] = {}
    for frame in reversed(failure.user_frames):
        module = module_of(project, frame)
        if module is not None:
            found.setdefault(module, []).append(frame)
    return found


def _under_way(module: Module, frames: list[Frame], site: ModelSite) -> bool:
    """Whether a frame is at the failing call, or at a call (`Sequential([…])`) that contains it."""
    spans = [
        place for place in (site.call, site.failure.place if site.failure else None) if place is not None
    ]
    for frame in frames:
        for span in spans:
            if span.cell != frame.cell:
                continue
            if span.line <= frame.line <= span.end_line:
                return True
            holders = (module.location(call.node) for call in module.calls if call.node.lineno == frame.line)
            if any(holder.line <= span.line and span.end_line <= holder.end_line for holder in holders):
                return True
    return False


def _same_layer(failure: FailureFacts, site: ModelSite) -> bool:
    said = input_mismatch(failure.message)
    name = said.layer if said is not None and said.layer else failure.layer
    if name:
        return site.failure is not None and name == site.failure.layer
    return (
        bool(failure.layer_class)
        and site.failure is not None
        and failure.layer_class == site.failure.layer_class
    )


def _from_line(failure: FailureFacts, project: Project | Unknown) -> Refusal:
    """Return what the failing line itself shows."""
    frame = failure.last_user_frame
    place = frame.location if frame is not None else None
    said = input_mismatch(failure.message)
    shapes = (said.found,) if said is not None and said.found is not None else ()
    module = module_of(project, frame)
    if frame is None or module is None:
        return Refusal(failure.message, None, (), shapes, place, Confidence.LIKELY)
    node = made_at(module, frame, said.layer if said is not None else failure.layer)
    if node is None:
        return Refusal(failure.message, None, (), shapes, place, Confidence.LIKELY)
    before = layers_before(module, node)
    return Refusal(
        failure.message, layer_of(module, node), (before,) if before else (), shapes, place, Confidence.LIKELY
    )
