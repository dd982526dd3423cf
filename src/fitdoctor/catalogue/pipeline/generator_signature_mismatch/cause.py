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
from fitdoctor.catalogue.words import place, shape_words
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
from fitdoctor.records import replace
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


@CAUSE.in_source
@mentions("from_generator")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a generator function that yields a different number of parts than the signature declares."""
    for call in module.calls_to("tensorflow.data.Dataset.from_generator"):
        for finding in _compared(module, call.node, Confidence.LIKELY):
            yield replace(finding, confidence=Confidence.LIKELY)


@CAUSE.before_fit
def from_element(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an element read from the generator that does not match the signature."""
    if not data.pipeline or data.pipeline[0].operation != "from_generator":
        return
    made = data.pipeline[0]
    if isinstance(data.yielded, Unknown):
        yield from _from_calls(data, project)
        return
    if len(data.yielded) != len(made.specs):
        differ = list(_from_calls(data, project))
        if len(made.specs) > 1 or any(finding.severity is Severity.ERROR for finding in differ):
            yield _other_structure(data, fit, made, project)
        else:
            yield from differ
        return
    # The number of arrays matches, but they may be grouped differently.
    grouped = [finding for finding in _from_calls(data, project) if finding.severity is Severity.ERROR]
    if grouped:
        yield _other_structure(data, fit, made, project)
        return
    for index, (part, spec) in enumerate(zip(data.yielded, made.specs, strict=True)):
        declared = _declaration(project, made.code, index, len(made.specs))
        location = place(declared, made.code, data.code, fit.code)
        if isinstance(part.shape, tuple) and isinstance(spec.shape, tuple):
            if not _compatible(part.shape, spec.shape):
                yield _other_shape(
                    shape_words(part.shape),
                    shape_words(spec.shape),
                    location,
                    Confidence.CERTAIN,
                    _shape_edit(project, data, index, part.shape),
                )
                return
        if _cuts(part, spec):
            location = place(_declared_type(project, made.code, index), location)
            yield _cast(location, _kind_edit(project, made.code, index), "the generator")


def _compatible(found: Shape, declared: Shape) -> bool:
    return len(found) == len(declared) and all(
        size is None or size == other for size, other in zip(declared, found, strict=True)
    )


def _cuts(part: ArrayFacts, spec: Spec) -> bool:
    """Return whether conversion to the declared dtype drops fractions that were observed."""
    whole = spec.dtype.startswith(("int", "uint"))
    fractions = isinstance(part.statistics, Statistics) and not part.statistics.integral
    return whole and isinstance(part.dtype, str) and part.dtype.startswith("float") and fractions


def _other_structure(data: DataFacts, call: FitFacts, made: PipelineStep, project: Project) -> Finding:
    assert not isinstance(data.yielded, Unknown)
    found = list(_from_calls(data, project))
    remedy = fix(_DECLARE, _declared_as_yielded(project, made.code, data.yielded))
    if found:
        errors = found[0].severity is Severity.ERROR
        return replace(found[0], confidence=Confidence.CERTAIN, fixes=(remedy,) if errors else found[0].fixes)
    count, declared = len(data.yielded), len(made.specs)
    is_list = count == 1 and data.yielded[0].container.startswith("list")
    words = "a list" if is_list else f"{count} part{'s' if count > 1 else ''}"
    return CAUSE.finding(
        f"the signature declares {declared} parts, but the generator yields {words}",
        place(_declaration(project, made.code, None, declared), made.code, data.code, call.code),
        Evidence("parts per element", words, str(declared)),
        fix("yield a tuple") if is_list else remedy,
        subject="output_signature",
        confidence=Confidence.CERTAIN,
    )


def _from_calls(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a generator whose source yields a different number of parts, or floats declared as integers."""
    if not project:
        return
    chosen = _signature_call(project, data.pipeline[0].code)
    if chosen is not None:
        yield from _compared(*chosen, Confidence.LIKELY)


def _declaration(project: Project, made: Code | Unknown, index: int | None, parts: int) -> Location | None:
    """Return where a part is declared: its spec, otherwise the whole signature or shapes."""
    chosen = _signature_call(project, made)
    if chosen is None:
        return None
    module, call = chosen
    declared = _signature_of(module, call) or _output_shapes(module, call)
    if isinstance(declared, ast.Tuple) and index is not None and len(declared.elts) == parts:
        return module.location(declared.elts[index])
    return None if declared is None else module.location(declared)


def _kind_edit(project: Project, made: Code | Unknown, index: int) -> tuple[Edit, ...]:
    chosen = _signature_call(project, made)
    signature = (_signature_of(*chosen) or _output_types(*chosen)) if chosen is not None else None
    if chosen is None or not isinstance(signature, ast.Tuple) or index >= len(signature.elts):
        return ()
    return _float_edit(chosen[0], signature.elts[index])


def _declared_type(project: Project, made: Code | Unknown, index: int) -> Location | None:
    """Return where `output_types` declares a part."""
    chosen = _signature_call(project, made)
    types = _output_types(*chosen) if chosen is not None and _signature_of(*chosen) is None else None
    if chosen is None or types is None:
        return None
    parts = types.elts if isinstance(types, ast.Tuple) else [types]
    return chosen[0].location(parts[index] if index < len(parts) else types)


def _compared(module: Module, call: ast.Call, confidence: Confidence) -> Iterator[Finding]:
    signature = _signature_of(module, call)
    given = _generator_argument(call)
    function = _called_generator(module, given) if given is not None else None
    if signature is None or function is None:
        return
    parts = list(signature.elts) if isinstance(signature, ast.Tuple) else [signature]
    yielded = [node.value for node in yields_of(function) if node.value is not None]
    if not yielded or not all(isinstance(value, ast.Tuple) for value in yielded):
        return
    counts = {len(value.elts) for value in yielded if isinstance(value, ast.Tuple)}
    if len(counts) != 1 or any(
        isinstance(part, ast.Starred) for value in yielded for part in ast.walk(value)
    ):
        return
    count = counts.pop()
    if not isinstance(signature, ast.Tuple) and _may_stack(signature, count):
        return
    if count != len(parts):
        yield _parts_differ(module, signature, function, len(parts), count, confidence)
        return
    first = yielded[0]
    assert isinstance(first, ast.Tuple)
    for part, value in zip(parts, first.elts, strict=True):
        shape = _declared_shape(module, part)
        found = _written_shape(function.module, value)
        if shape is not None and found is not None and not _compatible(found, shape):
            where = module.location(part)
            edits = _declared_as(part, found, module, shape)
            yield _other_shape(shape_words(found), shape_words(shape), where, confidence, edits)
        if _declares_whole(module, part) and _yields_floats(function, value):
            yield _cast(
                module.location(part),
                _float_edit(module, part),
                f"`{function.name}`",
                function.module.location(value),
            )


def _parts_differ(
    module: Module,
    signature: ast.expr,
    function: FunctionInfo,
    declared: int,
    count: int,
    confidence: Confidence,
) -> Finding:
    whole = module.location(signature)
    end = replace(whole, line=whole.end_line, column=max(whole.end_column - 1, 1))
    return CAUSE.finding(
        f"the signature declares {declared} part{'s' if declared > 1 else ''}, but `{function.name}` yields {count}",
        end if isinstance(signature, ast.Tuple) and declared < count else whole,
        Evidence(
            "parts per element",
            str(count),
            str(declared),
            location=function.module.location(yields_of(function)[0]),
        ),
        fix(_DECLARE),
        subject="output_signature",
        confidence=confidence,
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


def _shape_edit(project: Project, data: DataFacts, index: int, shape: Shape) -> tuple[Edit, ...]:
    """Replace the declared shape with the observed one; with an open axis only if batches are padded."""
    chosen = _signature_call(project, data.pipeline[0].code)
    if chosen is None:
        return ()
    module, call = chosen
    padding = _padding(data) if None in shape else ()
    if padding is None:
        return ()
    parts = len(data.pipeline[0].specs)
    declared = _signature_of(module, call) or _output_shapes(module, call)
    node = (
        declared.elts[index] if isinstance(declared, ast.Tuple) and len(declared.elts) == parts else declared
    )
    if node is None or parts > 1 and node is declared:
        return ()
    edits = _declared_as(node, shape, module, data.pipeline[0].specs[index].shape)
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
    found: str, declared: str, location: Location | None, confidence: Confidence, edits: tuple[Edit, ...] = ()
) -> Finding:
    return CAUSE.finding(
        f"the generator yields shape {found}, but the signature declares {declared}",
        location,
        Evidence("shape", found, declared, fact="data.yielded.shape"),
        fix("declare the shape that the generator yields", edits),
        fix("declare `None` for an axis whose length varies, and use `padded_batch`"),
        subject="output_signature",
        confidence=confidence,
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


@CAUSE.after_failure
def from_failure(failure: FailureFacts, data: DataFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Report the mismatch that TensorFlow found, or labels that are silently missing."""
    message = failure.message + "\n" + failure.raw_message
    compared = _all_compared(project)
    unlike = "input(s)" in failure.message or "None values not supported" in failure.message
    if unlike and failure.called == "fit":
        yield from (finding for finding in compared if finding.severity is Severity.ERROR)
        return
    if not any(said in message for said in _SAYS) or failure.called in ("fit", "evaluate", "predict"):
        # Keras also uses `from_generator` for a generator passed to `fit`; then the structure is wrong.
        if "yielded an element" not in message:
            return
    errors = [finding for finding in compared if finding.severity is Severity.ERROR]
    if errors:
        yield from errors
        return
    if "must be a Python callable" in message:
        yield from _called_already(failure, project)
        return
    shapes = _SHAPE.search(message)
    location = _declared(project, failure)
    if shapes is not None and shapes["found"].startswith("(0,"):
        return  # a batch without samples is a separate cause
    if shapes is not None and project and not _signature_calls(project):
        yield _batches_differ(shapes["found"], shapes["expected"], data, project, location)
        return
    if shapes is not None:
        yield _other_shape(shapes["found"], shapes["expected"], location, Confidence.LIKELY)
        return
    yield CAUSE.finding(
        "the generator yields something other than what `output_signature` declares",
        location,
        *_remedies(message),
        subject="output_signature",
    )


def _batches_differ(
    found: str, expected: str, data: DataFacts | Unknown, project: Project, location: Location | None
) -> Finding:
    """Return the finding for later batches that differ from the first ones, from which Keras takes the signature."""
    counted = counted_in_each_batch(data, project)
    columns = expected.rstrip(",)").rpartition(" ")[2]
    remedy = fix("yield batches that differ only in the number of samples")
    made = data.code if isinstance(data, DataFacts) else None
    return CAUSE.finding(
        f"a batch has shape {found}, but earlier batches had shape {expected}",
        place(counted, made, location),
        Evidence("shape", found, expected, fact="failure.message"),
        told_classes(counted, int(columns)) if counted and columns.isdigit() else remedy,
        subject="batches",
        confidence=Confidence.CERTAIN,
    )


def _called_already(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report `from_generator(batches(), …)`, which gets a generator instead of the function."""
    location, edits = failure.location, tuple[Edit, ...]()
    for module, call in _signature_calls(project):
        given = _generator_argument(call)
        made = module.made_by(given) if given is not None else None
        if given is None or not isinstance(made, (ast.Call, ast.GeneratorExp)):
            continue
        location = module.location(given)
        if made is given and isinstance(made, ast.Call):
            plain = not made.args and not made.keywords
            text = module.segment(made.func) if plain else f"lambda: {module.segment(made)}"
            edits = (Edit(location, text),)
        elif made is not given:
            edits = ()
        break
    yield CAUSE.finding(
        "`from_generator` receives a generator, but expects a function that it can call in each epoch",
        location,
        Evidence("argument", "a generator", "a function"),
        fix("pass the function itself, without calling it", edits),
        subject="generator",
        confidence=Confidence.CERTAIN,
    )


def _all_compared(project: Project) -> list[Finding]:
    if not project:
        return []
    return [
        finding
        for module, call in _signature_calls(project)
        for finding in _compared(module, call, Confidence.CERTAIN)
    ]


def _declared(project: Project, failure: FailureFacts) -> Location | None:
    """Return the first part of the project's only signature, otherwise the line that raised."""
    fallback = failure.location
    if not project:
        return fallback
    calls = _signature_calls(project)
    if len(calls) != 1:
        return fallback
    module, call = calls[0]
    signature = _signature_of(module, call)
    if isinstance(signature, ast.Tuple) and signature.elts:
        return module.location(signature.elts[0])
    return module.location(signature if signature is not None else call)


def _remedies(message: str) -> list[Fix]:
    if "must contain objects" in message:
        return [fix("declare a tuple with one `tf.TensorSpec(shape, dtype)` per part")]
    return [
        fix("declare `None` for an axis whose length varies, and use `padded_batch`"),
        fix("declare the number, shapes and dtypes of the parts that the generator yields"),
    ]


# --- declared parts -------------------------------------------------------------------------------------------------


_Structure = ArrayFacts | dict[str | int, "_Structure"]
"""An array, or a structure with names (dict) or positions (tuple) as keys."""

_STEP = re.compile(r"\[(?:'([^']*)'|(\d+))\]")
_TYPES = re.compile(r"u?int(?:8|16|32|64)|float(?:16|32)|bool")


def _declared_as_yielded(
    project: Project, made: Code | Unknown, yielded: Sequence[ArrayFacts]
) -> tuple[Edit, ...]:
    """Declare every yielded part in its structure; keep existing declarations."""
    chosen = _signature_call(project, made)
    given = argument_of(chosen[1], "output_signature") if chosen is not None else None
    structure = _structure(yielded)
    if chosen is None or given is None or structure is None:
        return ()
    module = chosen[0]
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


def _signature_calls(project: Project) -> list[tuple[Module, ast.Call]]:
    """Return every `from_generator` call, with its module."""
    modules = project.modules
    return [
        (module, call.node)
        for module in modules
        for call in module.calls_to("tensorflow.data.Dataset.from_generator")
    ]


def _signature_call(project: Project, made: Code | Unknown) -> tuple[Module, ast.Call] | None:
    """Return the `from_generator` call at a piece of source, or the only one."""
    calls = _signature_calls(project)
    for module, call in calls:
        if len(calls) == 1 or isinstance(made, Code) and module.location(call) == made.location:
            return module, call
    return None


def _output_shapes(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the `output_shapes` of a call."""
    shapes = argument_of(call, "output_shapes")
    return module.made_by(shapes) if shapes is not None else None


def _output_types(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the `output_types` of a call."""
    types = argument_of(call, "output_types", 1)
    return module.made_by(types) if types is not None else None


def _generator_argument(call: ast.Call) -> ast.expr | None:
    """Return the generator argument of a call."""
    return argument_of(call, "generator", 0)


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


def _called_generator(module: Module, given: ast.expr) -> FunctionInfo | None:
    """Return the user's generator function that an argument refers to."""
    if isinstance(given, ast.Name) and given.id == "self":
        owner = module.class_of(given)
        method = module.method(owner, "__call__") if owner is not None else None
        return method if method is not None and method.node in method.module.generators else None
    if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call):
        return generator_function(module, given.body.func)
    return generator_function(module, given)


def _signature_of(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the `output_signature` of a call if it is a tuple or one spec."""
    given = argument_of(call, "output_signature")
    made = module.made_by(given) if given is not None else None
    is_spec = isinstance(made, ast.Call) and module.resolve(made.func) == "tensorflow.TensorSpec"
    return made if isinstance(made, ast.Tuple) or is_spec else None


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
    made = function.module.made_by(value)
    if (
        not isinstance(made, ast.Call)
        or not isinstance(made.func, ast.Attribute)
        or made.func.attr not in _FLOATS
    ):
        return False
    source = function.module.made_by(made.func.value)
    name = (
        function.module.resolve(source.func)
        if isinstance(source, ast.Call)
        else function.module.resolve(source)
    )
    return name.startswith("numpy.random") or name == "random"


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
