"""The code that people paste beside an error message shows what the message only hints at."""

import ast

import pytest

from fitdoctor.diagnose import examine_saved, failures_told_in
from fitdoctor.failure.pasted_code import pasted_code


def _explained(text):
    [failure] = failures_told_in(text)
    return examine_saved(failure, text, "question.txt")


_RANK = "ValueError: Input 0 of layer {layer} is incompatible with the layer: expected ndim=3, found ndim={found}. "


def test_code_keeps_its_lines_and_the_prose_around_it_is_blank():
    text = "Why does this fail?\n\n> model = Sequential()\n> model.add(Dense(3))\n\nThanks for any help (really)!\n"
    code = pasted_code(text).split("\n")
    assert code[2:4] == ["model = Sequential()", "model.add(Dense(3))"]
    assert not any(code[4:])
    assert "Sequential" in code[0]  # the import that the question leaves out, where no line moves
    ast.parse("\n".join(code))


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: logits and labels must have the same shape ((None, 1) vs (None, 2))",
        "I call model.fit(x, y) and it fails. What does the keras message mean?",
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    model.fit(x, y)\nValueError: keras',
    ],
)
def test_prose_and_the_lines_that_a_traceback_quotes_are_no_code(text):
    assert not pasted_code(text)


def test_fences_prompts_and_lost_line_breaks_do_not_hide_code():
    text = "My layers:\n```python\n>>> model = keras.Sequential()\n>>> model.add(layers.Dense(2))\n```\n"
    assert "model.add(layers.Dense(2))" in pasted_code(text)


def test_an_input_shape_of_the_whole_data_is_the_reason_of_an_extra_axis():
    text = (
        "My network:\n\n    net = Sequential()\n    net.add(GRU(8, input_shape=frames.shape))\n    net.add(Dense(1))\n\n"
        + _RANK.format(layer="gru", found=4)
        + "Full shape received: [None, 70, 12, 5]"
    )
    [finding] = _explained(text).findings
    assert (finding.id, finding.location.path, finding.location.line) == ("FIT103", "question.txt", 4)
    assert finding.fixes[0].edits[0].replacement == "frames.shape[1:]"


def test_the_layer_before_the_one_that_rejects_its_input_is_read_from_the_code():
    text = (
        "net = Sequential()\n\nnet.add(Input(shape=(6,)))\nnet.add(Dense(20))\nnet.add(LSTM(9))\n\ngives\n\n"
        + _RANK.format(layer="lstm_3", found=2)
        + "Full shape received: (None, 20)"
    )
    [finding] = _explained("How do I fix this?\n" + text).findings
    assert (finding.id, finding.location.line) == ("FIT304", 6)
    assert "`Dense` before it outputs 2" in finding.message


def test_a_traceback_cut_before_its_message_is_explained_by_the_code():
    text = (
        "I try:\n\nnet = Sequential()\nnet.add(Dense(4, input_shape=(2,)))\nnet.add(LSTM(16))\n\nand get\n\n"
        "ValueError                                Traceback (most recent call last)\n"
        "<ipython-input-3-0123456789ab> in <module>()\n      2 net.add(Dense(4, input_shape=(2,)))\n"
        "----> 3 net.add(LSTM(16))\n\n"
        "/v/lib/python3.6/site-packages/keras/engine/base_layer.py in assert_input_compatibility(self, inputs)\n"
        "    309                                      self.name + ': expected ndim="
    )
    assert _explained(text).findings[0].id == "FIT304"


def test_the_signature_that_a_message_complains_of_is_found_in_the_class():
    text = (
        "class Scale(Layer):\n    def build(self, input_shape):\n        self.factor = self.add_weight(shape=(1,))\n"
        "        super().build()\n\n    def call(self, x):\n        return x * self.factor\n\n"
        "TypeError: build() missing 1 required positional argument: 'input_shape'\n"
    )
    finding = _explained("Help with a layer\n\n" + text).findings[0]
    assert (finding.id, finding.location.line) == ("FIT314", 6)


def test_code_that_contradicts_the_message_does_not_replace_it():
    text = (
        "For reference\n\nnet = Sequential()\nnet.add(Conv2D(8, (5, 5), input_shape=(1, 28, 28)))\nnet.add(Flatten())\n"
        "net.add(Dense(10, activation='softmax'))\nnet.compile(loss='categorical_crossentropy', optimizer='adam')\n\n"
        "ValueError: Error when checking target: expected dense_1 to have shape (10,) but got array with shape (1,)\n"
    )
    assert _explained(text).findings[0].id == "FIT201"


def test_a_call_without_compile_in_part_of_the_code_is_not_the_reason():
    text = (
        "I run\n\nnet = Sequential([Dense(1)])\nnet.fit(x, y)\n\nwhich ends in\n\n"
        "ValueError: Data cardinality is ambiguous:\n  x sizes: 3\n  y sizes: 4\n"
    )
    assert _explained(text).findings[0].id == "FIT108"


def test_the_lines_that_autograph_quotes_are_no_code():
    text = (
        "InvalidArgumentError: in user code:\n\n    /me/keras_model.py:12 call  *\n        a = tf.multiply(x, self.mask)\n"
        "    /home/me/keras_model.py:19 helper  *\n        b = tf.add(a, x)\n\n    InvalidArgumentError: cannot compute Mul"
    )
    assert not pasted_code(text)
