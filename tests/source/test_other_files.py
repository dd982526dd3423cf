"""A program in several files is followed as one."""

from __future__ import annotations

import subprocess
import sys

FILES = {
    "config.py": 'FEATURES = 8\nCFG = {"classes": 3}\n',
    "loader.py": (
        "import numpy as np\nfrom config import CFG, FEATURES\n\n"
        "class Base:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
        "class Loader(Base):\n    def load(self):\n"
        "        return np.random.rand(self.rows, FEATURES + 1), np.random.randint(0, CFG['classes'], self.rows)\n"
    ),
    "net.py": (
        "from tensorflow import keras\nimport config as cfg\n\n"
        "def build():\n    return keras.Sequential([\n        keras.Input((cfg.FEATURES,)),\n"
        "        keras.layers.Dense(cfg.CFG['classes'], activation='softmax'),\n    ])\n"
    ),
    "train.py": (
        "import loader\nfrom net import build\n\n"
        "x, y = loader.Loader(100).load()\nmodel = build()\n"
        "model.compile('adam', 'categorical_crossentropy')\nmodel.fit(x, y)\n"
    ),
}


def lint(folder, *words):
    command = [sys.executable, "-m", "fitdoctor", "lint", "--output-format", "concise", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [[*line.split(" ")[0].split(":")[:2], line.split(" ")[2]] for line in done.stdout.splitlines()]


def test_what_other_files_make_is_known_whichever_are_named(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    told = [["net.py", "6", "FIT101"], ["train.py", "6", "FIT201"]]
    assert lint(tmp_path, "train.py") == told
    assert lint(tmp_path, ".") == told
    (tmp_path / "net.py").write_text(
        FILES["net.py"].replace("(cfg.FEATURES,)),", "(cfg.FEATURES,)),  # fitdoctor: ignore[FIT101]")
    )
    assert lint(tmp_path, "train.py") == told[1:]


def test_a_file_that_only_calls_the_trainer_of_another_is_followed(tmp_path):
    (tmp_path / "trainer.py").write_text(
        "from tensorflow import keras\n\nclass Trainer:\n    def __init__(self, classes):\n"
        "        self.model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(classes, activation='softmax')])\n"
        "        self.model.compile('adam', 'categorical_crossentropy')\n\n"
        "    def train(self, x, y):\n        self.model.fit(x, y)\n"
    )
    (tmp_path / "main.py").write_text(
        "import numpy as np\nfrom trainer import Trainer\n\n"
        "Trainer(4).train(np.random.rand(20, 8), np.random.randint(0, 4, 20))\n"
    )
    assert lint(tmp_path, ".") == [["trainer.py", "6", "FIT201"]]


def test_names_of_tf_keras_keep_their_package_through_other_files(tmp_path):
    (tmp_path / "common.py").write_text("from tf_keras import layers\n")
    (tmp_path / "main.py").write_text(
        "import tf_keras\nfrom common import layers\n\nmodel = tf_keras.Sequential([layers.Dense(1)])\n"
    )
    assert lint(tmp_path, ".") == []


def write(folder, **files):
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


DATA = (
    "import numpy as np\nrng = np.random.default_rng(0)\n"
    "x, y = rng.normal(size=(200, 8)).astype('float32'), rng.integers(0, 4, 200)\n"
)
BUILD = "keras.Sequential([keras.Input((8,)), keras.layers.Dense({}, activation='softmax')])"


def test_a_builder_that_a_decorator_registers_is_followed(tmp_path):
    write(
        tmp_path,
        registry="BUILDERS = {}\n\ndef register(name):\n    def keep(function):\n"
        "        BUILDERS[name] = function\n        return function\n    return keep\n",
        nets="import keras\nfrom registry import register\n\n@register('small')\ndef small(classes):\n"
        f"    return {BUILD.format('classes')}\n",
        config="CONFIG = dict(name='small', classes=4, loss='categorical_crossentropy')\n",
        train=DATA + "import nets\nfrom config import CONFIG\nfrom registry import BUILDERS\n"
        "model = BUILDERS[CONFIG['name']](CONFIG['classes'])\nmodel.compile('adam', loss=CONFIG['loss'])\n"
        "model.fit(x, y)\n",
    )
    assert lint(tmp_path, ".") == [["config.py", "1", "FIT201"]]
    assert lint(tmp_path, "train.py") == [["config.py", "1", "FIT201"]]


def test_a_registry_by_the_names_of_its_classes_is_followed(tmp_path):
    write(
        tmp_path,
        registry="class Registry:\n    def __init__(self):\n        self.items = {}\n\n"
        "    def register(self, cls):\n        self.items[cls.__name__.lower()] = cls\n        return cls\n\n"
        "    def create(self, name, **settings):\n        return self.items[name.lower()](**settings)\n\n"
        "MODELS = Registry()\n",
        nets="import keras\nfrom registry import MODELS\n\n@MODELS.register\nclass Small:\n"
        "    def __init__(self, classes):\n        self.classes = classes\n\n"
        f"    def build(self):\n        return {BUILD.format('self.classes')}\n",
        train=DATA + "import nets\nfrom registry import MODELS\n"
        "model = MODELS.create('Small', classes=4).build()\n"
        "model.compile('adam', loss='categorical_crossentropy')\nmodel.fit(x, y)\n",
    )
    assert lint(tmp_path, ".") == [["train.py", "7", "FIT201"]]


def test_a_decorator_that_returns_something_else_is_not_looked_through(tmp_path):
    write(
        tmp_path,
        wrapping="def doubled(function):\n    def call(classes):\n        return function(2 * classes)\n    return call\n",
        nets="import keras\nfrom wrapping import doubled\n\n@doubled\ndef small(classes):\n"
        f"    return {BUILD.format('classes')}\n",
        train=DATA + "from nets import small\nmodel = small(2)\n"
        "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n",
    )
    assert lint(tmp_path, ".") == []


def test_settings_in_a_json_file_next_to_the_program_are_read(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/base.json").write_text('{"model": {"classes": 3}}')
    write(
        tmp_path,
        app__settings="import json, pathlib\n"
        "SETTINGS = json.loads((pathlib.Path(__file__).parent.parent / 'configs' / 'base.json').read_text())\n",
        app__train=DATA + "import keras\nfrom app.settings import SETTINGS\n"
        "model = " + BUILD.format("SETTINGS['model']['classes']") + "\n"
        "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n",
    )
    assert lint(tmp_path, ".") == [["app/train.py", "6", "FIT203"]]
    (tmp_path / "configs/base.json").write_text('{"model": {"classes": 4}}')
    assert lint(tmp_path, ".") == []


def test_a_loss_that_only_a_settings_file_names_is_judged(tmp_path):
    (tmp_path / "run.yaml").write_text("train:\n  loss: categorical_crossentropy\n")
    (tmp_path / "run.toml").write_text('[train]\nloss = "categorical_crossentropy"\n')
    train = DATA + f"import keras, tomllib, yaml\nmodel = {BUILD.format(4)}\n"
    train += "with open({!r}{}) as file:\n    settings = {}(file)\n"
    train += "model.compile('adam', settings['train']['loss'])\nmodel.fit(x, y)\n"
    write(
        tmp_path,
        of_yaml=train.format("run.yaml", "", "yaml.safe_load"),
        of_toml=train.format("run.toml", ", 'rb'", "tomllib.load"),
    )
    assert lint(tmp_path, ".") == [["of_toml.py", "8", "FIT201"], ["of_yaml.py", "8", "FIT201"]]
    (tmp_path / "run.yaml").write_text("train: [not, {valid\n")
    assert lint(tmp_path, "of_yaml.py") == []


def test_the_default_of_an_option_is_a_setting_even_if_it_is_a_word(tmp_path):
    write(
        tmp_path,
        options="import argparse\n\ndef options():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--loss', default='categorical_crossentropy')\n    return parser.parse_args()\n",
        train=DATA + f"import keras\nfrom options import options\nmodel = {BUILD.format(4)}\n"
        "model.compile('adam', options().loss)\nmodel.fit(x, y)\n",
    )
    assert [found[2] for found in lint(tmp_path, ".")] == ["FIT201"]


def test_a_script_in_a_subfolder_finds_the_package_beside_it(tmp_path):
    write(
        tmp_path,
        src__kit__nets=f"import keras\n\ndef small(classes):\n    return {BUILD.format('classes')}\n",
        scripts__train=DATA + "from kit.nets import small\nmodel = small(4)\n"
        "model.compile('adam', 'categorical_crossentropy')\nmodel.fit(x, y)\n",
    )
    (tmp_path / "pyproject.toml").write_text("")
    assert lint(tmp_path / "scripts", "train.py") == [["train.py", "6", "FIT201"]]


def test_the_activation_of_a_head_class_in_another_file_is_known(tmp_path):
    write(
        tmp_path,
        head="import keras\n\nclass Head(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.mix = keras.layers.Dense(8)\n        self.score = keras.layers.Dense(4)\n\n"
        "    def call(self, x):\n        return self.score(self.mix(x))\n",
        net="import keras\nfrom head import Head\n\nclass Net(keras.Model):\n    def __init__(self):\n"
        "        super().__init__()\n        self.body = keras.layers.Dense(8)\n        self.head = Head()\n\n"
        "    def call(self, x):\n        return self.head(self.body(x))\n",
        train=DATA + "from net import Net\nmodel = Net()\n"
        "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n",
    )
    assert lint(tmp_path, ".") == [["train.py", "6", "FIT210"]]
