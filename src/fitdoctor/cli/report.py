"""`fitdoctor report`: re-render a saved diagnosis in any format."""

from __future__ import annotations

import sys

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import Parser, add_output_options, give_out
from fitdoctor.diagnosis import Diagnosis


def main(argv: list[str]) -> int:
    """Read the saved run and render it."""
    options = make_parser().parse_args(argv)
    one = len(options.saved) == 1
    give_out(read_diagnosis(options.saved[0]) if one else _cluster(options.saved), options)
    return 0


def make_parser() -> Parser:
    """The options of `report`."""
    parser = Parser("report", "Re-render a saved diagnosis in any format.", "[OPTIONS] FILE…")
    parser.add_argument(
        "saved",
        nargs="+",
        metavar="FILE",
        help="a file from `run --save` or `--output-format json`, or - for standard input; one file per worker of a cluster",
    )
    add_output_options(parser)
    return parser


def _cluster(paths: list[str]) -> Diagnosis:
    """Merge the runs of several workers."""
    from fitdoctor.facts.cluster import Member
    from fitdoctor.records import replace
    from fitdoctor.runner.cluster import read_member
    from fitdoctor.runner.together import joined

    members: list[Member] = []
    for path in paths:
        try:
            member = read_member(_bytes(path), path)
        except ValueError as error:
            raise UsageError(str(error)) from error
        # Two that name the same task are told apart by their files.
        taken = any(member.name == other.name for other in members)
        members.append(replace(member, name=path) if taken else member)
    return joined(members)


def read_diagnosis(path: str) -> Diagnosis:
    """Return the diagnosis in a file.

    Raises:
        UsageError: it cannot be read, is truncated, is not JSON, or is not a diagnosis.
    """
    from fitdoctor.runner.saved import read

    try:
        return read(_bytes(path), path)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _bytes(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error
