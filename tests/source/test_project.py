"""What one file takes from another."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from fitdoctor.source.model_use import may_make_models
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.read import SourceError, source_from_text


def project(**files: str) -> Project:
    """Files by path, with `__` for `/`."""
    return Project(
        Module(
            source_from_text(
                textwrap.dedent(text), name.replace("__", "/").replace("/init", "/__init__") + ".py"
            )
        )
        for name, text in files.items()
    )


def at(found: Project, path: str) -> Module:
    module = found.module_at(path)
    assert module is not None
    return module


def test_files_without_keras_are_followed_only_with_files_that_have_it() -> None:
    found = project(
        train="from helper import run\nimport keras\nrun(keras.Sequential())\n",
        helper="def run(model):\n    model.fit(1)\n",
        apart="class Chain:\n    def fit(self, x): ...\nChain().fit(1)\n",
    )
    assert may_make_models(at(found, "helper.py"))
    assert not may_make_models(at(found, "apart.py"))


def test_classes_inherit_across_files() -> None:
    found = project(
        train="from blocks import Block\nclass Mine(Block):\n    def call(self, x): ...\n",
        blocks="import keras\nclass Block(keras.layers.Layer):\n    pass\n",
    )
    info = found.class_named("Mine")
    assert info is not None
    assert info.kind == "Layer"
    assert info.methods["call"].traced is not None


@pytest.mark.parametrize(
    "imports",
    [
        "from pkg.parts import helper as h",
        "import pkg.parts\nh = pkg.parts.helper",
        "from pkg import helper as h",
        "from pkg import parts\nh = parts.helper",
        "from pkg.stars import helper as h",
    ],
)
def test_definitions_are_found_through_packages_and_re_exports(imports: str) -> None:
    found = project(
        main=f"{imports}\nuse(h)\n",
        pkg__init="from .parts import helper\n",
        pkg__parts="def helper(x): return x\n",
        pkg__stars="from .parts import *\n",
    )
    module = at(found, "main.py")
    info = module.definition(module.calls[-1].node.args[0])
    assert isinstance(info, FunctionInfo)
    assert info.module.path == "pkg/parts.py"


def test_relative_imports_go_up() -> None:
    found = project(
        pkg__init="",
        pkg__a__init="",
        pkg__a__m="from ..b import Thing\nThing()\n",
        pkg__b="class Thing: pass\n",
    )
    module = at(found, "pkg/a/m.py")
    info = module.definition(module.calls[0].node.func)
    assert isinstance(info, ClassInfo)


def test_library_names_are_resolved_through_files() -> None:
    found = project(
        common="import tensorflow as tf\nfrom tensorflow.keras import layers\n",
        a="from common import tf, layers as L\ntf.reduce_mean(L.Dense)\n",
        b="from common import *\ntf.reduce_mean(1)\n",
        c="import common\ncommon.layers.Dense(1)\n",
    )
    assert at(found, "a.py").calls[0].name == "tensorflow.reduce_mean"
    assert at(found, "b.py").calls[0].name == "tensorflow.reduce_mean"
    assert at(found, "c.py").calls[0].name == "keras.layers.Dense"


def test_circles_of_imports_come_to_an_end() -> None:
    found = project(a="from b import x\nuse(x)\n", b="from a import x\n")
    module = at(found, "a.py")
    assert module.definition(module.calls[0].node.args[0]) is None


def test_functions_of_other_files_are_traced() -> None:
    found = project(
        losses="def mine(y, p): return helper(y)\ndef helper(y): ...\ndef other(y): ...\n",
        train="from losses import mine\nmodel.compile(loss=mine)\n",
    )
    traced = [info.name for info in at(found, "losses.py").functions if info.traced]
    assert traced == ["mine", "helper"]


def test_a_model_of_an_eager_loop_runs_eagerly_although_another_one_is_fit() -> None:
    found = project(
        policy="import keras\nclass Policy(keras.Model):\n    def call(self, x): return x\n",
        other="def train(net, x, y): net.fit(x, y)\n",
        loop="""
            import tensorflow as tf
            from other import train
            from policy import Policy
            policy = Policy()
            with tf.GradientTape() as tape:
                loss = policy(1)
            """,
    )
    (call,) = at(found, "policy.py").functions
    assert call.traced is not None and call.traced.eager


def test_a_name_of_several_classes_names_none() -> None:
    found = project(a="class X: pass\n", b="class X: pass\n")
    assert found.class_named("X") is None
    assert len(found.classes) == 2


def test_values_come_from_other_files() -> None:
    found = project(
        config="SHAPE = (28, 28)\n",
        data="import numpy as np\ndef load():\n    x = np.zeros(3)\n    return x, 2\n",
        train="from config import SHAPE\nimport config, data\na, b = data.load()\nuse(SHAPE, config.SHAPE, a)\n",
    )
    module = at(found, "train.py")
    arguments = module.calls[-1].node.args
    places = [module.origin(argument) for argument in arguments]
    assert [place.module.segment(place.node) for place in places] == ["(28, 28)", "(28, 28)", "np.zeros(3)"]
    assert module.made_by(arguments[0]) is arguments[0]


def test_what_was_worked_out_alone_is_forgotten() -> None:
    module = Module(source_from_text("from b import Base\nclass A(Base): pass\n", "a.py"))
    assert module.classes[0].kind == ""
    Project([module, Module(source_from_text("import keras\nclass Base(keras.Model): pass\n", "b.py"))])
    assert module.classes[0].kind == "Model"


def test_around_reads_what_a_script_imports(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from . import inner\n")
    (tmp_path / "pkg" / "inner.py").write_text("import side\n")
    (tmp_path / "side.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("x = = 1\n")
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    script = tmp_path / "train.py"
    script.write_text("import numpy, broken\nimport pkg.inner as p\n")
    names = {Path(module.path).name for module in Project.around(script).modules}
    assert names == {"train.py", "__init__.py", "inner.py", "side.py"}
    with pytest.raises(SourceError):
        Project.around(tmp_path / "broken.py")
