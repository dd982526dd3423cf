"""FIT334: a mask that a custom layer loses matters only to layers behind it."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue.model.mask_lost.cause import _reader_after
from fitdoctor.facts import LayerFacts, ModelFacts

EMBEDDING = LayerFacts("words", "Embedding", index=0)
SCALE = LayerFacts("scale", "Scale", index=0, builtin=False, fed_by=("words",))


def reader(*behind: LayerFacts, kind: str = "functional") -> str:
    found = _reader_after(ModelFacts(kind=kind, layers=(EMBEDDING, SCALE, *behind)), SCALE)
    return found.name if found is not None else ""


def test_a_layer_behind_it_reads_the_mask() -> None:
    drop = LayerFacts("drop", "Dropout", index=0, fed_by=("scale",))
    assert reader(drop, LayerFacts("read", "LSTM", index=0, fed_by=("drop",))) == "read"


@pytest.mark.parametrize(
    "behind",
    [
        LayerFacts("read", "LSTM", index=0, fed_by=("words",)),
        LayerFacts("flat", "Flatten", index=0, fed_by=("scale",)),
        LayerFacts("read", "LSTM", index=0, builtin=False, fed_by=("scale",)),
    ],
)
def test_another_branch_or_layer_does_not(behind: LayerFacts) -> None:
    assert reader(behind) == ""


def test_the_order_in_a_subclassed_model_is_not_known() -> None:
    assert reader(LayerFacts("read", "LSTM", index=0, fed_by=("scale",)), kind="subclassed") == ""
