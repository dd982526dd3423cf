"""Where values come from."""

from __future__ import annotations

import ast
import textwrap

import pytest

from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text

HEAD = "import numpy as np\nfrom sklearn.model_selection import train_test_split\n"


def read(text: str) -> Module:
    return Module(source_from_text(HEAD + textwrap.dedent(text), "train.py"))


def used(module: Module) -> ast.expr:
    """The argument of the last call of `use`."""
    return [call for call in module.calls if module.segment(call.node.func) == "use"][-1].node.args[0]


def made(text: str) -> str:
    module = read(text)
    return module.segment(module.made_by(used(module)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = A()\nuse(x)", "A()"),
        ("x = A()\nx = x.reshape(3)\nuse(x)", "x.reshape(3)"),
        ("x = A()\nuse(x)\nx = B()", "A()"),
        ("x = A()\ny = x\nz = y\nuse(z)", "A()"),
        ("a, b = A(), B()\nuse(b)", "B()"),
        ("(a, b), c = (A(), B()), C()\nuse(b)", "B()"),
        ("a, *b, c = A(), B(), C(), D()\nuse(c)", "D()"),
        ("(a, b), (c, d) = load_data()\nuse(d)", "load_data()"),
        ("X = A()\ny = B()\nX_train, X_test, y_train, y_test = train_test_split(X, y)\nuse(y_train)", "B()"),
        ("X = A()\na, b = train_test_split(X, test_size=0.2)\nuse(b)", "A()"),
        ("def make():\n    x = A()\n    return x, B()\nx, y = make()\nuse(x)", "A()"),
        ("def make():\n    return A()\nuse(make())", "A()"),
        ("def make(c):\n    if c: return A()\n    return B()\nx = make(1)\nuse(x)", "make(1)"),
        ("def make():\n    yield A()\n    return 3\nx = make()\nuse(x)", "make()"),
        ("@cached\ndef make():\n    return A()\nx = make()\nuse(x)", "make()"),
        ("def train(x):\n    use(x)\ntrain(A())", "A()"),
        ("def train(x, y=B()):\n    use(y)\ntrain(A())", "B()"),
        ("def train(x):\n    use(x)\ntrain(A())\ntrain(B())", "x"),
        ("def train(x):\n    use(x)\ntrain(A())\nrun(train)", "x"),
        ("class T:\n    def __init__(self): self.x = A()\n    def go(self): use(self.x)", "A()"),
        ("class T:\n    def __init__(self): self.x = A()\nt = T()\nuse(t.x)", "A()"),
        ("class T:\n    def get(self): return A()\nt = T()\nuse(t.get())", "A()"),
        ("x = A()\nx /= 255\nuse(x)", "x"),
        ("x = A()\nx[0] = 3\nuse(x)", "A()"),
        ("with A() as x:\n    use(x)", "A()"),
        ("for x in A():\n    use(x)", "A()"),
        ("a = A()\nb = B()\nfor i, (x, y) in enumerate(zip(a, b)):\n    use(y)", "B()"),
        ("pair = (A(), B())\nuse(pair[1])", "B()"),
        ("data = {'x': A(), 'y': B()}\nuse(data['y'])", "B()"),
        ("x = A()\nuse(x[0])", "x[0]"),
        ("if (x := A()): use(x)", "A()"),
        ("if c:\n    x = A()\nelse:\n    x = B()\n    use(x)", "B()"),
        ("if c:\n    x = A()\n    use(x)\nelse:\n    x = B()", "A()"),
        ("def f():\n    use(x)\nx = A()", "A()"),
        ("x = x\nuse(x)", "x"),
        ("use(unknown)", "unknown"),
        ("use(A())", "A()"),
        ("import thing\nuse(thing)", "thing"),
        ("x = [A() for x in B()]\nuse(x)", "[A() for x in B()]"),
    ],
)
def test_made_by(text: str, expected: str) -> None:
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("x = A()\nuse(x)", True),
        ("x = A()\nx = B()\nuse(x)", True),
        ("x = A()\nif c:\n    x = B()\nuse(x)", False),
        ("if c:\n    x = A()\n    use(x)", True),
        ("x = A()\nfor i in y:\n    use(x)\n    x = B()", False),
        ("x = A()\nfor i in y:\n    x = B()\n    use(x)", True),
        ("try:\n    x = A()\nexcept E:\n    x = B()\nuse(x)", False),
        ("with c:\n    x = A()\nuse(x)", True),
        ("x = A()\ndef f():\n    use(x)", True),
        ("x = A()\nx = B()\ndef f():\n    use(x)", False),
        (
            "class T:\n    def a(self): self.x = A()\n    def b(self): self.x = B()\n    def c(self): use(self.x)",
            False,
        ),
    ],
)
def test_only_the_one_possible_way_is_certain(text: str, certain: bool) -> None:
    module = read(text)
    assert module.origin(used(module)).certain is certain


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("y = A()\ny[y == 0] = 10\nuse(y)", 2),
        ("x = A()\nx /= 255\nuse(x)", 2),
        ("x = A()\nx /= 255\nx = x.reshape(3)\nuse(x)", 3),
        ("x = A()\nx[0] = 1\nx[1] = 2\nuse(x)\nx[2] = 3", 3),
        ("x = A()\nnp.random.shuffle(x)\nuse(x)", 2),
        ("frame = A()\nframe.dropna(inplace=True)\nuse(frame)", 2),
        ("frame = A()\nframe.dropna()\nuse(frame)", 1),
        ("y = A()\ny[0] = 1\na, b = train_test_split(y)\nuse(a)", 2),
        ("def f(x):\n    x[0] = 1\n    use(x)", 2),
    ],
)
def test_the_place_where_values_were_last_decided(text: str, line: int) -> None:
    module = read(text)
    _, node = module.origin(used(module)).decided
    assert module.location(node).line - HEAD.count("\n") == line


def test_the_way_back_is_told_step_by_step() -> None:
    module = read(
        """
        def make():
            x = np.zeros(3)
            return x, np.ones(3)
        a, b = make()
        a_train, a_test, b_train, b_test = train_test_split(a, b)
        use(a_train)
        """
    )
    found = module.origin(used(module))
    assert [step.how for step in found.steps] == ["name", "split", "name", "return", "element", "name"]
    assert module.segment(found.node) == "np.zeros(3)"


def test_a_part_of_a_call_keeps_its_path() -> None:
    module = read("(a, b), (c, d) = load_data()\nuse(d)\n")
    assert module.origin(used(module)).path == (1, 1)


def test_assignments_in_order() -> None:
    module = read(
        """
        x = 1
        x += 2
        for x in y: pass
        with z as x: pass
        a, (b, x) = things
        def f(x):
            x = 3
        class C:
            def m(self):
                self.x = 4
        """
    )
    assert [found.how for found in module.assignments("x")] == ["=", "augmented", "for", "with", "="]
    assert module.assignments("x")[-1].path == (1, 1)
    function = module.nodes(ast.FunctionDef)[0]
    assert [found.how for found in module.assignments("x", function)] == ["parameter", "="]
    kept = module.assignments("self.x", module.nodes(ast.ClassDef)[0])
    assert [ast.literal_eval(found.value) for found in kept if found.value] == [4]
