"""Living exceptions as facts: nothing runs again, nothing is changed."""

import linecache
import sys
import types

import pytest

from fitdoctor.diagnosis import NOTEBOOK
from fitdoctor.facts import Code, Unknown
from fitdoctor.failure.living import from_exception
from fitdoctor.json_codec import from_plain, to_plain


def raised(function, *args):
    try:
        function(*args)
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def lookup(table):
    return dict(table)[len(str(table))] + int("3")


def test_type_message_and_frames():
    failure = from_exception(raised(lookup, {}))
    assert failure.type == "KeyError"
    assert failure.message == "2"
    last = failure.last_user_frame
    assert last.function == "lookup"
    assert last.text == 'return dict(table)[len(str(table))] + int("3")'
    assert isinstance(last.code, Code)
    assert last.code.text == "dict(table)[len(str(table))]"
    assert not failure.from_text


def test_the_very_call_of_a_line_is_known():
    failure = from_exception(raised(lambda: (len("a"), int("b"))))
    assert failure.last_user_frame.code.text == 'int("b")'


def test_a_method_call_over_several_lines_is_known():
    class Model:
        def fit(self, **given):
            raise ValueError(given)

    def train():
        model = Model()
        return model.fit(
            epochs=2,
        )

    code = from_exception(raised(train)).user_frames[-2].code
    assert code.text.replace(" ", "").replace("\n", "") == "model.fit(epochs=2,)"
    assert code.argument("epochs").text == "2"


def test_the_exception_is_left_as_it_was():
    error = raised(lookup, {})
    before = (error.args, error.__traceback__, error.__cause__, error.__context__, vars(error).copy())
    from_exception(error)
    assert (error.args, error.__traceback__, error.__cause__, error.__context__, vars(error)) == before


def test_nothing_of_the_users_is_called():
    class Loud(Exception):
        def __str__(self):
            raise RuntimeError("no")

        def __repr__(self):
            raise AssertionError("looked at")

    def fail():
        raise Loud

    failure = from_exception(raised(fail))
    assert failure.type == "Loud"
    assert "RuntimeError" in failure.message


def test_what_it_was_raised_from_comes_nearest_first():
    def first():
        return {}["a"]

    def second():
        try:
            first()
        except KeyError as error:
            raise ValueError("second") from error

    def third():
        try:
            second()
        except ValueError:
            raise TypeError("third")  # noqa: B904

    failure = from_exception(raised(third))
    assert [(e.type, e.message) for e in failure.earlier] == [("ValueError", "second"), ("KeyError", "'a'")]
    assert failure.earlier[0].place.line == second.__code__.co_firstlineno + 4


def test_a_suppressed_context_is_not_told():
    def fail():
        try:
            {}["a"]
        except KeyError:
            raise ValueError("x") from None

    assert from_exception(raised(fail)).earlier == ()


def test_exceptions_that_point_at_each_other_come_to_an_end():
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert [e.message for e in from_exception(one).earlier] == ["two"]


def test_a_runaway_recursion_is_cut():
    def down(n):
        return down(n + 1)

    failure = from_exception(raised(down, 0))
    assert failure.type == "RecursionError"
    assert len(failure.frames) <= 600


def test_a_group_of_one_is_that_one():
    group = ExceptionGroup("many", [ExceptionGroup("inner", [raised(lookup, {})])])
    assert from_exception(group).type == "KeyError"


def test_a_syntax_error_points_at_its_line(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("x = 1\nmodel.fit(x\n")
    failure = from_exception(raised(compile, path.read_text(), str(path), "exec"))
    assert failure.last_user_frame.line == 2
    assert failure.last_user_frame.text == "model.fit(x"


def test_source_that_is_gone_is_unknown():
    module = types.ModuleType("gone")
    exec(compile("def f():\n    return 1 / 0\n", "/nowhere/gone.py", "exec"), vars(module))
    frame = from_exception(raised(module.f)).last_user_frame
    assert (frame.path, frame.line, frame.text) == ("/nowhere/gone.py", 2, "")
    assert isinstance(frame.code, Unknown)


def test_a_notebook_cell_is_the_users_and_has_its_source():
    path = "<ipython-input-7-abcdef>"
    text = "def f():\n    return int('x')\n"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    scope = {}
    exec(compile(text, path, "exec"), scope)
    try:
        frame = from_exception(raised(scope["f"])).last_user_frame
    finally:
        del linecache.cache[path]
    assert (frame.path, frame.cell, frame.text) == (NOTEBOOK, 7, "return int('x')")
    assert frame.code.text == "int('x')"


def test_facts_survive_json():
    failure = from_exception(raised(lookup, {}))
    assert from_plain(type(failure), to_plain(failure)) == failure


def test_importing_needs_no_tensorflow():
    import subprocess

    code = (
        "import sys\nfrom fitdoctor.failure import leaks, living, patterns, text\n"
        "assert not {'tensorflow', 'keras', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- real TensorFlow ---

PROGRAM = """\
import keras
import numpy as np
import tensorflow as tf

held = []


@tf.function
def leak(x):
    y = x * 2
    held.append(y)
    return y + 1


@tf.function
def inner(x):
    if tf.reduce_sum(x) > 0:
        x = tf.reshape(x, (7,))
    return x


@tf.function
def outer(x):
    for _ in tf.range(3):
        x = inner(x)
    return x


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x[0])


def fit_net():
    model = Net()
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 3)), np.ones((8, 2)), verbose=0)


def fit_embedding():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Embedding(10, 2), keras.layers.Flatten()])
    model.compile("sgd", "mse")
    model.fit(np.full((8, 3), 10), np.ones((8, 6)), verbose=0)


def generate():
    yield 1.0
    raise KeyError("boo")


def fit_generator():
    data = tf.data.Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.float32))
    for _ in data:
        pass


def use_leak():
    leak(tf.ones((2,)))
    return held[0] + 1
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    pytest.importorskip("tensorflow")
    path = tmp_path_factory.mktemp("program") / "training_program.py"
    path.write_text(PROGRAM)
    module = types.ModuleType("training_program")
    module.__file__ = str(path)
    sys.modules["training_program"] = module
    exec(compile(PROGRAM, str(path), "exec"), vars(module))
    yield module
    del sys.modules["training_program"]


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.split("\n"), start=1) if text in line)


def program_lines(failure):
    return [frame.line for frame in failure.user_frames if frame.path.endswith("training_program.py")]


pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.tf
def test_autographs_frames_stand_where_their_copies_ran(program):
    import tensorflow as tf

    failure = from_exception(raised(program.outer, tf.ones((4,))))
    assert (failure.type, failure.dialect, failure.operation) == ("ValueError", "autograph", "Reshape")
    assert program_lines(failure) == [line_of("x = inner(x)"), line_of("tf.reshape")]
    assert failure.last_user_frame.text == "x = tf.reshape(x, (7,))"


@pytest.mark.tf
def test_keras_filters_fit_away_and_it_is_known_all_the_same(program):
    failure = from_exception(raised(program.fit_net))
    assert failure.called == "fit"
    assert failure.dialect == "wrapped"
    assert failure.layer_class == "Net"
    assert program_lines(failure) == [line_of("model.fit(np.ones"), line_of("self.dense(x[0])")]
    assert failure.last_user_frame.code.text == "self.dense(x[0])"
    assert failure.message.startswith("Input 0")


@pytest.mark.tf
def test_a_graph_failure_has_its_node_and_where_it_was_defined(program):
    failure = from_exception(raised(program.fit_embedding))
    assert (failure.type, failure.dialect, failure.operation) == ("InvalidArgumentError", "graph", "GatherV2")
    assert failure.message == "indices[0,0] = 10 is not in [0, 10)"
    assert [f.line for f in failure.definition if not f.library][-1] == line_of("model.fit(np.full")


@pytest.mark.tf
def test_a_generators_own_line_is_the_last(program):
    failure = from_exception(raised(program.fit_generator))
    assert failure.last_user_frame.line == line_of('raise KeyError("boo")')
    assert failure.earlier[0].type == "KeyError"


@pytest.mark.tf
def test_an_escaped_tensor_tells_where_it_was_made(program):
    failure = from_exception(raised(program.use_leak))
    made = [frame for frame in failure.made_at if not frame.library][-1]
    assert (made.line, made.text) == (line_of("y = x * 2"), "y = x * 2")
    assert failure.made_in == "leak"
    assert "is out of scope" in failure.message


class LSTM:
    name = "lstm"


class GRU:
    name = "gru"


class Sequential:
    def __init__(self):
        self._layers = []


def add_to(kinds):
    model = Sequential()
    for kind in kinds:
        model._layers.append(kind())
    raise ValueError(
        "Input 0 with name 'None' of layer 'gru' is incompatible with the layer: expected ndim=3"
    )


@pytest.mark.parametrize(
    ("kinds", "before"), [((LSTM, GRU), ("LSTM",)), ((LSTM, LSTM, GRU), ("LSTM", "LSTM")), ((GRU, LSTM), ())]
)
def test_the_layers_before_one_that_rejects_its_input(kinds, before):
    assert from_exception(raised(add_to, kinds)).layers == before
