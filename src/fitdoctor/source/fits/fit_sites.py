"""Finds every model and `fit` call in a file, with the facts known from source."""

from __future__ import annotations

import ast
from functools import lru_cache

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Code, DataFacts, FailureSummary, LayerFacts, ModelFacts, Shape, Spec, Unknown
from fitdoctor.records import dataclass, field, replace
from fitdoctor.source.fits.fit_facts import FitSite, after_fit, fit_site
from fitdoctor.source.fits.layer_facts import layer_facts, shape_fact
from fitdoctor.source.fits.model_facts import model_facts
from fitdoctor.source.fits.own_loops import follow_step
from fitdoctor.source.interpreter.interpret import Interpreter, run_module
from fitdoctor.source.interpreter.values import Arguments, Array, LayerRecord, ModelRecord, Ref, Symbolic
from fitdoctor.source.model_use import may_make_models
from fitdoctor.source.models.layer_settings import Dims
from fitdoctor.source.models.model_shapes import applied_to
from fitdoctor.source.models.refusals import Failure
from fitdoctor.source.models.shared_optimizers import TRAINING, SharedOptimizer, shared_optimizer
from fitdoctor.source.module import Module

__all__ = ["FitSite", "ModelSite", "SpreadSite", "fit_sites", "model_sites", "spread_sites"]


@dataclass(frozen=True)
class ModelSite:
    """A model that the file creates, and where creating it fails."""

    model: ModelFacts
    failure: FailureSummary | None = None
    layer: LayerFacts | None = None
    """The layer that rejects its input."""
    previous: LayerFacts | None = None
    """The layer that its input comes from."""
    ways: tuple[tuple[LayerFacts, ...], ...] = ()
    """For each of its inputs, the layers before it, last first, up to the first merge."""
    call: Location | None = None
    """The failing call."""
    data: DataFacts | None = None
    """The data passed to `fit`, if the layer is inside the `call` of a subclassed model."""


@dataclass(frozen=True)
class SpreadSite:
    """A custom loss that compares a column of predictions with a row of labels, or the reverse."""

    code: Code
    """The difference."""
    predictions: Shape
    labels: Shape
    given: Code
    """The labels in it."""


_MOST_VISITS = 12
"""Maximum recordings of one call in a loop; differences between iterations show in the first ones."""


@dataclass
class Witness:
    """Records `fit` calls and rejecting layers while a file is interpreted."""

    fits: dict[FitSite, None] = field(default_factory=dict)
    refusals: dict[ModelSite, None] = field(default_factory=dict)
    spreads: dict[SpreadSite, None] = field(default_factory=dict)
    shared: dict[SharedOptimizer, None] = field(default_factory=dict)
    _calls: dict[ast.Call, int] = field(default_factory=dict)
    _trained: dict[int, tuple[DataFacts, ...]] = field(default_factory=dict)

    def fit(self, run: Interpreter, model: Ref, method: str, arguments: Arguments) -> None:
        """Record the facts of a `fit` call at this point."""
        record = run.model(model)
        seen = self._calls[arguments.node] = self._calls.get(arguments.node, 0) + 1
        if run.reporting and record is not None and not record.broken and seen <= _MOST_VISITS:
            told = len(self.refusals)
            site = self._after_training(model, fit_site(run, model, method, arguments))
            self.fits[site] = None
            self._give_data(told, site)
            shared = shared_optimizer(run, model, record) if method in TRAINING else None
            if shared is not None:
                self.shared[shared] = None
            failure = _refused_on_data(run, model, record, arguments)
            if failure is not None:
                self.refusal(run, failure)
            if method in ("fit", "train_on_batch"):
                follow_step(run, model, record, arguments)
        after_fit(run, model, method, arguments)

    def _after_training(self, model: Ref, site: FitSite) -> FitSite:
        """Add to a later call what the model was trained on."""
        if site.fit.method == "fit" and site.data:
            self._trained[model.id] = (*self._trained.get(model.id, ()), site.data[0])
        if site.fit.method not in ("evaluate", "predict") or model.id not in self._trained:
            return site
        return replace(site, fit=replace(site.fit, trained_on=self._trained[model.id]))

    def _give_data(self, told: int, site: FitSite) -> None:
        """Record the rejections since then, with the data used to follow the model's `call`."""
        for refused in list(self.refusals)[told:]:
            if refused.previous is None and site.data:
                del self.refusals[refused]
                self.refusals[replace(refused, data=site.data[0])] = None

    def refusal(self, run: Interpreter, failure: Failure) -> None:
        """Record a rejecting layer, with the model built so far."""
        self.refusals[_refused(run, failure)] = None

    def spread(
        self, run: Interpreter, node: ast.BinOp, tensor: Symbolic, data: tuple[ast.expr, Array]
    ) -> None:
        """Record a difference of model output and data that broadcasts to (n, n)."""
        code, given = run.code(node), run.code(data[0])
        shapes = shape_fact(tensor.dims), shape_fact(data[1].dims)
        if not _is_of_model(run, tensor) or isinstance(code, Unknown) or isinstance(given, Unknown):
            return
        if not isinstance(shapes[0], Unknown) and not isinstance(shapes[1], Unknown):
            self.spreads[SpreadSite(code, shapes[0], shapes[1], given)] = None


@dataclass(frozen=True)
class Followed:
    """The result of interpreting a file."""

    fits: tuple[FitSite, ...] = ()
    models: tuple[ModelSite, ...] = ()
    spreads: tuple[SpreadSite, ...] = ()
    shared: tuple[SharedOptimizer, ...] = ()
    stopped: tuple[str, ...] = ()
    """Why interpretation stopped early."""


def fit_sites(module: Module) -> tuple[FitSite, ...]:
    """Return the calls of `fit`, `evaluate`, `predict` and similar, with their facts."""
    return follow(module).fits


def model_sites(module: Module) -> tuple[ModelSite, ...]:
    """Return the models of a file; one that cannot be created comes with the failure and its layer."""
    return follow(module).models


def spread_sites(module: Module) -> tuple[SpreadSite, ...]:
    """Return the differences in custom training loops that broadcast to (n, n)."""
    return follow(module).spreads


def shared_optimizers(module: Module) -> tuple[SharedOptimizer, ...]:
    """Return the optimizers that are used to train a second model."""
    return follow(module).shared


def follow(module: Module) -> Followed:
    """Interpret a file once, if it may create or fit a model."""
    return _followed(module) if may_make_models(module) else Followed()


@lru_cache(maxsize=1024)
def _followed(module: Module) -> Followed:
    witness = Witness()
    run = run_module(module, witness)
    made = [
        ModelSite(model_facts(run, Ref(number))[0])
        for number, record in sorted(run.archive.items())
        if isinstance(record, ModelRecord) and not record.broken
    ]
    return Followed(
        tuple(witness.fits),
        (*witness.refusals, *dict.fromkeys(made)),
        tuple(witness.spreads),
        tuple(witness.shared),
        tuple(run.crashes),
    )


def _is_of_model(run: Interpreter, tensor: Symbolic) -> bool:
    """Whether a value contains the output of a model or layer."""
    ways, seen = [tensor], 0
    while ways and seen < _LONGEST_WAY:
        call, seen = ways.pop().call, seen + 1
        if call is None:
            continue
        if call.layer is not None and isinstance(run.record(call.layer), (LayerRecord, ModelRecord)):
            return True
        ways.extend(call.inputs)
    return False


def _refused_on_data(
    run: Interpreter, model: Ref, record: ModelRecord, arguments: Arguments
) -> Failure | None:
    """Return the layer of a sequential model without an `Input` that rejects the transformed data."""
    x = arguments.get("x", 0)
    deferred = record.kind == "sequential" and record.input_dims is None and record.shapes == ()
    if (
        not deferred
        or not record.layers
        or not isinstance(x, Array)
        or isinstance(x.dims, Unknown)
        or not x.dims
    ):
        return None
    dims: Dims = (None, *x.dims[1:])
    for at, layer in enumerate(record.layers):
        applied, inside = applied_to(run, layer, dims), run.record(layer)
        if applied.refusal is not None and at and isinstance(inside, LayerRecord):
            previous, node = record.layers[at - 1], arguments.node
            return Failure(applied.refusal, layer, inside, (dims,), previous, inside.node or node, model)
        if isinstance(applied.outputs, Unknown) or len(applied.outputs) != 1:
            return None
        dims = applied.outputs[0]
    return None


def _refused(run: Interpreter, failure: Failure) -> ModelSite:
    record = failure.record
    summary = FailureSummary(
        failure.refusal.type,
        failure.refusal.message,
        layer=record.name,
        layer_class=record.plan.class_name,
        inputs=tuple(Spec(shape_fact(dims), "float32") for dims in failure.inputs),
        place=run.location(record.node if record.node is not None else failure.node),
    )
    model = ModelFacts(kind="functional", keras=run.module.keras, built=False)
    if failure.model is not None and run.model(failure.model) is not None:
        model = model_facts(run, failure.model)[0]
    names = [layer.name for layer in model.layers]
    if failure.model is not None and record.name in names:
        # The layer is already in the model and rejects only the data.
        model = replace(model, layers=model.layers[: names.index(record.name)])
    index = len(model.layers)
    layer = layer_facts(run, failure.layer, index)
    previous = None
    if failure.previous is not None and isinstance(run.record(failure.previous), (LayerRecord, ModelRecord)):
        previous = layer_facts(run, failure.previous, max(0, index - 1))
    return ModelSite(model, summary, layer, previous, _ways(run, failure, model), run.location(failure.node))


_LONGEST_WAY = 200


def _ways(run: Interpreter, failure: Failure, model: ModelFacts) -> tuple[tuple[LayerFacts, ...], ...]:
    if failure.model is not None:
        return (tuple(reversed(model.layers)),)
    ways: list[tuple[LayerFacts, ...]] = []
    for tensor in failure.history:
        way: list[LayerFacts] = []
        call = tensor.call
        while call is not None and call.layer is not None and len(way) < _LONGEST_WAY:
            if not isinstance(run.record(call.layer), (LayerRecord, ModelRecord)):
                break
            way.append(layer_facts(run, call.layer, 0))
            call = call.inputs[0].call if len(call.inputs) == 1 else None
        ways.append(tuple(way))
    return tuple(ways)
