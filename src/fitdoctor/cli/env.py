"""`fitdoctor env`: the versions, settings and devices that matter to `fit`, and their conflicts."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fitdoctor.cli.options import Parser, add_output_options, give_out, put, terminal_width
from fitdoctor.cli.progress import status
from fitdoctor.diagnosis import Confidence, Diagnosis, Evidence, Finding, Severity
from fitdoctor.facts import EnvironmentFacts
from fitdoctor.quiet_start import text_without_noise
from fitdoctor.tables import table

_PATIENCE = 120
"""Seconds that TensorFlow may take to start."""
_ASK = """
import json, sys
import tensorflow as tf
print("fitdoctor:" + json.dumps([device.name for device in tf.config.list_physical_devices()]))
"""


def main(argv: list[str]) -> int:
    """Examine the environment and report."""
    options = make_parser().parse_args(argv)
    from fitdoctor.collect.environment import environment

    facts = environment(with_conflicts=True)
    devices, failed = _devices() if options.devices and facts.keras_of_tf else ([], None)
    diagnosis = _examined(facts, failed)
    if options.output_format == "json":
        _give_json(diagnosis, facts, devices, options)
    else:
        if options.output_format == "text" and not options.output_file:
            print(_table(facts, devices, asked=options.devices))
        if diagnosis.findings or diagnosis.unexplained or options.output_format not in ("text", "concise"):
            give_out(diagnosis, options)
        elif options.output_format == "text":
            print("no problems found in this environment")
    limit = Severity(options.fail_on)
    return 1 if diagnosis.at_least(limit) or diagnosis.unexplained else 0


def make_parser() -> Parser:
    """The options of `env`."""
    parser = Parser(
        "env",
        "Show the versions, settings and conflicts that matter to `fit`, without importing TensorFlow.",
        "[OPTIONS]",
    )
    parser.add_argument(
        "--devices", action="store_true", help="start TensorFlow in a separate process and list its devices"
    )
    parser.add_argument(
        "--fail-on",
        choices=[severity.value for severity in Severity],
        default="error",
        metavar="SEVERITY",
        help="exit 1 at this severity or above: error (default), warning, info",
    )
    add_output_options(parser)
    return parser


# --- devices ------------------------------------------------------------------------------------------------------


def _devices() -> tuple[list[str], str | None]:
    """Return the devices as TensorFlow names them, or what it wrote when it could not start."""
    try:
        with status("starting TensorFlow to list its devices"):
            done = subprocess.run(
                [sys.executable, "-c", _ASK],
                check=False,
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                errors="replace",
            )
    except subprocess.TimeoutExpired:
        return [], f"TimeoutError: TensorFlow did not start within {_PATIENCE} seconds"
    for line in done.stdout.splitlines():
        if line.startswith("fitdoctor:"):
            return json.loads(line.removeprefix("fitdoctor:")), None
    written = text_without_noise(done.stderr)
    return [], written or f"RuntimeError: the process ended with exit status {done.returncode}"


# --- what is wrong ------------------------------------------------------------------------------------------------


def _examined(facts: EnvironmentFacts, failed: str | None) -> Diagnosis:
    """Return the conflicts, an unusable TF_CONFIG, and why TensorFlow did not start."""
    from fitdoctor import __version__
    from fitdoctor.diagnose import examine_failure
    from fitdoctor.failure.text import failures_in

    diagnosis = Diagnosis(tool_version=__version__)
    failures = failures_in(failed) if failed is not None else []
    if failures:
        diagnosis = examine_failure(failures[-1], environment=facts)
    found = {(each.id, each.message): each for each in (*diagnosis.findings, *_standing(facts))}
    return replace(diagnosis, findings=tuple(each.with_fingerprint("") for each in found.values()))


def _standing(facts: EnvironmentFacts) -> Iterator[Finding]:
    """Return what is wrong before anything is started."""
    from fitdoctor.catalogue import catalogue
    from fitdoctor.edits import fix
    from fitdoctor.facts import Unknown
    from fitdoctor.facts.cluster import config_problems

    if not facts.keras_of_tf and facts.backend == "tensorflow":
        yield from _no_tensorflow()
    for conflict in () if isinstance(facts.conflicts, Unknown) else facts.conflicts:
        yield catalogue()["FIT901"].finding(
            conflict.problem,
            None,
            Evidence("source", conflict.source),
            fix(conflict.remedy),
            subject=f"{conflict.first} and {conflict.second}",
        )
    for wrong in config_problems(facts.cluster_config):
        yield catalogue()["FIT606"].finding(
            wrong.text,
            None,
            fix(wrong.remedy or "write it with `json.dumps`: `cluster` and `task`"),
            subject="TF_CONFIG",
            confidence=Confidence.CERTAIN,
            severity=Severity.ERROR if wrong.fails else Severity.WARNING,
        )
    for problem in facts.problems:
        yield catalogue()["FIT904"].finding(
            problem,
            None,
            fix("fix or delete the file; Keras then writes a new one"),
            subject="keras.json",
            severity=Severity.ERROR if problem.endswith("fails") else Severity.WARNING,
        )
    if facts.backend != "tensorflow" and not facts.legacy_keras:
        problem, fails = _of_backend(facts)
        yield catalogue()["FIT904"].finding(
            problem,
            None,
            Evidence("set by", facts.backend_set_by),
            fix("remove `KERAS_BACKEND` (and `backend` in keras.json) to train on TensorFlow"),
            subject="backend",
            severity=Severity.ERROR if fails else Severity.INFO,
        )


def _of_backend(facts: EnvironmentFacts) -> tuple[str, bool]:
    """Return what a backend other than TensorFlow means, and whether Keras cannot be imported with it."""
    from importlib.machinery import PathFinder

    if facts.backend not in ("jax", "torch", "numpy", "openvino"):
        return f"Keras has no backend `{facts.backend}`, so importing Keras fails", True
    if PathFinder.find_spec(facts.backend) is None:
        return (
            f"Keras is configured to use the backend `{facts.backend}`, which is not installed, so importing Keras fails",
            True,
        )
    return f"Keras runs on the backend `{facts.backend}`, not on TensorFlow", False


def _no_tensorflow() -> Iterator[Finding]:
    """Report that this Python has no TensorFlow, or only its remains."""
    from importlib.machinery import PathFinder

    from fitdoctor.catalogue import catalogue
    from fitdoctor.edits import fix

    spec = PathFinder.find_spec("tensorflow")
    if spec is None:
        yield catalogue()["FIT901"].finding(
            f"TensorFlow is not installed for {sys.executable}",
            None,
            fix("install it: `python -m pip install tensorflow`"),
            subject="installed packages",
            confidence=Confidence.CERTAIN,
        )
    elif spec.origin is None:
        folder = next(iter(spec.submodule_search_locations or ()), "tensorflow")
        yield catalogue()["FIT907"].finding(
            f"`import tensorflow` imports the empty folder `{folder}` instead of the package",
            None,
            fix(f"delete or rename `{folder}`, and install TensorFlow"),
            subject="import of tensorflow",
        )


# --- telling ------------------------------------------------------------------------------------------------------


def _table(facts: EnvironmentFacts, devices: list[str], *, asked: bool) -> str:
    rows = [("Python", facts.python), *facts.packages]
    chosen = " (TF_USE_LEGACY_KERAS)" if facts.legacy_keras and facts.keras_of_tf else ""
    rows.append(("tf.keras", f"{facts.keras_of_tf}{chosen}" or "TensorFlow is not installed"))
    if not facts.legacy_keras:
        rows.append(("Keras backend", f"{facts.backend} ({facts.backend_set_by})"))
    if facts.cluster_config:
        rows.append(("TF_CONFIG", facts.cluster_config.replace("\n", " ")[:200]))
    if asked:
        rows.append(("devices", ", ".join(devices) or "TensorFlow did not start"))
    return "\n".join(table(rows, terminal_width(sys.stdout), wrap=1)) + "\n"


def _give_json(
    diagnosis: Diagnosis, facts: EnvironmentFacts, devices: list[str], options: argparse.Namespace
) -> None:
    from fitdoctor.json_codec import to_plain

    plain: dict[str, Any] = {**diagnosis.to_json(), "environment": to_plain(facts)}
    if options.devices:
        plain["environment"]["devices"] = devices
    text = json.dumps(plain, indent=2, allow_nan=False) + "\n"
    put(text, options)
