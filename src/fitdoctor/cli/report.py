"""`fitdoctor report`: draw a saved diagnosis again, in any format."""

from __future__ import annotations

import json
import sys

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import Parser, add_output_options, give_out
from fitdoctor.diagnosis import Diagnosis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(argv: list[str]) -> int:
    """Read the saved run and draw it."""
    parser = Parser("report", "Draw a saved diagnosis again.", "[OPTION…] run.json")
    parser.add_argument(
        "saved", metavar="FILE", help="what `run` or `--output-format json` wrote; - for standard input"
    )
    add_output_options(parser)
    options = parser.parse_args(argv)
    give_out(read_diagnosis(options.saved), options)
    return 0


def read_diagnosis(path: str) -> Diagnosis:
    """The diagnosis in a file.

    Raises:
        UsageError: it cannot be read, is cut short, is not JSON, or is not ours.
    """
    try:
        return Diagnosis.from_json(_parsed(path))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"`{path}`: {error}") from error


def _parsed(path: str) -> Any:
    try:
        raw = sys.stdin.buffer.read() if path == "-" else _bytes(path)
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not JSON: it is not text") from error
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()):
            raise UsageError(f"`{path}` is cut short: it ends in the middle (line {error.lineno})") from error
        raise UsageError(f"`{path}` is not JSON: {error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise UsageError(f"`{path}` is not a diagnosis: it is nested too deeply") from error


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error
