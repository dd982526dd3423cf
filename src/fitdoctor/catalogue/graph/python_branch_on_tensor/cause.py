"""Python branch on a symbolic tensor.

## What happens

`if`, `while`, `assert`, `and`, `or`, `not` or a chained comparison on a tensor raises
`OperatorNotAllowedInGraphError: Using a symbolic tf.Tensor as a Python bool is not allowed`. A `for` loop over a
tensor raises `Iterating over a symbolic tf.Tensor is not allowed`. Python's `max`, `min`, `any`, `all`, `sum` and
`bool` raise the same errors.

## Why

Python has to decide immediately which branch to take, but a symbolic tensor has no value yet. AutoGraph rewrites
`if`, `while` and `for` in a `tf.function` and in functions passed to `Dataset.map`. In Keras 3, AutoGraph does not
rewrite layers, losses, metrics or `train_step`: they run as plain Python.

## Fix

Select values with `tf.where(condition, a, b)`, or run one of two functions with `tf.cond`. Check conditions with
`tf.debugging.Assert` and combine them with `tf.logical_and`. You can also decorate a loss function with
`@tf.function`, so that AutoGraph rewrites it.

## Known limits

Branches on Python values (`training`, `mask is None`, `x.shape[1]`) work and are not reported. `tf.where` evaluates
both sides: a NaN on the side that is not selected still reaches the gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, insert_before, spell
from fitdoctor.facts import Frame
from fitdoctor.failure.failed_line import at_frame, function_at
from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.decided_branches import holds_wherever_traced, rests_on_a_flag
from fitdoctor.source.traced.symbolic import (
    is_one_tensor,
    is_symbolic,
    is_variable,
    name_of,
    own_nodes,
    traced_evidence,
    traced_functions,
)

CAUSE = Cause(
    id="FIT408",
    slug="python-branch-on-tensor",
    severity=Severity.ERROR,
    raises=("OperatorNotAllowedInGraphError", "TypeError"),
)

_BOOL = "as a Python `?bool`? is not allowed"
_ITERATE = (
    "Iterating over a symbolic|iterating over `tf.Tensor` is not allowed|argument of type 'SymbolicTensor' is not iterable"
    "|Tensor objects are only iterable when eager execution is enabled"
)
_COMPARING = frozenset({"max", "min", "sorted"})
_ITERATING = frozenset({"any", "all", "sum", "list", "tuple", "set", "max", "min", "zip", "enumerate", "map"})


@dataclass(frozen=True, eq=False)
class _Branch:
    """A place that needs the truth value or the elements of a tensor."""

    node: ast.AST
    what: str
    tensor: ast.expr


@CAUSE.rule("def", "lambda", says=f"{_BOOL}|{_ITERATE}")
def branches_on_tensors(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Find branches on a tensor in traced code that AutoGraph does not convert."""
    if frame is not None:
        yield from _at_frame(module, frame)
        return
    for function in traced_functions(module):
        seen: set[ast.stmt] = set()
        for branch in _branches(module, function):
            statement = module.statement(branch.node)
            if statement not in seen and not rests_on_a_flag(function, branch.node):
                seen.add(statement)
                yield _finding(module, function, branch)


def _at_frame(module: Module, frame: Frame) -> Iterator[Finding]:
    function = function_at(module, frame.line, frame.cell)
    for branch in _branches(module, function) if function is not None else ():
        assert function is not None
        if at_frame(module, module.statement(branch.tensor), frame):
            yield _finding(module, function, branch)
    layer = _without_state(module, frame)
    if layer is not None:
        yield _states_missing(module, layer, frame)


_ON_TENSOR = "branch on a symbolic tensor"
CAUSE.message(
    _ITERATE,
    "Python iterates over a symbolic tensor",
    "use `tf.unstack`, `tf.map_fn` or a Python `range` over the static shape",
    subject=_ON_TENSOR,
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    _BOOL,
    "Python branches on a symbolic tensor",
    "select values with `tf.where`, or run one of two functions with `tf.cond`",
    subject=_ON_TENSOR,
    confidence=Confidence.CERTAIN,
)


def _branches(module: Module, function: FunctionInfo) -> Iterator[_Branch]:
    converted = function.traced is not None and function.traced.autograph
    for node in own_nodes(function):
        yield from _never_converted(module, node, converted)
        if not converted:
            yield from _converted_elsewhere(module, node)


def _never_converted(module: Module, node: ast.AST, converted: bool) -> Iterator[_Branch]:
    """Find branches that fail in every traced function, because AutoGraph does not convert them either."""
    if isinstance(node, ast.Assert):
        yield from _asked(module, node, "assert", node.test)
    elif isinstance(node, ast.Call):
        name = module.resolve(node.func)
        if name == "bool" and node.args:
            yield from _asked(module, node, "bool()", node.args[0])
        elif name in _COMPARING and len(node.args) > 1:
            for argument in node.args:
                yield from _asked(module, node, f"{name}()", argument)
        elif (
            name in _ITERATING
            and len(node.args) == 1
            and not (converted and name in ("zip", "enumerate", "map"))
        ):
            if is_one_tensor(module, node.args[0]):
                yield _Branch(node, f"{name}()", node.args[0])
        elif name == "zip" and not converted:
            for argument in node.args:
                if is_one_tensor(module, argument):
                    yield _Branch(node, "zip()", argument)
                    break
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        if is_one_tensor(module, node.left) and _lists_constants(node.comparators[0]):
            yield _Branch(node, "in", node.left)
    elif isinstance(node, ast.comprehension):
        for condition in node.ifs:
            if not converted:
                yield from _asked(module, node.target, "if", condition)
        if is_one_tensor(module, node.iter):
            yield _Branch(node.iter, "for", node.iter)


def _lists_constants(node: ast.expr) -> bool:
    """Return whether it is a literal list of constants; `in` compares with each element and needs the truth value."""
    return (
        isinstance(node, (ast.List, ast.Tuple))
        and bool(node.elts)
        and all(isinstance(element, ast.Constant) for element in node.elts)
    )


def _converted_elsewhere(module: Module, node: ast.AST) -> Iterator[_Branch]:
    """Find branches that AutoGraph would convert."""
    if isinstance(node, (ast.If, ast.While)):
        yield from _asked(module, node, "if" if isinstance(node, ast.If) else "while", node.test)
    elif isinstance(node, ast.IfExp):
        yield from _asked(module, node, "if", node.test)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        if is_one_tensor(module, node.iter) or _ranges_over_tensor(module, node.iter):
            yield _Branch(node, "for", node.iter)
    elif isinstance(node, ast.BoolOp):
        for operand in node.values[:-1]:
            yield from _asked(module, node, "and" if isinstance(node.op, ast.And) else "or", operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _asked(module, node, "not", node.operand)
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        # `a < b < c` is `a < b and b < c`.
        if any(is_one_tensor(module, operand) for operand in (node.left, *node.comparators[:2])):
            yield _Branch(node, "a chained comparison", node)


def _asked(module: Module, node: ast.AST, what: str, test: ast.expr) -> Iterator[_Branch]:
    """Return the tensor operands of a test whose truth value is needed."""
    if isinstance(test, ast.BoolOp):
        for operand in test.values:
            yield from _asked(module, node, what, operand)
            if _decides(module, test, operand):
                return
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(module, node, what, test.operand)
    elif is_one_tensor(module, test) or is_variable(module, test):
        yield _Branch(node, what, test)


def _decides(module: Module, test: ast.BoolOp, operand: ast.expr) -> bool:
    """Whether Python never comes to the rest: `minimum is not None and …` where every call leaves it None."""
    function = module.function_of(test)
    held = holds_wherever_traced(function, operand) if function is not None else None
    return held is isinstance(test.op, ast.Or)


def _ranges_over_tensor(module: Module, iterated: ast.expr) -> bool:
    return (
        isinstance(iterated, ast.Call)
        and module.resolve(iterated.func) == "range"
        and any(is_one_tensor(module, argument) for argument in iterated.args)
    )


def _finding(module: Module, function: FunctionInfo, branch: _Branch) -> Finding:
    text = module.segment(branch.tensor)
    text = text if len(text) <= 50 else text[:49] + "…"
    loops = branch.what == "for"
    who = branch.what if " " in branch.what else f"`{branch.what}`"
    message = f"{who} needs the {'elements' if loops else 'truth value'} of `{text}`"
    message += f", which is symbolic in {name_of(function)}"
    how = function.traced.how if function.traced is not None else ""
    why: list[Evidence] = []
    if function.traced is not None and not function.traced.autograph and how != "tf.function":
        why = [Evidence("AutoGraph does not rewrite code that Keras 3 calls, so Python runs it as written")]
    return CAUSE.finding(
        message,
        module.location(branch.node),
        traced_evidence(function),
        *why,
        *_fixes(module, function, branch),
        subject=f"{branch.what} in {function.qualname}",
    )


# --- fixes --------------------------------------------------------------------------------------------------------


def _fixes(module: Module, function: FunctionInfo, branch: _Branch) -> list[Fix]:
    node = branch.node
    remedies: list[Fix] = []
    if isinstance(node, ast.IfExp):
        remedies += _chosen(module, node.test, node.body, node.orelse, node)
    elif isinstance(node, ast.If):
        remedies += _chosen_statement(module, node)
    elif isinstance(node, ast.Assert):
        remedies.append(_asserted(module, node))
    elif isinstance(node, ast.Call) and module.resolve(node.func) in ("max", "min") and len(node.args) == 2:
        remedies.append(_twin(module, node, {"max": "maximum", "min": "minimum"}[module.resolve(node.func)]))
    elif isinstance(node, ast.Call) and module.resolve(node.func) in ("sum", "any", "all"):
        remedies.append(_twin(module, node, f"reduce_{module.resolve(node.func)}"))
    decorated = _decorated(module, function)
    if decorated is not None and isinstance(
        node, (ast.If, ast.While, ast.For, ast.IfExp, ast.BoolOp, ast.UnaryOp)
    ):
        remedies.append(decorated)
    if isinstance(node, ast.If):
        remedies += _run_apart(module, function, node)
    if branch.what == "for":
        remedies.append(
            fix("loop over a Python `range` of the static shape, or use `tf.map_fn` or `tf.scan`")
        )
    elif branch.what == "while":
        remedies.append(fix("use `tf.while_loop`, or a Python loop with a fixed number of iterations"))
    else:
        remedies.append(fix("select values with `tf.where`, or run one of two functions with `tf.cond`"))
    return remedies


def _library(module: Module) -> tuple[str, str]:
    """Return `tensorflow` if the file imports it or Keras 2 has no `ops`, otherwise `keras.ops`."""
    known = dict(module.spellings)
    return ("tensorflow", "tf") if "tensorflow" in known or module.keras == 2 else ("keras.ops", "ops")


def _spelt(module: Module, node: ast.AST) -> tuple[str, tuple[Edit, ...]]:
    library, usual = _library(module)
    if library == "tensorflow":
        return spell(module.code(node), library, usual)
    spelling = dict(module.spellings).get(library)
    return (spelling, ()) if spelling is not None else ("keras.ops", ())


def _twin(module: Module, call: ast.Call, name: str) -> Fix:
    spelling, imports = _spelt(module, call)
    if spelling != "tf" and not spelling.endswith("tensorflow"):
        name = name.removeprefix("reduce_")
    return fix(
        f"call `{spelling}.{name}`", (Edit(module.location(call.func), f"{spelling}.{name}"), *imports)
    )


def _condition(module: Module, test: ast.expr, spelling: str) -> str | None:
    """Return a condition as a tensor expression, with functions for `and`, `or` and `not`."""
    if isinstance(test, ast.BoolOp):
        name = "logical_and" if isinstance(test.op, ast.And) else "logical_or"
        parts = [_condition(module, part, spelling) for part in test.values]
        text = parts[0]
        for part in parts[1:]:
            text = f"{spelling}.{name}({text}, {part})"
        return None if None in parts else text
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _condition(module, test.operand, spelling)
        return None if inner is None else f"{spelling}.logical_not({inner})"
    return module.segment(test)


def _chosen(
    module: Module, test: ast.expr, first: ast.expr, second: ast.expr, whole: ast.AST, before: str = ""
) -> list[Fix]:
    """Replace the whole expression with `tf.where(condition, first, second)`."""
    spelling, imports = _spelt(module, whole)
    condition = _condition(module, test, spelling)
    if condition is None:
        return []
    text = f"{before}{spelling}.where({condition}, {module.segment(first)}, {module.segment(second)})"
    return [fix(f"select with `{spelling}.where`", (Edit(module.location(whole), text), *imports))]


def _chosen_statement(module: Module, node: ast.If) -> list[Fix]:
    """Rewrite an `if` that returns or assigns one of two values."""
    if len(node.body) != 1 or len(node.orelse) > 1:
        return []
    first, second = node.body[0], node.orelse[0] if node.orelse else None
    if isinstance(first, ast.Return) and first.value is not None:
        following = second if second is not None else _following(module, node)
        if isinstance(following, ast.Return) and following.value is not None:
            chosen = _chosen(module, node.test, first.value, following.value, node, "return ")
            if second is None and chosen:
                return [_with_edit(chosen[0], Edit(module.location(following).lines, ""))]
            return chosen
        return []
    target = _one_target(first)
    if target is None:
        return []
    assert isinstance(first, ast.Assign)
    before = f"{target} = "
    if second is None:
        kept = ast.parse(target, mode="eval").body
        spelling, imports = _spelt(module, node)
        condition = _condition(module, node.test, spelling)
        if condition is None or not isinstance(kept, ast.Name):
            return []
        text = f"{before}{spelling}.where({condition}, {module.segment(first.value)}, {target})"
        return [fix(f"select with `{spelling}.where`", (Edit(module.location(node), text), *imports))]
    if _one_target(second) == target:
        assert isinstance(second, ast.Assign)
        return _chosen(module, node.test, first.value, second.value, node, before)
    return []


def _run_apart(module: Module, function: FunctionInfo, node: ast.If) -> list[Fix]:
    """Use `tf.cond` with a function per branch, for branches that do more than select a value."""
    spelling, imports = _spelt(module, node)
    condition = _condition(module, node.test, spelling)
    found = run_apart(module, function, node, condition, spelling) if condition and not imports else None
    return [] if found is None else [found]


def _with_edit(remedy: Fix, edit: Edit) -> Fix:
    return Fix(remedy.title, remedy.applicability, (*remedy.edits, edit))


def _following(module: Module, node: ast.stmt) -> ast.stmt | None:
    parent = module.parent(node)
    body = getattr(parent, "body", [])
    if node in body and body.index(node) + 1 < len(body):
        following: ast.stmt = body[body.index(node) + 1]
        return following
    return None


def _one_target(statement: ast.stmt | None) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _asserted(module: Module, node: ast.Assert) -> Fix:
    spelling, imports = spell(module.code(node), "tensorflow", "tf")
    condition = _condition(module, node.test, spelling)
    message = module.segment(node.msg) if node.msg is not None else repr(module.segment(node.test))
    if condition is None:
        return fix("check with `tf.debugging.Assert`")
    text = f"{spelling}.debugging.Assert({condition}, [{message}])"
    return fix(f"check with `{spelling}.debugging.Assert`", (Edit(module.location(node), text), *imports))


def _decorated(module: Module, function: FunctionInfo) -> Fix | None:
    """Add `@tf.function` to code that creates no weights: a loss, a metric function, a layer without sublayers."""
    node = function.node
    tracing = function.traced
    if isinstance(node, ast.Lambda) or node.decorator_list or tracing is None or not tracing.direct:
        return None
    if tracing.how not in ("loss", "metric", "call") or "tensorflow" not in dict(module.spellings):
        return None
    if function.owner is not None and (function.owner.kind == "Model" or _makes_something(module, function)):
        return None
    spelling, imports = spell(module.code(node), "tensorflow", "tf")
    return fix(
        f"decorate `{function.name}` with `@{spelling}.function` so that AutoGraph rewrites the branch",
        insert_before(module.code(node), f"@{spelling}.function"),
        imports,
    )


def _makes_something(module: Module, function: FunctionInfo) -> bool:
    """Return whether a layer calls sublayers or uses weights, which a `tf.function` may create too late."""
    for node in own_nodes(function):
        if isinstance(node, ast.expr) and is_variable(module, node):
            return True
        if isinstance(node, ast.Call) and not module.resolve(node.func):
            called = callee(module, node)
            if called is None and not (
                isinstance(node.func, ast.Attribute) and is_symbolic(module, node.func.value)
            ):
                return True
    return False


_RECURRENT = ("keras.layers.LSTM", "keras.layers.GRU", "keras.layers.SimpleRNN", "keras.layers.ConvLSTM2D")


def _without_state(module: Module, frame: Frame) -> ast.Call | None:
    """Return the recurrent layer whose single output a line unpacks: `outputs, h, c = LSTM(8)(x)`."""
    for node in module.nodes(ast.Assign):
        called = node.value
        if not at_frame(module, node, frame) or not isinstance(called, ast.Call):
            continue
        made = module.made_by(called.func)
        if isinstance(node.targets[0], ast.Tuple) and isinstance(made, ast.Call):
            site = module.call(made)
            if site.name in _RECURRENT and site.argument("return_state") is None:
                return made
    return None


def _states_missing(module: Module, layer: ast.Call, frame: Frame) -> Finding:
    name = module.segment(layer.func)
    return CAUSE.finding(
        f"`{name}` returns only its output, but the code unpacks states from it: `return_state` is not set",
        module.location(layer),
        Evidence("unpacked here", location=frame.location),
        fix("set `return_state=True`", append_arguments(module.code(layer), "return_state=True")),
        subject="unpacked tensor",
    )


# fix for an `if` on a tensor that does more than select a value: turn its branches into functions for `tf.cond`.


_PLAIN = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def run_apart(
    module: Module, function: FunctionInfo, node: ast.If, condition: str, library: str
) -> Fix | None:
    """Rewrite the `if` as a `cond` call, with a function per branch that returns the names read later.

    Args:
        module: the file.
        function: the enclosing function.
        node: an `if` on a tensor.
        condition: its test as a tensor expression.
        library: the file's name for the module with `cond`.
    """
    branches = [branch for branch in (node.body, node.orelse) if branch]
    given = _given_back(module, function, node)
    if given is None or not all(_is_plain(module, node, branch) for branch in branches):
        return None
    before = [name for name in given if _is_defined_before(module, function, node, name)]
    if any(name not in before and not _stored_by_all(node, name) for name in given):
        return None
    indent = indent_of(module, node)
    names = _free_names(module)
    values = ", ".join(given) or "None"
    lines, calls = [], []
    for name, branch in zip(names, branches, strict=False):
        lines += _function(module, branch, name, before, indent, values if given else "")
        calls.append(f"lambda: {name}({', '.join(before)})" if before else name)
    if len(calls) == 1:
        calls.append(f"lambda: ({values})" if len(given) > 1 else f"lambda: {values}")
    target = f"{', '.join(given)} = " if given else ""
    lines.append(f"{indent}{target}{library}.cond({condition}, {', '.join(calls)})")
    text = "\n".join(lines).removeprefix(indent)
    return fix(f"run the branch with `{library}.cond`", (Edit(module.location(node), text),))


def _is_plain(module: Module, node: ast.If, branch: list[ast.stmt]) -> bool:
    """Return whether a branch is a plain block: it does not return, branch or write to an attribute."""
    if branch[0].lineno == node.lineno or not all(isinstance(each, _PLAIN) for each in branch):
        return False
    parts = [part for each in branch for part in ast.walk(each)]
    stores = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    leaves = any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)) for part in parts)
    return not leaves and all(
        isinstance(part, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for part in stores
    )


def _stores(statements: list[ast.stmt]) -> list[str]:
    """Return the names that the statements assign, in order."""
    found = [
        part
        for each in statements
        for part in ast.walk(each)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    return list(
        dict.fromkeys(part.id for part in sorted(found, key=lambda part: (part.lineno, part.col_offset)))
    )


def _stored_by_all(node: ast.If, name: str) -> bool:
    return name in _stores(node.body) and name in _stores(node.orelse)


def _given_back(module: Module, function: FunctionInfo, node: ast.If) -> list[str] | None:
    """Return the names that the branches change and the function reads elsewhere, or None if one is not local."""
    own = {id(part) for part in ast.walk(node)}
    scope = module.index.scopes[function.node]
    found = []
    for name in _stores([*node.body, *node.orelse]):
        if name in scope.outer:
            return None
        if any(id(read) not in own and module.scope(read) is scope for read in module.reads.get(name, [])):
            found.append(name)
    return found


def _is_defined_before(module: Module, function: FunctionInfo, node: ast.If, name: str) -> bool:
    bindings = module.index.scopes[function.node].bindings.get(name, [])
    return any(
        isinstance(each, ast.arg) or getattr(each, "lineno", node.lineno) < node.lineno for each in bindings
    )


def _free_names(module: Module) -> tuple[str, str]:
    taken = set(module.reads) | set(module.index.module.bindings)
    return ("when_true", "when_false") if "when_true" not in taken else ("when_true_2", "when_false_2")


def _function(
    module: Module, branch: list[ast.stmt], name: str, parameters: list[str], indent: str, values: str
) -> list[str]:
    """Return a branch as a function with the same lines."""
    first, last = branch[0], branch[-1]
    inner = indent_of(module, first)
    body = module.places.lines[first.lineno - 1 : last.end_lineno]
    back = [f"{inner}return {values}"] if values else []
    return [f"{indent}def {name}({', '.join(parameters)}):", *body, *back, ""]
