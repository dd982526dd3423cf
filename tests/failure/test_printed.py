"""What Python, pytest and IPython really print for a failing program."""

import subprocess
import sys
import warnings

import pytest

from fitdoctor.failure.text import failures_in

PROGRAM = """\
class Net:
    def call(self, x):
        return self.inner(x)

    def inner(self, x):
        raise ValueError("expected ndim=3,\\nfound ndim=2")


def train():
    try:
        {}["weights"]
    except KeyError as error:
        Net().call(
            1,
        )


def test_train():
    train()
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "test_program.py"
    path.write_text(PROGRAM)
    return path


def printed(*command, cwd):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        encoding="utf-8",
    )
    return done.stdout + done.stderr


def check(failures, frames):
    (failure,) = failures
    assert failure.type == "ValueError"
    assert failure.message == "expected ndim=3,\nfound ndim=2"
    assert [(frame.line, frame.function) for frame in failure.user_frames][-len(frames) :] == frames
    assert [(e.type, e.message) for e in failure.earlier] == [("KeyError", "'weights'")]


def test_python(program, tmp_path):
    code = "import test_program; test_program.train()"
    text = printed("-c", code, cwd=tmp_path)
    check(failures_in(text), [(13, "train"), (3, "call"), (6, "inner")])


@pytest.mark.parametrize("style", ["long", "short", "native", "auto"])
def test_pytest(program, tmp_path, style):
    text = printed(
        "-m", "pytest", "-p", "no:cacheprovider", f"--tb={style}", "--color=yes", str(program), cwd=tmp_path
    )
    failures = failures_in(text)
    if style == "auto":  # pytest leaves the functions of the frames in the middle out
        assert failures[0].last_user_frame.line == 6
    check(failures, [(6, "inner")] if style == "auto" else [(13, "train"), (3, "call"), (6, "inner")])


@pytest.mark.parametrize("colors", ["nocolor", "linux"])
def test_ipython(tmp_path, colors):
    pytest.importorskip("IPython")
    script = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        f"shell = InteractiveShell.instance(colors={colors!r})\n"
        f"shell.run_cell({PROGRAM!r}, store_history=True)\n"
        "shell.run_cell('x = 1\\ntrain()\\n', store_history=True)\n"
        "shell.run_cell('train(\\n', store_history=True)\n"
    )
    failures = failures_in(printed("-c", script, cwd=tmp_path))
    assert [failure.type for failure in failures] == ["ValueError", "SyntaxError"]
    check(failures[:1], [(2, "<module>"), (13, "train"), (3, "call"), (6, "inner")])
    assert [frame.cell for frame in failures[0].user_frames] == [2, 1, 1, 1]
    assert failures[1].user_frames[0].cell == 3


def test_a_program_that_cannot_be_parsed(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("x = 1\nmodel.fit(x\n")
    (failure,) = failures_in(printed(str(path), cwd=tmp_path))
    assert failure.type == "SyntaxError"
    assert failure.user_frames[0].line == 2


def test_an_exception_group(tmp_path):
    code = "raise ExceptionGroup('many', [ValueError('one'), KeyError('two')])"
    types = [failure.type for failure in failures_in(printed("-c", code, cwd=tmp_path))]
    assert types in ([], ["ExceptionGroup"])
    warnings.resetwarnings()
