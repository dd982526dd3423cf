"""What a layer rejects: one fact, read from the source, the trial before `fit`, or the failure.

A cause says which messages are its own and explains the refusal (`@explains_refusals(CAUSE, speaks)`). How sure it is,
which line raised, and what is known when the source or the data is missing, is decided here for all causes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.shapes import forward_failure, shape_argument
from fitdoctor.catalogue.knowledge.models.layer_source import layer_of, layers_before, made_at
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location
from fitdoctor.facts import (
    Code,
    DataFacts,
    FailureFacts,
    FailureSummary,
    Frame,
    LayerFacts,
    ModelFacts,
    Shape,
    Unknown,
)
from fitdoctor.failure.failed_line import module_of, stands_at
from fitdoctor.failure.shapes import InputMismatch, input_mismatch, parse_shape
from fitdoctor.records import dataclass, replace
from fitdoctor.source.fits.fit_sites import ModelSite, model_sites
from fitdoctor.source.module import Module
from fitdoctor.source.project import NO_FILES, Project


@dataclass(frozen=True)
class Ranks:
    """The number of axes that a layer expects, and the number it got."""

    expected: int
    found: int
    shape: Shape | None


_TIME_DISTRIBUTED = re.compile(
    r"`TimeDistributed`[^\n]{0,120}at least 3 (?:axes|dimensions), received: (?P<shape>\([^)]*\))"
)
_KERNEL = re.compile(
    r"Kernel shape must have the same length as input(?:, but received kernel of shape (?P<kernel>\([^)]*\)) and "
    r"input of shape|:) (?P<shape>\([^)]*\))"
)


def ranks_in(message: str) -> Ranks | None:
    """Read the numbers of axes from an error message."""
    said = input_mismatch(message)
    if said is not None and said.expected_rank and said.found_rank is not None and not said.target:
        return Ranks(said.expected_rank, said.found_rank, said.found)
    wrapped, kernel = _TIME_DISTRIBUTED.search(message), _KERNEL.search(message)
    found = wrapped or kernel
    shape = parse_shape(found["shape"]) if found else None
    window = parse_shape(kernel["kernel"] or "x") if kernel else None
    expected = 3 if wrapped else len(window) if window is not None else None
    return Ranks(expected, len(shape), shape) if expected is not None and shape is not None else None


def speaks_of_ranks(message: str) -> bool:
    """Whether a message is about the number of axes."""
    return ranks_in(message) is not None


def axes_words(count: int) -> str:
    """Describe a number of axes."""
    return f"{count} axes including the batch axis"


@dataclass(frozen=True)
class Refusal:
    """A layer that rejects its input, and the layers before it."""

    message: str
    layer: LayerFacts | None = None
    ways: tuple[tuple[LayerFacts, ...], ...] = ()
    """For each input, the layers before it, last first."""
    shapes: tuple[Shape, ...] = ()
    """The input shapes."""
    place: Location | None = None
    """The user's line that raised."""
    confidence: Confidence = Confidence.LIKELY
    """Certain if the trial or the program raised what the source or the model shows."""
    fixed_input: bool = True
    """Whether the model fixes its input shape, so that the data is not to blame."""
    failure: FailureFacts | None = None
    """The exception, if the program raised one."""
    input: Code | None = None
    """The `Input`, or layer with an input shape, that gives the layer its input unchanged, as the source shows it."""
    data: DataFacts | None = None
    """The data that was passed to the model, if any was."""

    @property
    def way(self) -> tuple[LayerFacts, ...]:
        """Return the layers before its only, or first, input."""
        return self.ways[0] if self.ways else ()

    @property
    def said(self) -> InputMismatch | None:
        """Return what the message says about the input."""
        return input_mismatch(self.message)

    @property
    def name(self) -> str:
        """Return the class or name of the layer."""
        if self.layer is not None:
            return self.layer.class_name
        return self.said.layer if self.said is not None else "a layer"

    @property
    def shown(self) -> str:
        """Return the name in backticks, unless it is unknown."""
        return f"`{self.name}`" if self.name != "a layer" else self.name

    @property
    def ranks(self) -> Ranks | None:
        """Return the expected and the received number of axes, if the message is about them."""
        return ranks_in(self.message)

    @property
    def code(self) -> Code | Unknown:
        """Return where the layer is created."""
        return self.layer.code if self.layer is not None else Unknown("the layer was not found")

    @property
    def location(self) -> Location | None:
        """Return where the layer is created, else the line that raised."""
        return place(self.code, self.place)

    @property
    def is_of_data(self) -> bool:
        """Whether the layer received a model input unchanged: then the data or the `Input` is wrong."""
        if self.data is None:
            return False
        ranks = self.ranks
        shapes = [array.shape for array in self.data.x if isinstance(array.shape, tuple)]
        if ranks is None or ranks.shape is None:
            return True
        return any(shape[1:] == ranks.shape[1:] and len(shape) == ranks.found for shape in shapes)

    def received(self, expected: str) -> Evidence:
        """Return the number of axes, or shape, that the layer received as evidence."""
        ranks = self.ranks
        shape = ranks.shape if ranks is not None else None
        axes = f"{ranks.found} axes" if ranks is not None else ""
        return Evidence(
            f"input of {self.shown}", shape_words(shape) if shape else axes, expected, location=self.location
        )

    def finding(
        self,
        cause: Cause,
        message: str,
        location: Location | None,
        *details: Evidence | Fix,
        subject: str = "",
    ) -> Finding:
        """Report the refusal as a finding of a cause, as sure as its source is."""
        subject = subject or f"layer {self.name}"
        return cause.finding(message, location, *details, subject=subject, confidence=self.confidence)


Speaks = Callable[[str], bool]
"""Whether a message is one of a cause's own."""
Explanation = Callable[[Refusal, Project], Iterator[Finding]]


def explains_refusals(
    cause: Cause, speaks: Speaks, tried: bool = False
) -> Callable[[Explanation], Explanation]:
    """Let a cause explain the refusals whose messages are its own, wherever they are known from.

    Args:
        cause: the cause.
        speaks: whether a message is one of its own.
        tried: whether the abstract forward pass before `fit` shows it as well.
    """

    def register(explain: Explanation) -> Explanation:
        def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
            refusal = of_site(site)
            if refusal is not None and speaks(refusal.message):
                yield from explain(refusal, project)

        def from_trial(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
            refusal = of_trial(model, data)
            if refusal is not None and speaks(refusal.message):
                yield from explain(refusal, project)

        def from_failure(
            failure: FailureFacts,
            project: Project,
            model: ModelFacts | Unknown,
            data: DataFacts | Unknown,
        ) -> Iterator[Finding]:
            if speaks(failure.message) and (isinstance(data, Unknown) or data.role == "training"):
                yield from explain(of_failure(failure, project, model, data, speaks), project)

        cause.in_source(from_source)
        if tried:
            cause.before_fit(from_trial)
        cause.after_failure(from_failure)
        return explain

    return register


def of_site(site: ModelSite) -> Refusal | None:
    """Return the rejection that the source alone shows."""
    if site.failure is None:
        return None
    ways = site.ways or (((site.previous,),) if site.previous is not None else ())
    fixed = site.model.kind != "sequential" or not isinstance(site.model.inputs, Unknown)
    place = site.call or site.failure.place
    shapes, given = _shapes(site.failure), _input_of(site)
    return Refusal(site.failure.message, site.layer, ways, shapes, place, fixed_input=fixed, input=given)


def _input_of(site: ModelSite) -> Code | None:
    """Return what sets the shape of the tensor that a first layer rejects."""
    previous, layer = site.previous, site.layer
    if previous is not None:
        code = previous.code if previous.class_name == "InputLayer" else None
    else:
        code = layer.code if layer is not None and shape_argument(layer.code) else site.model.input_code
    return code if isinstance(code, Code) else None


def of_trial(model: ModelFacts, data: DataFacts) -> Refusal | None:
    """Return the rejection of the training data that the abstract forward pass found."""
    failure = forward_failure(data)
    if failure is None or data.role != "training":
        return None
    layer = next((each for each in model.every_layer() if each.name == failure.layer), None)
    ways = (_leading_to(model, layer),) if layer is not None else ()
    fixed = not isinstance(model.inputs, Unknown)
    shapes, place = _shapes(failure), failure.place
    return Refusal(failure.message, layer, ways, shapes, place, Confidence.CERTAIN, fixed, data=data)


def of_failure(
    failure: FailureFacts,
    project: Project,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    speaks: Speaks,
) -> Refusal:
    """Return what is known about the layer whose rejection raised.

    The trial knows most, then the source, then a model read from source, then the failing line.
    """
    given = data if isinstance(data, DataFacts) else None
    found = of_trial(model, given) if isinstance(model, ModelFacts) and given is not None else None
    if found is None or not speaks(found.message):
        found = (
            _foreseen(failure, project, speaks) or _in_sequence(failure, model) or _at_line(failure, project)
        )
    return replace(found, failure=failure, data=given)


def _shapes(failure: FailureSummary) -> tuple[Shape, ...]:
    return tuple(spec.shape for spec in failure.inputs if isinstance(spec.shape, tuple))


def _leading_to(model: ModelFacts, layer: LayerFacts) -> tuple[LayerFacts, ...]:
    """Return the layers before one: along the graph, else in order of creation.

    The first layer of a sub-model follows the last layers of the part before.
    """
    holder = next((each for each in model.every_layer() if layer in each.sublayers), None)
    siblings = holder.sublayers if holder is not None else model.layers
    way: list[LayerFacts] = []
    if not layer.fed_by:
        way.extend(reversed(siblings[: siblings.index(layer)]) if layer in siblings else ())
    by_name = {each.name: each for each in siblings}
    while len(layer.fed_by) == 1 and layer.fed_by[0] in by_name and len(way) < len(siblings):
        layer = by_name[layer.fed_by[0]]
        way.append(layer)
    if holder is None or any(each.class_name != "InputLayer" for each in way):
        return tuple(way)
    return tuple(inner for part in _leading_to(model, holder) for inner in (part.sublayers[::-1] or (part,)))


def _foreseen(failure: FailureFacts, project: Project, speaks: Speaks) -> Refusal | None:
    """Return the same rejection as the source shows it: at a line of the traceback, of that layer, or the only one."""
    if not project:
        return None
    frames: dict[Module, list[Frame]] = {}
    for frame in reversed(failure.user_frames):
        module = module_of(project, frame)
        if module is not None:
            frames.setdefault(module, []).append(frame)
    for module in frames:
        refused = [(site, of_site(site)) for site in model_sites(module)]
        alike = [
            (site, refusal) for site, refusal in refused if refusal is not None and speaks(refusal.message)
        ]
        for site, refusal in alike:
            here = _is_under_way(module, frames[module], site) or _is_of_layer(failure, site)
            if here or len(alike) == 1:
                return replace(refusal, message=failure.message, confidence=Confidence.CERTAIN)
    return None


def _is_under_way(module: Module, frames: list[Frame], site: ModelSite) -> bool:
    """Whether a frame is at the failing call, or at a call (`Sequential([…])`) that contains it."""
    spans = [span for span in (site.call, site.failure.place if site.failure else None) if span is not None]
    for frame in frames:
        holders = [module.location(call.node) for call in module.calls if call.node.lineno == frame.line]
        for span in spans:
            around = any(hold.line <= span.line and span.end_line <= hold.end_line for hold in holders)
            if span.cell == frame.cell and (around or stands_at(span, frame.line, frame.cell)):
                return True
    return False


def _is_of_layer(failure: FailureFacts, site: ModelSite) -> bool:
    said, foreseen = input_mismatch(failure.message), site.failure
    name = said.layer if said is not None and said.layer else failure.layer
    if foreseen is None or not name and not failure.layer_class:
        return False
    return name == foreseen.layer if name else failure.layer_class == foreseen.layer_class


def _in_sequence(failure: FailureFacts, model: ModelFacts | Unknown) -> Refusal | None:
    """Return the named layer and those before it in a `Sequential` known from source only."""
    said = input_mismatch(failure.message)
    if said is None or isinstance(model, Unknown) or model.kind != "sequential" or not failure.from_text:
        return None
    layer = next((each for each in model.layers[1:] if each.name == said.layer), None)
    if layer is None:
        return None
    fixed = not isinstance(model.inputs, Unknown)
    return replace(
        _at_line(failure, NO_FILES), layer=layer, ways=(_leading_to(model, layer),), fixed_input=fixed
    )


def _at_line(failure: FailureFacts, project: Project) -> Refusal:
    """Return what the failing line itself shows."""
    frame, said = failure.last_user_frame, input_mismatch(failure.message)
    shapes = (said.found,) if said is not None and said.found is not None else ()
    refusal = Refusal(failure.message, shapes=shapes, place=failure.location)
    module = module_of(project, frame)
    node = None
    if frame is not None and module is not None:
        node = made_at(module, frame, said.layer if said is not None else failure.layer)
    before = layers_before(module, node) if module is not None and node is not None else ()
    if not before and failure.layers and project and said is not None:
        before = tuple(_made_in(project, name) for name in failure.layers)
    layer = layer_of(module, node) if module is not None and node is not None else None
    if layer is None and before and said is not None:
        layer = LayerFacts(said.layer, said.layer, len(before))  # its name is all that the message tells
    return replace(refusal, layer=layer, ways=(before,) if before else ())


def _made_in(project: Project, name: str) -> LayerFacts:
    """Return a layer of a class, with its code if only one line of the program creates such a layer."""
    found = [
        (module, site.node)
        for module in project.modules
        for site in module.calls
        if module.resolve(site.node.func).endswith(f"keras.layers.{name}")
    ]
    return layer_of(*found[0]) if len(found) == 1 else LayerFacts(name, name, 0)
