"""Edits that prepare validation data like the training data: swap, reshape, encode, scale."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue.knowledge.data.data_places import at_use
from fitdoctor.catalogue.knowledge.data.generator_sources import argument_expression, expression_of
from fitdoctor.catalogue.knowledge.data.shapes import relation
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import append_arguments, fix, insert_after, replace_code, spell, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, Unknown
from fitdoctor.source.callees import callee
from fitdoctor.source.definitions import last_name
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

_ARRAYS = ("numpy", "ndarray")
_PREPARES = frozenset(
    "to_categorical one_hot transform fit_transform expand_dims pad_sequences asarray array".split()
)
"""Functions and methods whose first argument is the data."""
_ROLES = re.compile("train(?:ing)?|valid(?:ation)?|val(?!ue)|test")
"""What the names of the two parts of the data differ in."""


def prepared_alike(
    ours: ArrayFacts,
    theirs: ArrayFacts,
    training: DataFacts,
    validation: DataFacts,
    project: Project,
) -> list[Fix]:
    """Return the fix that gives one part of the validation data the training shape; [] if no single step does."""
    swapped = _swapped(training, validation)
    if swapped:
        return [fix("pass the validation data in the same order as the training data", swapped)]
    first, second = ours.sample_shape, theirs.sample_shape
    if isinstance(first, Unknown) or isinstance(second, Unknown) or not isinstance(theirs.use, Code):
        return []
    alike = same_preparation(ours, theirs, project)
    if alike is not None:
        return [alike, *_converted(ours, theirs, validation, project)]
    return _converted(ours, theirs, validation, project)


def same_preparation(ours: ArrayFacts, theirs: ArrayFacts, project: Project) -> Fix | None:
    """Prepare the validation data by the expression that prepares the training data, if the source shows one."""
    called = _called_alike(expression_of(project, ours.code), expression_of(project, theirs.code))
    if called and isinstance(theirs.code, Code):
        title = f"prepare it like the training data: `{called}`"
        return fix(title, replace_code(theirs.code, called))
    repeated = steps_repeated(expression_of(project, ours.code), expression_of(project, theirs.code))
    if repeated is not None:
        return repeated
    found, there = expression_of(project, ours.use), expression_of(project, theirs.use)
    if found is None or there is None or found[0] is not there[0] or not isinstance(theirs.use, Code):
        return None
    module, node = found
    if isinstance(node, ast.Name):
        made = module.origin(node)
        if not made.certain or made.path or made.module is not module:
            return None
        node = made.node
    if module.scope(node) is not module.scope(there[1]) or not isinstance(
        there[1], (ast.Name, ast.Attribute)
    ):
        return None
    template = _template(module, node)
    if template is None:
        return None
    ready = _named(module, there[1], template)
    if ready:
        role = "training" if theirs.path[:1] in "xy" else "validation"
        return fix(f"pass the {role} data that is prepared: `{ready}`", replace_code(theirs.use, ready))
    place = _labels_to_change(theirs, project)
    shown = template.replace("{}", place.text if isinstance(place, Code) else "")
    return fix(f"prepare it like the training data: `{shown}`", wrap(place, template))


_OF_TRAINING = re.compile("shuffle|augment|repeat|train|seed|drop", re.IGNORECASE)
"""Arguments that only the training data is meant to have."""


def argument_left_out(project: Project, fit_call: FitFacts) -> tuple[Location, Fix] | None:
    """Return the call that makes the validation data without an argument that the training data is made with.

    Both calls run one function of the user's: `self._windows(train, size=6)`, and `self._windows(val)` with its default.
    """
    calls = []
    for name, position in (("x", 0), ("validation_data", 7)):
        found = argument_expression(project, fit_call, name, position)
        steps = origin(*found).steps if found is not None else ()
        calls.append(
            [
                (step.module, step.node, callee(step.module, step.node))
                for step in steps
                if step.how == "return" and isinstance(step.node, ast.Call)
            ]
        )
    for module, theirs, function in calls[1]:
        ours = [(owner, node) for owner, node, run in calls[0] if run is function and node is not theirs]
        if function is None or len(ours) != 1 or ours[0][0] is not module:
            continue
        given = {each.arg for each in theirs.keywords}
        missing = [
            each
            for each in ours[0][1].keywords
            if each.arg and each.arg not in given and not _OF_TRAINING.search(each.arg)
        ]
        if missing and len(theirs.args) >= len(ours[0][1].args):
            text = ", ".join(module.segment(each) for each in missing)
            edits = (
                append_arguments(module.code(theirs), text) if _known_there(module, missing, theirs) else ()
            )
            title = f"pass `{text}`, as for the training data"
            return module.location(theirs), fix(title, edits)
    return None


def _known_there(module: Module, values: list[ast.keyword], place: ast.expr) -> bool:
    """Whether the names in some values mean something at another place."""
    names = {each.id for value in values for each in ast.walk(value) if isinstance(each, ast.Name)}
    scope = module.scope(place)
    return all(module.index.lookup(name, scope) is not None for name in names)


def steps_repeated(
    ours: tuple[Module, ast.expr] | None, theirs: tuple[Module, ast.expr] | None
) -> Fix | None:
    """Repeat for the validation data the statements that change the training data under its name.

    `train[columns] = scaler.fit_transform(train[columns])` becomes `valid[columns] = scaler.transform(valid[columns])`.
    """
    if ours is None or theirs is None or ours[0] is not theirs[0]:
        return None
    module = ours[0]
    one, other = _data_name(ours[1]), _data_name(theirs[1])
    if one is None or other is None or one.id == other.id or module.scope(one) is not module.scope(other):
        return None
    last = module.statement(one)
    block = module.block(module.statement(other))
    steps = [each for each in block if each.lineno < last.lineno and changes_data(each, one.id)]
    known = {_fitted_once(ast.dump(each)) for each in block}
    alike = [
        re.sub(rf"\b{re.escape(one.id)}\b", other.id, _fitted_once(module.segment(step))) for step in steps
    ]
    missing = [text for text in alike if ast.dump(ast.parse(text).body[0]) not in known]
    if not missing:
        return None
    after = module.code(steps[-1])
    edits = insert_after(after, f"\n{after.indent}".join(missing))
    return fix(f"prepare it like the training data: `{'; '.join(missing)}`", edits)


def _fitted_once(text: str) -> str:
    """Return the code for other data: the scaler or encoder stays fitted to the training data."""
    return text.replace("fit_transform", "transform")


def changes_data(statement: ast.stmt, name: str) -> bool:
    """Whether a statement computes new values of the named data from the old ones: `x /= 255`, `x[c] = f(x[c])`."""
    target: ast.expr
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if not isinstance(statement.value, (ast.Call, ast.BinOp)):
            return False
        read = {each.id for each in ast.walk(statement.value) if isinstance(each, ast.Name)}
        if name not in read:
            return False
    else:
        return False
    if isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name) and target.id == name


def _data_name(node: ast.expr) -> ast.Name | None:
    """Return the name that an expression starts from: `train` for `train[columns].to_numpy()`."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return None
    return node


def _called_alike(ours: tuple[Module, ast.expr] | None, theirs: tuple[Module, ast.expr] | None) -> str:
    """Return the call that makes the training data, with the arguments of the one that makes the validation data."""
    if ours is None or theirs is None or ours[0] is not theirs[0] or ours[1] is theirs[1]:
        return ""
    module, one, other = ours[0], ours[1], theirs[1]
    if not (isinstance(one, ast.Call) and isinstance(other, ast.Call)) or len(one.args) != len(other.args):
        return ""
    if module.scope(one) is not module.scope(other) or not other.args:
        return ""
    holders = {ast.dump(each.func.value) for each in (one, other) if isinstance(each.func, ast.Attribute)}
    if callee(module, other) is None and len(holders) != 1:
        return ""
    pairs = zip(one.args, other.args, strict=True)
    if any(_ROLES.sub("", ast.dump(first)) != _ROLES.sub("", ast.dump(second)) for first, second in pairs):
        return ""
    # A flag is taken from the training data; a seed or a folder is its own.
    kept = {each.arg: each for each in other.keywords if not _is_flag(each.value)}
    keywords = [kept.get(each.arg, each) for each in one.keywords]
    function = re.sub(r"\bfit_transform$", "transform", module.segment(one.func))
    given = ", ".join(module.segment(each) for each in (*other.args, *keywords))
    text = f"{function}({given})"
    return text if text != module.segment(other) else ""


def _is_flag(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _template(module: Module, node: ast.expr) -> str | None:
    """Return an expression with `{}` for the data that it prepares: `encode({})`, `({} - mean) / std`."""
    data = _prepared(module, node)
    if data is None or data is node:
        return None
    text, inner = module.segment(node), module.segment(data)
    if len(re.findall(rf"\b{re.escape(inner)}\b", text)) != 1 or "{" in text:
        return None
    # A scaler is fitted to the training data only.
    return re.sub(rf"\b{re.escape(inner)}\b", "{}", text).replace(".fit_transform(", ".transform(")


def _named(module: Module, data: ast.expr, template: str) -> str:
    """Return the name that the program already gives to data that is prepared like this; "" if there is none."""
    wanted = template.replace("{}", module.segment(data))
    names = [
        each.targets[0].id
        for each in module.nodes(ast.Assign)
        if isinstance(each.targets[0], ast.Name)
        and module.scope(each) is module.scope(data)
        and _fitted_once(module.segment(each.value)) == wanted
    ]
    return names[0] if len(names) == 1 and names[0] != getattr(data, "id", "") else ""


def _prepared(module: Module, node: ast.expr) -> ast.Name | None:
    """Return the name of the data that a call or an arithmetic expression changes, the leftmost one."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.BinOp):
            node = node.left
        elif not isinstance(node, ast.Call):
            return None
        elif callee(module, node) is not None or last_name(node) in _PREPARES:
            if not node.args:
                return None
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "reshape"):
            node = node.func.value
        else:
            return None
    return node


def _converted(ours: ArrayFacts, theirs: ArrayFacts, validation: DataFacts, project: Project) -> list[Fix]:
    """Return the conversion that gives the validation data the training shape."""
    first, second = ours.sample_shape, theirs.sample_shape
    if isinstance(first, Unknown) or isinstance(second, Unknown):
        return []
    labels = theirs in validation.y
    if labels and len(first) == 1 and not second and (first[0] or 0) > 1:
        keras, imports = spell(theirs.use, "keras", "keras")
        edits = wrap(_labels_to_change(theirs, project), f"{keras}.utils.to_categorical({{}}, {first[0]})")
        return [fix("one-hot encode the validation labels", edits, imports)]
    if labels and len(second) == 1 and not first and (second[0] or 0) > 1:
        numpy, imports = spell(theirs.use, "numpy", "np")
        edits = wrap(_labels_to_change(theirs, project), f"{numpy}.argmax({{}}, axis=-1)")
        return [fix("convert the validation labels to integer class labels", edits, imports)]
    if relation(second, first) not in ("axis", "reshaped") or None in first:
        return []
    if not any(kind in theirs.container for kind in _ARRAYS):
        return []
    lengths = ", ".join(str(length) for length in (-1, *first))
    edits = at_use(theirs.use, f"{{}}.reshape({lengths})")
    return [fix("reshape the validation data like the training data", edits)]


def _labels_to_change(labels: ArrayFacts, project: Project) -> Code | Unknown:
    """Return where to change the labels: at their creation if only `evaluate` also uses them, else at the `fit` call."""
    made, use = labels.code, labels.use
    found = expression_of(project, use)
    if found is None or not isinstance(made, Code) or not isinstance(use, Code) or made.target != use.text:
        return use
    module, node = found[0], found[1]
    reads = [read for read in module.reads.get(use.text, []) if read is not node]
    calls = [module.parent(read) for read in reads]
    evaluated = [
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "evaluate"
        for call in calls
    ]
    return made if evaluated and all(evaluated) else use


_FEATURES = ("images", "imgs", "features", "inputs", "data", "texts", "sequences", "padded")
_LABELS = ("labels", "targets", "target", "label", "y", "outputs")


def labels_beside(project: Project, fit_call: FitFacts | Unknown) -> tuple[Edit, ...]:
    """Complete `validation_data=(x_val)` with the labels of the matching name, `y_val`."""
    code = Unknown() if isinstance(fit_call, Unknown) else fit_call.code
    given = code.argument("validation_data", 7) if isinstance(code, Code) else None
    found = expression_of(project, Code(given.location, given.text)) if given is not None else None
    module, node = found if found is not None else (None, None)
    if given is None or module is None or not isinstance(node, ast.Name):
        return ()
    known = {*module.scope(node).bindings, *module.index.module.bindings} - {node.id}
    named = [name for name in dict.fromkeys(_named_like(node.id)) if name in known]
    if len(named) != 1:
        return ()
    pair = f"{node.id}, {named[0]}"
    # The parentheses are already there, but do not make a tuple.
    within = given.whole.end_line, given.whole.end_column
    inside = within > (given.location.end_line, given.location.end_column)
    return (Edit(given.location, pair if inside else f"({pair})"),)


_X = re.compile(r"^X|^x(?=_|val|test|$)|(?<=_)[xX]$|X$")
_PREPARED = re.compile(r"_(scaled|norm|normalized|std|pad|padded|seq|flat|reshaped)$")


def _named_like(name: str) -> Iterator[str]:
    """Return the usual names of the labels that belong to these features."""
    for plain in dict.fromkeys((name, _PREPARED.sub("", name))):
        changed = [_X.sub(like, plain, count=1) for like in ("y", "Y")]
        for features in _FEATURES:
            changed += [re.sub(rf"(^|_){features}(?=_|$)", rf"\g<1>{labels}", plain) for labels in _LABELS]
        yield from (each for each in changed if each != plain)


def _swapped(training: DataFacts, validation: DataFacts) -> tuple[Edit, ...]:
    """Swap `validation_data=(y, x)` if each has the shape expected of the other."""
    parts = (training.x, training.y, validation.x, validation.y)
    if any(len(part) != 1 for part in parts):
        return ()
    x, y, their_x, their_y = (part[0] for part in parts)
    shapes = [each.sample_shape for each in (x, y, their_x, their_y)]
    if any(isinstance(shape, Unknown) for shape in shapes) or shapes[0] == shapes[1]:
        return ()
    if shapes[0] != shapes[3] or shapes[1] != shapes[2]:
        return ()
    if not isinstance(their_x.use, Code) or not isinstance(their_y.use, Code):
        return ()
    return (Edit(their_x.use.location, their_y.use.text), Edit(their_y.use.location, their_x.use.text))
