"""Future, coroutine or function passed instead of data.

## What happens

`fit` raises `ValueError: Unrecognized data type: x=<Future at … state=finished …>`, `x=<coroutine object …>` or
`x=<function …>`. Code before `fit` raises errors such as `AttributeError: 'Future' object has no attribute 'shape'`.

## Why

`executor.submit(…)` returns a future, calling an `async def` function returns a coroutine, and a generator function
without parentheses is a function. Each of these yields data later, but is not the data.

## Fix

Call `.result()` on the future, `await` the coroutine, or add parentheses to call the function. A custom class that
returns batches from `__getitem__` must be a `keras.utils.PyDataset`. Pass the dataset itself rather than
`iter(dataset)`, and the batches that `flow(…)` or `flow_from_directory(…)` returns rather than the `ImageDataGenerator`.

## Known limits

Futures of other libraries (Dask, Ray) are not detected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, spell, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.records import replace
from fitdoctor.source.callees import callee
from fitdoctor.source.definitions import last_name
from fitdoctor.source.keras_objects import kind_of_value
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.origins import Origin, origin, receivers
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT710",
    slug="future-used-as-tensor",
    severity=Severity.ERROR,
    aspect="objects",
    raises=("ValueError", "AttributeError", "TypeError"),
    explains=("FIT105", "FIT107", "FIT108", "FIT215", "FIT712"),
)

REMEDIES = {
    "Future": ("wait for the result with `.result()`", "{}.result()"),
    "_GatheringFuture": ("wait for the result with `await`", "await {}"),
    "Task": ("wait for the result with `await`", "await {}"),
    "coroutine": ("wait for the coroutine with `await`", "await {}"),
    "AsyncResult": ("wait for the result with `.get()`", "{}.get()"),
    "ApplyResult": ("wait for the result with `.get()`", "{}.get()"),
    "MapResult": ("wait for the result with `.get()`", "{}.get()"),
    "function": ("call the function", "{}()"),
    "method": ("call the method", "{}()"),
    "builtin_function_or_method": ("call it", "{}()"),
    "partial": ("call it", "{}()"),
    "zip": ("convert it to a generator", "(pair for pair in {})"),
    "map": ("convert it to a generator", "(batch for batch in {})"),
    "filter": ("convert it to a generator", "(batch for batch in {})"),
}
"""Types that return data later, and how to get the data."""


@CAUSE.before_fit
def from_data(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report the type of the data passed to `fit`."""
    for array in (*data.x, *data.y, *data.sample_weight):
        kind = array.container.rpartition(".")[2]
        if data.form == "other" and array in data.x and kind not in REMEDIES:
            yield from _given_objects(array, kind, project)
        elif kind in REMEDIES and data.form in ("arrays", "other"):
            found = expression_of(project, array.use)
            if found is not None:
                where, node = _place_to_wait(*found, kind)
                array = replace(array, code=where.code(node))
            yield replace(_finding(kind, array, array.path, project), confidence=Confidence.CERTAIN)
        elif any(column.holds in WAITING for column in array.columns):
            yield CAUSE.certain(
                f"`{array.path}` is an array of futures, not of numbers",
                place(array.code, array.use, fit.code),
                Evidence("elements", "futures", "numbers", fact="data.x"),
                fix("wait for each future: `[future.result() for future in …]`"),
                subject=f"argument {array.path}",
            )


WAITING = ("Future", "Task", "coroutine", "ApplyResult", "AsyncResult")
"""Array elements that are not data yet."""


def _place_to_wait(module: Module, expr: ast.expr, kind: str) -> tuple[Module, ast.expr]:
    """Return the expression to wait for: where the function that starts the work hands it on, or else its creation."""
    made = origin(module, expr)
    here = made.module is module and module.scope(made.node) is module.scope(expr)
    if made.path or not isinstance(made.node, ast.Call) or here:
        return module, _named_last(module, expr)
    if _is_waited_for(module, made):
        return module, expr
    # Until a coroutine is waited for, it does not run.
    for step in reversed(made.steps) if kind != "coroutine" else ():
        if step.how != "name" or not isinstance(step.node, ast.Name) or step.module is not made.module:
            break
        if step.module.scope(step.node) is step.module.scope(made.node):
            return step.module, step.node
    return made.module, made.node


def _is_waited_for(module: Module, made: Origin) -> bool:
    """Return whether another caller waits for what a function returns: it returns a future on purpose."""
    modules = module.project.modules if module.project is not None else (module,)
    waits = (site for each in modules for site in each.method_calls("result", "get"))
    return any(site.module.origin(site.receiver).node is made.node for site in waits)


def _named_last(module: Module, expr: ast.expr) -> ast.expr:
    """Return the last assignment to the name passed to `fit`, where the program should wait."""
    if not isinstance(expr, ast.Name):
        return module.made_by(expr)
    simple = [
        node
        for node in module.nodes(ast.Assign)
        if len(node.targets) == 1
        and expr.id in _names_of(node.targets[0])
        and module.scope(node) is module.scope(expr)
        and node.lineno < expr.lineno
    ]
    return max(simple, key=lambda node: node.lineno).value if simple else module.made_by(expr)


def _names_of(target: ast.expr) -> list[str]:
    """Return the names that an assignment binds."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def _finding(kind: str, array: ArrayFacts, name: str, project: Project) -> Finding:
    called = REMEDIES[kind][1] == "{}()"
    code = array.use if called else array.code
    target = code if isinstance(code, Code) and (called or not isinstance(array.code, Unknown)) else array.use
    return CAUSE.finding(
        f"`{name}` is a {_kind_words(kind)}, not data",
        place(target, array.code, array.use),
        Evidence(f"type of `{name}`", array.container or kind, "an array", fact="data.x.container"),
        _remedy(kind, target, project),
        subject=f"argument {name} of fit",
    )


def _remedy(kind: str, code: Code | Unknown, project: Project) -> Fix:
    title, template = REMEDIES[kind]
    if not template.startswith("await"):
        return fix(title, wrap(code, template))
    found = expression_of(project, code)
    function = found[0].function_of(found[1]) if found is not None else None
    if function is not None and isinstance(function.node, ast.AsyncFunctionDef):
        return fix(title, wrap(code, template))
    # A task belongs to a loop that is gone here, and a notebook runs its own.
    if kind != "coroutine" or isinstance(code, Unknown) or code.location.cell is not None:
        return fix(title)
    asyncio, imports = spell(code, "asyncio", "asyncio")
    return fix("run the coroutine with `asyncio.run`", wrap(code, f"{asyncio}.run({{}})"), imports)


def _kind_words(kind: str) -> str:
    return {"builtin_function_or_method": "function"}.get(kind, kind.lower().lstrip("_"))


# --- from the source ----------------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("__getitem__", "iter(", "ImageDataGenerator(")
def objects_in_source(module: Module) -> Iterator[Finding]:
    """Report data for `fit` that is an instance of a class unknown to Keras, or an iterator over a dataset."""
    yield from _image_generators(module)
    if module.keras == 3:
        yield from _objects_of_fit(module)


@CAUSE.in_source
@mentions("submit", "async", "def", "zip", "map", "filter")
def from_source(module: Module, project: Project) -> Iterator[Finding]:
    """Report data for `fit` from `submit`, from an `async def` without `await`, or a function that is not called."""
    for call in module.method_calls("fit"):
        if call.argument("epochs") is None and not module.calls_to("keras.Sequential", "keras.Model"):
            continue
        told: set[ast.expr] = set()
        for name, expr in _given(call.node):
            kind, made = _promise(module, expr)
            where, waits = (module, made) if kind == "function" else _place_to_wait(module, expr, kind)
            # `x, y = future` is one mistake, not two.
            if kind and waits not in told:
                told.add(waits)
                array = ArrayFacts(name, code=where.code(waits), use=module.code(expr))
                yield _finding(kind, array, name, project)


def _given(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    named = [*zip(("x", "y"), call.args, strict=False)]
    named += [
        (word.arg or "", word.value) for word in call.keywords if word.arg in ("x", "y", "validation_data")
    ]
    for name, expr in named:
        if isinstance(expr, (ast.Tuple, ast.List)) and name == "validation_data":
            yield from ((f"{name}[{index}]", item) for index, item in enumerate(expr.elts))
        else:
            yield name, expr


_LAZY = ("zip", "map", "filter")


def _promise(module: Module, expr: ast.expr) -> tuple[str, ast.expr]:
    """Return the kind of promise that an expression certainly is, and the expression that created it."""
    if isinstance(expr, (ast.Name, ast.Attribute)):
        function = module.definition(expr)
        if isinstance(function, FunctionInfo) and function.node in function.module.generators:
            return "function", expr
    made = module.made_by(expr)
    if not isinstance(made, ast.Call) or isinstance(module.parent(made), ast.Await):
        return "", expr
    if module.keras == 3 and isinstance(made.func, ast.Name) and made.func.id in _LAZY:
        # Keras 2 accepts any iterator; `x, y = map(…)` unpacks it.
        whole = origin(module, expr)
        own = module.definition(made.func) is not None or whole.node is not made or bool(whole.path)
        return ("", expr) if own else (made.func.id, made)
    function = callee(module, made)
    if function is not None and isinstance(function.node, ast.AsyncFunctionDef):
        if function.node not in function.module.generators and not function.node.decorator_list:
            return "coroutine", made
    if _is_awaited_elsewhere(module, made):
        return "coroutine", made
    if isinstance(made.func, ast.Attribute) and made.func.attr == "submit":
        pool = module.made_by(made.func.value)
        if isinstance(pool, ast.Call) and module.resolve(pool.func).endswith(
            ("ThreadPoolExecutor", "ProcessPoolExecutor")
        ):
            return "Future", made
    return "", expr


# --- after the failure --------------------------------------------------------------------------------------------

_UNRECOGNISED = re.compile(
    r"Unrecognized data type: [^\n]{0,200}?(?:<(?P<coroutine>coroutine) object|<(?P<future>Future|Task) |"
    r"<(?P<function>function|bound method)|\(of type <class '[\w.]*?(?P<kind>\w+)'>)"
)
_USED = re.compile(
    r"'(?P<kind>Future|coroutine|Task|ApplyResult|AsyncResult|MapResult)' object (?:has no attribute|"
    r"is not (?:subscriptable|iterable)|does not support)|"
    r"object of type '(?P<other>Future|coroutine|Task|ApplyResult)' has no len|"
    r"unsupported operand type\(s\)[^\n]{0,80}'(?P<operand>Future|coroutine|Task|ApplyResult)'|"
    r"cannot unpack non-iterable (?P<unpacked>Future|coroutine|Task|ApplyResult|AsyncResult) object"
)
_NOT_DATA = re.compile(
    r"object of type '(?P<kind>ImageDataGenerator)' has no len\(\)"
    r"|'(?P<owner>ImageDataGenerator)' object "
    r"(?:has no attribute '(?:shape|ndim|dtype|reshape)'|is not (?:subscriptable|an iterator|iterable))"
)
CAUSE.message(
    r"'(?P<owner>[\w.]*(?:Tensor|ndarray|DataFrame))' object has no attribute 'result'",
    "`.result()` is called on a `{owner}`, which already is the data",
    "remove `.result()`",
    subject="result",
)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report the promise that the message shows, or the attribute that it lacks."""
    unrecognized = "Unrecognized data type" in failure.message
    if isinstance(data, DataFacts) and isinstance(fit, FitFacts) and unrecognized:
        found = list(from_data(fit, data, project))
        yield from found
        if found or data.form not in ("other", "arrays"):
            return
    kind = _kind_in(failure.message)
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if kind and module is not None and failure.called == "fit":
        told = [] if kind in REMEDIES else list(objects_in_source(module))
        found = [
            *from_source(module, project),
            *(replace(one, confidence=Confidence.CERTAIN) for one in told),
        ]
        yield from found
        if found:
            return
    location = _not_awaited(failure.message, project) or failure.location
    if kind in _FOREIGN and failure.type in ("ValueError", "AttributeError", "TypeError"):
        what, remedy = _FOREIGN[kind]
        yield CAUSE.finding(
            f"`fit` gets {what}, which is not data that Keras reads",
            location,
            Evidence("type", kind, "an array, a dataset or a generator"),
            fix(remedy),
        )
        return
    if kind not in REMEDIES or failure.type not in ("ValueError", "AttributeError", "TypeError"):
        return
    yield CAUSE.finding(
        f"a {_kind_words(kind)} is used instead of data",
        location,
        Evidence("type", kind, "an array"),
        _remedy(kind, _unpacked(failure, module), project),
    )


def _unpacked(failure: FailureFacts, module: Module | None) -> Code | Unknown:
    """Return what the line that raised unpacks: the right side of `x, y = future`."""
    frame = failure.last_user_frame
    for node in module.nodes(ast.Assign) if module is not None and "unpack" in failure.message else ():
        assert module is not None
        if frame is not None and at_frame(module, node, frame) and isinstance(node.targets[0], ast.Tuple):
            return module.code(node.value)
    return Unknown("the line does not unpack it")


_FOREIGN = {
    "BatchEncoding": ("the output of a tokenizer", "pass a dict of arrays: `dict(tokenizer(…, return_tensors=\"np\"))`"),
    "Encoding": ("the output of a tokenizer", "pass the ids as an array: `np.array([one.ids for one in encoded])`"),
    "Tensor": ("a PyTorch tensor", "pass NumPy arrays: `tensor.numpy()`"),
    "DataLoader": ("a PyTorch `DataLoader`", "use `keras.utils.PyDataset` or `tf.data`; Keras 3 also reads a `DataLoader`"),
    "Subset": ("a PyTorch `Subset`", "pass NumPy arrays, or a `DataLoader` (Keras 3)"),
    "Dataset": ("a dataset of another library", "convert it: `dataset.to_tf_dataset(…)`, or pass its arrays"),
    "DatasetDict": ("a `DatasetDict`", "choose a split and convert it: `dataset[\"train\"].to_tf_dataset(…)`"),
    "dict": ("a dict of datasets", "combine them with `tf.data.Dataset.zip`, so that each element is a dict"),
    "ImageDataGenerator": ("an `ImageDataGenerator`", "pass what its `flow(…)` or `flow_from_directory(…)` returns"),
    "csr_matrix": ("a sparse matrix", "convert it to an array: `matrix.toarray()`"),
    "Tokenizer": ("a tokenizer", "pass the ids that its `texts_to_sequences` returns, padded"),
    "str": ("text", "pass the data itself, not its path"),
    "PosixPath": ("a path", "pass the data itself, not its path"),
}  # fmt: skip
"""Objects that people pass, by class: what each is, and what to pass instead."""

_COROUTINE = re.compile(r"<coroutine object (?:[\w<>]+\.)*(?P<name>\w+) at ")


def _not_awaited(message: str, project: Project) -> Location | None:
    """Return the only call of the coroutine in the message that is not awaited."""
    shown = _COROUTINE.search(message)
    if shown is None or not project:
        return None
    calls = [
        module.location(site.node)
        for module in project.modules
        for site in module.calls
        if last_name(site.node) == shown["name"] and not isinstance(module.parent(site.node), ast.Await)
    ]
    return calls[0] if len(calls) == 1 else None


def _kind_in(message: str) -> str:
    given = _UNRECOGNISED.search(message)
    if given is not None:
        return (
            given["coroutine"] or given["future"] or given["kind"] or (given["function"] and "function") or ""
        )
    not_data = _NOT_DATA.search(message)
    if not_data is not None:
        return not_data["kind"] or not_data["owner"]
    used = _USED.search(message)
    return next(filter(None, used.groups()), "") if used is not None else ""


def _is_awaited_elsewhere(module: Module, made: ast.Call) -> bool:
    """Return whether the same function awaits another call of the same method on the same object."""
    return isinstance(made.func, ast.Attribute) and any(
        isinstance(node.value, ast.Call)
        and ast.dump(node.value.func) == ast.dump(made.func)
        and module.function_of(node) is module.function_of(made)
        for node in module.nodes(ast.Await)
    )


# --- objects of other libraries -------------------------------------------------------------------------------------


_ARRAYS = frozenset({"__array__", "shape", "dtype", "__tf_tensor__"})
"""Methods that make an object array data."""


def _objects_of_fit(module: Module) -> Iterator[Finding]:
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
            yield _of_class(known, module.code(given))
        elif _is_iterator(module, made):
            yield _of_iterator(module.code(made), module.code(given))


def _image_generators(module: Module) -> Iterator[Finding]:
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
            yield CAUSE.finding(
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


def _given_objects(array: ArrayFacts, kind: str, project: Project) -> Iterator[Finding]:
    """Report the type of the object passed to `fit`."""
    if kind == "OwnedIterator":
        found = expression_of(project, array.use)
        made = found[0].code(found[0].made_by(found[1])) if found is not None else array.code
        yield replace(_of_iterator(made, array.use), confidence=Confidence.CERTAIN)
    known = project.class_named(kind)
    if known is not None and _gives_batches(known):
        yield replace(_of_class(known, array.use), confidence=Confidence.CERTAIN)


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


def _of_class(known: ClassInfo, use: Code | Unknown) -> Finding:
    module = known.module
    here = module.location(known.node)
    return CAUSE.finding(
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


def _of_iterator(made: Code | Unknown, use: Code | Unknown) -> Finding:
    edits: tuple[Edit, ...] = ()
    if isinstance(made, Code) and len(made.arguments) == 1:
        edits = (Edit(made.location, made.arguments[0].text),)
    return CAUSE.finding(
        "`fit` receives an iterator over a dataset, but expects the dataset itself",
        place(made, use),
        Evidence("argument x", "an iterator", "a dataset", "data.x.container", place(use)),
        fix("pass the dataset itself", edits),
        subject="argument x of fit",
    )
