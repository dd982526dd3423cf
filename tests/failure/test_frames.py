"""Whose code a frame is."""

import os
import sysconfig

import pytest

import fitdoctor
from fitdoctor.failure.frames import cell_number, is_cell, is_framework, is_generated, is_library

STDLIB = sysconfig.get_path("stdlib")
PURELIB = sysconfig.get_path("purelib")


@pytest.mark.parametrize(
    "path",
    [
        os.path.join(STDLIB, "runpy.py"),
        os.path.join(PURELIB, "keras", "src", "layers", "layer.py"),
        "/elsewhere/venv/lib/python3.9/site-packages/numpy/core.py",
        "/usr/lib/python3/dist-packages/six.py",
        "/tmp/__autograph_generated_fileabc123.py",
        "<frozen importlib._bootstrap>",
        "<string>",
        "<__array_function__ internals>",
        "<decorator-gen-60>",
        os.path.join(os.path.dirname(fitdoctor.__file__), "engine.py"),
        os.path.join(os.path.dirname(fitdoctor.__file__), "catalogue", "fixed_batch.py"),
    ],
)
def test_installed_and_generated_code_is_library(path):
    assert is_library(path)


@pytest.mark.parametrize(
    "path",
    [
        "/home/ana/lib/python3/project/train.py",
        "/home/ana/library/train.py",
        "/srv/keras/src/train.py",
        "train.py",
        os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(PURELIB))), "train.py"),
        "/tmp/ipykernel_8812/2888220523.py",
        "<ipython-input-3-65b75872597a>",
        "<stdin>",
        "<timed exec>",
        os.path.join(os.path.dirname(fitdoctor.__file__), "catalogue", "labels", "x", "broken.py"),
    ],
)
def test_the_users_code_is_not_library_wherever_it_lives(path):
    assert not is_library(path)


@pytest.mark.parametrize(
    "path",
    [
        r"C:\Users\MR\anaconda3\lib\runpy.py",
        r"C:\Users\MR\AppData\Local\Programs\Python\Python310\lib\threading.py",
        r"d:\programs\miniconda3\envs\ml\lib\site-packages\tensorflow\python\keras\engine\training.py",
        "/usr/lib/python3.8/contextlib.py",
        "/usr/local/lib/python3.7/dist-packages/keras/engine/training.py",
        "/opt/homebrew/Frameworks/Python.framework/Versions/3.9/lib/python3.9/queue.py",
        "/build/keras/src/utils/traceback_utils.py",
        "/build/tensorflow/python/eager/execute.py",
        "/root/.pyenv/versions/3.11.7/lib/python3.11/multiprocessing/pool.py",
    ],
)
def test_paths_of_another_machine_are_judged_by_their_parts(path):
    assert is_library(path, here=False)


@pytest.mark.parametrize(
    "path",
    [
        r"C:\Users\MR\projects\mnist\train.py",
        r"D:\work\lib\random_forest.py",
        "/home/ana/projects/lib/model.py",
        "~/experiments/train.py",
        "/content/drive/MyDrive/train.py",
        "Cell In[3]",
    ],
)
def test_user_paths_of_another_machine_stay_the_users(path):
    assert not is_library(path, here=False)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("<ipython-input-19-455f20b90fc1>", 19),
        ("Cell In[244]", 244),
        ("Cell In [25]", 25),
        ("Input In [93]", 93),
        ("/tmp/ipykernel_1/2.py", None),
        ("train.py", None),
    ],
)
def test_cells_have_their_number_where_it_is_told(path, number):
    assert cell_number(path) == number
    assert is_cell(path) == (path != "train.py")


def test_the_framework_is_keras_and_tensorflow():
    assert is_framework("/v/lib/python3.11/site-packages/keras/src/trainers/trainer.py")
    assert is_framework("/v/lib/python3.11/site-packages/tf_keras/src/engine/training.py")
    assert is_framework(r"C:\v\lib\site-packages\tensorflow\python\eager\execute.py")
    assert not is_framework("/v/lib/python3.11/site-packages/pandas/core/frame.py")
    assert not is_framework("/home/ana/keras_project/train.py")
    assert is_generated("/tmp/__autograph_generated_file0.py")
