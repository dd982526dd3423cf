"""`fitdoctor memory`: the peak memory of a training step, and the largest batch that fits."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import time
from typing import Any

from fitdoctor.cli import UsageError
from fitdoctor.cli.find_model import model_at
from fitdoctor.cli.first_fit import up_to_first_fit
from fitdoctor.cli.options import Parser, put, terminal_width
from fitdoctor.cli.progress import status

DESCRIPTION = """\
Predict the peak memory of one training step, and the largest batch size that fits.

MODEL is FILE.py, FILE.py:NAME or MODULE:NAME. NAME is a compiled model, or a function without required arguments that
returns one. Without NAME, it is the first `fit` of the file, with its data and batch size, or else the only model in the
file. The file runs up to its first `fit`; nothing is trained.
"""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def main(argv: list[str]) -> int:
    """Predict and report.

    Returns:
        0 if the batch fits, 1 if it does not, 2 if that cannot be predicted.
    """
    started = time.time()
    options = make_parser().parse_args(argv)
    if options.batch_size is not None and options.batch_size < 1:
        raise UsageError(f"`--batch-size` must be 1 or more, not {options.batch_size}")
    shape = _shapes(options.input_shape)
    free = None if options.available is None else _bytes(options.available)
    with status(f"importing {options.model}") as show:
        with up_to_first_fit() as first:
            x, y, weight = _data(options.data)
            name, model = model_at(options.model, first)
        size = options.batch_size
        if options.data is None and model is first.model and not inspect.isgenerator(first.given.get("x")):
            x, y, weight = map(first.given.get, ("x", "y", "sample_weight"))
            size = size or first.given.get("batch_size")
        show(f"tracing a training step of {name}")
        from fitdoctor.api import MemoryUnknown, memory

        try:
            prediction = memory(
                model,
                x,
                y,
                weight,
                batch_size=size,
                input_shape=shape,
                available=free,
                quick=options.quick,
            )
        except MemoryUnknown as error:
            raise UsageError(f"`{name}`: {error}") from error
    _give_out(prediction, options, started)
    return 1 if prediction.fits is False else 0


def _give_out(prediction: Any, options: argparse.Namespace, started: float) -> None:
    from fitdoctor.report import RenderError
    from fitdoctor.report.memory import render_memory
    from fitdoctor.runner.invocation import invocation

    try:
        drawn = render_memory(
            prediction,
            options.output_format,
            width=terminal_width(None if options.output_file else sys.stdout),
            invocation=invocation("memory", options.model, (), started, time.time() - started),
        )
    except RenderError as error:
        raise UsageError(str(error)) from error
    put(drawn, options)


def make_parser() -> Parser:
    """The options of `memory`."""
    from fitdoctor.report.memory import FORMATS

    parser = Parser("memory", DESCRIPTION, "[OPTIONS] MODEL")
    add = parser.add_argument
    add("model", metavar="MODEL", help="FILE.py, FILE.py:NAME or MODULE:NAME")
    add("--batch-size", type=int, metavar="N", help="default: that of `fit` or of the data, or 32")
    add(
        "--data",
        metavar="MODULE:NAME",
        help="the data for fit: x, (x, y), a dataset, or a function that returns one of these",
    )
    add(
        "--input-shape",
        action="append",
        default=[],
        metavar="[NAME=]N,N,…",
        help="input shape without the batch axis, if the model leaves it open; repeat for each input",
    )
    add(
        "--available",
        metavar="SIZE",
        help="available memory, such as 8G (default: what is free on this machine)",
    )
    add("--quick", action="store_true", help="estimate from the layer shapes, without tracing the step")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS)
    )
    group.add_argument("--output-file", metavar="FILE", help="write the report to FILE")
    return parser


def _named(spec: str) -> Any:
    """Return the object that MODULE:NAME refers to, or what the function of that name returns."""
    from fitdoctor.scan.opening import made, named
    from fitdoctor.scan.pieces import CannotScan

    try:
        found = named(spec)
        return made(spec, found) if inspect.isroutine(found) or inspect.isclass(found) else found
    except CannotScan as error:
        raise UsageError(str(error)) from error


def _data(spec: str | None) -> tuple[Any, Any, Any]:
    if spec is None:
        return None, None, None
    data = _named(spec)
    if isinstance(data, tuple) and 1 < len(data) <= 3:
        x, y, weight = (*data, None)[:3]
        return x, y, weight
    return data, None, None


def _shapes(words: list[str]) -> Any:
    """One shape, a list of them, or a dict by name."""
    if not words:
        return None
    pairs = []
    for word in words:
        name, equals, sizes = word.rpartition("=")
        numbers = sizes.strip("() ").split(",")
        if not all(number.strip().isdigit() and int(number) > 0 for number in numbers if number.strip()):
            raise UsageError(f"`--input-shape {word}`: expected integers, such as 224,224,3")
        pairs.append((name if equals else "", tuple(int(number) for number in numbers if number.strip())))
    if all(name for name, _shape in pairs):
        return dict(pairs)
    if any(name for name, _shape in pairs):
        raise UsageError("`--input-shape`: name either all inputs or none")
    return pairs[0][1] if len(pairs) == 1 else [shape for _name, shape in pairs]


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise UsageError(f"`--available {text}`: expected a size such as 8G or 512M")
    return round(float(match[1]) * _UNITS[match[2].upper()])
