"""Files of the user's source, and pieces of them."""

from __future__ import annotations

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Argument:
    """One argument of a call in the source."""

    name: str
    """The keyword; "" if passed by position."""
    text: str
    location: Location
    """The span of the value."""
    whole: Location
    """The span of `name=value`; that of the value if passed by position."""


@dataclass(frozen=True)
class Code:
    """A piece of the user's source: its location, its text, and the names that its file uses for libraries."""

    location: Location
    text: str
    name: str = ""
    """For a call: the dotted name of the function, resolved through imports (`keras.layers.Dense`)."""
    arguments: tuple[Argument, ...] = ()
    """For a call: its arguments in order."""
    open_paren_end: Location | None = None
    """For a call: the empty span right after its opening parenthesis."""
    close_paren: Location | None = None
    """For a call: the empty span right before its closing parenthesis."""
    statement: Location | None = None
    """The whole statement that contains the piece, without indentation."""
    indent: str = ""
    """The indentation of that statement."""
    target: str = ""
    """The name (or dotted attribute) that the statement assigns the piece to."""
    spellings: tuple[tuple[str, str], ...] = ()
    """How the file names a library: (("numpy", "np"), ("tensorflow", "tf"), …)."""
    import_at: Location | None = None
    """The empty span at the start of a line where an import can be inserted."""
    function: str = ""
    """The qualified name of the enclosing function; "" at module level."""
    maker: Code | None = None
    """For an in-place write (`x[0] = 1`): the code that created the object written to."""
    computed_with: bool = False
    """For the creation of an array: whether the file also computes with it, as in `y = x[:, 0] > 1`."""

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """Return the argument with that keyword, or at that position."""
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
        """Return the name that this file uses for a library; None if it does not import it."""
        return dict(self.spellings).get(library)


@dataclass(frozen=True)
class SourceFacts:
    """A file of the user's; `fitdoctor.source.module.Module` analyzes it."""

    path: str
    text: str
    cells: tuple[str, ...] | None = None
    """For a notebook: its code cells in order, with magics blanked out; `text` joins them."""
    typed: tuple[str, ...] = ()
    """For a notebook: its code cells as the user sees them."""
    keras: int = 3
    """The major version of Keras to judge it by."""
    keras_because: str = ""
    """What in the project says so; "" if it is the installed or requested version."""
    tensorflow_1: bool = False
    """Whether the project runs on TensorFlow 1, or on a Keras before 2.4."""
    trained_cells: tuple[int, ...] = ()
    """For a notebook judged by its own kernel: the cells that work, since their saved output shows training."""
    older_optimizers: bool = False
    """Whether it runs on TensorFlow before 2.11, in which one optimizer can train several models."""
