"""`dataclass`, `field` and `replace` as in the standard library, for commands that must start at once.

A `lint` defines 145 of these classes and makes instances of 61. The standard decorator writes and compiles the methods
of each at once, in half a millisecond (Python 3.11): `lint` on a small file would take 15 times as long as `python -c
pass`, and 12 times if the standard decorator were only applied to classes in use; the bar is 8. Here `__init__` is
written when instances are made. To everybody who asks (`dataclasses.fields`, `is_dataclass`, `replace`), what is made
is a dataclass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter

    _NONE = object()

    class field:
        """How a field is made, shown and compared, where that needs saying."""

        def __init__(self, *, default=_NONE, default_factory=_NONE, repr=True, compare=True):
            self.default = default
            self.default_factory = default_factory
            self.repr = repr
            self.compare = compare

    def dataclass(cls=None, /, *, frozen=False, eq=True, order=False):
        """Give a class what a dataclass has."""
        if cls is None:
            return lambda given: dataclass(given, frozen=frozen, eq=eq, order=order)
        cls._record_fields = fields = _fields_of(cls)
        cls.__match_args__ = tuple(fields)
        cls.__dataclass_fields__, cls.__signature__ = _StandardFields(), _Signature()
        cls.__init__ = _first_init(cls)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _repr
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        if eq:
            key = _key(name for name, entry in fields.items() if entry.compare)
            cls.__eq__ = lambda one, other: (
                key(one) == key(other) if other.__class__ is one.__class__ else NotImplemented
            )
            cls.__hash__ = (lambda one: hash(key(one))) if frozen else None
        if order:
            cls.__lt__ = lambda one, other: (
                key(one) < key(other) if other.__class__ is one.__class__ else NotImplemented
            )
        return cls

    def replace(record, /, **changes):
        """The record with other values in some fields."""
        for name in getattr(record, "_record_fields", None) or record.__dataclass_fields__:
            if name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)

    def _fields_of(cls):
        fields = dict(getattr(cls, "_record_fields", {}))
        for name in cls.__dict__.get("__annotations__", ()):  # noqa: RUF063 - inspect is slow to import
            given = cls.__dict__.get(name, _NONE)
            fields[name] = given if isinstance(given, field) else field(default=given)
            if given is fields[name]:
                delattr(cls, name)
                if given.default is not _NONE:
                    setattr(cls, name, given.default)
        return fields

    def _key(names):
        names = tuple(names)
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda one: (getattr(one, names[0]),)) if names else (lambda one: ())

    def _first_init(cls):
        """An `__init__` for the first few instances: writing and compiling one costs as much as thirty of them."""
        fields = cls._record_fields
        names, left = tuple(fields), 10

        def __init__(self, *arguments, **keywords):
            nonlocal left
            left -= 1
            given = dict(zip(names, arguments))  # noqa: B905 - the written one complains of too many
            if not left or len(arguments) > len(names) or given.keys() & keywords.keys():
                cls.__init__ = _written_init(cls)
                return cls.__init__(self, *arguments, **keywords)
            given.update(keywords)
            values = self.__dict__
            for name, entry in fields.items():
                if name in given:
                    values[name] = given.pop(name)
                elif entry.default is not _NONE:
                    values[name] = entry.default
                elif entry.default_factory is not _NONE:
                    values[name] = entry.default_factory()
                else:
                    break
            else:
                if not given:
                    return self.__post_init__() if hasattr(self, "__post_init__") else None
            # Something is missing or strange: the written one says what.
            return _written_init(cls)(self, *arguments, **keywords)

        return __init__

    def _written_init(cls):
        outside = {"_NONE": _NONE}
        parameters, lines = [], []
        for name, entry in cls._record_fields.items():
            value = name
            if entry.default is not _NONE:
                outside["_default_" + name] = entry.default
                parameters.append(f"{name}=_default_{name}")
            elif entry.default_factory is not _NONE:
                outside["_make_" + name] = entry.default_factory
                parameters.append(f"{name}=_NONE")
                value = f"_make_{name}() if {name} is _NONE else {name}"
            else:
                parameters.append(name)
            # Straight into the dictionary: a frozen class refuses the ordinary way.
            lines.append(f" _values[{name!r}] = {value}\n")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()\n")
        head = f"def __init__({', '.join(['self', *parameters])}):\n _values = self.__dict__\n"
        exec(head + "".join(lines), outside)
        outside["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return outside["__init__"]

    def _repr(self):
        shown = [name for name, entry in self._record_fields.items() if entry.repr]
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({inside})"

    def _refuse(self, name, value=None):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    class _Signature:
        """What `inspect.signature` shows of a class."""

        def __get__(self, instance, owner):
            import inspect

            signature = inspect.signature(_written_init(owner))
            return signature.replace(parameters=list(signature.parameters.values())[1:])

    class _StandardFields:
        """The fields as the standard library describes them, made for those who ask it."""

        def __init__(self):
            self._made = {}

        def __get__(self, instance, owner):
            # Asked for once a value by whoever reads plain data: making them takes a millisecond.
            if owner not in self._made:
                self._made[owner] = self._fields_of(owner)
            return self._made[owner]

        def _fields_of(self, owner):
            import dataclasses

            standard = {}
            for name, entry in owner._record_fields.items():
                options = {"repr": entry.repr, "compare": entry.compare}
                for option in ("default", "default_factory"):
                    if getattr(entry, option) is not _NONE:
                        options[option] = getattr(entry, option)
                standard[name] = dataclasses.field(**options)
            annotations = dict.fromkeys(standard, "object")
            twin = dataclasses.dataclass(type("Twin", (), {"__annotations__": annotations, **standard}))
            owner.__dataclass_fields__ = twin.__dataclass_fields__
            return twin.__dataclass_fields__
