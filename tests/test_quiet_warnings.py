"""Our own work without warnings leaves the program's warnings as they are."""

from __future__ import annotations

import sys
import types
import warnings

import pytest

from fitdoctor.quiet_warnings import warnings_silenced


@pytest.fixture
def warn(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module that warns from one line, beside a program that trains."""
    module = types.ModuleType("warns_from_one_line")
    exec(
        "import warnings\ndef warn():\n    warnings.warn('once is enough', UserWarning, stacklevel=1)\n",
        vars(module),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "tensorflow", types.ModuleType("tensorflow"))
    return module


def told(warn: types.ModuleType, within: bool) -> int:
    count = []
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda *_args, **_kwargs: count.append(1)  # type: ignore[assignment]
        warn.warn()
        with warnings_silenced():
            if within:
                warn.warn()
        warn.warn()
    return len(count)


@pytest.mark.parametrize("within", [False, True])
def test_what_was_told_once_is_not_told_again(warn: types.ModuleType, within: bool) -> None:
    assert told(warn, within) == 1


def test_what_was_silenced_is_told_when_the_program_comes_to_it(warn: types.ModuleType) -> None:
    count = []
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda *_args, **_kwargs: count.append(1)  # type: ignore[assignment]
        with warnings_silenced():
            warn.warn()
        assert not count
        warn.warn()
    assert len(count) == 1


def test_warnings_that_raise_do_not_raise_for_us(warn: types.ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with warnings_silenced():
            warn.warn()
