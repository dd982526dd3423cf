"""Collect what a memory prediction needs, the step, the data and the devices, without changing anything."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

from fitdoctor.collect.arrays import Batch, Leaf, map_leaves
from fitdoctor.collect.budget import Budget
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Given, collect_data
from fitdoctor.collect.environment import gpu_memory
from fitdoctor.collect.model import collect_model, functional_part, keras_version
from fitdoctor.collect.step import trace_step
from fitdoctor.collect.strategies import strategy_of
from fitdoctor.collect.trial import try_model
from fitdoctor.facts import (
    ArrayFacts,
    DataFacts,
    FailureSummary,
    LossFacts,
    MemoryLimit,
    ModelFacts,
    Spec,
    Unknown,
)
from fitdoctor.memory.available import limits
from fitdoctor.memory.estimate import estimate, flattened_excess, measurable_layers, slots_of
from fitdoctor.memory.pipeline import Feed, beside
from fitdoctor.memory.prediction import XLA, Circumstances, Prediction, Share, predict
from fitdoctor.memory.step import NotTheSame, Step, joined
from fitdoctor.records import replace

BYTES = {"float64": 4, "int64": 8, "uint64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2,
         "int16": 2, "uint16": 2, "uint8": 1, "int8": 1, "bool": 1}  # fmt: skip
"""Bytes per element as a tensor (Keras converts float64 to float32); 4 for the rest."""


class CannotTell(Exception):
    """The memory cannot be predicted; the message says why."""


@dataclass(frozen=True)
class Wanted:
    """The requested prediction."""

    batch_size: int | None = None
    input_shape: Any = None
    """Shape without the batch axis; a list or dict of shapes for several inputs."""
    quick: bool = False
    free: int | None = None
    """Memory limit in bytes, instead of the free memory."""


def predict_memory(model: Any, x: Any, y: Any, sample_weight: Any, wanted: Wanted) -> Prediction:
    """Predict the peak of one training step.

    Raises:
        CannotTell: it cannot be predicted.
    """
    facts = collect_model(model, Codes())
    collected = None
    if x is not None:
        keras = keras_version(model)
        given = Given(x=x, y=y, sample_weight=sample_weight, batch_size=wanted.batch_size, keras=keras)
        collected = collect_data(given, "training", Budget(), Codes())
    size = _batch_size(wanted, collected.facts if collected is not None else None)
    about = Circumstances(
        facts.name,
        size,
        Feed() if collected is None else _feed(collected.facts, size),
        threads(),
        slots=slots_of(facts) or 0,
        weights_after_pooling=flattened_excess(facts) or None,
        present=_present(model),
        notes=_notes(facts),
        replicas=_replicas(model),
    )
    about = _with_device(about, wanted.free)
    if facts.jit_compile and about.device == "CPU":
        about = replace(about, factor=XLA)
    batch: Batch | Unknown
    if collected is not None:
        batch = collected.batch if isinstance(collected.batch, Unknown) else _opened(collected.batch)
    else:
        batch = _batch_of_model(model, facts, wanted.input_shape)
    reason = "a quick estimate was requested"
    if not wanted.quick:
        step = batch if isinstance(batch, Unknown) else _step(model, batch, size)
        if isinstance(step, Step):
            return predict(step, replace(about, symbolic=any(t.by_batch for t in step.tensors)))
        reason = step.reason
    return _quick(facts, about, reason)


def threads() -> int:
    """Return the number of operations TensorFlow runs in parallel."""
    import tensorflow as tf

    chosen = int(tf.config.threading.get_inter_op_parallelism_threads())
    if chosen > 0:
        return chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batch_size(wanted: Wanted, data: DataFacts | None) -> int:
    if data is not None and data.form == "dataset" and isinstance(data.batch_size, int):
        return data.batch_size
    if wanted.batch_size is not None:
        return wanted.batch_size
    if data is not None and isinstance(data.batch_size, int):
        return data.batch_size
    return 32


def _step(model: Any, batch: Batch, size: int) -> Step | Unknown:
    """Return the step for any batch size, from traces at two sizes; if they differ, for this size only."""
    small, large = 6, 10
    one = trace_step(model, batch, small)
    if isinstance(one, Unknown):
        # Some steps accept only certain batch sizes, such as a multiple of the replicas.
        return trace_step(model, batch, size)
    two = trace_step(model, batch, large)
    try:
        return joined(one, two, (small, large)) if isinstance(two, Step) else trace_step(model, batch, size)
    except (NotTheSame, ValueError):
        return trace_step(model, batch, size)


def _notes(facts: ModelFacts) -> tuple[str, ...]:
    notes = []
    if facts.jit_compile:
        notes.append(
            "`jit_compile`: XLA plans its own memory layout, which the traced step does not show; on a CPU the prediction "
            "is doubled (four models needed 1.6 to 2.8 times as much)"
        )
    if facts.run_eagerly:
        notes.append("`run_eagerly` frees tensors later than a traced step: expect slightly more")
    if facts.strategy:
        notes.append(
            f"under `{facts.strategy}` each replica has its share of the batch and a copy of the weights: on a CPU the "
            "prediction covers all replicas, on GPUs one"
        )
    return tuple(notes)


def _replicas(model: Any) -> int:
    return int(getattr(strategy_of(model), "num_replicas_in_sync", 1))


def _present(model: Any) -> int:
    """Return the bytes of existing variables."""
    optimizer = getattr(model, "optimizer", None)
    # Keras 2 raises for unbuilt models.
    variables = [*model.variables] if getattr(model, "built", True) else []
    own = getattr(optimizer, "variables", ()) if optimizer is not None else ()
    variables += list(own() if callable(own) else own)
    total = 0
    for variable in variables:
        try:
            size = math.prod(int(axis) for axis in variable.shape)
        except (TypeError, ValueError):
            continue
        total += size * BYTES.get(str(getattr(variable.dtype, "name", variable.dtype)), 4)
    return total


# --- the batch ----------------------------------------------------------------------------------------------------


def _opened(batch: Batch) -> Batch:
    """Return the batch with open first axes."""

    def opened(leaf: Leaf) -> Leaf:
        return replace(leaf, shape=(None, *leaf.shape[1:])) if leaf.shape else leaf

    return Batch(*(map_leaves(opened, part) for part in (batch.x, batch.y, batch.sample_weight)))


def _batch_of_model(model: Any, facts: ModelFacts, input_shape: Any) -> Batch | Unknown:
    """Return a batch that matches the inputs and the loss of the model."""
    functional = functional_part(model)
    x: Any
    if input_shape is not None:
        x = _leaves_of(input_shape, _input_dtypes(facts))
    elif functional is None or _inputs_of(functional) is None:
        raise CannotTell(
            "the model does not declare its input shape: pass it without the batch axis (`input_shape=(…)`, "
            "on the command line `--input-shape N,…`), or pass data (`x=…`, `--data MODULE:NAME`)"
        )
    else:
        x = _leaves_of_inputs(functional)
    return _with_targets(model, facts, x)


def _leaves_of(shapes: Any, dtypes: list[str]) -> Any:
    rest = list(dtypes)

    def dtype() -> str:
        return rest.pop(0) if rest else "float32"

    if isinstance(shapes, dict):
        return {name: Leaf((None, *shape), dtype()) for name, shape in shapes.items()}
    if isinstance(shapes, list) or (shapes and isinstance(shapes[0], (list, tuple))):
        return [Leaf((None, *shape), dtype()) for shape in shapes]
    return Leaf((None, *shapes), dtype())


def _input_dtypes(facts: ModelFacts) -> list[str]:
    return [] if isinstance(facts.inputs, Unknown) else [spec.dtype for spec in facts.inputs]


def _inputs_of(functional: Any) -> Any:
    """Return the structured input tensors of a functional model in Keras 2 or 3, else None."""
    return vars(functional).get("_inputs_struct", vars(functional).get("_nested_inputs"))


def _leaves_of_inputs(functional: Any) -> Any:
    import tensorflow as tf

    open_axes = []

    def leaf(tensor: Any) -> Leaf:
        shape = tuple(tensor.shape)
        if None in shape[1:]:
            open_axes.append((str(tensor.name), shape[1:]))
        return Leaf((None, *shape[1:]), str(getattr(tensor.dtype, "name", tensor.dtype)))

    struct = tf.nest.map_structure(leaf, _inputs_of(functional))
    if open_axes:
        name, shape = open_axes[0]
        raise CannotTell(
            f"input `{name}` has open dimensions {shape}: pass all sizes (`input_shape={{'{name}': (…)}}`, on the command "
            f"line `--input-shape {name}=N,…`), or pass data (`x=…`, `--data MODULE:NAME`)"
        )
    return struct[0] if isinstance(struct, (list, tuple)) and len(struct) == 1 else struct


def _with_targets(model: Any, facts: ModelFacts, x: Any) -> Batch | Unknown:
    """Add targets that match the outputs and the losses."""
    if not facts.compiled or facts.loss_structure == "none":
        return Batch(x)
    trial = try_model(model, Batch(x), "predict")
    if isinstance(trial.forward, Unknown):
        outputs = () if isinstance(facts.outputs, Unknown) else facts.outputs
        if not outputs:
            return Unknown(
                f"the outputs are unknown ({trial.forward.reason}): pass data with targets (`x=…, y=…`, on the "
                "command line `--data MODULE:NAME`)"
            )
    else:
        if trial.forward.failure is not None:
            raise CannotTell(_refused(trial.forward.failure))
        outputs = trial.forward.specs
    leaves = [_target(spec, _loss_for(facts, place)) for place, spec in enumerate(outputs)]
    if facts.output_structure == "dict" and len(facts.output_names) == len(leaves):
        return Batch(x, dict(zip(facts.output_names, leaves, strict=True)))
    return Batch(x, leaves[0] if len(leaves) == 1 else leaves)


def _refused(failure: FailureSummary) -> str:
    said = failure.message.strip().splitlines()
    where = f" ({failure.place.path}:{failure.place.line})" if failure.place is not None else ""
    return f"the model rejects this input: {failure.type}: {said[0] if said else ''}{where}"


def _loss_for(facts: ModelFacts, place: int) -> LossFacts | None:
    if len(facts.losses) == 1:
        return facts.losses[0]
    return facts.losses[place] if place < len(facts.losses) else None


def _target(output: Spec, loss: LossFacts | None) -> Leaf:
    shape = (None,) if isinstance(output.shape, Unknown) else (None, *output.shape[1:])
    if loss is not None and loss.name.startswith("sparse"):
        return Leaf(shape[:-1] if len(shape) > 1 else shape, "int32")
    return Leaf(shape, "float32")


# --- the data -----------------------------------------------------------------------------------------------------


def _feed(data: DataFacts, size: int) -> Feed:
    arrays = tuple(_array_bytes(array, data.samples) for array in (*data.x, *data.y, *data.sample_weight))
    batches = data.batches if isinstance(data.batches, int) else None
    if batches is None and isinstance(data.samples, int):
        batches = -(-data.samples // size)
    if data.form == "arrays":
        return Feed("arrays", arrays, sum(arrays), batches, copies=1)
    if data.form == "dataset":
        steps = [step.operation for step in data.pipeline]
        copies = 2 * (bool(steps) and steps[0] in ("from_tensor_slices", "from_tensors"))
        copies += sum(
            step.operation == "cache" and not dict(step.arguments).get("filename") for step in data.pipeline
        )
        return Feed("dataset", arrays, 0, batches, 2 if "prefetch" in steps else 0, copies)
    return Feed(data.form, (), 0, batches)


def _array_bytes(array: ArrayFacts, samples: int | Unknown) -> int:
    if isinstance(array.shape, Unknown) or isinstance(array.dtype, Unknown) or None in array.shape[1:]:
        return 0
    rows = samples if isinstance(samples, int) else array.shape[0] or 0
    return rows * math.prod(axis for axis in array.shape[1:] if axis is not None) * BYTES.get(array.dtype, 4)


# --- devices ------------------------------------------------------------------------------------------------------


def _with_device(about: Circumstances, free: int | None) -> Circumstances:
    gpus = gpu_memory()
    device = gpus[0].name if gpus else "CPU"
    if free is not None:
        return replace(about, device=device, limit=MemoryLimit("what you gave", free, free))
    found = gpus or limits()
    limit: MemoryLimit | Unknown = (
        found[0] if found else Unknown("the system does not report how much memory it has")
    )
    return replace(about, device=device, limit=limit)


# --- without the step ---------------------------------------------------------------------------------------------


def _quick(facts: ModelFacts, about: Circumstances, reason: str) -> Prediction:
    guess = estimate(facts)
    if isinstance(guess, Unknown):
        raise CannotTell(reason if reason and "was requested" not in reason else guess.reason)
    leaves = measurable_layers(facts.layers)
    unknown = [layer.name for layer in leaves if isinstance(layer.output_shapes, Unknown)]
    if len(unknown) == len(leaves):
        raise CannotTell(
            f"the shapes of its layers are unknown until the step is traced, which was not possible: {reason}"
        )
    batch = about.batch_size
    # Replicas on CPU devices share one memory; each GPU has its own.
    together = about.replicas if about.device == "CPU" else 1
    share = -(-batch // about.replicas)

    def held(size: int) -> int:
        """Copies of the data and batches that wait."""
        return sum(one.bytes for one in beside(about.feed, guess.input * size, about.threads))

    def peak(size: int) -> int:
        return together * guess.peak(-(-size // about.replicas)) + held(size)

    def need(size: int) -> int:
        grown = grown_process(guess.operations, peak(size), together * guess.weights, about.feed)
        return round(about.factor * grown) - together * about.present

    from fitdoctor.memory.prediction import MARGIN, grown_process, largest_batch

    limit = about.limit
    largest: int | Unknown = Unknown("the available memory is unknown")
    if not isinstance(limit, Unknown):
        largest = largest_batch(need, round(limit.free * (1 - MARGIN)), batch)
    layers = sorted(
        (Share(name, together * (fixed + each * share)) for name, fixed, each in guess.by_layer),
        key=lambda s: -s.bytes,
    )
    notes = (*about.notes, f"estimated from the layer shapes, not from the traced step: {reason}")
    if unknown:
        notes += (f"the output shape of layer `{unknown[0]}` is unknown: its activations are not counted",)
    return Prediction(
        about.model,
        batch,
        "quick",
        peak(batch),
        need(batch),
        about.device,
        tuple(
            Share(kind, together * size)
            for kind, size in (
                ("weights", guess.weights),
                ("gradients", guess.gradients),
                ("optimizer", guess.optimizer),
                ("activations", guess.activations * share),
                ("temporary", 2 * guess.largest * share),
                ("input", guess.input * share),
                ("data", held(batch) // together),
            )
            if size
        ),
        tuple(layers[:5]),
        limit=limit,
        largest_batch=largest,
        notes=notes,
    )
