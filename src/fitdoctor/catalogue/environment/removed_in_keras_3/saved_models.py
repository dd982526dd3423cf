"""Models saved by Keras 2 that Keras 3 cannot load."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts

_REJECTED = re.compile(r"Unrecognized keyword arguments passed to (?P<layer>\w+): \{'(?P<name>\w+)'")
_LOADING = re.compile(r"\b(?:load_model\w*|model_from_\w+|from_config|deserialize_keras_object)\b")


def saved_by_keras_2(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report a saved layer with an argument that Keras 3 removed: `time_major`, `groups`."""
    match = _REJECTED.search(failure.message) or _REJECTED.search(failure.raw_message)
    frame = failure.last_user_frame
    called = [each.function for each in failure.frames if each.library] + ([frame.text] if frame else [])
    if match is None or not any(_LOADING.search(each) for each in called):
        return
    layer, name = match["layer"], match["name"]
    own = "custom_objects={" + f'"{layer}": ' + "…}"
    yield cause.certain(
        f"the model was saved with Keras 2: its `{layer}` layer has the argument `{name}`, which Keras 3 does not accept",
        failure.location,
        Evidence(f"argument of the saved {layer}", name, fact="failure.message"),
        fix("load it with Keras 2: install `tf_keras` and call `tf_keras.models.load_model(…)`"),
        fix(f"pass `{own}` with a subclass that drops `{name}` and forwards the other arguments"),
        fix("rebuild the model and load only its weights with `load_weights`"),
        subject="load_model",
    )
