"""Edits that attach a variable or layer used only by a function or loss to a layer or model that tracks it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import insert_before, spell
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module

VARIABLE = "tensorflow.Variable"


def as_layer(module: Module, function: FunctionInfo, kept: Sequence[str]) -> tuple[Edit, ...]:
    """Replace a Lambda layer with a layer class that owns the objects its function uses.

    Args:
        module: the file.
        function: the function of the Lambda.
        kept: the outside variables and layers that it uses.
    """
    site = _lambda_layer(module, function)
    parameters = function.parameters
    if site is None or len(parameters) != 1 or not kept:
        return ()
    code = module.code(site)
    keras, imports = spell(code, "keras", "keras")
    name = "".join(part.capitalize() for one in kept for part in one.split("_")) + "Layer"
    if any(isinstance(node, ast.Name) and node.id == name for node in module.nodes(ast.Name)):
        return ()
    named = next((module.segment(each) for each in site.keywords if each.arg == "name"), "")
    result = (
        _with_self(module, function.node.body, kept)
        if isinstance(function.node, ast.Lambda)
        else f"{function.name}({parameters[0]})"
    )
    if "\n" in result:
        return ()
    lines = [
        "",
        f"class {name}({keras}.layers.Layer):",
        "    def __init__(self):",
        f"        super().__init__({named})",
        *(f"        self.{one} = {one}" for one in kept),
        "",
        f"    def call(self, {parameters[0]}):",
        f"        return {result}",
        "",
    ]
    inserted = insert_before(code, f"\n{code.indent}".join(lines).replace(f"{code.indent}\n", "\n"))
    if not inserted:
        return ()
    return (*inserted, Edit(code.location, f"{name}()"), *keras_variables(module, kept, keras), *imports)


def _lambda_layer(module: Module, function: FunctionInfo) -> ast.Call | None:
    """Return the only `Lambda(…)` that gets the function."""
    found = []
    for site in module.calls_to("keras.layers.Lambda"):
        given = site.argument("function", 0)
        if given is function.node or (isinstance(given, ast.Name) and given.id == function.name):
            found.append(site.node)
    return found[0] if len(found) == 1 else None


def _with_self(module: Module, body: ast.expr, kept: Sequence[str]) -> str:
    """Return the expression with the owned names as attributes."""
    text, start = module.segment(body), module.places.span(body)[0]
    spans = sorted(
        (module.places.span(node)[0] - start for node in ast.walk(body) if _is_one_of(node, kept)),
        reverse=True,
    )
    for at in spans:
        text = f"{text[:at]}self.{text[at:]}"
    return text


def _is_one_of(node: ast.AST, names: Sequence[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def keras_variables(module: Module, names: Sequence[str], keras: str) -> Iterator[Edit]:
    """Create these raw variables as `keras.Variable`, the only kind a layer tracks."""
    for site in module.calls_to(VARIABLE):
        statement = module.statement(site.node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(_is_one_of(target, names) for target in targets):
            yield from as_keras_variable(module, site.node, keras)


def as_keras_variable(module: Module, call: ast.Call, keras: str) -> Iterator[Edit]:
    """Return the variable as a `keras.Variable`."""
    yield Edit(module.location(call.func), f"{keras}.Variable")
    for keyword in call.keywords:
        if keyword.arg == "initial_value":
            yield Edit(module.location(keyword), f"initializer={module.segment(keyword.value)}")


# --- losses -------------------------------------------------------------------------------------------------------


def on_the_model(module: Module, names: Sequence[str], owner: ClassInfo | None) -> tuple[Edit, ...]:
    """Add `model.weight = loss.weight` before `compile`, so that the model trains the variables of its loss.

    Args:
        module: the file.
        names: the variables.
        owner: the loss class that stores them; None for global variables.
    """
    sites = [site for site in module.method_calls("compile") if isinstance(site.node.func, ast.Attribute)]
    given = sites[0].argument("loss", 1) if len(sites) == 1 else None
    if given is None:
        return ()
    call = sites[0].node
    assert isinstance(call.func, ast.Attribute)
    model, code = module.segment(call.func.value), module.code(call)

    def kept(prefix: str) -> str:
        return f"\n{code.indent}".join(f"{model}.{name} = {prefix}{name}" for name in names)

    if owner is None:
        return insert_before(code, kept(""))
    made = module.made_by(given)
    if not isinstance(made, ast.Call) or module.definition(made.func) is not owner:
        return ()
    if isinstance(given, ast.Name):
        return insert_before(code, kept(f"{given.id}."))
    if any(_is_one_of(node, ("loss",)) for node in module.nodes(ast.Name)):
        return ()
    first = f"loss = {module.segment(given)}\n{code.indent}{kept('loss.')}"
    return (*insert_before(code, first), Edit(module.location(given), "loss"))
