"""The JSON Schemas of a diagnosis and of a prediction of memory, from the classes that are written as JSON."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from typing import Any

from fitdoctor.diagnosis import SCHEMA_VERSION, Diagnosis
from fitdoctor.memory.prediction import Prediction

ALWAYS = ("schema_version", "tool", "findings", "skipped", "crashes", "unexplained", "excerpts")
"""What every diagnosis has; the other fields are there when there is something to say."""

_TOOL = {
    "type": "object",
    "required": ["name", "version"],
    "properties": {"name": {"const": "fitdoctor"}, "version": {"type": "string"}},
}


def schema() -> dict[str, Any]:
    """Return the schema. Fields may be added within a version, so unknown ones are allowed."""
    definitions: dict[str, Any] = {}
    hints = typing.get_type_hints(Diagnosis)
    fields = {
        field.name: _schema_of(hints[field.name], definitions)
        for field in dataclasses.fields(Diagnosis)
        if field.name != "tool_version"
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fitdoctor diagnosis",
        "description": "What `--output-format json` writes and `fitdoctor report` reads.",
        "type": "object",
        "required": list(ALWAYS),
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "tool": _TOOL,
            **fields,
            "environment": {
                "type": "object",
                "description": "Only for `env`: versions, settings and devices.",
            },
        },
        "$defs": dict(sorted(definitions.items())),
    }


def memory_schema() -> dict[str, Any]:
    """Return the schema of what `memory` writes."""
    definitions: dict[str, Any] = {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fitdoctor memory prediction",
        "description": "What `fitdoctor memory --output-format json` writes.",
        "type": "object",
        "required": ["schema_version", "tool", "memory"],
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "tool": _TOOL,
            "memory": _schema_of(Prediction, definitions),
        },
        "$defs": dict(sorted(definitions.items())),
    }


SCHEMAS = {
    f"schema/diagnosis-{SCHEMA_VERSION}.json": schema,
    f"schema/memory-{SCHEMA_VERSION}.json": memory_schema,
}
"""Where the site publishes them."""


def texts() -> dict[str, str]:
    """Return the schemas as the site serves them, by path."""
    return {path: json.dumps(make(), indent=2) + "\n" for path, make in SCHEMAS.items()}


def _schema_of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema_of(each, definitions) for each in arguments]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is tuple:
        items = [_schema_of(each, definitions) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if dataclasses.is_dataclass(annotation):
        return _object(typing.cast(type, annotation), definitions)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return {"enum": [member.value for member in annotation]}
    plain = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    return {"type": plain[annotation]} if annotation in plain else {}


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # a class may refer to itself
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind)]
        definitions[kind.__name__] = {
            "description": (kind.__doc__ or "").split("\n")[0],
            "type": "object",
            "required": names,
            "properties": {name: _schema_of(hints[name], definitions) for name in names},
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}
