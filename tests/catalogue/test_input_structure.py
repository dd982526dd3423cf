"""How inputs are put together (FIT107 to FIT109, FIT116): lists, lengths, order, keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fitdoctor.cli.discover import Found
from fitdoctor.cli.lint_files import Wishes, lint_text
from fitdoctor.config import Config
from fitdoctor.diagnose import examine_call, examine_failure
from fitdoctor.diagnosis import Confidence
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import (
    ArrayFacts,
    EnvironmentFacts,
    FailureSummary,
    FitFacts,
    LossFacts,
    ModelFacts,
    Outcome,
    Shape,
    Spec,
    Trial,
    Unknown,
)
from fitdoctor.failure.text import failures_in
from tests.catalogue.input_facts import (
    WENT_THROUGH,
    array,
    data,
    ids,
    judged,
    linted,
    model,
    project_of,
)

# --- FIT107 to FIT109 ---------------------------------------------------------------------------------------------


def test_lists_of_numbers_are_told_together() -> None:
    x = ArrayFacts("x", container="list", shape=(16, 4), dtype="int")
    y = ArrayFacts("y", container="list", shape=(16,), dtype="int")
    problem = FailureSummary("ValueError", "Unrecognized data type: x (of type <class 'list'>)")
    (finding,) = judged(model((4,)), data(x, y=(y,), problem=problem, forward=Unknown("refused")))
    assert finding.id == "FIT107"
    assert "`x` and `y`" in finding.message


def many(shape: Shape, count: int) -> tuple[ArrayFacts, ...]:
    return tuple(array(shape, path=f"x[{index}]", key=str(index)) for index in range(count))


def test_a_list_of_samples_is_told_apart_from_a_list_of_inputs() -> None:
    problem = FailureSummary("ValueError", "Data cardinality is ambiguous. 'x' sizes: 16, 16\n'y' sizes: 40")
    labels = (array((40,), path="y"),)
    given = data(
        *many((16, 16, 3), 40), x_structure="list", y=labels, problem=problem, forward=Unknown("refused")
    )
    assert ids(model((16, 16, 3)), given) == ["FIT107"]
    right = data(*many((40, 3), 2), x_structure="list", y=labels, forward=WENT_THROUGH)
    assert ids(model((3,), (3,)), right) == []


def test_lengths_that_differ_are_counted() -> None:
    problem = FailureSummary("ValueError", "Data cardinality is ambiguous. 'x' sizes: 275\n'y' sizes: 300")
    given = data(array((275, 5)), y=(array((300,), path="y"),), problem=problem, forward=Unknown("refused"))
    (finding,) = judged(model((5,)), given)
    assert finding.id == "FIT108"
    assert "275" in finding.message and "300" in finding.message


SPLIT = """
import numpy as np
import keras
from sklearn.model_selection import train_test_split
X, y = np.zeros((100, 3)), np.zeros(100)
X_train, y_train, X_test, y_test = train_test_split(X, y, test_size=0.2)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(X_train, y_train)
"""
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 9, in <module>
    model.fit(X_train, y_train)
  File "/usr/lib/python3/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.'x' sizes: 80
'y' sizes: 20
"""


def test_results_of_a_split_in_the_wrong_order_are_put_right() -> None:
    project = project_of(SPLIT)
    failure = failures_in(TRACEBACK)[-1]
    diagnosis = examine_failure(failure, lambda: project, select=("FIT1",))
    (finding,) = diagnosis.findings
    assert finding.id == "FIT108"
    assert finding.location is not None and finding.location.line == 6


def test_parts_of_a_split_that_belong_together_are_left_alone() -> None:
    right = SPLIT.replace("X_train, y_train, X_test, y_test", "X_train, X_test, y_train, y_test")
    assert linted(SPLIT) == [("FIT108", 6)]
    assert linted(right) == []
    assert linted(right.replace("fit(X_train, y_train)", "fit(X_train, X_train)")) == []


def test_inputs_are_counted_named_and_put_in_order() -> None:
    made = model((5,), (7,))
    assert ids(made, data(array((50, 12)))) == ["FIT109"]
    swapped = (array((50, 7), path="x[0]", key="0"), array((50, 5), path="x[1]", key="1"))
    (finding,) = judged(made, data(*swapped, x_structure="list"))
    assert finding.id == "FIT109" and "order" in finding.message
    named = (
        array((50, 5), path="x['input_0']", key="input_0"),
        array((50, 7), path="x['other']", key="other"),
    )
    (finding,) = judged(made, data(*named, x_structure="dict"))
    assert finding.id == "FIT109" and "input_1" in finding.message


def test_a_flat_element_of_a_dataset_is_left_to_the_pipeline() -> None:
    given = data(array((None, 5)), form="dataset", element_size=3, samples=Unknown("a dataset"))
    assert ids(model((5,), (7,)), given) == []


def test_what_the_source_does_not_tell_is_not_counted() -> None:
    given = data(
        ArrayFacts("x"), form="dataset", forward=Unknown("from source"), samples=Unknown("a dataset")
    )
    assert ids(model((5,), (7,)), given) == []


# --- FIT116 -------------------------------------------------------------------------------------------------------


def keyed(*names: str) -> tuple[ArrayFacts, ...]:
    return tuple(array((40, 1), path=f"x[{name!r}]", key=name) for name in names)


def dict_model(*names: str) -> ModelFacts:
    return ModelFacts(
        inputs=tuple(Spec((None, 1), "float32", name) for name in names), input_structure="dict"
    )


def test_an_extra_key_shifts_those_behind_it() -> None:
    made = dict_model("bid", "rank")
    given = data(*keyed("bid", "log_bid", "rank"), x_structure="dict", forward=WENT_THROUGH)
    (finding,) = judged(made, given)
    assert finding.id == "FIT116" and "`rank` receives `log_bid`" in finding.message
    behind = data(*keyed("bid", "rank", "spare"), x_structure="dict", forward=WENT_THROUGH)
    assert ids(made, behind) == []
    assert ids(replace(made, input_structure="list"), given) == []


def test_later_versions_of_keras_match_by_name() -> None:
    given = data(*keyed("bid", "log_bid", "rank"), x_structure="dict", forward=WENT_THROUGH)
    call = SeenCall(dict_model("bid", "rank"), FitFacts(), (given,))
    newer = EnvironmentFacts(packages=(("keras", "3.16.0"),))
    assert not examine_call(call, environment=newer, select=("FIT116",)).findings


def test_a_batch_of_a_generator_with_more_labels_than_samples() -> None:
    given = data(array((16, 4)), forward=WENT_THROUGH, form="generator", y=(array((17, 1), path="y"),))
    (finding,) = judged(model((4,), kind="sequential"), given)
    assert (finding.id, finding.confidence) == ("FIT108", Confidence.CERTAIN)
    # A graph of layers may fold rows together, and a loss of the user's may take them apart again.
    (finding,) = judged(model((4,)), given)
    assert finding.confidence is Confidence.LIKELY
    assert ids(model((4,), losses=(LossFacts("mine", "function"),)), given) == []
    even = data(array((16, 4)), forward=WENT_THROUGH, form="generator", y=(array((16, 1), path="y"),))
    assert ids(model((4,), kind="sequential"), even) == []


def test_lengths_that_the_source_tells() -> None:
    program = """
    import keras
    import numpy as np
    x = np.random.rand({x})
    y = np.random.rand(200)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    """
    assert linted(program.format(x="190, 5")) == [("FIT108", 5)]
    assert linted(program.format(x="5, 200")) == [("FIT108", 4)]
    assert linted(program.format(x="200, 5")) == []


def test_the_last_batch_of_a_stateful_model() -> None:
    refused = Outcome(failure=FailureSummary("ValueError", "the batch size of the initial state. Expected"))
    given = replace(
        data(array((100, 6, 2))), trial=Trial(WENT_THROUGH, Outcome(), Outcome(), short=refused, short_rows=4)
    )
    (finding,) = judged(model((6, 2)), given)
    assert (finding.id, finding.confidence) == ("FIT103", Confidence.CERTAIN)
    assert "the last batch has 4" in finding.message


def test_one_array_for_a_call_that_takes_its_inputs_apart() -> None:
    program = """\
import keras
class Two(keras.Model):
    def call(self, inputs):
        left, right = inputs
        return left + right
model = Two()
model.compile("adam", "mse")
model.fit(x, y)
"""
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 8, in <module>\n    model.fit(x, y)\n'
        '  File "/lib/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler\n'
        "    raise e.with_traceback(filtered_tb) from None\n"
        '  File "train.py", line 4, in call\n    left, right = inputs\n    ^^^^^^^^^^^\n'
        "tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError: Exception encountered when "
        "calling Two.call().\n\nIterating over a symbolic `tf.Tensor` is not allowed.\n"
    )
    failure = failures_in(text)[-1]
    found = examine_failure(failure, lambda: project_of(program)).findings
    assert [(finding.id, finding.location and finding.location.line) for finding in found] == [("FIT109", 8)]


@pytest.mark.parametrize(
    ("index", "line"),
    [("tr", 2), (":80", 2), ("y > 0", 2), ("name", 8)],
    ids=["fold", "slice", "mask", "key"],
)
def test_rows_that_are_picked_in_the_call_are_followed_to_the_whole(index: str, line: int) -> None:
    from fitdoctor.source.origins import data_origin

    text = f"""import numpy as np
y = np.arange(100) % 5
from sklearn.model_selection import KFold
name = config
for tr, te in KFold(3).split(y):
    pass

model.fit(x, y[{index}])
"""
    module = project_of(text).modules[0]
    (call,) = [site.node for site in module.calls if site.method == "fit"]
    end = data_origin(module, call.args[1])
    assert end.module.location(end.node).line == line


def test_a_sequential_model_of_keras_1_that_begins_with_a_merge_takes_a_list():
    """`Sequential([Merge(branches)])` was how Keras 1 wrote a model with several inputs."""
    text = """
import pandas as pd
from keras.layers import Dense, Embedding, Merge, Reshape
from keras.models import Sequential

rows = pd.read_csv("rows.csv")
branches, columns = [], []
for name in rows:
    branches.append(Sequential([Embedding(5, 3, input_length=1), Reshape((3,))]))
    columns.append(rows[name])
model = Sequential()
model.add({first})
model.add(Dense(1, activation="sigmoid"))
model.compile("adam", "binary_crossentropy")
model.fit(columns, rows["label"])
"""

    def ids(first):
        linted = lint_text(text.replace("{first}", first), Found("t.py", Config()), Wishes())
        return {finding.id for finding in linted.diagnosis.findings}

    assert "FIT107" not in ids('Merge(branches, mode="concat")')
    assert "FIT107" in ids("Dense(4)")
