"""The user's source: files as they were read, and pieces of them."""

from __future__ import annotations

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Argument:
    """One argument of a call as it stands in the source."""

    name: str
    """The keyword; "" when given by position."""
    text: str
    location: Location
    """The span of the value."""
    whole: Location
    """The span of `name=value`; the value's own when given by position."""


@dataclass(frozen=True)
class Code:
    """A piece of the user's source: where it stands, what it says, and how its file spells the libraries."""

    location: Location
    text: str
    name: str = ""
    """For a call: the dotted name of what is called, resolved through imports (`keras.layers.Dense`)."""
    arguments: tuple[Argument, ...] = ()
    """For a call: its arguments in order."""
    open_paren_end: Location | None = None
    """For a call: the zero-width place right after its opening parenthesis."""
    close_paren: Location | None = None
    """For a call: the zero-width place right before its closing parenthesis."""
    statement: Location | None = None
    """The whole statement that the piece belongs to, without its indentation."""
    indent: str = ""
    """The indentation of that statement."""
    target: str = ""
    """The name (or dotted attribute) that the statement assigns the piece to."""
    spellings: tuple[tuple[str, str], ...] = ()
    """How the file names a library: (("numpy", "np"), ("tensorflow", "tf"), …)."""
    import_at: Location | None = None
    """The zero-width place at the start of a line where an import may be inserted."""
    function: str = ""
    """The qualified name of the function that it stands in; "" at the top of the file."""
    maker: Code | None = None
    """For a write in place (`x[0] = 1`): what made the thing that is written to."""
    computed_with: bool = False
    """For what made an array: the file also computes with it before it is handed on, as in `y = x[:, 0] > 1`."""

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """The argument of that keyword, or at that position among the positional ones."""
        positional = 0
        for argument in self.arguments:
            if argument.name == name:
                return argument
            if not argument.name:
                if positional == position:
                    return argument
                positional += 1
        return None

    def spelling(self, library: str) -> str | None:
        """How this file names a library, or None when it does not import it."""
        return dict(self.spellings).get(library)


@dataclass(frozen=True)
class SourceFacts:
    """A file of the user's as it was read; `fitdoctor.source.module.Module` is its analysis."""

    path: str
    text: str
    cells: tuple[str, ...] | None = None
    """For a notebook: its code cells in order, magics blanked out; `text` is then their concatenation."""
    typed: tuple[str, ...] = ()
    """For a notebook: its code cells as the user sees them."""
    keras: int = 3
    """The major version of Keras that it is judged for."""
    keras_because: str = ""
    """What in the project says so; "" where it is the installed one, or asked for."""
    tensorflow_1: bool = False
    """Whether the project runs on TensorFlow 1, or on a Keras before 2.4."""
    trained_cells: tuple[int, ...] = ()
    """For a notebook judged by its own kernel: the cells that are in order, because the saved output shows training."""
    older_optimizers: bool = False
    """Whether it runs on TensorFlow before 2.11, in which one optimizer can train several models."""
