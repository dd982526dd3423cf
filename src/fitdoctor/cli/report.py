"""`fitdoctor report`: draw a saved diagnosis again, in any format."""

from __future__ import annotations

import sys

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import Parser, add_output_options, give_out
from fitdoctor.diagnosis import Diagnosis


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
    from fitdoctor.runner.saved import read

    try:
        return read(sys.stdin.buffer.read() if path == "-" else _bytes(path), path)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error
