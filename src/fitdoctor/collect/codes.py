"""What collectors ask about the user's source: which piece of it made a living thing."""

from __future__ import annotations

from typing import Any

from fitdoctor.facts import Code, Unknown

NOT_FOUND = Unknown("its location in the source was not found")


class Codes:
    """Answers Unknown to everything; `fitdoctor.collect.locate` answers better."""

    def of_call(self) -> Code | Unknown:
        """The call itself, `model.fit(…)`."""
        return NOT_FOUND

    def model_text(self) -> str:
        """The model as the call spells it; "" where it does not."""
        return ""

    def of_argument(self, path: str) -> tuple[Code | Unknown, Code | Unknown]:
        """For `x`, `x['image']`, `y[0]`, `class_weight`: the code that made it, and the code that was given."""
        return NOT_FOUND, NOT_FOUND

    def of_object(self, thing: Any) -> Code | Unknown:
        """The construction of a layer, dataset, callback, loss or optimizer that was recorded."""
        return NOT_FOUND

    def of_model(self, model: Any) -> Code | Unknown:
        """Where the model was made."""
        return NOT_FOUND

    def of_compile(self, model: Any) -> Code | Unknown:
        """The call of `compile`."""
        return NOT_FOUND

    def of_compile_argument(self, model: Any, name: str, keys: tuple[str | int, ...] = ()) -> Code | Unknown:
        """The value of an argument of `compile`, or an item of it."""
        return NOT_FOUND

    def of_layers(self, model: Any, layers: list[Any]) -> dict[int, Code]:
        """The constructions of the model's layers, by `id`."""
        return {}

    def of_input(self, model: Any) -> Code | Unknown:
        """The `Input(…)` or `input_shape=` that fixes the model's input."""
        return NOT_FOUND

    def of_pipeline(self, path: str, operations: list[str]) -> list[Code | Unknown]:
        """The calls that made the steps of a tf.data pipeline, in the same order."""
        return [NOT_FOUND] * len(operations)

    def of_sliced(
        self, path: str, operations: list[str], keys: tuple[str | int, ...]
    ) -> tuple[Code | Unknown, Code | Unknown]:
        """For a pipeline that passes its arrays on: what made one of them, and what stands in its source."""
        return NOT_FOUND, NOT_FOUND

    def of_batch(self, thing: Any, path: str, parts: int) -> Code | Unknown:
        """For a part of the batches of a generator or PyDataset (`x`, `x['image']`, `y`): what is yielded for it."""
        return NOT_FOUND

    def of_loaded(self, path: str, index: int) -> tuple[Code | Unknown, Code | Unknown]:
        """For a DataLoader over a TensorDataset: what made one of its tensors, and what stands in its call."""
        return NOT_FOUND, NOT_FOUND

    def of_batches(self, thing: Any) -> Code | Unknown:
        """What a generator, a dataset or a function that puts batches together gives out, as a whole."""
        return NOT_FOUND
