"""The interface for locating live objects in the user's source."""

from __future__ import annotations

from typing import Any

from fitdoctor.facts import Code, Unknown

NOT_FOUND = Unknown("its location in the source was not found")


class Codes:
    """Returns Unknown for everything; `fitdoctor.collect.locate` overrides it."""

    def of_call(self) -> Code | Unknown:
        """Return the call itself, `model.fit(…)`."""
        return NOT_FOUND

    def model_text(self) -> str:
        """Return the model expression of the call, "" if unknown."""
        return ""

    def of_argument(self, path: str) -> tuple[Code | Unknown, Code | Unknown]:
        """Return the code that creates `x`, `x['image']`, `y[0]` or `class_weight`, and the argument expression."""
        return NOT_FOUND, NOT_FOUND

    def of_object(self, thing: Any) -> Code | Unknown:
        """Return the recorded constructor call of a layer, dataset, callback, loss or optimizer."""
        return NOT_FOUND

    def of_callers(self, dataset: Any) -> tuple[Code, ...]:
        """Return the calls that led to where a dataset was created, the nearest first."""
        return ()

    def of_model(self, model: Any) -> Code | Unknown:
        """Return where the model is created."""
        return NOT_FOUND

    def of_compile(self, model: Any) -> Code | Unknown:
        """Return the call of `compile`."""
        return NOT_FOUND

    def of_trainable(self, layers: list[Any]) -> Code | Unknown:
        """Return where `trainable` of some layers was last set."""
        return NOT_FOUND

    def of_compile_argument(self, model: Any, name: str, keys: tuple[str | int, ...] = ()) -> Code | Unknown:
        """Return an argument of `compile`, or an item of it."""
        return NOT_FOUND

    def of_layers(self, model: Any, layers: list[Any]) -> dict[int, Code]:
        """Return the constructor calls of the layers, by `id`."""
        return {}

    def of_input(self, model: Any) -> Code | Unknown:
        """Return the `Input(…)` or `input_shape=` that sets the model input."""
        return NOT_FOUND

    def of_input_shape(self, model: Any) -> Code | Unknown:
        """Return where the shape of the model input is written, if not in the `Input(…)` itself."""
        return NOT_FOUND

    def of_pipeline(self, path: str, operations: list[str]) -> list[Code | Unknown]:
        """Return the calls that create the stages of a tf.data pipeline, in order."""
        return [NOT_FOUND] * len(operations)

    def of_sliced(
        self, path: str, operations: list[str], keys: tuple[str | int, ...]
    ) -> tuple[Code | Unknown, Code | Unknown]:
        """Return what creates an array that a pipeline passes unchanged, and its expression in the source stage."""
        return NOT_FOUND, NOT_FOUND

    def of_batch(self, thing: Any, path: str, parts: int) -> Code | Unknown:
        """Return what a generator or PyDataset yields for a part of its batches (`x`, `x['image']`, `y`)."""
        return NOT_FOUND

    def of_loaded(self, path: str, index: int) -> tuple[Code | Unknown, Code | Unknown]:
        """Return what creates a tensor of a TensorDataset in a DataLoader, and its argument expression."""
        return NOT_FOUND, NOT_FOUND

    def of_batches(self, thing: Any) -> Code | Unknown:
        """Return the expression that a generator, dataset or collate function yields or returns."""
        return NOT_FOUND
