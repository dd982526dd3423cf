"""Variable or layer that the model does not track.

## What happens

Nothing visible: `fit` runs without a warning, and the variable keeps its initial value. It is not in
`model.trainable_variables`, gets no gradient and is not saved.

## Why

Keras 3 tracks its own variables (`add_weight`, `keras.Variable`) and layers that are attributes, including those in
lists, tuples and dicts. It does not track a raw `tf.Variable`, nor variables held by a plain Python object, a Lambda
function or a loss.

## Fix

Use `self.add_weight(…)` or `keras.Variable(…)` in a layer. Replace a plain class or a Lambda around layers with a
`Layer` subclass. A loss has no weights, so move a learnable parameter into a layer.

## Known limits

Variables that the program updates itself (`assign`) or passes to an optimizer are its own state and are not reported.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, spell
from fitdoctor.facts import ModelFacts
from fitdoctor.records import replace
from fitdoctor.source.callees import returned_by
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(id="FIT503", slug="variable-not-tracked", severity=Severity.WARNING)

VARIABLE = "tensorflow.Variable"
OWN_TRAINING = ("gradient", "jacobian", "apply_gradients", "apply", "minimize")
WEIGHTLESS = frozenset(
    """Flatten Reshape Permute Activation ReLU LeakyReLU ELU Softmax Dropout Concatenate Add Average Multiply Subtract
    Maximum Minimum Dot Lambda Masking MaxPooling1D MaxPooling2D AveragePooling1D AveragePooling2D InputLayer
    GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling1D GlobalMaxPooling2D UpSampling1D UpSampling2D
    ZeroPadding1D ZeroPadding2D Cropping1D Cropping2D RepeatVector Rescaling Resizing Identity""".split()
)


@CAUSE.rule(
    "def",
    "lambda",
    says="Variables were created within a Lambda layer",  # Keras 2
    in_source=False,
    anywhere=True,
    problem="a Lambda layer creates variables that Keras does not track",
    remedy="write a custom layer that creates them in `__init__` or `build`",
    subject="Lambda",
    confidence=Confidence.CERTAIN,
)
def reached_by_lambda(module: Module) -> Iterator[Finding]:
    """Find variables and layers that a Lambda layer uses."""
    for function in module.functions:
        if function.how == "lambda layer":
            for found in _in_function(module, function):
                yield replace(found, severity=Severity.ERROR)


@CAUSE.rule("def", "lambda")
def untracked(module: Module) -> Iterator[Finding]:
    """Find raw variables on layers and losses, variables and layers in functions, and layers in plain objects."""
    if module.keras != 3:
        return
    for owner in module.classes:
        if owner.kind in ("Layer", "Model", "Loss") and not _is_of_another_keras(owner):
            yield from _raw_variables(module, owner)
            yield from _plain_objects(module, owner)
    for function in module.functions:
        if (
            function.how in ("lambda layer", "loss")
            and function.traced is not None
            and function.traced.direct
        ):
            yield from _in_function(module, function)


def _is_of_another_keras(owner: ClassInfo) -> bool:
    """Return whether `tf_keras` or the private copy inside TensorFlow has a base of the class: both track variables."""
    bases = (base for ancestor in owner.ancestry for base in ancestor.bases)
    return any(base.startswith(("tf_keras.", "tensorflow.python.keras.")) for base in bases)


# --- raw variables on attributes ----------------------------------------------------------------------------------


def _raw_variables(module: Module, owner: ClassInfo) -> Iterator[Finding]:
    if {"trainable_variables", "trainable_weights"} & set(owner.methods):
        return
    for call, name in _raw_in(module, owner):
        if _is_read(owner, name):
            yield _raw_finding(module, owner, call, name)


def _raw_in(module: Module, owner: ClassInfo) -> Iterator[tuple[ast.Call, str]]:
    """Return the raw variables of the class that are meant to be trained, with their attributes."""
    for site in module.calls_to(VARIABLE):
        function = site.function
        if function is None or function.owner is None or function.owner.node is not owner.node:
            continue
        name = _attribute_of(module, site.node)
        if name and _is_trainable(site.node) and not _is_managed(module, name):
            yield site.node, name


def _attribute_of(module: Module, call: ast.Call) -> str:
    """Return the attribute of `self` that stores a variable, directly or in a list or dict, or ""."""
    value: ast.AST = call
    containers = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
    while isinstance(holder := module.parent(value), containers):
        value = holder
    match holder:
        case ast.Call(func=ast.Attribute(value=kept, attr="append")):
            return module.own_attribute(kept)
        case ast.Assign(targets=targets) if holder.value is value:
            return next((name for target in targets if (name := module.own_attribute(target))), "")
    return ""


def _is_trainable(call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "trainable":
            return not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
        if keyword.arg == "dtype" and re.search(r"int|bool|string", ast.unparse(keyword.value)):
            return False
    first = call.args[0] if call.args else None
    return not (
        isinstance(first, ast.Constant) and isinstance(first.value, (int, bool)) and len(call.args) == 1
    )


def _is_managed(module: Module, name: str) -> bool:
    """Return whether the program updates the variable itself or passes it to an optimizer."""
    for site in module.calls:
        if site.method.startswith("assign") and _name(site.receiver) == name:
            return True
        given = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
        if site.method in OWN_TRAINING and any(
            _name(node) == name for each in given for node in ast.walk(each)
        ):
            return True
    # A list of variables built by hand, such as `model.trainable_variables + [self.scale]`.
    lists: list[ast.List | ast.Tuple] = [*module.nodes(ast.List), *module.nodes(ast.Tuple)]
    kept = (node for node in lists if isinstance(module.parent(node), (ast.BinOp, ast.Assign)))
    return any(_name(element) == name for node in kept for element in node.elts)


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", "") or getattr(node, "attr", ""))


def _is_read(owner: ClassInfo, name: str) -> bool:
    """Return whether a method computes with the attribute: what is only shown or passed on is not learned."""
    return any(not _is_passed_on(method.module, node) for method, node in _reads(owner, name))


def _is_passed_on(module: Module, node: ast.AST) -> bool:
    """Return whether a value is only returned, or read with `.numpy()`."""
    holder = module.parent(node)
    while isinstance(holder, (ast.Tuple, ast.List, ast.Dict)):
        holder = module.parent(holder)
    return isinstance(holder, ast.Return) or (isinstance(holder, ast.Attribute) and holder.attr == "numpy")


def _reads(owner: ClassInfo, name: str) -> Iterator[tuple[FunctionInfo, ast.Attribute]]:
    """Return where methods that Keras calls read the attribute."""
    for method in owner.methods.values():
        if method.name not in ("__init__", "build", "get_config"):
            for node in ast.walk(method.node):
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
                    yield method, node


def _raw_finding(module: Module, owner: ClassInfo, call: ast.Call, name: str) -> Finding:
    every = list(_raw_in(module, owner))
    if owner.kind == "Loss":
        remedy = _on_the_model(
            module, [name for _call, name in every], [call for call, _name in every], owner
        )
    else:
        remedy = fix(
            "make it a variable that Keras tracks", _keras_variables(module, [call for call, _name in every])
        )
    return CAUSE.finding(
        f"`{owner.name}.{name}` is a raw `tf.Variable`, which Keras neither tracks nor trains",
        module.location(call),
        Evidence("type of the attribute", "tf.Variable", "a weight (`add_weight`, `keras.Variable`)"),
        *(
            Evidence(f"{name_of(method)} uses it here", location=method.module.location(node))
            for method, node in itertools.islice(_reads(owner, name), 1)
        ),
        remedy,
        subject=f"variable {name}",
    )


def _on_the_model(
    module: Module, names: Sequence[str], made: Sequence[ast.Call], owner: ClassInfo | None
) -> Fix:
    """Add `model.weight = loss.weight` before `compile`, so that the model trains the variables of its loss.

    Args:
        module: the file.
        names: the variables.
        made: their constructors.
        owner: the loss class that stores them; None for global variables.
    """
    title = "make it an attribute of the model, which trains it; a loss has no weights"
    variables, sites = _keras_variables(module, made), module.method_calls("compile")
    given = sites[0].argument("loss", 1) if len(sites) == 1 else None
    if given is None or not variables:
        return fix(title)
    model, code, holder = module.segment(sites[0].receiver), module.code(sites[0].node), ""
    edits: list[Edit] = []
    if owner is not None:
        loss = module.made_by(given)
        if not isinstance(loss, ast.Call) or module.definition(loss.func) is not owner:
            return fix(title)
        holder = f"{given.id}." if isinstance(given, ast.Name) else "loss."
        if not isinstance(given, ast.Name):
            if any(node.id == "loss" for node in module.nodes(ast.Name)):
                return fix(title)
            edits += [
                *insert_before(code, f"loss = {module.segment(given)}"),
                Edit(module.location(given), "loss"),
            ]
    lines = f"\n{code.indent}".join(f"{model}.{name} = {holder}{name}" for name in names)
    return fix(title, edits, insert_before(code, lines), variables)


def _keras_variables(module: Module, made: Sequence[ast.Call]) -> list[Edit]:
    """Create raw variables as `keras.Variable`, the only kind that Keras tracks."""
    keras, edits = dict(module.spellings).get("keras"), list[Edit]()
    for call in made if keras is not None else ():
        edits.append(Edit(module.location(call.func), f"{keras}.Variable"))
        edits += [
            Edit(module.location(keyword), f"initializer={module.segment(keyword.value)}")
            for keyword in call.keywords
            if keyword.arg == "initial_value"
        ]
    return edits


# --- what functions reach -----------------------------------------------------------------------------------------


def _in_function(module: Module, function: FunctionInfo) -> Iterator[Finding]:
    """Report outside variables and layers that a Lambda function or a loss uses."""
    reached = list(_reached(module, function))
    ordered = sorted(reached, key=lambda each: (each[0].lineno, each[0].col_offset))
    names, makers = [each[0].id for each in ordered], [each[1] for each in ordered if each[2] == "variable"]
    for node, made, what in reached:
        if function.how == "loss":
            holder, place = f"the loss `{function.name}`", module.location(made)
            remedy = _on_the_model(module, names, makers, None)
        else:
            holder, place = "a Lambda layer", module.location(function.node)
            title = f"replace the Lambda with a `Layer` subclass that owns the {what}"
            remedy = fix(title, _instead_of_lambda(module, function, names, makers))
        yield CAUSE.finding(
            f"{holder} uses the {what} `{node.id}`, which no model tracks, so it is never trained",
            place,
            Evidence(f"the {what} is created here", location=module.location(made)),
            Evidence("used here", location=module.location(node)),
            remedy,
            subject=f"variable {node.id}",
        )


def _reached(module: Module, function: FunctionInfo) -> Iterator[tuple[ast.Name, ast.Call, str]]:
    """Return the first use of each, its constructor, and which of the two it is."""
    inside, told, in_lambda = set(ast.walk(function.node)), set[str](), function.how == "lambda layer"
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Name) or node.id in told or node.id in function.parameters:
            continue
        made = module.made_by(node)
        if not isinstance(made, ast.Call) or made in inside:
            continue
        if module.called(made) == VARIABLE:
            # An integer in a Lambda is still meant as a weight, because nothing else reads it.
            meant = (in_lambda or _is_trainable(made)) and not _is_managed(module, node.id)
        else:
            called = getattr(module.parent(node), "func", None) is node and _has_weights(module, made)
            meant = in_lambda and called and not _is_called_elsewhere(module, node.id)
        if meant:
            told.add(node.id)
            yield node, made, "variable" if module.called(made) == VARIABLE else "layer"


def _has_weights(module: Module, made: ast.Call) -> bool:
    library, _dot, name = module.called(made).rpartition(".")
    return library == "keras.layers" and name not in WEIGHTLESS and kind_of_call(module, made) == "Layer"


def _is_called_elsewhere(module: Module, name: str) -> bool:
    """Return whether the layer is also called outside such functions, so that the model tracks it."""
    calls = (site for site in module.calls if getattr(site.node.func, "id", "") == name)
    return any(site.function is None or site.function.how != "lambda layer" for site in calls)


def _instead_of_lambda(
    module: Module, function: FunctionInfo, kept: Sequence[str], made: Sequence[ast.Call]
) -> tuple[Edit, ...]:
    """Replace a Lambda layer with a layer class that owns the outside variables and layers that its function uses."""
    sites = [
        site.node
        for site in module.calls_to("keras.layers.Lambda")
        if (given := site.argument("function", 0)) is function.node
        or getattr(given, "id", "") == function.name
    ]
    name = "".join(part.capitalize() for one in kept for part in one.split("_")) + "Layer"
    if len(sites) != 1 or len(function.parameters) != 1 or name in module.reads:
        return ()
    code, parameter, body = module.code(sites[0]), function.parameters[0], function.node.body
    keras, imports = spell(code, "keras", "keras")
    named = next((module.segment(each) for each in sites[0].keywords if each.arg == "name"), "")
    result = f"{function.name}({parameter})"
    if isinstance(body, ast.expr):
        own = [node for node in ast.walk(body) if isinstance(node, ast.Name) and node.id in kept]
        result = module.rewritten(body, *((node, f"self.{node.id}") for node in own))
    lines = [
        "",
        f"class {name}({keras}.layers.Layer):",
        "    def __init__(self):",
        f"        super().__init__({named})",
        *(f"        self.{one} = {one}" for one in kept),
        "",
        f"    def call(self, {parameter}):",
        f"        return {result}",
        "",
    ]
    inserted = insert_before(code, f"\n{code.indent}".join(lines).replace(f"{code.indent}\n", "\n"))
    if not inserted or "\n" in result:
        return ()
    return (*inserted, Edit(code.location, f"{name}()"), *_keras_variables(module, made), *imports)


# --- layers in plain objects --------------------------------------------------------------------------------------


def _plain_objects(module: Module, owner: ClassInfo) -> Iterator[Finding]:
    """Report plain objects that contain layers: `self.encoder = Encoder()`, or a list of them."""
    told: set[str] = set()
    stores = [each for found in module.attribute_stores(owner.node).values() for each in found]
    values = [parent.value for each in stores if isinstance(parent := module.parent(each), ast.Assign)]
    appended = [site.node for site in module.method_calls("append") if module.class_of(site.node) is owner]
    values += [call.args[0] for call in appended if call.args and "self." in module.segment(call.func)]
    for value in (kept for each in values for kept in _kept(each)):
        made = module.definition(value.func) if isinstance(value, ast.Call) else None
        closed = _closed_over(made) if isinstance(made, FunctionInfo) else None
        if isinstance(made, FunctionInfo) and closed is not None and made.name not in told:
            told.add(made.name)
            yield CAUSE.finding(
                f"`{made.name}` returns a function, so `{owner.name}` never trains the layers that it calls",
                made.module.location(closed),
                Evidence(f"`{owner.name}` stores it here", location=module.location(value)),
                fix("return a `keras.Sequential` or a `Layer` subclass, which the model tracks"),
                subject=f"function {made.name}",
            )
        if isinstance(made, ClassInfo) and made.name not in told and _is_plain_holder(made):
            held = module.segment(getattr(module.parent(value), "targets", [value])[0])
            if any(each is not value and f"{held}." in module.segment(each) for each in values):
                continue  # `self.tracked = [*self.encoder.layers]` tracks what it holds
            told.add(made.name)
            yield CAUSE.finding(
                f"`{made.name}` is a plain class, so `{owner.name}` never trains the layers inside it",
                _class_line(made),
                Evidence(f"`{owner.name}` stores it here", location=module.location(value)),
                _as_layer(made),
                subject=f"class {made.name}",
            )


def _closed_over(maker: FunctionInfo) -> ast.expr | None:
    """Return the first layers with weights that a function creates for the function that it returns."""
    module, returned = maker.module, returned_by(maker)
    inner = module.definition(returned) if isinstance(returned, ast.Name) else None
    if isinstance(returned, ast.Lambda):
        inner = module.function(returned)
    if not isinstance(inner, FunctionInfo) or module.parent(inner.node) is None:
        return None
    for node in ast.walk(inner.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in inner.parameters:
            made = module.made_by(node)
            outside = module.function_of(made) is maker and made not in ast.walk(inner.node)
            if outside and any(
                isinstance(one, ast.Call) and _has_weights(module, one) for one in _kept(made)
            ):
                return made
    return None


def _is_plain_holder(made: ClassInfo) -> bool:
    """Return whether a class is not a Keras class and stores layers with weights in its attributes."""
    setup = made.methods.get("__init__")
    if setup is None or made.kind or set(made.bases) - {"object", "abc.ABC", ""}:
        return False
    stored = (each.value for each in ast.walk(setup.node) if isinstance(each, ast.Assign))
    values = (value for each in stored for value in _kept(each))
    return any(isinstance(value, ast.Call) and _has_weights(made.module, value) for value in values)


def _kept(value: ast.expr) -> list[ast.expr]:
    """Return the values of an attribute: itself, or the items of a literal list or dict."""
    match value:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(values=items):
            return items
        case ast.ListComp(elt=item):
            return [item]
    return [value]


def _class_line(made: ClassInfo) -> Location:
    whole = made.module.location(made.node)
    first = made.module.line_text(whole.line, whole.cell)
    return replace(whole, end_line=whole.line, end_column=len(first.rstrip()) + 1)


def _as_layer(made: ClassInfo) -> Fix:
    """Make the class a subclass of `Layer`, with `super().__init__()` and `call`."""
    module = made.module
    title = f"make `{made.name}` a subclass of `keras.layers.Layer`"
    setup = made.methods["__init__"]
    header = re.match(
        rf"\s*class\s+{made.name}\s*(\(\s*(object)?\s*\))?\s*:", module.line_text(made.node.lineno)
    )
    if header is None or isinstance(setup.node, ast.Lambda):
        return fix(title)
    keras, imports = spell(module.code(made.node), "keras", "keras")
    line = _class_line(made)
    span = replace(line, column=1, end_column=header.end() + 1)
    indent = indent_of(module, made.node)
    edits = [Edit(span, f"{indent}class {made.name}({keras}.layers.Layer):")]
    prepared = insert_before(module.code(setup.node.body[0]), "super().__init__()")
    if not prepared:
        # `def __init__(self): self.dense = …` on one line.
        prepared = (Edit(module.location(setup.node.body[0]).start, "super().__init__(); "),)
    edits += prepared
    call = made.methods.get("__call__")
    if call is not None and isinstance(call.node, ast.FunctionDef):
        text = module.line_text(call.node.lineno)
        column = text.index("__call__") + 1
        where = replace(
            line, line=call.node.lineno, end_line=call.node.lineno, column=column, end_column=column + 8
        )
        edits.append(Edit(where, "call"))
    return fix(title, edits, imports)


# --- from the living model ----------------------------------------------------------------------------------------


@CAUSE.before_fit
def from_model(model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report untracked variables that the collector found, at their place in the source."""
    if model.keras != 3 or not model.untracked_variables or not project:
        return
    words = " ".join(text for text in model.untracked_variables if "(not trainable)" not in text)
    for module in project.modules:
        for finding in untracked(module):
            name = finding.subject.rpartition(" ")[2]
            if re.search(rf"\b{re.escape(name)}\b", words) or finding.subject.startswith("class "):
                yield finding
