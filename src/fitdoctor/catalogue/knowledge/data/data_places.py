"""Find where to change the data of a fit call: the line to blame, and edits that reach every use."""

from __future__ import annotations

import ast
import re

from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import insert_before, spell, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, PipelineStep, Unknown
from fitdoctor.records import replace


def made_near(array: ArrayFacts) -> Code | None:
    """Return what created an array, if that is next to the call of fit or at module level, not in a loader."""
    return _near(maker(array), array)


def decided_near(array: ArrayFacts) -> Code | None:
    """Return what last set the values of an array there, including in-place writes."""
    return _near(array.code, array)


def _near(code: Code | Unknown, array: ArrayFacts) -> Code | None:
    if isinstance(code, Unknown):
        return None
    around = array.use.function if isinstance(array.use, Code) else ""
    return code if code.function in ("", around) else None


def maker(array: ArrayFacts) -> Code | Unknown:
    """Return what created an array, ignoring later in-place writes."""
    code = array.code
    return code.maker if isinstance(code, Code) and code.maker is not None else code


def shape_line(array: ArrayFacts, data: DataFacts) -> Location | None:
    """Return the line that sets the shape and dtype of an array: its creation, a pipeline stage, or the call of fit."""
    step = shaping_step(data)
    if step is not None:
        return place(step.code)
    made = maker(array)
    return place(None if _goes_around(made, array.use) else made, array.use)


def _goes_around(made: Code | Unknown, use: Code | Unknown) -> bool:
    """Whether what made an array is the head of the loop that it is used in: what goes through there was made before."""
    if isinstance(made, Unknown) or isinstance(use, Unknown) or made.location.path != use.location.path:
        return False
    whole = made.statement
    if whole is None:
        return False
    return made.location.end_line < use.location.line <= whole.end_line and whole.line == made.location.line


def only_input_line(data: DataFacts | Unknown) -> Location | None:
    """Return that line for the only input, if just its origin is known."""
    if isinstance(data, Unknown) or data.role != "training" or len(data.x) != 1:
        return None
    return shape_line(data.x[0], data)


def shaping_step(data: DataFacts) -> PipelineStep | None:
    """Return the pipeline stage that sets the shape of its elements: the last `map`, else the source."""
    known = [step for step in data.pipeline if isinstance(step.code, Code)]
    for step in reversed(known):
        if step.operation == "map":
            return step
    return known[0] if known else None


def suspect(arrays: tuple[ArrayFacts, ...]) -> ArrayFacts | None:
    """Return the only array not known to be numeric; any of several from the same line."""
    numbers = ("int", "uint", "float", "bool", "bfloat")
    unknown = [a for a in arrays if not isinstance(a.dtype, str) or not a.dtype.startswith(numbers)]
    lines = {
        (a.code.location.path, a.code.location.line) if isinstance(a.code, Code) else None for a in unknown
    }
    return unknown[0] if len(unknown) == 1 or len(lines) == 1 and None not in lines else None


def part_words(array: ArrayFacts, data: DataFacts) -> str:
    """Return the role of an array: `features`, `labels` or `sample weights`."""
    if array in data.x:
        return "features"
    return "labels" if array in data.y else "sample weights"


# --- edits --------------------------------------------------------------------------------------------------------


def rework_data(array: ArrayFacts, fit: FitFacts | Unknown, template: str) -> tuple[Edit, ...]:
    """Change an array and the validation data the same way, so that later uses see it.

    Args:
        array: the array passed to fit.
        fit: the call.
        template: the new expression, with `{}` for the old one.
    """
    made, use = reworked(array), array.use
    if isinstance(made, Code) and made is not use:
        direct = isinstance(use, Code) and use.text == made.target
        return wrap(made, template) + (_validation(fit, template) if direct else ())
    root, part = _picked_from(use), validation_part(fit, 0)
    if root and isinstance(use, Code) and (part is None or _picked_from(part) == root) and _runs_once(use):
        return insert_before(use, f"{root} = {template.replace('{}', root)}")
    return at_use(use, template) + _validation(fit, template)


def _picked_from(use: Code | Unknown) -> str:
    """Return the array whose rows are passed: `x` for `x[:n]`."""
    found = _ROWS.fullmatch(use.text) if isinstance(use, Code) else None
    return found["array"] if found is not None else ""


_ROWS = re.compile(r"(?P<array>[A-Za-z_]\w*)\[[^\[\],]*\]")


def _runs_once(code: Code) -> bool:
    """Whether a statement is directly in its function or file, in no loop."""
    return len(code.indent.expandtabs(4)) == (4 * code.function.count(".") + 4 if code.function else 0)


def reworked(array: ArrayFacts) -> Code | Unknown:
    """Return the expression that `rework_data` changes; its file needs the imports."""
    made, use = array.code, array.use
    if isinstance(made, Unknown) or not made.target or made.maker is not None:
        # Later in-place writes rely on the original shape and dtype.
        return use
    return use if made.computed_with and isinstance(use, Code) else made


def map_samples(data: DataFacts, array: ArrayFacts, expression: str) -> tuple[Edit, ...]:
    """Insert a `map` after the first pipeline stage that yields single, final samples.

    Args:
        data: the pipeline.
        array: the component to change, the only one of x.
        expression: the new value of a sample `x`, with `tf` for TensorFlow.
    """
    if not isinstance(array.shape, tuple) or len(data.x) != 1 or data.element_size not in (2, 3):
        return ()
    single = (one for one in data.pipeline if one.specs and one.specs[0].shape == array.shape[1:])
    step = next((one for one in single if len(one.specs) == data.element_size), None)
    if step is None or isinstance(step.code, Unknown):
        return ()
    names = ["x", "y", "weight"][: data.element_size]
    tensorflow, imports = spell(step.code, "tensorflow", "tf")
    changed = ", ".join([expression.replace("tf.", f"{tensorflow}."), *names[1:]])
    return wrap(step.code, f"{{}}.map(lambda {', '.join(names)}: ({changed}))") + imports


def at_use(use: Code | Unknown, template: str) -> tuple[Edit, ...]:
    """Change the argument of a call; a name is reassigned before the call, so that later uses see it."""
    if isinstance(use, Code) and use.text.isidentifier():
        return insert_before(use, f"{use.text} = {template.replace('{}', use.text)}")
    return wrap(use, template)


def _validation(fit: FitFacts | Unknown, template: str) -> tuple[Edit, ...]:
    features = validation_part(fit, 0)
    return () if features is None else at_use(features, template)


def validation_part(fit: FitFacts | Unknown, index: int) -> Code | None:
    """Return x (0) or y (1) of a literal `validation_data=(x, y)`."""
    if isinstance(fit, Unknown) or isinstance(fit.code, Unknown):
        return None
    argument = fit.code.argument("validation_data")
    if argument is None:
        return None
    try:
        pair = ast.parse(f"({argument.text}\n)", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(pair, (ast.Tuple, ast.List)) or len(pair.elts) <= index:
        return None
    part = pair.elts[index]
    if part.end_lineno != 1:
        return None
    line = argument.text.split("\n")[0]
    # The parser counts bytes, including the added parenthesis.
    start, end = (
        len(line.encode()[: offset - 1].decode()) for offset in (part.col_offset, part.end_col_offset or 0)
    )
    where = replace(
        argument.location,
        column=argument.location.column + start,
        end_line=argument.location.line,
        end_column=argument.location.column + end,
    )
    return Code(where, line[start:end], statement=fit.code.statement, indent=fit.code.indent)
