"""A throw-away graph to call a Keras 2 or 3 model in: nothing is executed or kept."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

from fitdoctor.collect.arrays import Leaf
from fitdoctor.quiet_warnings import warnings_silenced

Placeholder = Callable[[Leaf], Any]
_MAKING = frozenset(("_maybe_build", "add_weight"))
"""The Keras 2 functions in which a layer creates its variables."""


class NotTriable(Exception):
    """The scratch graph differs from fit here, so there is no verdict."""


@contextlib.contextmanager
def scratch(keras_version: int) -> Iterator[Placeholder]:
    """Enter a default graph in which variables have no values and tf.functions are inlined.

    Args:
        keras_version: the Keras version of the model.

    Yields:
        A function that creates a graph tensor for a leaf of a batch.
    """
    import tensorflow as tf

    inline = tf.config.functions_run_eagerly()
    filtering = tf.debugging.is_traceback_filtering_enabled()
    graph = tf.__internal__.FuncGraph("fitdoctor_trial")

    def placeholder(leaf: Leaf) -> Any:
        dtype = "string" if leaf.dtype in ("str", "object") else leaf.dtype
        with graph.as_default():
            return tf.compat.v1.placeholder(dtype=dtype, shape=leaf.shape, name="data")

    variables = _valueless if keras_version == 3 else _in_a_graph_of_their_own
    with variables(graph), no_eager_draws():
        # A traced tf.function would cache what it captured here, and fit would reuse it.
        tf.config.run_functions_eagerly(True)
        # The TensorFlow frames still show whether such a function was involved in a failure.
        tf.debugging.disable_traceback_filtering()
        try:
            yield placeholder
        finally:
            tf.config.run_functions_eagerly(inline)
            if filtering:
                tf.debugging.enable_traceback_filtering()


@contextlib.contextmanager
def no_eager_draws() -> Iterator[None]:
    """Reject random operations outside the graph: TensorFlow counts their draws and cannot reset them."""
    import tensorflow as tf
    from tensorflow.python.framework import random_seed

    original = random_seed.get_seed

    def get_seed(op_seed: Any) -> Any:
        if tf.executing_eagerly():
            raise NotTriable("building the model draws random numbers")
        return original(op_seed)

    random_seed.get_seed = get_seed
    try:
        yield
    finally:
        random_seed.get_seed = original


# --- Keras 3 ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _valueless(graph: Any) -> Iterator[None]:
    """Enter Keras's stateless scope: variables have only shapes, and no others may be created."""
    import keras
    import tensorflow as tf

    def refuse(_next_creator: Any, **_options: Any) -> Any:
        raise NotTriable("the model creates a tf.Variable when it is called")

    with _scope_class(keras)(graph), _symbolic_scope(keras):
        keras.src.backend.common.global_state.set_global_attribute("traceback_filtering", False)
        with graph.as_default(), tf.variable_creator_scope(refuse):
            yield


def _symbolic_scope(keras: Any) -> contextlib.AbstractContextManager[Any]:
    """Enter the symbolic scope of Keras; Keras 3.3 and earlier have none."""
    marks = getattr(keras.src.backend.common, "symbolic_scope", None)
    if marks is None:
        return contextlib.nullcontext()
    return cast("contextlib.AbstractContextManager[Any]", marks.SymbolicScope())


_scope_classes: dict[int, Any] = {}


def _scope_class(keras: Any) -> Any:
    """Return a stateless scope class in which a variable without a value is a placeholder."""
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


# --- Keras 2 ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _in_a_graph_of_their_own(graph: Any) -> Iterator[None]:
    """Put variables that Keras 2 layers create into a second graph; reject all others."""

    def checked(next_creator: Any, **options: Any) -> Any:
        if not _is_made_by_a_layer():
            raise NotTriable("the model creates a tf.Variable when it is called")
        return next_creator(**options)

    import tensorflow as tf

    making = made_in(tf.Graph())
    with contextlib.ExitStack() as stack:
        # Keras 2 builds layers outside the graph, where other variable creators apply.
        for place in (contextlib.nullcontext(), graph.as_default()):
            stack.enter_context(place)
            stack.enter_context(tf.variable_creator_scope(making))
            stack.enter_context(tf.variable_creator_scope(checked))
        yield


def made_in(aside: Any) -> Callable[..., Any]:
    """Return a variable creator that uses a separate graph, where variables take no memory."""
    import tensorflow as tf

    def creator(next_creator: Any, **options: Any) -> Any:
        value: Any = options.get("initial_value")
        if tf.is_tensor(value):
            # Keras 2 passes a tensor of another graph; only its size is needed.
            options["initial_value"] = lambda: tf.zeros(value.shape, value.dtype)
        with aside.as_default():
            return next_creator(**options)

    return creator


def _is_made_by_a_layer() -> bool:
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name in _MAKING and "keras" in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Silence prints, warnings and logs of the trial; fit will repeat them."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings_silenced(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        logging.disable(disabled)
