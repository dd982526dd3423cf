"""Data objects that `fit` does not recognize: custom classes that are not a `PyDataset`, and iterators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location
from fitdoctor.edits import fix, spell
from fitdoctor.facts import ArrayFacts, Code, Unknown
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.origins import receivers
from fitdoctor.source.project import Project

_ARRAYS = frozenset({"__array__", "shape", "dtype", "__tf_tensor__"})
"""Methods that make an object array data."""


def objects_of_fit(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report such an object as the first argument of a `fit` call without labels."""
    for call in module.method_calls("fit"):
        given = call.argument("x", 0)
        made = module.made_by(given) if given is not None and call.argument("y", 1) is None else None
        assert isinstance(call.node.func, ast.Attribute)
        if given is None or not isinstance(made, ast.Call):
            continue
        if kind_of_value(module, call.node.func.value) != "Model":
            continue  # the class that defines `fit` decides what it accepts
        known = module.definition(made.func)
        if isinstance(known, ClassInfo) and _gives_batches(known):
            yield _of_class(cause, known, module.code(given), Confidence.LIKELY)
        elif _is_iterator(module, made):
            yield _of_iterator(cause, module.code(made), module.code(given), Confidence.LIKELY)


def image_generators(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report an `ImageDataGenerator` itself as data; what its methods return are the batches."""
    for call in module.method_calls("fit", "fit_generator", "evaluate_generator", "predict_generator"):
        assert isinstance(call.node.func, ast.Attribute)
        if kind_of_value(module, call.node.func.value) != "Model":
            continue
        for given in filter(
            None, (call.argument("x", 0), *map(call.argument, ("generator", "validation_data")))
        ):
            made = module.made_by(given)
            if not isinstance(made, ast.Call) or not module.resolve(made.func).endswith(_IMAGES):
                continue
            batches = _batches_of(module, given)
            named = " or ".join(f"`{name}`" for name in batches)
            yield cause.finding(
                f"`{call.node.func.attr}` receives an `ImageDataGenerator`, which holds no data: "
                "its `flow…` methods return the batches",
                module.location(given),
                Evidence("argument", "an `ImageDataGenerator`", "batches", "data.x", module.location(made)),
                fix(
                    f"pass {named or 'what its `flow(…)` or `flow_from_directory(…)` returns'}",
                    [Edit(module.location(given), batches[0])] if len(batches) == 1 else [],
                ),
                subject=f"argument {module.segment(given)} of {call.node.func.attr}",
            )


_IMAGES = "keras.preprocessing.image.ImageDataGenerator"


def _batches_of(module: Module, generator: ast.expr) -> list[str]:
    """Return the names of the batches that a generator of images returned before."""
    return [
        node.targets[0].id
        for node in module.nodes(ast.Assign)
        if isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr.startswith("flow")
        and module.segment(node.value.func.value) == module.segment(generator)
        and node.lineno < generator.lineno
    ]


def given_objects(
    cause: Cause, array: ArrayFacts, kind: str, project: Project | Unknown
) -> Iterator[Finding]:
    """Report the type of the object passed to `fit`."""
    if kind == "OwnedIterator":
        found = expression_of(project, array.use)
        made = found[0].code(found[0].made_by(found[1])) if found is not None else array.code
        yield _of_iterator(cause, made, array.use, Confidence.CERTAIN)
    known = project.class_named(kind) if isinstance(project, Project) else None
    if known is not None and _gives_batches(known):
        yield _of_class(cause, known, array.use, Confidence.CERTAIN)


def _gives_batches(known: ClassInfo) -> bool:
    """Return whether a class without a base class returns batches by index."""
    node = known.node
    plain = not node.keywords and all(
        isinstance(base, ast.Name) and base.id == "object" for base in node.bases
    )
    return plain and {"__getitem__", "__len__"} <= set(known.methods) and not _ARRAYS & set(known.methods)


def _is_iterator(module: Module, made: ast.Call) -> bool:
    """Return whether it is `iter(dataset)` with the dataset visible in the source."""
    if not isinstance(made.func, ast.Name) or made.func.id != "iter" or len(made.args) != 1:
        return False
    return any(
        isinstance(expr, ast.Call) and module.resolve(expr.func).startswith("tensorflow.data.")
        for expr in receivers(module, module.made_by(made.args[0]))
    )


def _of_class(cause: Cause, known: ClassInfo, use: Code | Unknown, confidence: Confidence) -> Finding:
    module = known.module
    here = module.location(known.node)
    return cause.finding(
        f"`fit` cannot read batches from `{known.name}`, because it is not a `PyDataset`",
        Location(here.path, here.line, here.column, here.line, 0, here.cell),
        Evidence(
            "argument x",
            f"an instance of `{known.name}`",
            "an array, a dataset, a generator or a `PyDataset`",
            fact="data.x.container",
            location=place(use),
        ),
        _derived(known),
        subject="argument x of fit",
        confidence=confidence,
    )


def _derived(known: ClassInfo) -> Fix:
    """Add the base class: `class Loader(keras.utils.PyDataset):`."""
    module, title = known.module, "make it a subclass of `keras.utils.PyDataset`"
    here = module.location(known.node)
    line = module.line_text(here.line, here.cell)
    head, colon, _rest = line.partition(":")
    name = head.partition("(")[0].rstrip()
    if not colon or not name.strip().endswith(known.name) or known.node.decorator_list:
        return fix(title)
    keras, imports = spell(module.code(known.node), "keras", "keras")
    span = Location(here.path, here.line, len(name) + 1, here.line, len(head) + 1, here.cell)
    return fix(title, (Edit(span, f"({keras}.utils.PyDataset)"), *imports))


def _of_iterator(cause: Cause, made: Code | Unknown, use: Code | Unknown, confidence: Confidence) -> Finding:
    edits: tuple[Edit, ...] = ()
    if isinstance(made, Code) and len(made.arguments) == 1:
        edits = (Edit(made.location, made.arguments[0].text),)
    return cause.finding(
        "`fit` receives an iterator over a dataset, but expects the dataset itself",
        place(made, use),
        Evidence("argument x", "an iterator", "a dataset", "data.x.container", place(use)),
        fix("pass the dataset itself", edits),
        subject="argument x of fit",
        confidence=confidence,
    )
