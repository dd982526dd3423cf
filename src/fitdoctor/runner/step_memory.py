"""Memory over one step of a `fit` call, from the facts recorded when it was called."""

from __future__ import annotations

from fitdoctor.diagnosis import MemoryCourse
from fitdoctor.engine_inputs import Call
from fitdoctor.facts import EnvironmentFacts, Unknown
from fitdoctor.memory.estimate import course_of_layers, estimate


def course_of(call: Call, environment: EnvironmentFacts | None) -> MemoryCourse | None:
    """Return the memory over a step, estimated from the layers; None if they or the batch are unknown."""
    data = next((one for one in call.data if one.role == "training"), None)
    if data is None or isinstance(call.model, Unknown) or not isinstance(data.batch_size, int):
        return None
    guess = estimate(call.model)
    if isinstance(guess, Unknown):
        return None
    free = min((limit.free for limit in environment.memory), default=None) if environment else None
    place = None if isinstance(call.fit.code, Unknown) else call.fit.code.location
    points = course_of_layers(guess, data.batch_size)
    return MemoryCourse(call.fit.method, place, data.batch_size, points, free)
