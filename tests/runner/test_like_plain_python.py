"""A program cannot tell `fitdoctor run` from plain Python."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.runner.programs import doctored, plain

PROGRAMS = {
    "names": """
        import sys
        names = {k: v for k, v in globals().items() if k not in ("__loader__", "sys")}
        print(sorted((k, repr(v)) for k, v in names.items() if k != "__builtins__"))
        print(type(__loader__).__name__, __builtins__.__name__, __loader__.path, __loader__.name)
        print(sys.argv, sys.path, sys.orig_argv, sys.flags)
        print(sys.modules["__main__"].__dict__ is globals())
        """,
    "future": "x: int = 1\nprint(__annotations__)\nprint(1 / 2)\n",
    "shadow": "import queue\nimport json\nprint(queue.mine, json.__file__)\n",
    "pickle": """
        import pickle
        class Kept:
            pass
        print(type(pickle.loads(pickle.dumps(Kept()))) is Kept, Kept.__module__)
        """,
    "spawn": """
        import multiprocessing
        def square(n):
            return n * n
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            with context.Pool(2) as pool:
                print(pool.map(square, range(4)))
        """,
    "fork": """
        import os
        child = os.fork()
        if child == 0:
            print("child", flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print("parent")
        """,
    "atexit": """
        import atexit, threading, time
        atexit.register(print, "at exit")
        threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
        print("main")
        """,
    "stdin": "print([line.strip() for line in __import__('sys').stdin])\n",
    "exit_number": "import sys\nsys.exit(7)\n",
    "exit_text": "import sys\nsys.exit('that was all')\n",
    "exit_none": "import sys\nsys.exit()\n",
    "exit_hard": "import os\nprint('x', flush=True)\nos._exit(5)\n",
    "raises": """
        def outer():
            try:
                1 / 0
            except ZeroDivisionError:
                raise ValueError("no")
        outer()
        """,
    "raises_group": """
        raise ExceptionGroup("several", [ValueError("a"), TypeError("b")])
        """,
    "prints_its_own_traceback": """
        import traceback
        try:
            [][1]
        except IndexError:
            traceback.print_exc()
        """,
    "hook": """
        import sys
        sys.excepthook = lambda kind, value, trace: print("hooked", kind.__name__, trace.tb_frame.f_code.co_name)
        raise KeyError("k")
        """,
    "interrupt": "raise KeyboardInterrupt\n",
    "signal": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "encoding": "# -*- coding: latin-1 -*-\nprint('caf\u00e9')\n",
    "changes_folder": "import os\nos.chdir('/')\nraise RuntimeError('elsewhere')\n",
    "warns": "import warnings\nwarnings.warn('careful')\n",
}


def dedented(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def same(folder: Path, *words: str, stdin: str = "") -> None:
    expected = plain(folder, *words, stdin=stdin)
    found = doctored(folder, "--quiet", *words, stdin=stdin)
    assert found.stdout == expected.stdout
    assert found.stderr == expected.stderr
    status = expected.returncode
    assert found.returncode == (status if status >= 0 else 128 - status)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_plain_python_runs_it(name: str, tmp_path: Path) -> None:
    encoding = "latin-1" if name == "encoding" else "utf-8"
    (tmp_path / "program.py").write_text(dedented(PROGRAMS[name]), encoding=encoding)
    (tmp_path / "queue.py").write_text("mine = True\n") if name == "shadow" else None
    (tmp_path / "json").mkdir()  # a folder of data, not a package
    same(tmp_path, "program.py", "--smoke", "a b", "-m", stdin="one\ntwo\n")


def test_a_script_in_another_folder_finds_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "beside.py").write_text("here = __name__\n")
    (tmp_path / "inner" / "program.py").write_text(
        "import beside, sys\nprint(beside.here, sys.path[0], __file__)\n"
    )
    same(tmp_path, "inner/program.py")
    same(tmp_path, "./inner/../inner/program.py")
    (tmp_path / "link.py").symlink_to("inner/program.py")
    same(tmp_path, "link.py")


def test_a_module_of_a_package_runs_as_with_dash_m(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("print('package', __name__)\n")
    (package / "near.py").write_text("value = 3\n")
    (package / "work.py").write_text(
        "from . import near\nimport sys\nprint(near.value, __name__, __package__, __spec__.name, __file__)\n"
        "print(sys.argv, sys.path, sys.orig_argv)\nraise LookupError('lost')\n"
    )
    (package / "__main__.py").write_text(
        "from .near import value\nimport sys\nprint(value, sys.argv, __package__)\n"
    )
    same(tmp_path, "-m", "pack.work", "--keep-going", "x")
    same(tmp_path, "-m", "pack", "y")


def test_options_of_the_interpreter_reach_the_program(tmp_path: Path) -> None:
    import subprocess
    import sys

    from tests.runner.programs import environment

    (tmp_path / "program.py").write_text(
        "import sys\nprint(sys.flags.optimize, sys._xoptions, sys.orig_argv[1:4])\n"
    )
    words = [sys.executable, "-O", "-X", "fitdoctor_test"]
    found = [
        subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment(tmp_path), check=True
        ).stdout
        for command in ([*words, "program.py"], [*words, "-m", "fitdoctor", "run", "program.py"])
    ]
    assert found[0] == found[1]
    assert found[0].startswith("1 {'fitdoctor_test': True}")
