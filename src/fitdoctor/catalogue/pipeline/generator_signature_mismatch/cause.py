"""Generator that yields something other than what `from_generator` declares.

## What happens

- A different shape or structure raises `InvalidArgumentError` with "TypeError: `generator` yielded an element of
  shape (3,) where an element of shape (4,) was expected" inside.
- Plain dtypes (`output_signature=(tf.float32, tf.int32)`) raise "`output_signature` must contain objects that are
  subclass of `tf.TypeSpec`".
- If the signature declares one part but the generator yields `(x, y)`, `fit` reads the signature before the data,
  finds no labels and raises "None values not supported."
- A different numeric dtype is cast silently: floats declared as `int32` become 0.

## Why

TensorFlow relies on the signature: it converts each part to the declared dtype, and checks only the result of the
conversion.

## Fix

Declare what the generator yields: `tf.TensorSpec((5,), tf.float32)` for five floats, `None` for an axis whose length
varies, and one spec per part.

## Known limits

Before `fit`, one element is read from the generator and compared with the signature, unless the generator has lasting
side effects (it reads files line by line, or consumes an iterator). Otherwise, only the number of parts and the
obvious dtypes in its source are compared. A later element that differs is reported only after the failure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_function, yields_of
from fitdoctor.catalogue.knowledge.data.pipeline_steps import padded
from fitdoctor.catalogue.knowledge.labels.classes_of_a_batch import counted_in_each_batch, told_classes
from fitdoctor.catalogue.words import counted, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    PipelineStep,
    Shape,
    Spec,
    Statistics,
    Unknown,
)
from fitdoctor.records import dataclass, replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT706",
    slug="generator-signature-mismatch",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "TypeError", "ValueError"),
    explains=(
        "FIT215",
        "FIT310",
        "FIT201",
        "FIT202",
        "FIT101",
        "FIT102",
        "FIT104",
        "FIT701",
        "FIT702",
        "FIT707",
    ),
)

_DECLARE = "declare one `tf.TensorSpec` for each yielded part"
_VARIES = "declare `None` for an axis whose length varies, and use `padded_batch`"


@CAUSE.in_source
@mentions("from_generator")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a generator function that yields something other than the signature declares."""
    for declared in _declarations(module):
        yield from _compared(declared)


@CAUSE.before_fit
def from_element(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an element read from the generator that does not match the signature."""
    if not data.pipeline or data.pipeline[0].operation != "from_generator":
        return
    made = data.pipeline[0]
    declared = _declaration_at(project, made.code)
    written = list(_compared(declared)) if declared is not None else []
    errors = [finding for finding in written if finding.severity is Severity.ERROR]
    if isinstance(data.yielded, Unknown):
        yield from written
    elif errors or len(data.yielded) != len(made.specs) > 1:  # the same arrays may be grouped differently
        remedy = fix(_DECLARE, _declared_as_yielded(declared, data.yielded))
        for error in errors[:1]:
            yield replace(error, confidence=Confidence.CERTAIN, fixes=(remedy,))
        if not errors:
            whole = declared.location() if declared is not None else None
            yield _other_structure(data.yielded, made, place(whole, made.code, data.code, fit.code), remedy)
    elif len(data.yielded) != len(made.specs):
        yield from written
    else:
        yield from _differing_parts(data.yielded, declared, data, place(made.code, data.code, fit.code))


def _differing_parts(
    yielded: Sequence[ArrayFacts], declared: Declaration | None, data: DataFacts, where: Location | None
) -> Iterator[Finding]:
    """Compare the parts of an element with their specs."""
    for index, (part, spec) in enumerate(zip(yielded, data.pipeline[0].specs, strict=True)):
        location = place(declared.location(index, len(yielded)) if declared is not None else None, where)
        if isinstance(part.shape, tuple) and isinstance(spec.shape, tuple):
            if not _compatible(part.shape, spec.shape):
                edits = _shape_edit(declared, data, index, part.shape) if declared is not None else ()
                found = _other_shape(shape_words(part.shape), shape_words(spec.shape), location, edits)
                yield replace(found, confidence=Confidence.CERTAIN)
                return
        if _cuts(part, spec):
            kind = declared.part(index, len(yielded), "output_types") if declared is not None else None
            edits = _float_edit(declared.module, kind) if declared is not None and kind is not None else ()
            if declared is not None and declared.signature is None and kind is not None:
                location = declared.module.location(kind)
            yield _cast(location, edits, "the generator")


def _compatible(found: Shape, declared: Shape) -> bool:
    return len(found) == len(declared) and all(
        size is None or size == other for size, other in zip(declared, found, strict=True)
    )


def _cuts(part: ArrayFacts, spec: Spec) -> bool:
    """Return whether conversion to the declared dtype drops fractions that were observed."""
    whole = spec.dtype.startswith(("int", "uint"))
    fractions = isinstance(part.statistics, Statistics) and not part.statistics.integral
    return whole and isinstance(part.dtype, str) and part.dtype.startswith("float") and fractions


def _other_structure(
    yielded: Sequence[ArrayFacts], made: PipelineStep, location: Location | None, remedy: Fix
) -> Finding:
    is_list = len(yielded) == 1 and yielded[0].container.startswith("list")
    words = "a list" if is_list else counted(len(yielded), "part")
    return CAUSE.certain(
        f"the signature declares {len(made.specs)} parts, but the generator yields {words}",
        location,
        Evidence("parts per element", words, str(len(made.specs))),
        fix("yield a tuple") if is_list else remedy,
        subject="output_signature",
    )


def _compared(declared: Declaration) -> Iterator[Finding]:
    """Compare what the source of a generator yields with what its signature declares."""
    module, signature, function = declared.module, declared.signature, declared.function
    yielded = [node.value for node in yields_of(function)] if function is not None else []
    elements = [value.elts for value in yielded if isinstance(value, ast.Tuple)]
    if signature is None or function is None or not elements or len(elements) != len(yielded):
        return
    if len({len(parts) for parts in elements}) != 1 or any(
        isinstance(part, ast.Starred) for parts in elements for part in parts
    ):
        return
    first = elements[0]
    if not isinstance(signature, ast.Tuple) and _may_stack(signature, len(first)):
        return
    specs = signature.elts if isinstance(signature, ast.Tuple) else [signature]
    if len(first) != len(specs):
        yield _parts_differ(declared, function, len(specs), len(first))
        return
    for part, value in zip(specs, first, strict=True):
        shape, found = _declared_shape(module, part), _written_shape(function.module, value)
        location = module.location(part)
        if shape is not None and found is not None and not _compatible(found, shape):
            edits = _declared_as(part, found, module, shape)
            yield _other_shape(shape_words(found), shape_words(shape), location, edits)
        if _declares_whole(module, part) and _yields_floats(function, value):
            floats = function.module.location(value)
            yield _cast(location, _float_edit(module, part), f"`{function.name}`", floats)


def _parts_differ(declared: Declaration, function: FunctionInfo, specs: int, count: int) -> Finding:
    location = declared.location()
    if location is not None and isinstance(declared.signature, ast.Tuple) and specs < count:
        location = replace(location, line=location.end_line, column=max(location.end_column - 1, 1))
    return CAUSE.finding(
        f"the signature declares {counted(specs, 'part')}, but `{function.name}` yields {count}",
        location,
        Evidence(
            "parts per element",
            str(count),
            str(specs),
            location=function.module.location(yields_of(function)[0]),
        ),
        fix(_DECLARE),
        subject="output_signature",
    )


def _float_edit(module: Module, spec: ast.expr) -> tuple[Edit, ...]:
    kind = _declares_whole(module, spec)
    if not isinstance(kind, ast.Attribute):
        return ()
    return (Edit(module.location(kind), re.sub(r"u?int\d+$", "float32", module.segment(kind))),)


def _cast(
    location: Location | None, edits: tuple[Edit, ...], name: str, value: Location | None = None
) -> Finding:
    return CAUSE.finding(
        f"{name} yields floats, but the signature declares integers, so the fractions are silently dropped",
        location,
        Evidence("yielded values", "floats", "integers", location=value),
        fix("declare `tf.float32`", edits),
        subject="output_signature",
        severity=Severity.WARNING,
    )


def _shape_edit(declared: Declaration, data: DataFacts, index: int, shape: Shape) -> tuple[Edit, ...]:
    """Replace the declared shape with the observed one; with an open axis only if batches are padded."""
    padding = _padding(data) if None in shape else ()
    specs = data.pipeline[0].specs
    node = declared.part(index, len(specs))
    if padding is None or node is None or len(specs) > 1 and node is declared.whole():
        return ()
    edits = _declared_as(node, shape, declared.module, specs[index].shape)
    return (*edits, *padding) if edits else ()


def _declared_as(node: ast.expr, shape: Shape, module: Module, declared: Shape | Unknown) -> tuple[Edit, ...]:
    """Replace the shape in a spec or in a literal, with the names that it has for these lengths."""
    written = argument_of(node, "shape", 0) if isinstance(node, ast.Call) else node
    if not isinstance(written, (ast.Tuple, ast.List)):
        return ()
    sizes = declared if isinstance(declared, tuple) and len(declared) == len(written.elts) else ()
    named = {size: module.segment(each) for size, each in zip(sizes, written.elts, strict=False)}
    words = [named.get(size, str(size)) for size in shape]
    return (Edit(module.location(written), f"({', '.join(words)}{',' if len(words) == 1 else ''})"),)


def _padding(data: DataFacts) -> tuple[Edit, ...] | None:
    """Return the edits that turn the only `batch` into `padded_batch`, or None if that is impossible."""
    steps = [step for step in data.pipeline if step.operation in ("batch", "padded_batch")]
    if len(steps) != 1:
        return None
    return () if steps[0].operation == "padded_batch" else padded(steps[0].code) or None


def _other_shape(
    found: str, declared: str, location: Location | None, edits: tuple[Edit, ...] = ()
) -> Finding:
    return CAUSE.finding(
        f"the generator yields shape {found}, but the signature declares {declared}",
        location,
        Evidence("shape", found, declared, fact="data.yielded.shape"),
        fix("declare the shape that the generator yields", edits),
        fix(_VARIES),
        subject="output_signature",
    )


# --- after the failure --------------------------------------------------------------------------------------------

_SHAPE = re.compile(
    r"`generator` yielded an element of shape (?P<found>\([^)]*\)) where an element of shape (?P<expected>\([^)]*\))"
)
_SAYS = (
    "`generator` yielded an element",
    "`output_signature` must contain objects",
    "`generator` must be a Python callable",
)
_WITHOUT_LABELS = ("input(s)", "None values not supported")


@CAUSE.after_failure
def from_failure(failure: FailureFacts, data: DataFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Report the mismatch that TensorFlow found, or labels that are silently missing."""
    message = failure.message + "\n" + failure.raw_message
    declared = _declarations_in(project)
    compared = (finding for each in declared for finding in _compared(each))
    errors = [
        replace(finding, confidence=Confidence.CERTAIN)
        for finding in compared
        if finding.severity is Severity.ERROR
    ]
    if failure.called == "fit" and any(said in failure.message for said in _WITHOUT_LABELS):
        yield from errors
        return
    # Keras also uses `from_generator` for a generator passed to `fit`; then the structure is wrong.
    own = failure.called not in ("fit", "evaluate", "predict") and any(said in message for said in _SAYS)
    if not own and "yielded an element" not in message:
        return
    if errors:
        yield from errors
        return
    if "must be a Python callable" in message:
        yield _called_already(failure, declared)
        return
    only = declared[0] if len(declared) == 1 else None
    location = place(only.location(0) or only.module.location(only.call) if only else None, failure.location)
    shapes = _SHAPE.search(message)
    if shapes is None:
        yield CAUSE.finding(
            "the generator yields something other than what `output_signature` declares",
            location,
            *_remedies(message),
            subject="output_signature",
        )
    elif shapes["found"].startswith("(0,"):
        return  # a batch without samples is a separate cause
    elif not project or declared:
        yield _other_shape(shapes["found"], shapes["expected"], location)
    else:
        yield _batches_differ(shapes["found"], shapes["expected"], data, project, location)


def _batches_differ(
    found: str, expected: str, data: DataFacts | Unknown, project: Project, location: Location | None
) -> Finding:
    """Return the finding for later batches that differ from the first ones, from which Keras takes the signature."""
    counted = counted_in_each_batch(data, project)
    columns = expected.rstrip(",)").rpartition(" ")[2]
    remedy = fix("yield batches that differ only in the number of samples")
    made = data.code if isinstance(data, DataFacts) else None
    return CAUSE.certain(
        f"a batch has shape {found}, but earlier batches had shape {expected}",
        place(counted, made, location),
        Evidence("shape", found, expected),
        told_classes(counted, int(columns)) if counted and columns.isdigit() else remedy,
        subject="batches",
    )


def _called_already(failure: FailureFacts, declared: list[Declaration]) -> Finding:
    """Report `from_generator(batches(), …)`, which gets a generator instead of the function."""
    location, edits = failure.location, tuple[Edit, ...]()
    for each in declared:
        module, given = each.module, each.given("generator", 0)
        made = module.made_by(given) if given is not None else None
        if given is None or not isinstance(made, (ast.Call, ast.GeneratorExp)):
            continue
        location = module.location(given)
        if made is given and isinstance(made, ast.Call):
            plain = not made.args and not made.keywords
            text = module.segment(made.func) if plain else f"lambda: {module.segment(made)}"
            edits = (Edit(location, text),)
        break
    return CAUSE.certain(
        "`from_generator` receives a generator, but expects a function that it can call in each epoch",
        location,
        Evidence("argument", "a generator", "a function"),
        fix("pass the function itself, without calling it", edits),
        subject="generator",
    )


def _remedies(message: str) -> list[Fix]:
    if "must contain objects" in message:
        return [fix("declare a tuple with one `tf.TensorSpec(shape, dtype)` per part")]
    return [fix(_VARIES), fix("declare the number, shapes and dtypes of the parts that the generator yields")]


# --- declared parts -------------------------------------------------------------------------------------------------


_Structure = ArrayFacts | dict[str | int, "_Structure"]
"""An array, or a structure with names (dict) or positions (tuple) as keys."""

_STEP = re.compile(r"\[(?:'([^']*)'|(\d+))\]")
_TYPES = re.compile(r"u?int(?:8|16|32|64)|float(?:16|32)|bool")


def _declared_as_yielded(declared: Declaration | None, yielded: Sequence[ArrayFacts]) -> tuple[Edit, ...]:
    """Declare every yielded part in its structure; keep existing declarations."""
    given = declared.given("output_signature") if declared is not None else None
    structure = _structure(yielded)
    if declared is None or given is None or structure is None:
        return ()
    module = declared.module
    node = module.made_by(given)
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    edits = list(_changes(module, node, structure, tf))
    return (*edits, *imports) if edits and all(edits) else ()


def _structure(yielded: Sequence[ArrayFacts]) -> _Structure | None:
    """Return the parts at the places that their paths name, or None if a part is not an array of a known dtype."""
    found: dict[str | int, _Structure] = {}
    for part in yielded:
        if not part.path.startswith("element") or not _type_of(part) or isinstance(part.shape, Unknown):
            return None
        steps = [name or int(index or 0) for name, index in _STEP.findall(part.path)]
        if part.path != "element" + "".join(f"[{step!r}]" for step in steps):
            return None
        if not steps:
            return part
        level = found
        for step in steps[:-1]:
            inner = level.setdefault(step, {})
            if isinstance(inner, ArrayFacts):
                return None
            level = inner
        level[steps[-1]] = part
    return found or None


def _changes(module: Module, node: ast.expr, structure: _Structure, tf: str) -> Iterator[Edit]:
    """Return the edits where the declaration differs from the yielded structure."""
    if isinstance(structure, ArrayFacts):
        if isinstance(node, (ast.Tuple, ast.Dict)):
            yield Edit(module.location(node), _spec(structure, tf))
        return
    declared = _declared_parts(node)
    if declared is None or not declared or not set(declared) <= set(structure):
        yield Edit(module.location(node), _text(structure, tf))
        return
    for key, part in declared.items():
        yield from _changes(module, part, structure[key], tf)
    missing = {key: part for key, part in structure.items() if key not in declared}
    if missing:
        last = module.location(list(declared.values())[-1])
        end = replace(last, line=last.end_line, column=last.end_column)
        yield Edit(end, ", " + ", ".join(_entries(missing, tf)))


def _declared_parts(node: ast.expr) -> dict[str | int, ast.expr] | None:
    """Return the declarations by key, or None for a single spec or if the keys are not literal."""
    if isinstance(node, ast.Tuple):
        return dict(enumerate(node.elts))
    if not isinstance(node, ast.Dict):
        return None
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    named = [key for key in keys if isinstance(key, str)]
    return dict(zip(named, node.values, strict=True)) if len(named) == len(keys) else None


def _text(structure: _Structure, tf: str) -> str:
    if isinstance(structure, ArrayFacts):
        return _spec(structure, tf)
    entries = ", ".join(_entries(structure, tf))
    if all(isinstance(key, str) for key in structure):
        return f"{{{entries}}}"
    return f"({entries},)" if len(structure) == 1 else f"({entries})"


def _entries(structure: dict[str | int, _Structure], tf: str) -> Iterator[str]:
    for key, part in structure.items():
        yield f'"{key}": {_text(part, tf)}' if isinstance(key, str) else _text(part, tf)


def _spec(part: ArrayFacts, tf: str) -> str:
    assert not isinstance(part.shape, Unknown)
    return f"{tf}.TensorSpec(shape={shape_words(part.shape)}, dtype={tf}.{_type_of(part)})"


def _type_of(part: ArrayFacts) -> str:
    """Return the dtype for a part: float32 for Python and NumPy floats, "" for none."""
    name = part.dtype if isinstance(part.dtype, str) else ""
    if name == "float64":
        return "float32"
    if name in ("str", "bytes") or name.startswith(("<U", "|S")):
        return "string"
    return name if _TYPES.fullmatch(name) else ""


# --- signatures of generators ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Declaration:
    """A call of `from_generator`, and what it declares."""

    module: Module
    call: ast.Call

    def given(self, name: str, position: int | None = None) -> ast.expr | None:
        """Return an argument."""
        return argument_of(self.call, name, position)

    def _made(self, name: str, position: int | None = None) -> ast.expr | None:
        given = self.given(name, position)
        return self.module.made_by(given) if given is not None else None

    @property
    def signature(self) -> ast.expr | None:
        """The `output_signature` if it is a tuple or one spec."""
        made = self._made("output_signature")
        is_spec = self.module.called(made) == "tensorflow.TensorSpec"
        return made if isinstance(made, ast.Tuple) or is_spec else None

    @property
    def function(self) -> FunctionInfo | None:
        """The user's generator function."""
        module, given = self.module, self.given("generator", 0)
        if isinstance(given, ast.Name) and given.id == "self":
            owner = module.class_of(given)
            method = module.method(owner, "__call__") if owner is not None else None
            return method if method is not None and method.node in method.module.generators else None
        if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call):
            given = given.body.func
        return generator_function(module, given) if given is not None else None

    def whole(self, older: str = "output_shapes") -> ast.expr | None:
        """The signature, or what declares shapes or dtypes without one."""
        return self.signature or self._made(older, 1 if older == "output_types" else None)

    def part(self, index: int, parts: int, older: str = "output_shapes") -> ast.expr | None:
        """Return what declares one of several parts; the whole if it is not written part by part."""
        whole = self.whole(older)
        return whole.elts[index] if isinstance(whole, ast.Tuple) and len(whole.elts) == parts else whole

    def location(self, index: int | None = None, parts: int | None = None) -> Location | None:
        """Return where a part is declared (if its number is known), or else the whole."""
        whole = self.whole()
        if index is not None and isinstance(whole, ast.Tuple) and whole.elts:
            whole = self.part(index, len(whole.elts) if parts is None else parts)
        return self.module.location(whole) if whole is not None else None


def _declarations(module: Module) -> list[Declaration]:
    calls = module.calls_to("tensorflow.data.Dataset.from_generator")
    return [Declaration(module, call.node) for call in calls]


def _declarations_in(project: Project) -> list[Declaration]:
    modules = project.modules
    return [declared for module in modules for declared in _declarations(module)]


def _declaration_at(project: Project, made: Code | Unknown) -> Declaration | None:
    """Return the call of `from_generator` at a piece of source, or the only one."""
    found = _declarations_in(project)
    here = (
        each for each in found if isinstance(made, Code) and each.module.location(each.call) == made.location
    )
    return found[0] if len(found) == 1 else next(here, None)


def _may_stack(spec: ast.expr, count: int) -> bool:
    """Return whether one spec can match a tuple of this many parts, which TensorFlow stacks into one tensor."""
    if not isinstance(spec, ast.Call):
        return True
    shape = argument_of(spec, "shape", 0)
    if not isinstance(shape, (ast.Tuple, ast.List)):
        return True
    if not shape.elts:
        return False
    first = shape.elts[0]
    return not isinstance(first, ast.Constant) or first.value is None or first.value == count


_FLOATS = frozenset("random normal uniform standard_normal randn rand exponential beta gamma".split())
"""Methods of random generators that return floats."""


def _declares_whole(module: Module, spec: ast.expr) -> ast.expr | None:
    """Return the dtype of a spec that declares integers."""
    kind: ast.expr | None = spec if isinstance(spec, ast.Attribute) else None
    if isinstance(spec, ast.Call) and module.resolve(spec.func) == "tensorflow.TensorSpec":
        kind = argument_of(spec, "dtype", 1)
    name = module.resolve(kind) if kind is not None else ""
    return kind if re.fullmatch(r"tensorflow\.u?int\d+", name) else None


def _yields_floats(function: FunctionInfo, value: ast.expr) -> bool:
    """Return whether a yielded value certainly contains fractions: the generator draws it from a continuous distribution."""
    module = function.module
    match module.made_by(value):
        case ast.Call(func=ast.Attribute(attr=method, value=receiver)) if method in _FLOATS:
            source = module.made_by(receiver)
            name = module.called(source) or module.resolve(source)
            return name.startswith("numpy.random") or name == "random"
    return False


def _declared_shape(module: Module, spec: ast.expr) -> Shape | None:
    """Return the shape of a spec if each size is a literal number or None."""
    if not isinstance(spec, ast.Call) or module.resolve(spec.func) != "tensorflow.TensorSpec":
        return None
    shape = argument_of(spec, "shape", 0)
    if not isinstance(shape, (ast.Tuple, ast.List)):
        return None
    lengths = [part.value if isinstance(part, ast.Constant) else "" for part in shape.elts]
    told = [length for length in lengths if length is None or type(length) is int]
    return tuple(told) if len(told) == len(lengths) else None


def _written_shape(module: Module, value: ast.expr) -> Shape | None:
    """Return the shape of literal numbers, alone or in lists; None for anything else."""
    made = module.made_by(value)
    if isinstance(made, ast.Call) and made.args:
        name = module.resolve(made.func)
        if name in ("numpy.array", "numpy.asarray", "tensorflow.constant"):
            return _written_shape(module, made.args[0])
        return () if name in ("int", "float", "numpy.float32", "numpy.int64", "numpy.int32") else None
    if isinstance(made, ast.Constant):
        return () if isinstance(made.value, (int, float)) else None
    if not isinstance(made, ast.List) or made is not value:
        return None  # a named list may have grown since
    rows = {_written_shape(module, row) for row in made.elts}
    row = rows.pop() if len(rows) == 1 else None
    return None if row is None else (len(made.elts), *row)
