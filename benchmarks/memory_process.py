"""One process of the memory benchmark: predicts a model's memory without training, or trains and measures.

`python -m benchmarks.memory_process predict MODEL` and `… measure MODEL BATCH` print one line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.memory_models import KINDS, Kind

STEPS = 3
"""Steps that are trained: the second has everything that later ones have."""


def main() -> int:
    what, name, *rest = sys.argv[1:]
    found = predicted(KINDS[name]) if what == "predict" else measured(KINDS[name], int(rest[0]))
    print(json.dumps(found))
    return 0


def predicted(kind: Kind) -> list[dict[str, float]]:
    """For each batch size: our figures and the one of the formula that circulates, in bytes."""
    import numpy as np

    from fitdoctor.collect.arrays import Batch, Leaf
    from fitdoctor.collect.memory import threads
    from fitdoctor.collect.step import trace_step
    from fitdoctor.memory.pipeline import Feed, beside
    from fitdoctor.memory.prediction import batch_bytes, process_bytes
    from fitdoctor.memory.schedule import after_two_steps
    from fitdoctor.memory.step import joined

    model = kind.make()
    batch = Batch(Leaf((None, *kind.x[0]), kind.x[1]), Leaf((None, *kind.y[0]), kind.y[1]))
    small, large = trace_step(model, batch, 6), trace_step(model, batch, 10)
    if not small or not large:
        raise SystemExit(f"not traced: {small or large}")
    step = joined(small, large, (6, 10))
    each, weights = layer_outputs(model, np.zeros((1, *kind.x[0]), kind.x[1]))
    found = []
    for size in kind.batches:
        arrays = tuple(STEPS * (step.tensors[argument].bytes(size) or 0) for argument in step.arguments)
        feed = Feed("arrays", arrays, sum(arrays), STEPS, copies=1)
        ran = after_two_steps(step, size, threads(), beside(feed, batch_bytes(step, size), threads()))
        found.append(
            {
                "batch": size,
                "tensors": ran.most_in_use,
                "process": process_bytes(step, ran.touched, feed),
                "formula": 4 * each * size + 3 * 4 * weights,
            }
        )
    return found


def layer_outputs(model: Any, inputs: Any) -> tuple[int, int]:
    """The elements that all layers put out for one sample, which is given, and the number of weights."""
    import keras

    total = 0
    original = keras.Layer.__call__

    def noting(layer: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal total
        result = original(layer, *args, **kwargs)
        if not list(layer._flatten_layers(include_self=False)):
            for tensor in keras.tree.flatten(result):
                size = 1
                for axis in tensor.shape[1:]:
                    size *= int(axis or 1)
                total += size
        return result

    keras.Layer.__call__ = noting
    try:
        model(inputs)
    finally:
        keras.Layer.__call__ = original
    return total, model.count_params()


def measured(kind: Kind, batch: int) -> dict[str, float]:
    """What a real training takes: by TensorFlow's own account, and by the system's, in bytes."""
    import numpy as np
    import tensorflow as tf

    # TensorFlow starts: its threads and its allocator are there.
    tf.random.normal((10, 10))
    idle = status("VmRSS")
    model = kind.make()
    x = np.ones((STEPS * batch, *kind.x[0]), kind.x[1])
    y = np.zeros((STEPS * batch, *kind.y[0]), kind.y[1])
    tf.config.experimental.reset_memory_stats("CPU:0")
    model.fit(x, y, batch_size=batch, epochs=1, verbose=0)
    tensors = tf.config.experimental.get_memory_info("CPU:0")["peak"]
    return {"batch": batch, "tensors": tensors, "process": status("VmHWM") - idle - x.nbytes - y.nbytes}


def status(field: str) -> int:
    """A figure of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the system does not tell {field}")


if __name__ == "__main__":
    sys.exit(main())
