"""Text edits on pieces of the user's source: the moves that fixes are made of."""

from __future__ import annotations

from collections.abc import Iterable

from fitdoctor.diagnosis import Applicability, Edit, Fix, Location
from fitdoctor.facts import Argument, Code, Unknown
from fitdoctor.records import replace

LEARNED = frozenset(
    "loss loss_weights metrics units filters kernel_size strides padding pool_size activation from_logits rate "
    "dropout shape input_shape batch_shape input_dim output_dim target_shape return_sequences learning_rate "
    "batch_size epochs class_weight sample_weight validation_split n".split()
)
"""Arguments that decide what a model learns: to give one another value is never safe."""


class LearningEdit(Edit):
    """An edit that changes what the model learns; a fix with one is unsafe."""


_SIMPLE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


def replace_code(code: Code | Unknown, text: str) -> tuple[Edit, ...]:
    """Put other text in the piece's place."""
    return () if isinstance(code, Unknown) else (Edit(code.location, text),)


def wrap(code: Code | Unknown, template: str) -> tuple[Edit, ...]:
    """Put the piece into `template` where it says `{}`; method calls on it get parentheses where they are needed."""
    if isinstance(code, Unknown):
        return ()
    text = code.text
    if template.startswith("{}") and not _is_primary(text):
        text = f"({text})"
    return (Edit(code.location, template.replace("{}", text)),)


def _is_primary(text: str) -> bool:
    """Whether a method call may follow the text directly."""
    if set(text) <= _SIMPLE:
        return True
    import ast

    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        return False
    kinds = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.ListComp)
    return isinstance(node, kinds) or text.startswith("(") and isinstance(node, ast.Tuple)


def set_argument(
    code: Code | Unknown, name: str, value: str, position: int | None = None
) -> tuple[Edit, ...]:
    """Give a call's argument another value, or add the argument."""
    if isinstance(code, Unknown):
        return ()
    argument = code.argument(name, position)
    value = _quoted_alike(code, value)
    if argument is not None:
        return (_kind(name)(argument.location, value),)
    return tuple(
        _kind(name)(edit.location, edit.replacement) for edit in append_arguments(code, f"{name}={value}")
    )


def _kind(name: str) -> type[Edit]:
    """The kind of an edit that changes an argument of this name."""
    return LearningEdit if name in LEARNED else Edit


def _quoted_alike(code: Code, value: str) -> str:
    """A text in the quotes that the other arguments of the call stand in."""
    quotes = {argument.text[:1] for argument in code.arguments} & {"'", '"'}
    plain = len(value) > 1 and value[0] == value[-1] == '"' and "'" not in value and '"' not in value[1:-1]
    return f"'{value[1:-1]}'" if plain and quotes == {"'"} else value


def append_arguments(code: Code | Unknown, text: str) -> tuple[Edit, ...]:
    """Add arguments, written as in a call, behind those that are there."""
    if isinstance(code, Unknown) or code.close_paren is None:
        return ()
    if not code.arguments:
        return (Edit(code.close_paren, text),)
    last = code.arguments[-1].whole
    end = replace(last, line=last.end_line, column=last.end_column, end_column=last.end_column)
    return (Edit(end, f", {text}"),)


def remove_argument(code: Code | Unknown, name: str, position: int | None = None) -> tuple[Edit, ...]:
    """Take an argument out of a call, with its comma: the keyword, or the last positional one at that position."""
    if isinstance(code, Unknown):
        return ()
    gone = code.argument(name, position)
    if gone is None or not (gone.name or _is_last_positional(code, gone)):
        return ()
    index = code.arguments.index(gone)
    if index > 0:
        before = code.arguments[index - 1].whole
        span = replace(gone.whole, line=before.end_line, column=before.end_column)
    elif len(code.arguments) > 1:
        after = code.arguments[1].whole
        span = replace(gone.whole, end_line=after.line, end_column=after.column)
    else:
        span = gone.whole
    return (_kind(name)(span, ""),)


def _is_last_positional(code: Code, argument: Argument) -> bool:
    """Without it, those behind it would move to another parameter."""
    return argument is [other for other in code.arguments if not other.name][-1]


def merged_removal(code: Code | Unknown, names: Iterable[str]) -> tuple[Edit, ...]:
    """Take several keyword arguments out of a call, as one edit where they touch."""
    spans = sorted({edit.location for name in names for edit in remove_argument(code, name)})
    merged: list[Location] = []
    for span in spans:
        before = merged[-1] if merged else None
        if before and (span.line, span.column) <= (before.end_line, before.end_column):
            merged[-1] = replace(before, end_line=span.end_line, end_column=span.end_column)
        else:
            merged.append(span)
    return tuple(Edit(span, "") for span in merged)


def rename_argument(code: Code | Unknown, old: str, new: str) -> tuple[Edit, ...]:
    """Give a keyword argument another name."""
    if isinstance(code, Unknown):
        return ()
    argument = code.argument(old)
    if argument is None or argument.name != old:
        return ()
    start = replace(argument.whole, end_line=argument.whole.line, end_column=argument.whole.column + len(old))
    return (Edit(start, new),)


def insert_before(code: Code | Unknown, line: str) -> tuple[Edit, ...]:
    """Insert a line before the statement that the piece belongs to, at its indentation."""
    if isinstance(code, Unknown) or code.statement is None:
        return ()
    start = replace(code.statement, end_line=code.statement.line, end_column=code.statement.column)
    return (Edit(start, f"{line}\n{code.indent}"),)


def insert_after(code: Code | Unknown, line: str) -> tuple[Edit, ...]:
    """Insert a line after the statement that the piece belongs to, at its indentation."""
    if isinstance(code, Unknown) or code.statement is None:
        return ()
    end = replace(code.statement, line=code.statement.end_line, column=code.statement.end_column)
    return (Edit(end, f"\n{code.indent}{line}"),)


def spell(code: Code | Unknown, library: str, usual: str) -> tuple[str, tuple[Edit, ...]]:
    """How the file names a library, with the edit that imports it where it does not.

    Args:
        code: any piece of the file.
        library: the dotted name, such as `numpy` or `keras`.
        usual: the name to import it under, such as `np`.
    """
    if isinstance(code, Unknown):
        return usual, ()
    spelling = code.spelling(library)
    if spelling is not None:
        return spelling, ()
    if code.import_at is None:
        return usual, ()
    package, _, part = library.rpartition(".")
    statement = f"import {library}\n" if usual == library else f"import {library} as {usual}\n"
    if package and part == usual:
        statement = f"from {package} import {part}\n"
    if library == "keras" and code.spelling("tensorflow.keras") is not None:
        # Beside what comes from TensorFlow's Keras: the package `keras` may be another one.
        statement = "from tensorflow import keras\n"
    return usual, (Edit(code.import_at, statement),)


def fix(title: str, *edits: Iterable[Edit]) -> Fix:
    """A fix of these edits; the kinds of the edits decide whether it is safe. Without any edit it is for display only."""
    flat = [edit for group in edits for edit in group]
    learned = any(isinstance(edit, LearningEdit) for edit in flat)
    return _fix(title, flat, Applicability.UNSAFE if learned else Applicability.SAFE)


def unsafe(title: str, *edits: Iterable[Edit]) -> Fix:
    """A fix that changes what the model learns in a way that no single edit shows."""
    return _fix(title, [edit for group in edits for edit in group], Applicability.UNSAFE)


def correction(title: str, *edits: Iterable[Edit]) -> Fix:
    """A safe fix of a setting that no program can run with, where only one other can have been meant."""
    return _fix(title, [edit for group in edits for edit in group], Applicability.SAFE)


def _fix(title: str, edits: list[Edit], applicability: Applicability) -> Fix:
    plain = tuple(Edit(edit.location, edit.replacement) for edit in edits)
    return Fix(title, applicability if plain else Applicability.DISPLAY, plain)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made; edits count lines and columns in the text given.

    Raises:
        ValueError: two edits overlap, or one lies outside the text.
    """
    # Not splitlines(): Python's own line count knows no form feeds or Unicode separators.
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        if not 1 <= line <= len(starts):
            raise ValueError(f"line {line} is outside the file")
        # The start of the line behind the last is the end of a text without a last line break.
        return min(starts[line - 1], len(text)) + column - 1

    spans = sorted(
        {
            (
                offset(edit.location.line, edit.location.column),
                offset(edit.location.end_line, edit.location.end_column),
                edit.replacement,
            )
            for edit in edits
        }
    )
    result: list[str] = []
    position = 0
    for start, end, replacement in spans:
        if start < position or end < start or end > len(text):
            raise ValueError("edits overlap")
        result += [text[position:start], replacement]
        position = end
    return "".join([*result, text[position:]])


def same_place(first: Location, second: Location) -> bool:
    """Whether two locations name the same line."""
    return (first.path, first.cell, first.line) == (second.path, second.cell, second.line)


def rework(made: Code | Unknown, use: Code | Unknown, template: str) -> tuple[Edit, ...]:
    """Change an array where it was made, or else where it is given to fit.

    Args:
        made: the expression that made it; changed when it is all that its statement assigns.
        use: the expression that fit was given.
        template: the new expression, with `{}` for the old one.
    """
    return wrap(rework_place(made, use), template)


def rework_place(made: Code | Unknown, use: Code | Unknown) -> Code | Unknown:
    """The expression that `rework` changes: its file is the one that needs the imports."""
    return made if isinstance(made, Code) and made.target else use
