"""Edits that prepare the validation data as the training data is: swapped, reshaped, encoded."""

from __future__ import annotations

from fitdoctor.catalogue.inputs.data_places import at_use
from fitdoctor.catalogue.inputs.shapes import relation
from fitdoctor.diagnosis import Edit, Fix
from fitdoctor.edits import fix, spell, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, Unknown

_ARRAYS = ("numpy", "ndarray")


def prepared_alike(
    ours: ArrayFacts, theirs: ArrayFacts, training: DataFacts, validation: DataFacts
) -> list[Fix]:
    """What brings one part of the validation data to the shape of the training data; [] where no one step does."""
    swapped = _swapped(training, validation)
    if swapped:
        return [fix("give the validation data in the order of the training data", swapped)]
    first, second = ours.sample_shape, theirs.sample_shape
    if isinstance(first, Unknown) or isinstance(second, Unknown) or not isinstance(theirs.use, Code):
        return []
    labels = theirs in validation.y
    if labels and len(first) == 1 and not second and (first[0] or 0) > 1:
        keras, imports = spell(theirs.use, "keras", "keras")
        template = f"{keras}.utils.to_categorical({{}}, {first[0]})"
        return [fix("one-hot encode the labels of the validation data", wrap(theirs.use, template), imports)]
    if labels and len(second) == 1 and not first and (second[0] or 0) > 1:
        numpy, imports = spell(theirs.use, "numpy", "np")
        template = f"{numpy}.argmax({{}}, axis=-1)"
        return [
            fix("give the classes of the validation data as numbers", wrap(theirs.use, template), imports)
        ]
    if relation(second, first) not in ("axis", "reshaped") or None in first:
        return []
    if not any(kind in theirs.container for kind in _ARRAYS):
        return []
    lengths = ", ".join(str(length) for length in (-1, *first))
    edits = at_use(theirs.use, f"{{}}.reshape({lengths})")
    return [fix("reshape the validation data as the training data", edits)]


def _swapped(training: DataFacts, validation: DataFacts) -> tuple[Edit, ...]:
    """`validation_data=(y, x)`: each has the shape that the other should have."""
    parts = (training.x, training.y, validation.x, validation.y)
    if any(len(part) != 1 for part in parts):
        return ()
    x, y, their_x, their_y = (part[0] for part in parts)
    shapes = [each.sample_shape for each in (x, y, their_x, their_y)]
    if any(isinstance(shape, Unknown) for shape in shapes) or shapes[0] == shapes[1]:
        return ()
    if shapes[0] != shapes[3] or shapes[1] != shapes[2]:
        return ()
    if not isinstance(their_x.use, Code) or not isinstance(their_y.use, Code):
        return ()
    return (Edit(their_x.use.location, their_y.use.text), Edit(their_y.use.location, their_x.use.text))
