"""Weights that do not match: from another architecture, or assigned by the layer's own code."""

import pytest

from fitdoctor.catalogue.environment.weights_of_another_model.cause import from_failure
from fitdoctor.facts import FailureFacts
from tests.catalogue.input_facts import project_of

MESSAGE = (
    "A total of 1 objects could not be loaded. Example error message for object <Shifted name=shifted, built=True>:\n\n"
    "The shape of the target variable and the shape of the target value in `variable.assign(value)` must match. "
    "variable.shape=(1,), Received: value.shape=(10, 1)."
)
LAYER = """
import keras
class Shifted(keras.layers.Dense):
    def {}(self, store):
        self.kernel.assign(store["0"])
"""


@pytest.mark.parametrize(("method", "found"), [("load_own_variables", 0), ("shift", 1)])
def test_a_layer_that_loads_its_variables_itself_is_not_blamed_on_the_architecture(
    method: str, found: int
) -> None:
    failure = FailureFacts(type="ValueError", message=MESSAGE)
    assert len(list(from_failure(failure, project_of(LAYER.format(method))))) == found
