"""Finds failures in saved text of any size: logs, notebook output, pytest reports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.facts import FailureFacts, FailureSummary, Frame
from fitdoctor.failure.assemble import assemble, passes_on, summary_of
from fitdoctor.failure.messages import read_frames
from fitdoctor.failure.notebook_file import placed, saved_cells
from fitdoctor.failure.notebook_text import (
    frames_without_header,
    is_notebook_header,
    parse_notebook_traceback,
)
from fitdoctor.failure.pasted import without_marks
from fitdoctor.failure.pytest_text import SECTION, parse_pytest_failure
from fitdoctor.failure.raw_text import clean_text, read_text_any, without_mark, without_prefix
from fitdoctor.failure.signs import (
    IN_PROSE,
    LONE,
    SIGNAL_WORDS,
    SYNTAX_ERRORS,
    WARNINGS,
    exception_as_code,
    logged_status,
    parse_envelope,
    parse_lone,
    parse_signal,
    parse_warning,
    untyped_message,
)
from fitdoctor.failure.traceback_text import HEADER, MOST_LINES, Block, is_chain, parse_traceback
from fitdoctor.records import dataclass, replace

__all__ = ["failures_in", "read_text_any"]

MOST_PLACES = 300
"""Maximum number of candidates of one kind; the last ones, as the end of a log shows how it ended."""
_WINDOW = 400_000
"""Maximum length of one exception, in characters."""
_TAIL = 2_000_000
_MOST_CHAINED = 50
_LONGEST_QUESTION = 20_000
"""Characters of a text that may be a question with an exception in the middle of a sentence; logs are longer."""


@dataclass(frozen=True)
class _Found:
    """An exception and its span in the text."""

    block: Block
    start: int
    end: int
    kind: str
    joined: bool = False
    """Whether it was raised from the previous one, or while handling it."""
    caused: bool = False
    """Whether it was explicitly raised `from` the previous one."""


def failures_in(text: str, path: str = "") -> list[FailureFacts]:
    """Return the failures in a text, in order.

    Chained tracebacks are one failure: the last, with the others in `earlier`. Without a traceback, a
    lone exception line counts. Processes that were killed have the signal as their type (`SIGKILL`), warnings
    theirs (`UserWarning`).

    Args:
        text: a log, a traceback, or a saved notebook.
        path: the file of a notebook.
    """
    cells = saved_cells(text)
    if cells is not None:
        return [placed(one, cell, cells, path) for cell in cells for one in failures_in(cell.output)]
    text = clean_text(text)
    found = _without_ignored(text, _without_inside([*_structured(text), *_syntax_errors(text)]))
    found = _with_title(text, found)
    if not any(
        one.block.type for one in found
    ):  # nothing, or tracebacks that were cut before their exception
        found = _with_title(text, _lone(text)) or _with_logged_status(text, found)
    if not found and _REQUIRES in text:  # only the log is left
        found = _with_logged_status(text, [_Found(Block("", "", (), 0), len(text), len(text), "lone")])
    found = _with_reason_above(text, found)
    if found and found[-1].block.type.endswith(
        "CancelledError"
    ):  # another operation failed, which was logged
        found = _with_logged_status(text, found)
    elif found and _is_cut(text, found[-1]):
        found = _with_logged_status(text[: found[-1].start], found)
    found = _without_inside([*found, *_signs(text)])
    facts = (_facts(group, _trained_before(text, group[0].start)) for group in _chains(found))
    return _with_empty_folder(text, _with_input_warned_of(text, _with_origin(text, _distinct(facts))))


_FOUND_NONE = re.compile(
    r"^[> ]{0,4}(?P<said>Found 0 (?:\w+ ){0,2}(?:images|files|filenames)\b[^\n]{0,80})$", re.MULTILINE
)
"""What Keras prints for a folder without files."""
_OF_NO_DATA = re.compile(
    r"zero-size array|division|modulo by zero|[Dd]ivision by zero|retrieve element|out of (?:range|bounds)|value <= 0|^$"
)


def _with_empty_folder(text: str, failures: list[FailureFacts]) -> list[FailureFacts]:
    """Give the last failure the words in which Keras said that a folder is empty, if it may follow from that."""
    printed = list(_FOUND_NONE.finditer(text, max(0, len(text) - _WINDOW)))
    if not failures or not printed or not _OF_NO_DATA.search(failures[-1].message):
        return failures
    last = failures[-1]
    own = tuple(frame for frame in last.frames if not frame.library)
    said, called = printed[-1]["said"], last.called or "fit"
    read = replace(last, type="ValueError", message=said, raw_message=said, frames=own, called=called)
    return [*failures[:-1], read]


_CONSTRUCTED = re.compile(
    r"Model was constructed with shape (?P<expected>\([^()\n]*\)) for input [\s\S]{1,800}? but it was called on an input "
    r"with incompatible shape (?P<found>\([^()\n]*\))"
)
"""What Keras 2 warned of before a layer inside the model rejected what it made of the data."""
_REJECTED = re.compile(r"^Input \d+ (?:of layer \S+ )?is incompatible with (?:the )?layer")


def _with_input_warned_of(text: str, failures: list[FailureFacts]) -> list[FailureFacts]:
    """Give the last failure the shapes of the model's input, if a warning names them and the failure an inner layer."""
    warned = (
        list(_CONSTRUCTED.finditer(text, max(0, len(text) - _WINDOW)))
        if "constructed with shape" in text
        else []
    )
    if not failures or not warned or not _REJECTED.match(failures[-1].message):
        return failures
    expected, found = warned[-1]["expected"], warned[-1]["found"]
    if expected.count(",") != found.count(","):
        return failures
    said = f'Input 0 of layer "model" is incompatible with the layer: expected shape={expected}, found shape={found}'
    return [*failures[:-1], replace(failures[-1], message=said)]


_REQUIRES = "OP_REQUIRES failed at"
"""What TensorFlow logs for an operation that fails."""
_OPENS = re.compile(r"(?:\d+ root error\(s\) found\.\s*)?(?:\(0\) [\w ]*:?\s*)?(?:\{\{?\w*|\w{0,12})")


def _is_cut(text: str, found: _Found) -> bool:
    """Whether the text ends in the first word of a message that TensorFlow logged in full before."""
    logged = _REQUIRES in text[: found.start] or logged_status(text[: min(found.start, _TITLE)]) is not None
    at_end = logged and not text[found.end :].strip()
    said = found.block.message.strip()
    unsaid = said.startswith("Graph execution error:") and "[Op:" not in said and "Node: '" not in said
    return at_end and (unsaid or _OPENS.fullmatch(said) is not None)


_CAUSED_BY = re.compile(r"^[> ]{0,4}Caused by op u?'[^'\n]{1,300}', defined at:[ ]*\n", re.MULTILINE)
"""TensorFlow 1 prints where an operation was created below the traceback of `session.run`."""


def _with_origin(text: str, failures: list[FailureFacts]) -> list[FailureFacts]:
    """Give the last failure the frames that created its operation, if the text has them outside the message."""
    origin = list(_CAUSED_BY.finditer(text, max(0, len(text) - _WINDOW))) if "Caused by op" in text else []
    if not failures or not origin or failures[-1].definition:
        return failures
    frames, _ = read_frames(text[origin[-1].end() :].split("\n")[:MOST_LINES], here=False)
    return [*failures[:-1], replace(failures[-1], definition=tuple(frames))]


# --- where to look ------------------------------------------------------------------------------------------


def _places(text: str, words: str, most: int = MOST_PLACES) -> list[int]:
    """Return the last positions of the words, in ascending order."""
    places: list[int] = []
    place = text.rfind(words)
    while place >= 0 and len(places) < most:
        places.append(place)
        place = text.rfind(words, 0, place)
    return places[::-1]


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _window(text: str, start: int) -> tuple[list[str], bool]:
    """Return the lines from a position, and whether they reach the end of the text."""
    cut = text[start : start + _WINDOW]
    return cut.split("\n"), start + _WINDOW >= len(text)


def _end_of(text: str, start: int, lines: list[str], taken: int) -> int:
    return min(start + sum(len(line) + 1 for line in lines[:taken]), len(text))


def _structured(text: str) -> list[_Found]:
    """Return tracebacks and pytest sections."""
    found: list[_Found] = []
    done = 0
    for place in _places(text, HEADER):
        if place < done:
            continue
        start = _line_start(text, place)
        one = _traceback_at(text, start, place)
        if one is not None:
            found.append(one)
            done = one.end
    sections = list(_pytest_sections(text))
    return sorted([*found, *sections], key=lambda one: one.start)


def _traceback_at(text: str, start: int, place: int) -> _Found | None:
    raw, complete = _window(text, start)
    bare = without_marks(raw)
    if is_notebook_header(bare[0]):
        block = parse_notebook_traceback(bare, complete)
    else:
        lines = without_prefix(raw, raw[0][: place - start])
        block = parse_traceback(lines, complete)
    if block is None:
        return None
    words = _joining_words(text, start, text[start:place])
    end = _end_of(text, start, raw, block.lines)
    return _Found(block, start, end, "traceback", bool(words), "direct cause" in words)


def _joining_words(text: str, start: int, prefix: str) -> str:
    """Return the words that chain two exceptions, if they come right before; a log prefix is allowed."""
    # Use whole lines: the first one may be cut.
    before = text[max(0, start - 400) : start].split("\n")[1 if start > 400 else 0 :]
    bare = without_prefix([prefix, *before], prefix)[1:]
    lines = [line for line in bare if line.strip(" |\t-")]
    return lines[-1] if lines and is_chain(lines[-1]) else ""


def _pytest_sections(text: str) -> Iterator[_Found]:
    done = 0
    for place in _places(text, "\nE  ", MOST_PLACES * 10):
        if place < done:
            continue
        start = _section_start(text, place + 1, done)
        lines, _ = _window(text, start)
        blocks, taken = parse_pytest_failure(lines)
        done = max(_end_of(text, start, lines, taken), place + 1)
        for index, block in enumerate(blocks):
            # They share the section's span; each gets its own position in it to keep the order.
            at = start + index
            yield _Found(block, at, done if index == len(blocks) - 1 else at + 1, "pytest", index > 0)


def _section_start(text: str, place: int, floor: int) -> int:
    """Return the section headline above an `E` line, or the lines right before it."""
    low = max(floor, place - _WINDOW // 2)
    before = text[low:place]
    lines = before.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        if SECTION.match(lines[index][:500]):
            return low + sum(len(line) + 1 for line in lines[:index])
    return low + sum(len(line) + 1 for line in lines[: max(0, len(lines) - 60)])


def _lone(text: str) -> list[_Found]:
    found: list[_Found] = []
    done = 0
    for start in _lone_places(text):
        one = _lone_at(text, start) if start >= done else None
        if one is not None:
            done = one.end
            found.append(one)
    if not found:
        block = parse_envelope(text) or exception_as_code(text)
        if block is None and len(text) <= _LONGEST_QUESTION:
            block = untyped_message(text)
        return [_Found(block, 0, len(text), "lone")] if block else []
    return found


def _is_without_words(block: Block) -> bool:
    """Whether a traceback ends before its message, also among the frames that AutoGraph puts into it."""
    said = block.message.lstrip()
    return not said or said.startswith(("in user code:", "in converted code:")) and not _TYPED.search(said)


_TYPED = re.compile(r"^\s+(?:\w+\.)*\w+(?:Error|Exception)\b", re.MULTILINE)


def _with_title(text: str, found: list[_Found]) -> list[_Found]:
    """Give a traceback that was cut before its exception the one that the question names above it."""
    if len(found) != 1 or not _is_without_words(found[0].block) or len(text) > _LONGEST_QUESTION:
        return found
    cut, told = found[0], _lone(text[: found[0].start])
    if not told or cut.block.type not in ("", told[-1].block.type):
        return found
    said = told[-1].block
    if said.frames and not cut.joined:
        return found
    # The one before it, whose header is lost, was raised deeper.
    frames = (*cut.block.frames, *said.frames)
    return [replace(cut, block=replace(cut.block, type=said.type, message=said.message, frames=frames))]


def _with_reason_above(text: str, found: list[_Found]) -> list[_Found]:
    """Add the exception of a generator that is above the `StopIteration` of Keras, without a header."""
    if len(found) != 1 or found[0].block.type != "StopIteration" or found[0].block.message.strip():
        return found
    if len(text) > _LONGEST_QUESTION:
        return found
    above = [one for one in _lone(text[: found[0].start]) if one.block.frames]
    return [*above[-1:], *found]


def _with_logged_status(text: str, cut: list[_Found]) -> list[_Found]:
    """Give a traceback that was cut before its exception the one that TensorFlow logged."""
    status = logged_status(text) if cut else None
    if status is None:
        return cut
    kind, message = status
    return [*cut[:-1], replace(cut[-1], block=replace(cut[-1].block, type=kind, message=message))]


def _lone_places(text: str) -> list[int]:
    """Return the positions of the last exception lines: near the end of the text, else in all of it."""
    tail = _line_start(text, max(0, len(text) - _TAIL))
    for low in (tail, 0):
        places = [match.start() for match in LONE.finditer(text, low)]
        if places:
            return places[-MOST_PLACES:]
    quoted = [match.start() for match in IN_PROSE.finditer(text)] if len(text) <= _LONGEST_QUESTION else []
    in_prose = [place for place in quoted if not _IN_COMMENT.search(text[_line_start(text, place) : place])]
    return (in_prose or quoted)[-1:]


_IN_COMMENT = re.compile(r"\s#(?:\s|$)")
"""The beginning of a line of code that ends in a comment; the title of a question begins with `#`."""


def _lone_at(text: str, start: int) -> _Found | None:
    raw, complete = _window(text, start)
    before = text[max(0, start - 600) : start].split("\n")[-5:]
    block = parse_lone([raw[0], *map(without_mark, raw[1:])], before, complete)
    if block is None:
        return None
    if not block.frames:
        block = replace(block, frames=_frames_before(text, start) or _frames_below_title(text, start))
    if not block.frames:
        loads = list(_LOADS.finditer(text, max(0, start - _CODE), start))
        block = replace(block, called=loads[-1]["name"] if loads else "")
    return _Found(block, start, _end_of(text, start, raw, block.lines), "lone")


_FLAT_FRAMES = re.compile(
    r"(?:^[ >]*File \"[^\"\n]+\", line \d+[^\n]*\n(?:[ ]{2,}[^\n]*\n?)?){2,}", re.MULTILINE
)
_TITLE = 200
"""Characters of a question in which its title is."""


def _frames_below_title(text: str, start: int) -> tuple[Frame, ...]:
    """Return the frames below a title that names the exception, if the traceback has neither header nor end."""
    if start > _TITLE or len(text) > _LONGEST_QUESTION or len(list(LONE.finditer(text))) > 1:
        return ()
    flat = list(_FLAT_FRAMES.finditer(text, start))
    block = parse_traceback([HEADER, *flat[0][0].split("\n")], complete=True) if len(flat) == 1 else None
    return block.frames if block is not None else ()


_CODE = 400
"""Characters before a lone exception that are searched for the code that raised it."""
_LOADS = re.compile(r"\b(?P<name>load_weights|set_weights|load_model|model_from_json)\(")
"""Calls that a question quotes above the exception. The same words mean something else while a model is trained."""
_CUT = 20_000
"""Characters before a lone exception that are searched for frames of a headless traceback."""


def _frames_before(text: str, start: int) -> tuple[Frame, ...]:
    """Return the frames right above an exception whose traceback lost its header."""
    lines = text[max(0, start - _CUT) : start].rstrip("\n").split("\n")
    frames = frames_without_header(lines)
    if frames:
        return frames
    first = len(lines)
    while first and (lines[first - 1][:1] in (" ", "\t", "") or _is_flat(lines, first - 1)):
        first -= 1
    indented = [line if line[:1] in (" ", "\t") else _indented(line) for line in lines[first:]]
    head = next((index for index, line in enumerate(indented) if line.lstrip().startswith("File ")), None)
    block = parse_traceback([HEADER, *indented[head:]], complete=True) if head is not None else None
    return block.frames if block is not None else ()


def _is_flat(lines: list[str], index: int) -> bool:
    """Whether a page removed the indentation of a frame, or of the code below it."""
    return any(line.startswith('File "') for line in lines[max(0, index - 1) : index + 1])


def _indented(line: str) -> str:
    return f"  {line}" if line.startswith('File "') else f"    {line}"


def _syntax_errors(text: str) -> Iterator[_Found]:
    for words in SYNTAX_ERRORS:
        for place in _places(text, words):
            one = _lone_at(text, place + 1)
            if one is not None and one.block.frames:
                yield one


def _signs(text: str) -> Iterator[_Found]:
    """Yield warnings and killed processes."""
    for words in WARNINGS:
        for place in _places(text, words):
            start = _line_start(text, place)
            raw = text[start : start + 4000].split("\n")
            block = parse_warning(without_mark(raw[0]))
            if block is not None:
                yield _Found(block, start, start + len(raw[0]), "sign")
    for words in SIGNAL_WORDS:
        for place in _places(text, words):
            start = _line_start(text, place)
            raw = text[start : start + 20_000].split("\n")
            block = parse_signal([without_mark(line) for line in raw])
            if block is not None:
                yield _Found(block, start, _end_of(text, start, raw, block.lines), "sign")


def _without_inside(found: list[_Found]) -> list[_Found]:
    """Drop candidates inside another one: a quoted traceback, the words of a warning in a message."""
    kept: list[_Found] = []
    reach = -1
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if one.start >= reach or one.kind == "pytest" and one.joined:
            kept.append(one)
            reach = max(reach, one.end)
    return kept


# --- from places to facts -----------------------------------------------------------------------------------


def _chains(found: list[_Found]) -> Iterator[list[_Found]]:
    group: list[_Found] = []
    for one in found:
        if group and not one.joined:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


_FIRST_EPOCH = re.compile(r"^Epoch 1/\d+[^\n]*$", re.MULTILINE)
_LATER_EPOCH = re.compile(r"^Epoch (?:[2-9]|\d{2,})/\d+", re.MULTILINE)
_LAST_BATCH = re.compile(r"^[ ]*(\d+)/\1[ ]+(?:\[=|━|- )", re.MULTILINE)
_EPOCH = 20_000
"""Characters before a failure that are searched for the progress of its first epoch."""


def _trained_before(text: str, start: int) -> bool:
    """Whether the first epoch had reached its last batch, so that the failure is about the validation data."""
    # The progress bar of the last batch has no line break before the traceback's header.
    head = text.find("Traceback", start, start + 400)
    before = text[max(0, start - _EPOCH) : max(head, start)]
    begun = before.rfind("\nEpoch 1/") + 1
    if not begun and not before.startswith("Epoch 1/"):
        return False
    epoch = before[begun:]
    return bool(_FIRST_EPOCH.match(epoch) and _LAST_BATCH.search(epoch)) and not _LATER_EPOCH.search(epoch)


def _without_ignored(text: str, found: list[_Found]) -> list[_Found]:
    """Drop what Python ignored while it cleaned up, such as an error in `__del__`, if anything else failed."""
    real = [one for one in found if not _IGNORED.search(text, max(0, one.start - 300), one.start)]
    return real or found


_IGNORED = re.compile(r"^Exception ignored in[^\n]*\n\Z", re.MULTILINE)


def _facts(group: list[_Found], trained: bool = False) -> FailureFacts:
    while len(group) > 1 and not group[-1].block.type:
        # The traceback was cut before its exception, which was raised while handling the one before it.
        frames = (*group[-1].block.frames, *group[-2].block.frames)
        group = [*group[:-2], replace(group[-2], block=replace(group[-2].block, frames=frames))]
    earlier: tuple[FailureSummary, ...] = ()
    wrapped: FailureFacts | None = None
    for one in group[-_MOST_CHAINED:-1]:
        inner = replace(_one(one.block), wrapped=_passed_on(one, wrapped), trained=trained)
        earlier = (summary_of(inner), *earlier)
        wrapped = inner
    last = _one(group[-1].block, earlier)
    if wrapped is not None and wrapped.type == last.type and wrapped.message.startswith(last.message[:300]):
        # Another process raised it and this one re-raises it, so its frames lead to the cause.
        last = replace(last, frames=(*last.frames, *wrapped.frames))
    return replace(last, trained=trained, wrapped=_passed_on(group[-1], wrapped))


def _passed_on(one: _Found, inner: FailureFacts | None) -> FailureFacts | None:
    """Return the exception that this one was raised from, explicitly or because it adds nothing."""
    if inner is None or one.caused or passes_on(one.block.type, one.block.message, inner.message):
        return inner
    return None


def _one(block: Block, earlier: tuple[FailureSummary, ...] = ()) -> FailureFacts:
    return assemble(block.type, block.message, block.frames, earlier, from_text=True, called=block.called)


def _distinct(failures: Iterator[FailureFacts]) -> list[FailureFacts]:
    """Remove duplicates: logs repeat failures, and TensorFlow logs a Python function's error before raising it."""
    found = _without_lost_worker(list(dict.fromkeys(failures)))
    return [one for at, one in enumerate(found) if not any(_repeats(later, one) for later in found[at + 1 :])]


def _without_lost_worker(found: list[FailureFacts]) -> list[FailureFacts]:
    """Join the exception that ended a worker thread with the `StopIteration` that Keras raises because of it."""
    if len(found) < 2 or found[-1].type != "StopIteration" or found[-1].message.strip("` \n"):
        return found
    *others, reason, stopped = found
    return [*others, replace(reason, frames=(*stopped.frames, *reason.frames))]


def _repeats(later: FailureFacts, earlier: FailureFacts) -> bool:
    """Whether a failure in the user's code quotes an earlier one without any user line."""
    said = earlier.message.strip()
    return (
        not earlier.user_frames
        and bool(later.user_frames)
        and len(said) > 20
        and said in f"{later.message}\n{later.raw_message}"
    )
