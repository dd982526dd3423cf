"""`dataclass` as in the standard library, with its methods written when the first instance is made.

Writing them costs half a millisecond a class, and most of our classes have no instance in most runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from _thread import RLock

    _LOCK = RLock()

    class _Awaiting:
        """Stands for an attribute that a finished dataclass has: asking for it finishes the class."""

        def __init__(self, name, finish):
            self.name = name
            self.finish = finish

        def __get__(self, instance, owner):
            self.finish()
            return getattr(owner, self.name)

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass`, put off until the class is used."""
        if cls is None:
            return lambda given: dataclass(given, **options)
        if options.get("slots") or "__new__" in vars(cls) or "__init__" in vars(cls):
            return _standard(cls, options)
        finished = False

        def finish():
            nonlocal finished
            with _LOCK:
                if not finished:
                    finished = True
                    for name in awaited:
                        delattr(cls, name)
                    _standard(cls, options)
                    # Without one, Python would refuse the arguments of a class that once had one (3.11).
                    cls.__new__ = _new
                    cls.__signature__ = _Signature()

        def first(made, /, *_arguments, **_keywords):
            finish()
            return object.__new__(made)

        awaited = ("__dataclass_fields__", "__dataclass_params__", "__signature__", "__match_args__")
        for name in awaited:
            setattr(cls, name, _Awaiting(name, finish))
        cls.__new__ = first
        return cls

    def _new(made, /, *_arguments, **_keywords):
        return object.__new__(made)

    class _Signature:
        """What `inspect.signature` shows: the parameters of `__init__`, not those of `__new__`."""

        def __get__(self, instance, owner):
            import inspect

            signature = inspect.signature(owner.__init__)
            return signature.replace(parameters=list(signature.parameters.values())[1:])

    def _standard(cls, options):
        import dataclasses

        return dataclasses.dataclass(cls, **options)
