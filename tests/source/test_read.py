"""Files and notebooks of all kinds are read, or refused with a reason."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitdoctor.source.module import Module
from fitdoctor.source.read import SourceError, display_path, read_source, source_from_text, without_magics


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def notebook(folder: Path, *cells: str, **metadata: Any) -> Path:
    listed = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return write(folder, "n.ipynb", json.dumps({"cells": listed, "metadata": metadata, "nbformat": 4}))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b"x = 1\r\ny = 2\rz = 3\n", "x = 1\ny = 2\nz = 3\n"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "x = 'é'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", None),
    ],
)
def test_text_is_decoded_as_python_does(tmp_path: Path, content: bytes, text: str | None) -> None:
    read = read_source(write(tmp_path, "a.py", content)).text
    assert read == text if text is not None else "€" in read
    Module(source_from_text(read, "a.py"))


def test_a_coding_comment_below_code_declares_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "a.py", b"x = 1\n# coding: ascii\ny = '\xc3\xa9'\n")
    assert "é" in read_source(path).text


@pytest.mark.parametrize(
    ("content", "words", "line"),
    [
        (b"x = '\xe9'\n", "not utf-8 text", 1),
        (b"# coding: klingon\n", "unknown encoding `klingon`", 1),
    ],
)
def test_text_that_cannot_be_decoded_is_refused(
    tmp_path: Path, content: bytes, words: str, line: int
) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        read_source(write(tmp_path, "a.py", content))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = = 1\n", "not valid Python"),
        ("x = 1\0\n", "not valid Python"),
        ("(" * 5000, "nested|too many"),
        ("-" * 200_000 + "1", "nested too deeply"),
        ("x" + ".a" * 100_000, "nested too deeply"),
        ("if x:\n\ty = 1\n        z = 2\n", "not valid Python"),
    ],
)
def test_what_is_not_python_is_refused_and_nothing_crashes(text: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        Module(source_from_text(text, "a.py"))


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(SourceError) as caught:
        Module(source_from_text("x = 1\ny = (\n", "a.py"))
    assert (caught.value.path, caught.value.line) == ("a.py", 2)
    assert str(caught.value).startswith("a.py:2: not valid Python")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.py", tmp_path):
        with pytest.raises(SourceError, match="cannot be read"):
            read_source(path)


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fitdoctor.source.read.MAX_BYTES", 2**20)
    with pytest.raises(SourceError, match="larger than 1 MiB"):
        read_source(write(tmp_path, "a.py", b"#" * (2**20 + 1)))


def test_long_files_are_read() -> None:
    module = Module(source_from_text("x = f(1)\n" * 40_000, "a.py"))
    assert len(module.calls) == 40_000
    assert module.location(module.calls[-1].node).line == 40_000


def test_invalid_escapes_print_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    Module(source_from_text("x = '\\d'\n", "a.py"))
    assert not recwarn.list


def test_paths_below_the_working_directory_are_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert display_path(tmp_path / "a" / "b.py") == str(Path("a") / "b.py")
    assert display_path("./a.py") == "a.py"
    assert display_path(tmp_path.parent / "b.py") == str(tmp_path.parent / "b.py")
    assert display_path("<string>") == "<string>"


# --- notebooks ----------------------------------------------------------------------------------------------------


def test_locations_count_in_the_cell(tmp_path: Path) -> None:
    module = Module(read_source(notebook(tmp_path, "import numpy as np\n", "", "# é\nx = 1\ny = f('é', np)")))
    call = module.calls[0]
    place = module.location(call.node)
    assert (place.cell, place.line, place.column, place.end_column) == (3, 3, 5, 15)
    assert module.code(call.node).text == "f('é', np)"


def test_imports_go_into_the_cell_of_the_imports(tmp_path: Path) -> None:
    module = Module(read_source(notebook(tmp_path, "%pip install x\nimport numpy as np", "x = f(1)")))
    place = module.code(module.calls[0].node).import_at
    assert place is not None
    assert (place.cell, place.line, place.column) == (1, 2, 1)


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install 'a b' (\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls\n    y = 1", "if x:\n    pass\n    y = 1"),
        ("!a \\\n  b \\\n  c\nx = 1", "pass\n\n\nx = 1"),
        ("%%bash\nls -l\ncat x", "\n\n"),
        ("\n%%time\nmodel.fit(x)", "\n\nmodel.fit(x)"),
        (" %%time\nmodel.fit(x)", "\nmodel.fit(x)"),
        ("  x = 1\ny = 2", "x = 1\ny = 2"),
        ("model.fit?", "pass"),
        ("?model.fit", "pass"),
        ("files = !ls *.py", "files = get_ipython()"),
        ("x = (5\n% 3)\n!ls", "x = (5\n% 3)\npass"),
        ("s = '''\n!not a command\n'''\n!ls", "s = '''\n!not a command\n'''\npass"),
        ("x = 7 \\\n% 3", "x = 7 \\\n% 3"),
        ("d['a=%d'] = 'b' # why?", "d['a=%d'] = 'b' # why?"),
        ("    x = 1\n    if x:\n        y = 2", "x = 1\nif x:\n    y = 2"),
        ("  !ls\n  x = 1", "pass\nx = 1"),
        ("pip install keras\nimport keras", "pass\nimport keras"),
        ("cd ../data\nx = 1", "pass\nx = 1"),
        ("if x:\n    pip install keras", "if x:\n    pass"),
        ("run = 3\nrun - 1\n!ls", "run = 3\nrun - 1\npass"),
        ("%timeit for i in range(3): f(i)", "for i in range(3): f(i)"),
        ("%time for i in x:\n    f(i)", "for i in x:\n    f(i)"),
    ],
)
def test_magics_are_blanked_out(cell: str, python: str) -> None:
    assert without_magics(cell) == python
    ast.parse(python)


def test_code_behind_a_magic_keeps_its_column() -> None:
    cell = "%time model.fit(x)"
    blanked = without_magics(cell)
    assert blanked.index("model.fit") == cell.index("model.fit")
    assert isinstance(ast.parse(blanked).body[-1], ast.Expr)


@given(
    st.lists(
        st.sampled_from(["x = 1", "%magic a", "!ls (", "if x:", "    y = 2", "'''", "(", ")", "%%bash", "a?"])
    )
)
def test_blanking_keeps_the_count_of_lines(lines: list[str]) -> None:
    cell = "\n".join(lines)
    assert without_magics(cell).count("\n") == cell.count("\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not a notebook"),
        ("[]", "no `cells`"),
        ('{"cells": 3}', "no `cells`"),
        ('{"cells": [3]}', "a cell is not an object"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "source is not text"),
        ('{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}', "written in r"),
        ("[" * 100_000, "not a notebook"),
    ],
)
def test_broken_notebooks_are_refused(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        read_source(write(tmp_path, "n.ipynb", content))


def test_a_syntax_error_in_a_notebook_names_cell_and_line(tmp_path: Path) -> None:
    facts = read_source(notebook(tmp_path, "x = 1", "y = 2\nz = = 3"))
    with pytest.raises(SourceError) as caught:
        Module(facts)
    assert (caught.value.cell, caught.value.line) == (2, 2)


def test_old_notebooks_are_read(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}, {"cell_type": "markdown", "source": "!"}]
    path = write(tmp_path, "n.ipynb", json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    assert read_source(path).cells == ("x = 1\ny = 2",)


def test_markdown_cells_are_not_counted(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": "f(1)"}]
    module = Module(read_source(write(tmp_path, "n.ipynb", json.dumps({"cells": cells, "metadata": {}}))))
    assert module.location(module.calls[0].node).cell == 1


@pytest.mark.parametrize(
    ("text", "keras"),
    [
        ("import keras\n", 3),
        ("import tf_keras as keras\n", 2),
        ("from tf_keras.layers import Dense\n", 2),
        ("import tf_keras\nfrom tensorflow import keras\n", 3),
        ('import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\nimport tensorflow as tf\n', 2),
        ("os.environ.setdefault('TF_USE_LEGACY_KERAS', '1')\n", 2),
        ('os.environ["TF_USE_LEGACY_KERAS"] = "0"\n', 3),
        ("# tf_keras is not what is meant here\nimport keras\n", 3),
    ],
)
def test_a_file_says_which_keras_it_is_for(text, keras):
    assert source_from_text(text, "train.py").keras == keras
