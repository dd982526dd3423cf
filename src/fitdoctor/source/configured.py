"""Where a configuration value is written: a dataclass field, a class attribute, a namespace, an `argparse` default."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.source.definitions import ClassInfo
from fitdoctor.source.module import Module

_NAMESPACES = ("types.SimpleNamespace", "argparse.Namespace")


def configured_value(module: Module, made: ast.expr, name: str) -> tuple[Module, ast.expr] | None:
    """Return the expression for an attribute of a configuration object, with its module.

    Args:
        module: the file.
        made: the expression that creates the object.
        name: the attribute.
    """
    if not isinstance(made, ast.Call):
        return None
    if isinstance(made.func, ast.Attribute) and made.func.attr in ("parse_args", "parse_known_args"):
        default = _option_default(module, name)
        return (module, default) if default is not None else None
    given = next((keyword.value for keyword in made.keywords if keyword.arg == name), None)
    if module.resolve(made.func) in _NAMESPACES:
        return (module, given) if given is not None else None
    owner = module.definition(made.func)
    if not isinstance(owner, ClassInfo):
        return None
    return _field(module, made, owner, name, given)


def _field(
    module: Module, made: ast.Call, owner: ClassInfo, name: str, given: ast.expr | None
) -> tuple[Module, ast.expr] | None:
    """The argument for a field of a dataclass, else the field's default, or an attribute of the class."""
    if any(keyword.arg is None for keyword in made.keywords):
        return None
    fields = [field for ancestor in reversed(owner.ancestry) for field in _fields(ancestor)]
    names = list(dict.fromkeys(field[1] for field in fields))
    if _is_record(owner):
        position = names.index(name) if name in names else -1
        if given is None and 0 <= position < len(made.args):
            given = made.args[position]
        if given is not None:
            return module, given
    elif owner.module.method(owner, "__init__") is not None:
        return None
    defaults = [(where, value) for where, field, value in fields if field == name and value is not None]
    if not defaults:
        return None
    where, value = defaults[-1]
    return where, _plain_default(where, value)


def _fields(owner: ClassInfo) -> Iterator[tuple[Module, str, ast.expr | None]]:
    for statement in owner.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield owner.module, statement.target.id, statement.value
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield owner.module, statement.targets[0].id, statement.value


def _is_record(owner: ClassInfo) -> bool:
    decorators = [each.func if isinstance(each, ast.Call) else each for each in owner.node.decorator_list]
    names = [owner.module.resolve(each) for each in (*decorators, *owner.node.bases)]
    return any(name in ("dataclasses.dataclass", "typing.NamedTuple", "pydantic.BaseModel") for name in names)


def _plain_default(module: Module, value: ast.expr) -> ast.expr:
    """`field(default=3)` is 3."""
    if isinstance(value, ast.Call) and module.resolve(value.func) == "dataclasses.field":
        return next((each.value for each in value.keywords if each.arg == "default"), value)
    return value


def _option_default(module: Module, name: str) -> ast.expr | None:
    """The default of a command-line option; None if two options have this name."""
    found = []
    for site in module.method_calls("add_argument"):
        words = [each.value for each in site.node.args if isinstance(each, ast.Constant)]
        flags = [word for word in words if isinstance(word, str)]
        chosen = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
        own = site.argument("dest")
        dest = own.value if isinstance(own, ast.Constant) else chosen.lstrip("-").replace("-", "_")
        default = site.argument("default")
        if dest == name and default is not None and not _is_converted(site.argument("type"), default):
            found.append(default)
    return found[0] if len(found) == 1 else None


def _is_converted(kind: ast.expr | None, default: ast.expr) -> bool:
    """Whether `argparse` parses a default that is written as text."""
    text = isinstance(default, ast.Constant) and isinstance(default.value, str)
    return text and kind is not None and getattr(kind, "id", "") != "str"
