"""The child of `run`: becomes the user's program as Python itself would start it, with fitdoctor watching.

Run as a file, never imported. The program is started from the top level of this file, so that the interpreter
handles its exceptions as usual (traceback, exit status, Ctrl-C); only this file's frame is removed from them.
"""

import importlib.util
import os
import sys


def _load_fitdoctor() -> None:
    """Import the package that this file belongs to, without adding to the program's `sys.path`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.util.spec_from_file_location(
        "fitdoctor", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fitdoctor"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    _before = frozenset(sys.modules)
    if not sys.flags.safe_path:
        del sys.path[0]
    _load_fitdoctor()
    from fitdoctor.runner.child import begin, ended

    _run, _arguments = begin(sys.argv[1], _before)
    try:
        _run(*_arguments)
    except BaseException as _error:
        _error.__traceback__ = _error.__traceback__.tb_next if _error.__traceback__ else None
        ended(_error)
        # A bare `raise` adds no frame of this file to the traceback again.
        raise
    else:
        ended(None)
