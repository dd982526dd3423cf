"""Finds failures outside a traceback: a lone exception line, a relevant warning, a killed process."""

from __future__ import annotations

import re

from fitdoctor.facts import Frame
from fitdoctor.failure.traceback_text import Block, gather_message, text_frame

_BUILTIN = (
    r"Exception(?=: )|KeyboardInterrupt|StopIteration|SystemExit|GeneratorExit|StopAsyncIteration|MemoryError"
    "|RecursionError"
)
_NAME = rf"(?P<type>(?:[a-z_]\w*\.)*(?:_?[A-Z]\w{{0,60}}(?:Error|Exception)|{_BUILTIN}|error(?=: OpenCV\()))"
LONE = re.compile(
    rf"^(?:\d{{4}}-\d\d-\d\dT[\d:.]{{8,20}}Z )?(?:##\[error\])?(?:E {{3,9}})?(?:> )?[`*]{{0,3}}{_NAME}(?::(?= )|$)",
    re.MULTILINE,
)
_ANY_CASE = r"(?P<lowered>(?i:(?:value|type|attribute|index|key|runtime|import)error))"
IN_PROSE = re.compile(
    rf"(?<![A-Za-z0-9_.])(?<!except )(?<!\| )(?P<mark>[`\"'*_]*)(?:{_NAME}|{_ANY_CASE})(?: ?: *| - )(?=\S)"
    r"(?!(?:pass|continue|return)\b|in user code:)"
)
"""An exception in a sentence, in a title or in a line that lost its breaks; its first mark may be closed after it."""
_ENVELOPE = re.compile(
    r"^\s*(?:Exception encountered when calling |in (?:user|converted) code:|Graph execution error:|"
    r"<tf\.Tensor .{1,300} is out of scope)"
    r"|^[ \t]*(?:Detected at node [^\n]{1,500} defined at|Node: ')(?=[\s\S]*\[\[\{\{node )",
    re.MULTILINE,
)
_AS_CODE = re.compile(
    r"(?<!raise )\b(?P<type>[A-Z]\w{0,60}(?:Error|Exception))\((?P<quote>[\"'])(?P<message>[^\n]{8,2000}?)(?P=quote)\)"
)
"""`ValueError("…")`: an exception as it stands in the code that raises it, or as `repr` shows it."""
_STATUSES = {
    "invalid argument": "InvalidArgumentError", "data loss": "DataLossError", "not found": "NotFoundError",
    "resource exhausted": "ResourceExhaustedError", "internal": "InternalError", "unknown": "UnknownError",
    "unimplemented": "UnimplementedError", "failed precondition": "FailedPreconditionError",
}  # fmt: skip
_STATUS = re.compile(
    r"^(?:[^\n]{0,200}\b[WE]\d{0,4}\b[^\n]{0,60} ?tensorflow/[^\]\n]{0,200}\] [^\n]{0,200}?|[\s`]{0,8}\(\d+\) "
    r"|[# ]{0,4}(?:OP_REQUIRES failed at \S{1,80} : )?)?"
    rf"(?P<status>(?i:{'|'.join(name.replace(' ', '[ _]') for name in _STATUSES)})): "
    r"(?P<message>[^\n]*(?:(?:\n[^\n]{1,600}){0,3}?\n\s{0,20}\[\[\{\{node [^\n]*)?)",
    re.MULTILINE,
)
"""The line that TensorFlow logs before it raises an exception."""
_SYNTAX_PLACE = re.compile(
    r'^\s*(?:File "(?P<path>[^"\n]+)"|(?P<cell>(?:Cell|Input) In ?\[\d+\])), line (?P<line>\d+)\s*$'
)

WARNINGS = (
    "ran out of data",
    "Gradients do not exist for variables",
    "which is not available. Available metrics are",
    "Can save best model only with",
    "Invalid loss, terminating training",
    "Cannot dlopen some GPU libraries",
    "Could not load dynamic library 'libcud",
    "but source was compiled with",
    "Discrepancy between trainable weights and collected",
    "triggered tf.function retracing",
    "No valid path found.",
)
"""Warnings of Keras and TensorFlow that point to a problem with the training."""
_WARNED = re.compile(
    r"^(?P<path>(?:[A-Za-z]:)?[^\s:][^:\n]{0,1000}):(?P<line>\d+): (?P<type>\w*Warning): (?P<message>.*)$"
)
_LOGGED = re.compile(
    r"^.{0,200}?(?:WARNING:[\w.]+:|UserWarning: |\bW\d{4}\b[^\]\n]{0,200}\] |"
    r": [WE] tensorflow/[^\]\n]{0,200}\] )(?P<message>.*)$"
)

SYNTAX_ERRORS = ("\nSyntaxError: ", "\nIndentationError: ", "\nTabError: ")
"""Errors without a traceback: the program itself cannot be parsed."""

SIGNALS = (
    ("KernelCrash", re.compile(r"Kernel crashed while executing code|kernel appears to have died")),
    ("SIGKILL", re.compile(r"^(?:\S{0,300}: line \d+: +\d+ )?Killed\b(?:: 9)?(?: {2,}.*)?$")),
    ("SIGKILL", re.compile(r"Out of memory: Killed process \d+|oom-kill(?:er)?:|OOMKilled|oom_kill event")),
    ("SIGKILL", re.compile(r"exit(?:ed with)? (?:code|status):? \(?137\b|signal 9\b|signal: killed")),
    (
        "SIGSEGV",
        re.compile(r"^(?:\S{0,300}: line \d+: +\d+ )?Segmentation fault\b|exit code 139\b|signal 11\b"),
    ),
    (
        "SIGSEGV",
        re.compile(r"^Fatal Python error: Segmentation fault|exit code -1073741819\b|\b0xC0000005\b"),
    ),
    ("SIGABRT", re.compile(r"exit code -1073740791\b|\b0xC0000409\b")),
    (
        "SIGABRT",
        re.compile(r"^(?:\S{0,300}: line \d+: +\d+ )?Aborted(?: \(core dumped\))?\b|exit code 134\b"),
    ),
    ("SIGABRT", re.compile(r"^Fatal Python error: Aborted|^terminate called after throwing an instance of")),
    (
        "SIGABRT",
        re.compile(r"^(?:\d{4}-[\d: .-]+ )?F(?:\d{4})? .{0,400}(?:Check failed:|CUDNN_STATUS|CUDA_ERROR)"),
    ),
    ("SIGBUS", re.compile(r"^(?:\S{0,300}: line \d+: +\d+ )?Bus error\b|^Fatal Python error: Bus error")),
    ("SIGILL", re.compile(r"^(?:\S{0,300}: line \d+: +\d+ )?Illegal instruction\b|exit code 132\b")),
)
SIGNAL_WORDS = (
    "Killed",
    "killed",
    "Kernel crashed",
    "kernel appears",
    "oom-kill",
    "oom_kill",
    "exit code 13",
    "exit code -10737",
    "exit status 13",
    "exited with code 13",
    "signal 9",
    "signal 11",
    "Segmentation fault",
    "Fatal Python error",
    "Aborted",
    "terminate called",
    "Check failed:",
    ": CUDNN_STATUS_",
    "Bus error",
    "Illegal instruction",
)
"""Words that a line about a killed process must contain; a fast first check."""
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):\s*$")
_FAULT_FRAME = re.compile(r'^\s+File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?: in (?P<function>.*))?$')


def parse_lone(lines: list[str], before: list[str], complete: bool) -> Block | None:
    """Read an exception of which only the last line is left, with its message.

    Args:
        lines: the exception's line and what follows.
        before: a few lines before it, which contain the location of a SyntaxError.
        complete: the text ends with `lines`.
    """
    head = LONE.match(lines[0][:2000])
    mark = ""
    if head is None:
        head = IN_PROSE.match(lines[0][:2000])
        if head is None:
            return None
        mark = head["mark"][::-1]
    kind = head["type"] or f"{head['lowered'][:-5].capitalize()}Error"
    first = lines[0][head.end() :].removeprefix(":").strip()
    if first.count("`") % 2 and first.endswith(("`", "`.")):  # opened above, or before the type
        first = first.rstrip("`.")
    if mark and first.count(mark) % 2:  # the others are quotes of the message itself
        return Block(kind, first[: first.rindex(mark)], (), 1)
    message, taken = gather_message(first, lines[1:], complete)
    return Block(kind, message, _syntax_place(before), 1 + taken)


def _syntax_place(before: list[str]) -> tuple[Frame, ...]:
    for index in range(len(before) - 1, -1, -1):
        place = _SYNTAX_PLACE.match(before[index][:2000])
        if place:
            code = before[index + 1].strip() if index + 1 < len(before) else ""
            return (text_frame(place["path"] or place["cell"], place["line"], "", code),)
    return ()


def parse_envelope(text: str) -> Block | None:
    """Read a message copied without its type, if it is clearly from Keras or TensorFlow."""
    begins = _ENVELOPE.search(text) if len(text) <= 20_000 else None
    return Block("", text[begins.start() :].strip(), (), text.count("\n") + 1) if begins else None


def exception_as_code(text: str) -> Block | None:
    """Read a short text that names its exception as code: `ValueError("No variables provided.")`."""
    found = _AS_CODE.search(text) if len(text) <= 2000 and text.strip().count("\n") < 4 else None
    return Block(found["type"], found["message"], (), 1) if found is not None else None


_UNTYPED = (
    ("ImportError", re.compile(r"(?i:no module named) ['\"]?(?:tensorflow|keras|tf_keras)(?:\.\w+)*['\"]?")),
    ("ImportError", re.compile(r"(?i:can ?not import name) ['\"]?\w+['\"]?(?: from '[\w.]+'| from [\w.]+)")),
    (
        "AttributeError",
        re.compile(r"'(?:\w*Tensor|\w*Dataset|Sequential|Functional|Model)' object has no attribute '\w+'"),
    ),
    (
        "AttributeError",
        re.compile(r"(?i:module) '(?:tensorflow|keras|tf_keras)[\w.]*' has no attribute '\w+'"),
    ),
)
"""What Python says of one type only."""
_UNTYPED_OF_KERAS = re.compile(
    r"""(?x)(?P<message>(?:
        Input[ ]\d+[ ](?:of|is)\b[^\n]{1,80}incompatible[ ]with | Error[ ]when[ ]checking[ ](?:model[ ])?(?:input|target)
      | No[ ]gradients[ ]provided[ ]for | Data[ ]cardinality[ ]is[ ]ambiguous | Failed[ ]to[ ]find[ ]data[ ]adapter
      | A[ ]target[ ]array[ ]with[ ]shape | You[ ]are[ ]passing[ ]a[ ]target[ ]array | [Gg]raph[ ]disconnected:
      | expected[ ]\w+[ ]to[ ]have[ ](?:shape[ ]\(|\d[ ]dimensions)
      | logits[ ]and[ ]labels[ ]must | Dimensions[ ]must[ ]be[ ]equal,[ ]but | Negative[ ]dimension[ ]size
      | Convolution[ ]expects[ ]input[ ]with[ ]rank | Unrecognized[ ]data[ ]type:[ ]x | Unknown[ ](?:layer|loss[ ]function):
      | Failed[ ]to[ ]convert[ ]a[ ]NumPy[ ]array | Shapes[ ]\([^\n]{1,60}\)[ ]and[ ]\([^\n]{1,60}are[ ]incompatible
      | (?P<runs>Incompatible[ ]shapes:[ ]\[ | OOM[ ]when[ ]allocating[ ]tensor | Received[ ]a[ ]label[ ]value[ ]of
        | Saw[ ]a[ ]non-null[ ]label | Inputs[ ]to[ ]operation[ ]\S+[ ]of[ ]type)
    )[^\n]{0,2000})"""
)
"""What only Keras and TensorFlow say, of which one type is usual."""


_STOPPED = re.compile(r"^[# ]{0,4}StopIteration\(\)\s*$", re.MULTILINE)


def untyped_message(text: str) -> Block | None:
    """Read a question that quotes a message of Python without the type of the exception."""
    for kind, expected in _UNTYPED:
        said = expected.search(text)
        if said is not None:
            return Block(kind, said[0], (), 1)
    if _STOPPED.search(text):
        return Block("StopIteration", "", (), 1)
    said = _UNTYPED_OF_KERAS.search(text)
    if said is None:
        return None
    kind = "InvalidArgumentError" if said["runs"] else "ValueError"
    return Block(kind, said["message"].strip("`*\"' "), (), 1)


def logged_status(text: str) -> tuple[str, str] | None:
    """Return the type and message of the last exception that TensorFlow logged before it raised it."""
    logged = list(_STATUS.finditer(text[-200_000:]))
    if not logged:
        return None
    return _STATUSES[logged[-1]["status"].lower().replace("_", " ")], logged[-1]["message"]


def parse_warning(line: str) -> Block | None:
    """Read a Keras warning that points to a problem with the training."""
    line = line[:4000]
    warned = _WARNED.match(line)
    if warned:
        frame = text_frame(warned["path"], warned["line"], "")
        return Block(warned["type"], warned["message"].strip(), (frame,), 1)
    logged = _LOGGED.match(line)
    said = logged["message"] if logged else line
    if not any(words in said[:300] for words in WARNINGS):
        return None
    return Block("UserWarning", said.strip(), (), 1)


def parse_signal(lines: list[str]) -> Block | None:
    """Read the line that a shell, the kernel or the interpreter prints when a process is killed."""
    line = lines[0][:2000]
    for name, expected in SIGNALS:
        if expected.search(line):
            frames, taken = _fault_frames(lines)
            return Block(name, line.strip(), frames, 1 + taken)
    return None


def _fault_frames(lines: list[str]) -> tuple[tuple[Frame, ...], int]:
    """Return the frames that faulthandler printed, most recent call first."""
    start = next((i for i, line in enumerate(lines[:40]) if line.startswith("Current thread")), None)
    if start is None:
        start = next((i for i, line in enumerate(lines[:6]) if _THREAD.match(line)), None)
    if start is None or not lines[0].startswith("Fatal Python error"):
        return (), 0
    frames = []
    index = start + 1
    while index < len(lines):
        match = _FAULT_FRAME.match(lines[index][:2000])
        if match is None:
            break
        frames.append(text_frame(match["path"], match["line"], match["function"] or ""))
        index += 1
    return tuple(reversed(frames)), index - 1
