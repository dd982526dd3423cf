"""Check and convert arrays with the data adapters of Keras 2, on their first rows."""

from __future__ import annotations

import sys
from typing import Any

from fitdoctor.collect.arrays import first_rows, map_leaves

Parts = tuple[Any, Any, Any]


def adapters() -> Any:
    """Return the data adapter module of Keras 2, None if it is not imported."""
    return sys.modules.get("tf_keras.src.engine.data_adapter")


def refuse(parts: Parts) -> None:
    """Raise what Keras 2 raises for these x, y and weights; return if it accepts them."""
    module = adapters()
    chosen = module.select_data_adapter(*parts[:2])
    if chosen.__name__ == "TensorLikeDataAdapter":
        converted(parts)
        module._check_data_cardinality([part for part in parts if part is not None])


def converted(parts: Parts) -> list[Any]:
    """Return the first rows of x, y and the weights as tensors; lists of inputs become tuples."""
    import tensorflow as tf

    module = adapters()
    if module.select_data_adapter(*parts[:2]).__name__ == "ListsOfScalarsDataAdapter":
        heads: list[Any] = [_array_of_list(part) for part in parts]
    else:
        heads = map_leaves(first_rows, list(parts))

    def tensor(value: Any) -> Any:
        composite = hasattr(value, "dense_shape") or type(value).__name__ == "RaggedTensor"
        return value if composite else tf.convert_to_tensor(value)

    return [
        None if head is None else tf.nest.map_structure(tensor, module._process_tensorlike(head))
        for head in heads
    ]


def _array_of_list(part: Any) -> Any:
    import numpy as np

    return None if part is None else np.array(part[:1])
