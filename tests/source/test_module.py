"""Names, calls, classes and places of one file."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitdoctor.edits import (
    apply_edits,
    insert_after,
    insert_before,
    remove_argument,
    rename_argument,
    replace_code,
    set_argument,
    spell,
)
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text


def read(text: str) -> Module:
    return Module(source_from_text(textwrap.dedent(text), "train.py"))


def first_call(module: Module, ending: str) -> ast.Call:
    return next(call.node for call in module.calls if module.segment(call.node.func).endswith(ending))


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("imports", "expression", "name"),
    [
        ("import tensorflow as tf", "tf.keras.layers.Dense", "keras.layers.Dense"),
        ("import tensorflow", "tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("import keras", "keras.layers.Dense", "keras.layers.Dense"),
        ("from tensorflow import keras as k", "k.layers.Dense", "keras.layers.Dense"),
        ("from tensorflow.keras import layers", "layers.Dense", "keras.layers.Dense"),
        ("from keras.layers import Dense as D", "D", "keras.layers.Dense"),
        ("from keras.layers.core import Dense", "Dense", "keras.layers.Dense"),
        ("from keras.layers import *", "Dense", "keras.layers.Dense"),
        ("import tensorflow.keras.layers as L", "L.Convolution2D", "keras.layers.Conv2D"),
        ("import tensorflow as tf\nlayers = tf.keras.layers", "layers.Dense", "keras.layers.Dense"),
        ("import tensorflow as tf\nK = tf.keras\nL = K.layers", "L.Dense", "keras.layers.Dense"),
        ("from keras.models import Sequential", "Sequential", "keras.Sequential"),
        ("import keras", "keras.models.Model", "keras.Model"),
        ("from keras.engine.topology import Layer", "Layer", "keras.Layer"),
        ("from tensorflow.keras.layers import Layer, Input", "Input", "keras.Input"),
        ("import tensorflow as tf", "tf.reduce_mean", "tensorflow.reduce_mean"),
        ("import tensorflow as tf", "tf.math.reduce_mean", "tensorflow.reduce_mean"),
        ("import tensorflow as tf", "tf.math.log", "tensorflow.math.log"),
        ("import tensorflow.compat.v1 as tf", "tf.placeholder", "tensorflow.compat.v1.placeholder"),
        ("import tensorflow.compat.v2 as tf", "tf.keras.Model", "keras.Model"),
        ("import numpy as np", "np.array", "numpy.array"),
        ("import tf_keras", "tf_keras.layers.Dense", "keras.layers.Dense"),
        (
            "from tensorflow.python.keras import layers",
            "layers.Dense",
            "tensorflow.python.keras.layers.Dense",
        ),
        ("from keras.utils import Sequence", "Sequence", "keras.utils.PyDataset"),
        ("from .mine import Dense", "Dense", ".mine.Dense"),
        ("try:\n    import numpy as np\nexcept ImportError:\n    np = None", "np.array", "numpy.array"),
        (
            "try:\n    import keras\nexcept ImportError:\n    from tf_keras import x as keras",
            "keras.Model",
            "keras.Model",
        ),
        ("", "print", "print"),
        ("", "unheard_of", ""),
        ("def print(): pass", "print", ""),
        ("import numpy as np\nnp = 3", "np.array", ""),
        ("class Dense: pass", "Dense", ""),
        ("import os", "os.environ['x'].lower", ""),
    ],
)
def test_names_are_resolved(imports: str, expression: str, name: str) -> None:
    module = read(f"{imports}\nuse({expression})\n")
    assert module.resolve(first_call(module, "use").args[0]) == name


def test_the_spelling_of_the_imports_is_kept_beside_the_canonical_name() -> None:
    module = read("from tensorflow.keras.layers.experimental import preprocessing as p\nuse(p.Rescaling)\n")
    value = first_call(module, "use").args[0]
    assert module.dotted(value) == "tensorflow.keras.layers.experimental.preprocessing.Rescaling"
    assert module.resolve(value) == "keras.layers.Rescaling"


def test_names_follow_scopes() -> None:
    module = read(
        """
        import numpy as np
        def inner(np):
            a(np.sum)
        def other():
            import tensorflow as np
            b(np.add)
        class C:
            np = None
            def method(self):
                c(np.sum)
        values = [d(np.x) for np in things]
        e(np.sum)
        def setter():
            global tool
            import keras as tool
        f(tool.Model)
        """
    )
    found = {module.segment(call.node.func): module.resolve(call.node.args[0]) for call in module.calls}
    assert found == {
        "a": "",
        "b": "tensorflow.add",
        "c": "numpy.sum",
        "d": "",
        "e": "numpy.sum",
        "f": "keras.Model",
    }


def test_names_that_are_bound_to_each_other_many_times_stay_cheap() -> None:
    module = read("\n".join(f"a = b\nb = c\nc = d\nd = a.x{number}" for number in range(60)) + "\nuse(a)\n")
    assert module.resolve(first_call(module, "use").args[0]) == ""


def test_default_values_and_decorators_belong_to_the_scope_around() -> None:
    module = read(
        """
        import numpy as np
        @np.vectorize
        def f(np=np.pi): pass
        """
    )
    function = module.nodes(ast.FunctionDef)[0]
    assert module.resolve(function.decorator_list[0]) == "numpy.vectorize"
    assert module.resolve(function.args.defaults[0]) == "numpy.pi"
    assert module.function_of(function.args.defaults[0]) is None


# --- calls, functions, classes ------------------------------------------------------------------------------------


def test_calls_are_found_by_name_and_by_method() -> None:
    module = read(
        """
        from keras import layers, Sequential
        model = Sequential([layers.Dense(1), layers.Dense(2)])
        def train():
            model.fit(x, y, epochs=3)
        model.fit(x)
        """
    )
    assert [call.node.args[0].value for call in module.calls_to("keras.layers.Dense")] == [1, 2]  # type: ignore[attr-defined]
    fits = module.method_calls("fit")
    assert [call.function.name if call.function else None for call in fits] == ["train", None]
    assert module.segment(fits[0].argument("y", 1) or fits[0].node) == "y"
    assert module.segment(fits[0].argument("epochs") or fits[0].node) == "3"
    assert fits[1].argument("y", 1) is None
    assert [call.node.lineno for call in module.calls] == sorted(call.node.lineno for call in module.calls)


def test_a_star_hides_positions() -> None:
    module = read("f(*a, b)\n")
    assert module.calls[0].argument("x", 1) is None


def test_classes_know_their_kind_through_each_other() -> None:
    module = read(
        """
        import tensorflow as tf
        from tensorflow import keras
        class A(tf.keras.layers.Layer): pass
        class B(A):
            def call(self, x): return x
        class C(keras.Model): pass
        class D(keras.losses.Loss): pass
        class E(keras.callbacks.EarlyStopping): pass
        class F(keras.utils.Sequence): pass
        class G(keras.layers.LSTM): pass
        class H: pass
        class I(H, D): pass
        class J(keras.optimizers.schedules.LearningRateSchedule): pass
        class K(K): pass
        """
    )
    kinds = {info.name: info.kind for info in module.classes}
    assert kinds == {
        "A": "Layer",
        "B": "Layer",
        "C": "Model",
        "D": "Loss",
        "E": "Callback",
        "F": "PyDataset",
        "G": "Layer",
        "H": "",
        "I": "Loss",
        "J": "",
        "K": "",
    }
    assert list(module.classes[1].methods) == ["call"]


def test_functions_have_owners_and_qualified_names() -> None:
    module = read(
        """
        class A:
            def m(self, a, *b, c=1, **d):
                def inner(): pass
                return lambda x: x
        """
    )
    assert [(info.qualname, info.owner and info.owner.name) for info in module.functions] == [
        ("A.m", "A"),
        ("A.m.inner", None),
        ("A.m.<lambda>", None),
    ]
    assert module.functions[0].parameters == ("self", "a", "b", "c", "d")


# --- places -------------------------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["x", "ünï", "变量", "a_b", "𝐱y"])
_STRINGS = st.text(
    st.characters(blacklist_characters="\"'\\\n\r\0{}", blacklist_categories=["Cs"]), max_size=6
).map(lambda text: f"'{text}'")
_VALUES = st.one_of(
    _NAMES,
    _STRINGS,
    st.just("(1,\n\t 2)"),
    st.just("( x )"),
    st.just("[a, # ) note\n b]"),
    st.just("lambda q: (q)"),
)


@given(st.lists(st.tuples(st.sampled_from(["", "k1", "k2", "ключ"]), _VALUES), max_size=4), st.booleans())
def test_locations_cut_out_what_the_nodes_say(arguments: list[tuple[str, str]], tabs: bool) -> None:
    unique = {key: value for key, value in arguments if key}
    listed = [value for key, value in arguments if not key] + [
        f"{key} = {value}" for key, value in unique.items()
    ]
    indent = "\t" if tabs else "    "
    text = f"if 1:\n{indent}'é'; ü = mod.f ( {' , '.join(listed)} )  # (\n"
    module = read(text)
    call = module.calls[0].node
    for node in ast.walk(module.tree):
        if isinstance(node, ast.expr):
            segment = module.segment(node)
            assert segment == ast.get_source_segment(module.text, node)
            assert apply_edits(module.text, replace_code(module.code(node), segment)) == module.text
    code = module.code(call)
    assert [argument.name for argument in code.arguments] == [""] * (len(listed) - len(unique)) + list(unique)
    for argument in code.arguments:
        # Every argument can be replaced, and the file still parses to the call with that argument.
        edited = apply_edits(module.text, replace_code(_at(code, argument.location), "NEW"))
        again = read(edited).calls[0].node
        values = [*again.args, *(keyword.value for keyword in again.keywords)]
        assert sum(isinstance(value, ast.Name) and value.id == "NEW" for value in values) == 1
    for key in unique:
        edited = apply_edits(module.text, remove_argument(code, key))
        left = {keyword.arg for keyword in read(edited).calls[0].node.keywords}
        assert left == set(unique) - {key}
        renamed = read(apply_edits(module.text, rename_argument(code, key, "other"))).calls[0].node
        assert {keyword.arg for keyword in renamed.keywords} == set(unique) - {key} | {"other"}
    added = read(apply_edits(module.text, set_argument(code, "added", "5"))).calls[0].node
    assert [keyword.arg for keyword in added.keywords] == [*unique, "added"]


def _at(code: object, location: object) -> object:
    from dataclasses import replace

    return replace(code, location=location)  # type: ignore[type-var]


@pytest.mark.parametrize(
    "text",
    [
        "f((a), b=1,)\n",
        "f( # one (\n  a, # two )\n  b=2, # three\n)\n",
        "(f)(a, b=1)\n",
        "f(*a, b=1, **c)\n",
        "x.y(1)(a, b=(2))\n",
        "f(\\\n a, b=1)\n",
    ],
)
def test_parentheses_are_found(text: str) -> None:
    module = read(text)
    call = module.calls[0].node
    code = module.code(call)
    assert code.open_paren_end is not None
    assert code.close_paren is not None
    lines = module.text.split("\n")
    before, after = code.open_paren_end, code.close_paren
    assert lines[before.line - 1][before.column - 2] == "("
    assert lines[after.line - 1][after.column - 1] == ")"
    edited = read(apply_edits(module.text, remove_argument(code, "b"))).calls[0].node
    assert "b" not in [keyword.arg for keyword in edited.keywords]
    assert len(edited.args) == len(call.args)


def test_a_lone_generator_is_an_argument_without_the_parentheses() -> None:
    module = read("f(x for x in y)\n")
    code = module.code(module.calls[0].node)
    assert code.arguments[0].text == "x for x in y"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("m = f(1)", "m"),
        ("self.m = f(1)", "self.m"),
        ("m: int = f(1)", "m"),
        ("m = g(f(1))", ""),
        ("a, b = f(1)", ""),
        ("with f(1) as m: pass", "m"),
        ("if (m := f(1)): pass", "m"),
    ],
)
def test_targets(text: str, target: str) -> None:
    module = read(text)
    assert module.code(first_call(module, "f")).target == target


@pytest.mark.parametrize(
    "text",
    [
        "def g():\n    x = 1\n    y = f(1)  # note\n    z = 2\n",
        "if a:\n    pass\nelif f(1):\n    pass\n",
        "@dec(f(1))\ndef g(): pass\n",
        "x = 1; y = f(1); z = 3\n",
        "with f(1):\n    pass\n",
        "for i in f(1):\n    pass\nelse:\n    pass\n",
        "x = (\n    f(1)\n)\n",
    ],
)
def test_lines_can_be_put_around_a_statement(text: str) -> None:
    module = read(text)
    code = module.code(first_call(module, "f"))
    for edits in (insert_before(code, "NEW = 1"), insert_after(code, "NEW = 1")):
        edited = read(apply_edits(module.text, edits))
        assert any(isinstance(node, ast.Name) and node.id == "NEW" for node in ast.walk(edited.tree))
        assert len(edited.calls) == len(module.calls)


@pytest.mark.parametrize("text", ["if a: y = f(1)\n", "for i in x: g(); f(1)\n", "class A: x = f(1)\n"])
def test_no_line_is_put_around_the_body_of_a_one_line_block(text: str) -> None:
    module = read(text)
    assert module.code(first_call(module, "f")).statement is None


@pytest.mark.parametrize(
    ("imports", "library", "spelling"),
    [
        ("import numpy as np", "numpy", "np"),
        ("import tensorflow as tf", "keras", "tf.keras"),
        ("import tensorflow as tf\nfrom tensorflow import keras", "keras", "keras"),
        ("import keras", "keras.ops", "keras.ops"),
        ("from keras import ops", "keras.ops", "ops"),
        ("import tensorflow as tf", "keras.layers", "tf.keras.layers"),
        ("import pandas as pd", "pandas", "pd"),
        ("def f():\n    import numpy as np", "numpy", None),
    ],
)
def test_spellings(imports: str, library: str, spelling: str | None) -> None:
    module = read(f"{imports}\nx = f(1)\n")
    assert module.code(first_call(module, "f")).spelling(library) == spelling


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ('"""Doc."""\n', 2),
        ('"""Doc."""\nfrom __future__ import annotations\n', 3),
        ("#!/bin/python\n# note\n", 3),
        ("import os\nos.environ['A'] = '1'\nimport keras\n", 4),
        ("import a\ntry:\n    import b\nexcept ImportError:\n    b = None\n", 6),
        ("from a import (\n    b,\n    c,\n)\n", 5),
        ("", 1),
    ],
)
def test_imports_are_inserted_at_the_head(head: str, line: int) -> None:
    module = read(f"{head}x = f(1)\nimport late\n")
    code = module.code(first_call(module, "f"))
    assert code.import_at is not None
    assert (code.import_at.line, code.import_at.column) == (line, 1)
    name, edits = spell(code, "numpy", "np")
    edited = read(apply_edits(module.text, edits))
    assert name == "np"
    assert dict(edited.spellings)["numpy"] == "np"
    compile(edited.text, "train.py", "exec")


def test_columns_of_astral_characters_and_tabs_count_characters() -> None:
    module = read("x = '𝐱é'; y = f('ß')\n")
    place = module.location(first_call(module, "f"))
    assert module.text[place.column - 1 : place.end_column - 1] == "f('ß')"


# --- what rules ask -----------------------------------------------------------------------------------------------

ASKED = """
    import tensorflow as tf
    class Step:
        @tf.function(jit_compile=True)
        def run(self, x):
            if x is None:
                first = 1
                self.kept = tf.abs(x + first)
            else:
                return x
"""


def test_what_is_around_a_node_ends_at_its_function() -> None:
    module = read(ASKED)
    call = first_call(module, "abs")
    assert [type(each) for each in module.parents(call)] == [ast.Assign, ast.If]
    assert isinstance(module.around(call, ast.If, ast.For), ast.If)
    assert module.around(call, ast.FunctionDef) is None
    assert [type(each) for each in module.block(module.statement(call))] == [ast.Assign, ast.Assign]
    assert module.block(call) == []


def test_what_is_called_and_stored_is_named() -> None:
    module = read(ASKED)
    statement = module.statement(first_call(module, "abs"))
    assert isinstance(statement, ast.Assign)
    assert module.called(statement.value) == "tensorflow.abs"
    assert module.called(statement.targets[0]) == "" and module.called(None) == ""
    assert module.own_attribute(statement.targets[0]) == "kept"
    assert module.own_attribute(statement.value) == ""
    assert list(module.functions[0].decorators) == ["tensorflow.function"]


def test_parts_of_a_text_are_replaced_together() -> None:
    module = read("y = f(a, g(b), a)\n")
    call = first_call(module, "f")
    parts = [(call.args[0], "first"), (call.args[2], "c"), (first_call(module, "g"), "h")]
    assert module.rewritten(call, *parts) == "f(first, h, c)"


def test_a_tape_knows_its_gradients_and_what_it_watches() -> None:
    from fitdoctor.catalogue.knowledge.tracing.gradient_ways import tapes

    module = read(
        """
        import tensorflow as tf
        before = 1
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * before
        z = y + 1
        first = tape.gradient(z, x)
        with tf.GradientTape() as tape:
            w = x
        second = tape.gradient(w, x)
        """
    )
    tape, other = tapes(module)
    assert [module.segment(call) for call in tape.gradients] == ["tape.gradient(z, x)"]
    assert [module.segment(call) for call in other.gradients] == ["tape.gradient(w, x)"]
    assert tape.watches("x") and tape.watches("y") and not tape.watches("before")
    assert not other.watches("x")
    assert [module.segment(each) for each in tape.until(tape.gradients[0]) or ()] == ["z = y + 1"]
    assert [module.segment(each) for each in tape.before()][-1] == "before = 1"
