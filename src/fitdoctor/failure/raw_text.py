"""Cleans raw logs: any encoding or line ending, colours, progress bars, prefixes of build servers."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from fitdoctor.failure.messages import plain_text
from fitdoctor.failure.pasted import without_wrapping

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE = 65_536
_TEXT_CONTROLS = frozenset(b"\t\n\x0b\x0c\r\x08\x1b\x07")
_BACKSPACES = re.compile("\x08+")
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? ?")
_STAMPS = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z(?: |$)", re.MULTILINE)
"""The prefix that GitHub, Kubernetes and Docker add to every line of a downloaded log."""
_MARK = re.compile(r"^(?:##\[\w{1,20}\]|::error(?: [^:\n]{0,300})?::)")
_NUMBER = re.compile(r"\d+")
_LONGEST_PREFIX = 500
"""Maximum prefix of a build server; anything longer is program output."""


def read_text_any(source: Path | str | bytes) -> str:
    """Decode a log saved in any encoding.

    Args:
        source: a path, or the bytes themselves.

    Raises:
        ValueError: it is binary, not text.
        OSError: the file cannot be read.
    """
    raw = source if isinstance(source, bytes) else Path(source).read_bytes()
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return (
                raw[len(mark) :].decode("utf-8", "replace")
                if encoding == "utf-8"
                else raw.decode(encoding, "replace")
            )
    wide = _wide_encoding(raw[:_SAMPLE])
    if wide:
        return raw.decode(wide, "replace")
    if _is_binary(raw[:_SAMPLE]):
        raise ValueError("the file is binary, not text")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        # Mostly UTF-8 with a few broken bytes (a log cut by size), or an old Windows code page.
        return (
            raw.decode("utf-8", "replace") if _mostly_utf8(raw[:_SAMPLE]) else raw.decode("cp1252", "replace")
        )


def _wide_encoding(sample: bytes) -> str:
    """Detect UTF-16 without a byte order mark: every other byte of English text is zero."""
    even, odd = sample[0::2], sample[1::2]
    if len(sample) < 4 or not sample.count(0):
        return ""
    if odd.count(0) > 0.4 * len(odd) and even.count(0) < 0.05 * len(even) and not _is_binary(even):
        return "utf-16-le"
    if even.count(0) > 0.4 * len(even) and odd.count(0) < 0.05 * len(odd) and not _is_binary(odd):
        return "utf-16-be"
    return ""


def _is_binary(sample: bytes) -> bool:
    if not sample:
        return False
    controls = sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROLS)
    return controls > 0.02 * len(sample) + 8 or sample.count(0) > 4


def _mostly_utf8(sample: bytes) -> bool:
    decoded = sample.decode("utf-8", "replace")
    wide = sum(1 for character in decoded if character > "\x7f")
    return decoded.count("\ufffd") * 2 <= wide


def clean_text(text: str) -> str:
    """Remove colours, and turn each state of a progress bar into its own line."""
    text = plain_text(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x08" in text:
        text = _BACKSPACES.sub("\n", text)
    if _TO_COORDINATOR in text:
        text = _REPORTED.sub(r"\g<type>: ", text)
    if _SEE_ABOVE in text:
        text = text.replace(_SEE_ABOVE, "Error:")
    if "&quot;" in text[:_SAMPLE]:
        import html

        text = html.unescape(text)  # the source of a page
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "<a href=" in text:
        text = _ANCHOR.sub(r"\1", text)
    if "╭" in text:
        text = _BOX.sub(_unboxed, text)
    if _STAMPS.search(text[:_SAMPLE]):
        text = _STAMPS.sub("", text)
    if " pid=" in text:
        text = _RAY.sub("", text)
    if text[:1] == "#" and all(line[:1] in ("#", "") for line in text.split("\n")):
        text = _COMMENT.sub("", text)  # copied from the comments of a program
    if any(mark in text for mark in "’“【，："):
        text = text.translate(_STRAIGHT)
    text = _GLUED.sub("\n", text)
    if "**" in text[:_SAMPLE] and len(text) <= _SAMPLE:
        text = _BOLD.sub(r"\1", _DUNDER.sub(r"__\1__", text))
    if len(text) <= _SAMPLE and _ON_ONE_LINE.search(text):
        text = _OF_FRAME.sub("\\1\n    ", _BEFORE_FRAME.sub("\n  ", text))
    if "\n>" in text[:_SAMPLE] and len(text) <= _SAMPLE:
        text = _QUOTE.sub(lambda quote: _QUOTE_MARK.sub("", quote[0]), text)
    if ",\n" in text[:_SAMPLE] and len(text) <= _SAMPLE:
        text = _WRAPPED_FRAME.sub(r"\1 \2", text)
    if text[:1] in (" ", "\t", "\n"):
        text = textwrap.dedent(text)  # copied from the middle of a message or of a document
    return without_wrapping(text)


_STRAIGHT = str.maketrans(dict(zip("‘’“”【】", "''\"\"[]", strict=True)) | {"，": ", ", "：": ": "})
"""Word processors replace the quotes of a message, Chinese keyboards its brackets."""
_GLUED = re.compile(r"(?<=-{20})(?=\w{2,40}(?:Error|Exception) {5,60}Traceback )")
"""The rule above a notebook's traceback, on a page that lost the line break after it."""
_BOLD = re.compile(r"(?<![\w(,*])\*\*(?=[^\s*])([^*\n]{1,2000}?)(?<=\S)\*\*(?![\w(*])")
"""Bold words of a page: `**indices[6,4]** = 9`. Powers and `**kwargs` are followed or preceded by a name."""
_DUNDER = re.compile(
    r"\*\*(init|call|new|getitem|setitem|len|iter|next|getattr|setattr|array|enter|exit|bool)\*\*(?=[\s(])"
)
"""`__call__()`, of which Markdown made bold words."""
_ON_ONE_LINE = re.compile(r"File \"[^\"\n]+\", line \d+, in [^\n]+ File \"[^\"\n]+\", line \d+, in ")
"""Frames of a page that lost its line breaks."""
_BEFORE_FRAME = re.compile(r"[ \t`\n]+(?=File \"[^\"\n]+\", line \d+, in )")
_OF_FRAME = re.compile(r"(File \"[^\"\n]+\", line \d+, in (?:<\w+>|\w+))[ \t]+(?=\S)")
_QUOTE = re.compile(r"(?:^>(?!>)[^\n]*\n?){2,}", re.MULTILINE)
"""Two quoted lines or more; pytest marks a single line so."""
_QUOTE_MARK = re.compile(r"^(?:>(?!>>) ?)+", re.MULTILINE)
_WRAPPED_FRAME = re.compile(r"^(\s*File \"[^\"\n]+\",)\n\s*(line \d+)", re.MULTILINE)
"""A frame that a mail program wrapped."""
_COMMENT = re.compile(r"^# ?", re.MULTILINE)
_RAY = re.compile(r"^\([\w.:]+ pid=\d+(?:, ip=[\d.]+)?\) ?", re.MULTILINE)
"""The prefix that Ray adds to the lines of its workers."""
_TO_COORDINATOR = "Error reported to Coordinator: <class '"
_REPORTED = re.compile(rf"^[^\n]{{0,100}}{_TO_COORDINATOR}(?P<type>[\w.]+)'>, ", re.MULTILINE)
"""A thread of TensorFlow 1 logs its exception so."""
_SEE_ABOVE = "Error (see above for traceback):"
"""TensorFlow 1 repeats an exception in these words."""
_LINK = re.compile(r"\[([^\]\n]{1,1000})\]\((?:https?|file|vscode-[\w-]+):[^)\n]{1,2000}\)")
"""The frames and line numbers of Colab and VS Code are links: `[/usr/…/x.py](https://localhost:8080/#) in f(…)`."""
_ANCHOR = re.compile(r"<a href='(?:vscode-[\w-]+|file):[^'\n]{1,2000}'>([^<\n]{0,1000})</a>")
"""The line numbers of older versions of VS Code are anchors."""
_BOX = re.compile(
    r"^[^\n]{0,40}╭─[^\n]{0,200}Traceback \(most recent call last\)[^\n]{0,200}╮\n"
    r"(?:[^\n]{0,40}│[^\n]*\n)*(?:[^\n]{0,40}╰─[^\n]*\n)?",
    re.MULTILINE,
)
"""A traceback as rich renders it."""
_BOXED = re.compile(r"^[^│\n]{0,40}│ ?(?P<inside>.*?) *│?$")
_BOXED_FRAME = re.compile(r"^(?P<path>\S[^\n]*?):(?P<line>\d+) in(?: (?P<function>\S.*))?$")
_BOXED_CODE = re.compile(r"^❱ *(?:\d+) ?(?P<code>.*)$")


def _unboxed(box: re.Match[str]) -> str:
    """Rewrite rich's boxed traceback as Python prints it."""
    lines = ["Traceback (most recent call last):"]
    for row in box[0].split("\n")[1:]:
        found = _BOXED.match(row)
        inside = found["inside"].rstrip() if found else ""
        frame, code = _BOXED_FRAME.match(inside), _BOXED_CODE.match(inside)
        if frame:
            lines.append(f'  File "{frame["path"]}", line {frame["line"]}, in {frame["function"] or "?"}')
        elif code:
            lines.append(f"    {code['code'].replace('│', ' ').strip()}")
    return "\n".join(lines) + "\n"


def without_prefix(lines: list[str], prefix: str) -> list[str]:
    """Remove the prefix that a build server, container or quoting email added to each line.

    Args:
        lines: the first of them starts with `prefix`.
        prefix: the text before the first relevant word.
    """
    if not prefix:
        return lines
    if len(prefix) > _LONGEST_PREFIX:
        return [lines[0][len(prefix) :], *lines[1:]]
    shape = re.compile(_NUMBER.sub(r"\\d+", re.escape(_NUMBER.sub("0", prefix))))
    if len(lines) < 2 or not (shape.match(lines[1]) or not prefix.strip()):
        marked = [without_mark(line) for line in lines]
        # Only the first line has a prefix: an unfinished progress bar.
        return [lines[0][len(prefix) :], *marked[1:]]
    bare = re.compile(_NUMBER.sub(r"\\d+", re.escape(_NUMBER.sub("0", prefix.rstrip()))) + r"\s*$")
    return [_cut(line, shape, bare) for line in lines]


def _cut(line: str, shape: re.Pattern[str], bare: re.Pattern[str]) -> str:
    found = shape.match(line)
    if found:
        return without_mark(line[found.end() :])
    if bare.match(line):
        return ""
    return without_mark(line)


def without_mark(line: str) -> str:
    """Remove the time stamp and mark of a build server from a line."""
    line = _STAMP.sub("", line)
    return _MARK.sub("", line)
