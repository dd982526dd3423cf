"""What layers, optimizers and saving lost with Keras 3, from the source alone."""

import types

import pytest

from fitdoctor.diagnose import examine_failure, examine_source
from fitdoctor.diagnosis import Finding, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text

HEAD = """import keras
layer = keras.layers.Dense(3)
model = keras.Sequential([layer])
model.compile("adam", "mse")
class Own(keras.optimizers.Optimizer):
    def __init__(self, decay):
        super().__init__(0.1)
        self.decay = decay
    def rate(self):
        return self.decay
"""


def found(line: str) -> tuple[str, list[Finding]]:
    text = f"{HEAD}{line}\n"
    project = Project((Module(source_from_text(text, "train.py")),))
    return text, list(examine_source(project, select=("FIT902",)).findings)


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        ("print(layer.output_shape)", "print(layer.output.shape)"),
        ("print(model.optimizer.weights)", "print(model.optimizer.variables)"),
        ('keras.losses.Huber(reduction="auto")', 'keras.losses.Huber(reduction="sum_over_batch_size")'),
        ('model.save("out", save_format="tf")', 'model.save("out.keras")'),
        ("model.fit_generator(data, nb_epoch=3, workers=4)", "model.fit(data, epochs=3)"),
        (
            "keras.optimizers.SGD(lr=0.1, decay=0)",
            "keras.optimizers.SGD(learning_rate=0.1)",
        ),
        (
            "keras.optimizers.SGD(lr=0.1, decay=1e-3)",
            "keras.optimizers.SGD(learning_rate="
            "keras.optimizers.schedules.InverseTimeDecay(0.1, decay_steps=1, decay_rate=1e-3))",
        ),
        ("from keras.constraints import maxnorm", "from keras.constraints import MaxNorm as maxnorm"),
        ("from keras.regularizers import activity_l1 as l1", "from keras.regularizers import L1 as l1"),
        (
            "from keras.layers.core import Dense\nfrom keras.layers.recurrent import LSTM",
            "from keras.layers import Dense\nfrom keras.layers import LSTM",
        ),
    ],
)
def test_what_is_gone_is_written_as_it_is_now(line: str, repaired: str) -> None:
    text, findings = found(line)
    assert findings
    assert apply_edits(text, findings[0].fixes[0].edits) == f"{HEAD}{repaired}\n"


@pytest.mark.parametrize(
    "line",
    [
        "print(model.output_shape, layer.output.shape, model.weights)",
        'model.save("out.h5", save_format="h5")',
        "print(Own(0.1).decay)",
        'keras.losses.Huber(reduction="sum")',
    ],
)
def test_what_keras_3_takes_is_let_be(line: str) -> None:
    assert found(line)[1] == []


@pytest.mark.tf
def test_no_public_name_of_keras_3_is_called_gone():
    import keras
    import tensorflow as tf

    from fitdoctor.source.keras_changes import changed_module, changed_name

    def names(module, path):
        for name in dir(module):
            if not name.startswith("_") and name != "src":
                yield f"{path}.{name}"
                inner = getattr(module, name)
                if (
                    isinstance(inner, types.ModuleType)
                    and ".src" not in inner.__name__
                    and path.count(".") < 3
                ):
                    yield from names(inner, f"{path}.{name}")

    for module, package in ((keras, "keras"), (tf.keras, "tensorflow.keras")):
        public = list(names(module, package))
        assert len(public) > 1000
        assert [name for name in public if changed_name(name) or changed_module(name)] == []


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "try:\n    opt = keras.optimizers.Adam(lr=0.1)\nexcept ValueError:\n    opt = keras.optimizers.Adam(0.1)",
            0,
        ),
        ("if hasattr(model, 'fit_generator'):\n    model.fit_generator(data)", 0),
        ("try:\n    model.fit_generator(data)\nexcept AttributeError:\n    model.fit(data)", 0),
        ("try:\n    opt = keras.optimizers.Adam(lr=0.1)\nexcept ValueError as error:\n    print(error)", 1),
        ("if train:\n    model.fit_generator(data)", 1),
    ],
)
def test_a_program_that_knows_another_way_is_left_alone(lines: str, told: int) -> None:
    assert len(found(lines)[1]) == told


@pytest.mark.parametrize(("keras", "severity"), [(2, Severity.WARNING), (3, Severity.ERROR)])
def test_keras_2_broadcasts_integer_labels_in_elementwise_metrics(keras: int, severity: Severity) -> None:
    text = """import keras
import numpy as np

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy", metrics=["mae"])
model.fit(np.zeros((8, 4)), np.arange(8))
"""
    project = Project((Module(source_from_text(text, "train.py", keras)),))
    (finding,) = examine_source(project, select=("FIT218",)).findings
    assert finding.severity is severity


@pytest.mark.parametrize(
    ("line", "title"),
    [
        (
            "from keras.layers import Dense, merge",
            "use the layer for each `mode`: `Concatenate`, `Add`, `Multiply`, `Average`, `Maximum` or `Dot`",
        ),
        ("from keras.layers.core import TimeDistributedDense", "use `TimeDistributed(Dense(…))`"),
        ("keras.initializers.normal()", "use `keras.initializers.RandomNormal`"),
        ("from keras.objectives import mse", "use `keras.losses`"),
        ("import keras.objectives", "use `keras.losses`"),
        ("import keras.engine", "import from a public module such as `keras.layers`"),
        ("model_of = keras.models.model_from_yaml('')", "use `model_from_json`"),
    ],
)
def test_a_name_that_is_gone_comes_with_what_to_use_instead(line: str, title: str) -> None:
    _, findings = found(line)
    assert [each.fixes[0].title for each in findings] == [title]


def test_so_does_its_exception_without_source() -> None:
    failure = FailureFacts(
        "ImportError", "cannot import name 'Merge' from 'keras.layers' (keras/layers/__init__.py)"
    )
    assert "`Concatenate`" in examine_failure(failure).findings[0].fixes[0].title


@pytest.mark.parametrize(
    ("cls", "keyword", "of_keras"),
    [("Embedding", "sparse", True), ("Loss", "reduction", False), ("OneHotEncoder", "sparse", False)],
)
def test_a_keyword_is_gone_from_keras_only_if_a_class_of_keras_rejected_it(
    cls: str, keyword: str, of_keras: bool
) -> None:
    failure = FailureFacts("TypeError", f"{cls}.__init__() got an unexpected keyword argument '{keyword}'")
    assert ("FIT902" in {each.id for each in examine_failure(failure).findings}) is of_keras


@pytest.mark.parametrize("by_package", [False, True])
def test_a_name_that_the_program_itself_looks_up_is_no_conflict_of_packages(by_package: bool) -> None:
    packages = "/lib/site-packages"
    program = Frame("train.py", 3, "<module>")
    package = Frame(f"{packages}/some_addons/__init__.py", 8, "<module>", library=True)
    wrapper = Frame(f"{packages}/tensorflow/python/util/module_wrapper.py", 232, "_getattr", library=True)
    failure = FailureFacts(
        "AttributeError",
        "module 'tensorflow.compat.v1' has no attribute 'estimator'",
        frames=(program, *[package] * by_package, wrapper),
    )
    found = {each.id for each in examine_failure(failure).findings}
    assert ("FIT901" in found) is by_package


def test_a_metric_of_older_versions_has_another_name() -> None:
    line = "net.compile('adam', 'mse', metrics=['cosine'])"
    frames = (Frame("train.py", 7, "<module>", line),)
    failure = FailureFacts("ValueError", "Could not interpret metric identifier: cosine", frames=frames)
    [finding] = examine_failure(failure).findings
    assert finding.id == "FIT302" and "`cosine_similarity`" in finding.fixes[0].title
