"""`argparse` options, with the defaults of a program started without arguments."""

from __future__ import annotations

import ast

from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles_method
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Class,
    InstanceRecord,
    Items,
    Made,
    Plain,
    Value,
    with_attribute,
)

_PARSER = "argparse.ArgumentParser"
_NAMESPACE = Class(ast.ClassDef("Namespace", [], [], [], []), 0)


@handles_method(f"{_PARSER}.add_argument")
def _option(run: Interpreter, arguments: Arguments) -> Value:
    parser, *flags = arguments.positional
    named = _destination(flags, arguments)
    if isinstance(parser, Made) and parser.node is not None and named:
        known = run.options.get(parser.node, ())
        run.options[parser.node] = with_attribute(known, named, _default(arguments))
    return UNTOLD


def _destination(flags: list[Value], arguments: Arguments) -> str:
    given = arguments.get("dest")
    if given is not None:
        return str(given.value) if isinstance(given, Plain) else ""
    words = [flag.value for flag in flags if isinstance(flag, Plain) and isinstance(flag.value, str)]
    if len(words) != len(flags) or not words:
        return ""
    chosen = next((word for word in words if word.startswith("--")), words[0])
    return chosen.lstrip("-").replace("-", "_")


def _default(arguments: Arguments) -> Value:
    """Return the literal default of an option; Unknown for switches and required options."""
    value = arguments.get("default")
    if value is None or value == Plain(None) or {"action", "nargs", "required"} & set(arguments.names()):
        return UNTOLD
    if isinstance(value, Plain) and isinstance(value.value, bool):
        return UNTOLD
    return value


@handles_method(f"{_PARSER}.parse_args")
def _parsed(run: Interpreter, arguments: Arguments) -> Value:
    return _namespace(run, arguments)


@handles_method(f"{_PARSER}.parse_known_args")
def _partly_parsed(run: Interpreter, arguments: Arguments) -> Value:
    return Items((_namespace(run, arguments), UNTOLD))


def _namespace(run: Interpreter, arguments: Arguments) -> Value:
    parser = arguments.positional[0]
    # Arguments that the program itself passes replace the defaults.
    given = len(arguments.positional) > 1 or arguments.keywords
    node = parser.node if isinstance(parser, Made) and not given else None
    options = () if node is None else run.options.get(node, ())
    return run.allocate(InstanceRecord(_NAMESPACE, options, open=True))
