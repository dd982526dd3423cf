"""A graph that is thrown away, in which a model can be called on shapes alone."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any, cast

from fitdoctor.collect.arrays import Leaf


class NotTriable(Exception):
    """The scratch graph differs here from what fit does: no verdict."""


@contextlib.contextmanager
def scratch() -> Iterator[Any]:
    """A graph that is thrown away, in which variables have no values and functions are not traced apart."""
    import keras
    import tensorflow as tf

    inline = tf.config.functions_run_eagerly()
    filtering = tf.debugging.is_traceback_filtering_enabled()
    graph = tf.__internal__.FuncGraph("fitdoctor_trial")
    scope = _scope_class(keras)(graph)
    state = keras.src.backend.common.global_state

    def placeholder(leaf: Leaf) -> Any:
        dtype = "string" if leaf.dtype in ("str", "object") else leaf.dtype
        return tf.compat.v1.placeholder(dtype=dtype, shape=leaf.shape, name="data")

    def refuse(_next_creator: Any, **_options: Any) -> Any:
        raise NotTriable("a tf.Variable is made while the model is called")

    with scope, _symbolic_scope(keras):
        state.set_global_attribute("traceback_filtering", False)
        # A traced tf.function would keep what it captured here, and fit would find it in its cache.
        tf.config.run_functions_eagerly(True)
        # … and the frames of TensorFlow tell whether such a function was on the way to a failure.
        tf.debugging.disable_traceback_filtering()
        try:
            with graph.as_default(), tf.variable_creator_scope(refuse):
                yield placeholder
        finally:
            tf.config.run_functions_eagerly(inline)
            if filtering:
                tf.debugging.enable_traceback_filtering()


_scope_classes: dict[int, Any] = {}


def _symbolic_scope(keras: Any) -> contextlib.AbstractContextManager[Any]:
    """The mark of Keras that nothing is computed; Keras 3.3 and those before it have none."""
    marks = getattr(keras.src.backend.common, "symbolic_scope", None)
    if marks is None:
        return contextlib.nullcontext()
    return cast("contextlib.AbstractContextManager[Any]", marks.SymbolicScope())


def _scope_class(keras: Any) -> Any:
    """Keras's stateless scope, in which a variable without a value is a placeholder of its shape."""
    base = keras.StatelessScope
    if id(base) in _scope_classes:
        return _scope_classes[id(base)]

    class Scope(base):  # type: ignore[misc, valid-type]
        def __init__(self, graph: Any) -> None:
            super().__init__(collect_losses=True, initialize_variables=False)
            self._graph = graph
            self._made: dict[int, Any] = {}

        def get_current_value(self, variable: Any) -> Any:
            value = super().get_current_value(variable)
            if value is not None or variable._value is not None:
                return value
            if id(variable) not in self._made:
                import tensorflow as tf

                with self._graph.as_default():
                    tensor = tf.compat.v1.placeholder(variable._dtype, variable._shape)
                self._made[id(variable)] = (variable, tensor)
            return self._made[id(variable)][1]

    _scope_classes[id(base)] = Scope
    return Scope


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """What the trial prints, warns and logs will be said by fit itself."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
