"""Judge the facts of each moment and combine them into one diagnosis."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from fitdoctor.catalogue import Cause, catalogue, source_causes
from fitdoctor.catalogue.hidden_reasons import HIDDEN, hides_its_reason, stands_in_lambda
from fitdoctor.catalogue.known_messages import BY_MESSAGE, BY_TYPE, known_by_words
from fitdoctor.catalogue.logged_diagnosis import logged_finding
from fitdoctor.catalogue.prefilter import kinds_of
from fitdoctor.diagnosis import (
    Confidence,
    Crash,
    Diagnosis,
    Excerpt,
    Finding,
    Location,
    Moment,
    Origin,
    Script,
    Severity,
    Unexplained,
)
from fitdoctor.engine import Case, Found, ReadLine, diagnose, whole_line, without_consequences
from fitdoctor.engine_inputs import (
    Call,
    ProjectSource,
    call_case,
    call_in_source,
    called_in_source,
    cluster_case,
    failure_case,
    files_of,
    leak_case,
    pasted_project,
    source_cases,
    training_case,
)
from fitdoctor.facts import ClusterFacts, EnvironmentFacts, FailureFacts, Frame, TrainingFacts, Unknown
from fitdoctor.failure.assemble import assemble
from fitdoctor.failure.messages import read_message
from fitdoctor.failure.raised_by import is_of_another_library, note_about
from fitdoctor.failure.shapes import input_mismatch
from fitdoctor.records import dataclass, replace
from fitdoctor.source.lines import line_reader
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

# --- one moment -------------------------------------------------------------------------------------------------------


def examine_source(project: Project, select: Collection[str] = (), ignore: Collection[str] = ()) -> Diagnosis:
    """Judge source alone."""
    crashes: list[Crash] = []
    cases = source_cases(project, crashes=crashes)
    diagnosis = _finished(cases, lambda: project, select, ignore)
    return replace(diagnosis, crashes=(*diagnosis.crashes, *crashes))


def examine_call(
    collected: Call,
    project: ProjectSource = lambda: None,
    environment: EnvironmentFacts | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    *,
    with_source: bool = False,
    other_calls: bool = True,
) -> Diagnosis:
    """Judge a live call of `fit`.

    Args:
        collected: the call.
        project: returns the source; called only if needed.
        environment: versions and settings.
        select: ids to judge by.
        ignore: ids to leave out.
        with_source: whether to report silent causes that only the source shows.
        other_calls: whether to judge calls of `fit` and models in the source that were not seen yet.
    """
    project = functools.cache(project)
    cases = [call_case(collected, project, environment)]
    read = project() if with_source else None
    if read is not None:
        cases.extend(source_cases(read, calls=(collected,), sites=other_calls))
    diagnosis = _finished(cases, project, select, ignore)
    # An error that only the source predicts is left to the call itself.
    findings = [
        found
        for found in diagnosis.findings
        if found.moment is not Moment.SOURCE or found.severity is not Severity.ERROR
    ]
    return replace(diagnosis, findings=tuple(findings))


def examine_cluster(
    cluster: ClusterFacts,
    project: ProjectSource = lambda: None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Diagnosis:
    """Judge the cluster that a strategy is about to use."""
    return _finished([cluster_case(cluster, project)], project, select, ignore)


def examine_training(
    training: TrainingFacts,
    collected: Call,
    project: ProjectSource = lambda: None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Diagnosis:
    """Judge how training went."""
    project = functools.cache(project)
    return _finished([training_case(training, collected, project)], project, select, ignore)


def examine_failure(
    failure: FailureFacts,
    project: ProjectSource = lambda: None,
    collected: Call | None = None,
    environment: EnvironmentFacts | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Diagnosis:
    """Judge an exception; if no cause explains it, the diagnosis says so."""
    failure, project = _what_it_repeats(failure), functools.cache(project)
    told = logged_finding(failure)
    if told is not None:
        return Diagnosis(findings=(told.with_fingerprint(),))
    case = failure_case(failure, project, collected, environment)
    diagnosis = _finished([case], project, select, ignore, quoted=quoted_lines(failure))
    if collected is None:
        diagnosis = _with_reason_in_source(diagnosis, failure, project, select, ignore)
    if diagnosis.findings:
        return diagnosis
    if hides_its_reason(failure):
        hidden = _in_hidden_function(project(), select, ignore)
        if hidden is not None:
            return hidden
    if failure.wrapped is not None:
        wrapped = failure.wrapped
        if not wrapped.user_frames:  # raised and caught inside a library
            wrapped = replace(wrapped, frames=(*failure.user_frames, *wrapped.frames))
        inner = examine_failure(wrapped, project, collected, environment, select, ignore)
        # The words of an error inside another library that uses a TensorFlow object explain nothing.
        by_words_alone = [finding.subject in (BY_MESSAGE, BY_TYPE) for finding in inner.findings[:1]]
        if inner.findings and not (any(by_words_alone) and is_of_another_library(failure.frames)):
            return inner
    if failure.type == "Exception":  # Keras 1 raised nothing else
        today = examine_failure(
            replace(failure, type="ValueError"), project, collected, environment, select, ignore
        )
        if today.findings:
            return today
    by_words = known_by_words(failure)
    if by_words:
        diagnosis = _finished([case], project, select, ignore, by_words, quoted_lines(failure))
        if diagnosis.findings:
            return diagnosis
    return _with_unexplained(diagnosis, failure, project(), collected)


_TYPES_TO_TRY = (
    *("ValueError", "InvalidArgumentError", "TypeError", "AttributeError", "RuntimeError", "KeyError"),
    *("ImportError", "ModuleNotFoundError", "NotImplementedError", "IndexError", "AssertionError"),
)
_LONGEST_QUESTION = 20_000
"""The most characters of a text that may be a question with a message in its prose; logs are longer."""
_LINES_OF_A_MESSAGE = 4


def failures_told_in(text: str, path: str = "") -> list[FailureFacts]:
    """Return the failures in a text; a message pasted without its exception type counts if a cause explains it.

    Args:
        text: a log, a traceback, a saved notebook or a message.
        path: the file that it was read from, for a notebook.
    """
    from fitdoctor.failure.text import failures_in

    failures = failures_in(text, path)
    if len(text) > _LONGEST_QUESTION or not text.strip():
        return failures
    if failures:
        return [*failures[:-1], _with_message_in_prose(failures[-1], text)]
    status = _logged_failure(text)
    if status is not None:
        return status
    headless = _HEADLESS.search(text)
    if headless is not None:
        begun = f"{text[: headless.start()]}Traceback (most recent call last):\n{text[headless.start() :]}"
        return [_with_message_in_prose(each, text) for each in failures_in(begun)]
    if text.strip().count("\n") < _LINES_OF_A_MESSAGE:
        sure, by_words, of_others = _with_guessed_type(" ".join(text.split()))
        if sure:
            return sure
    else:  # prose or a long log may contain the words of a message
        by_words = of_others = []
    for index, said in enumerate(_sayings(text)):
        sure, words, others = _with_guessed_type(said)
        if sure or words:
            return sure or words
        of_others = of_others or (others if index == 0 else [])
    return by_words or of_others


_HEADLESS = re.compile(
    r"^ {2}File \"[^\"\n]+\", line \d+, in [^\n]+\n(?: {4}[^\n]+\n)? {2}File \"", re.MULTILINE
)
"""Two frames of a traceback without header and exception."""
_ADMITS_FAILURE = re.compile(
    r"^(?!.{0,40}\d\d:\d\d)[^\n]{0,300}\b(?i:errors?|fail(?:s|ed|ing)?|crash(?:es|ed)?|exception)\b",
    re.MULTILINE,
)
"""A line of prose that reports a failure; a line of a log begins with a time."""


_ROOT_ERROR = re.compile(r"^[\s`]{0,8}\(0\) [A-Z][\w ]{2,30}: ", re.MULTILINE)
"""Return the first of the root errors that an exception of TensorFlow lists."""


def _logged_failure(text: str) -> list[FailureFacts] | None:
    """Return what TensorFlow logged before it raised, if a cause explains it; None otherwise."""
    from fitdoctor.failure.signs import logged_status
    from fitdoctor.failure.text import failures_in

    # A working program logs such lines too; part of a traceback shows that it failed.
    short = text.strip().count("\n") < _LINES_OF_A_MESSAGE
    failed = short or '  File "' in text or _ADMITS_FAILURE.search(text) or _ROOT_ERROR.search(text)
    status = logged_status(text) if failed else None
    if status is None:
        return None
    logged = failures_in(": ".join(status))
    return logged if logged and examine_failure(logged[-1]).findings else []


_TITLE = re.compile(r"\s*#? ?(?P<message>[^\n]{15,300})")
_QUOTED_MESSAGE = re.compile(r"(?P<mark>[\"`])(?=[^\s\"`])(?P<message>[^\"`\n]{25,1000})(?P=mark)")
"""A message in a sentence: `I get the error "…" while training`."""
_LABELLED = re.compile(
    r"^[^\n]{0,60}\b(?i:error|message)\b[^\n:]{0,30}:+\s{0,3}(?P<message>\S[^\n]{15,1000})$", re.MULTILINE
)
_IN_SENTENCE = re.compile(r"\b(?i:error)(?: as| saying| that)?:? ['\"“]?(?P<message>[A-Z][a-z][^\n]{15,600})")
_EMPHASIZED = re.compile(r"^ {0,3}[*_`]{1,3}(?P<message>\w[^\n]{15,1000}?)[*_`]{1,3}\s*$", re.MULTILINE)
_FENCED = re.compile(r"^```\w*\n(?P<message>[^\n]{15,1000})\n```", re.MULTILINE)
_ON_ITS_OWN = re.compile(
    r"^ {0,3}(?P<message>[A-Z`'\"](?![^\n]*\b(?:I|I'm|my|me|we|our)\b)[^\n]{25,1000})$", re.MULTILINE
)
"""A line that may be a message rather than a sentence of the user."""
_ASKS = re.compile(
    r"(?i)\b(?:errors?|fail(?:s|ed|ing)?|crash(?:es|ed)?|exception|problems?|issue|solve|fix|wrong|help)\b"
)
"""What people write about a program that fails."""
_LOGGED = re.compile(r"[> ]{0,3}(?:\d{4}-\d\d-\d\d |[IWEF]\d{4} )")
"""The start of a line logged by TensorFlow."""
_MOST_SAYINGS = 12


def _sayings(text: str) -> list[str]:
    """Yield the passages of a question that may be a message, the most likely first: title, quotes, separate lines."""
    title = _TITLE.match(text)
    found = [] if title is None else [title["message"]]
    told = (_QUOTED_MESSAGE, _FENCED, _LABELLED, _IN_SENTENCE, _EMPHASIZED)
    # Documentation contains sentences that read like a message, too.
    asked = (*told, _ON_ITS_OWN) if _ASKS.search(text) else told
    for expected in asked:
        found += [each["message"] for each in expected.finditer(text)][-_MOST_SAYINGS // 4 :]
    plain = [each.strip(" #*") for each in found if not _LOGGED.match(each)]
    bare = [part for each in plain for part in (_ERROR_LABEL.sub("", each), each)]
    return list(dict.fromkeys(bare))


_ERROR_LABEL = re.compile(
    r"^.{0,60}\b\w{0,12}(?i:error|exception)(?: message)?(?: (?:as|is|that|saying|in))? ?[:-]? ?(?=\S.{14})"
)
"""What people write before a message: `Error: …`, `I get an error saying …`."""


_SHORTEST_MESSAGE = 40
"""The most characters of a message that may have been cut in the middle."""


def _with_message_in_prose(cut: FailureFacts, text: str) -> FailureFacts:
    """Return a traceback that was cut before its message, with the message from the title or prose if it fits."""
    said_so_far = cut.message.strip()
    if len(said_so_far) > _SHORTEST_MESSAGE or not cut.frames or examine_failure(cut).findings:
        return cut
    for said in _sayings(text):
        if not said.startswith(said_so_far):
            continue
        for name in [cut.type] if cut.type else _TYPES_TO_TRY:
            told = assemble(name, said, cut.frames, cut.earlier, from_text=True, called=cut.called)
            findings = examine_failure(told).findings
            if findings and findings[0].subject != BY_TYPE:
                return replace(told, trained=cut.trained, wrapped=cut.wrapped)
    return cut


_PYTHON_SAYS = (
    ("AttributeError", re.compile(r"has no attribute '")),
    ("IndexError", re.compile(r"index out of range|is out of bounds for axis")),
    (
        "TypeError",
        re.compile(r"object is not |\(\) (?:takes|missing|got an unexpected)|unsupported operand type"),
    ),
    ("ImportError", re.compile(r"(?i:cannot import name|no module named)")),
)
"""What Python says in exceptions of one type."""


def _with_guessed_type(message: str) -> tuple[list[FailureFacts], list[FailureFacts], list[FailureFacts]]:
    """Return how a message without its type is explained: by a judge, by its words alone, or by a note."""
    from fitdoctor.failure.text import failures_in

    by_words: list[FailureFacts] = []
    of_others: list[FailureFacts] = []
    of_python = next((kind for kind, words in _PYTHON_SAYS if words.search(message)), "")
    for name in dict.fromkeys((*([of_python] if of_python else []), *_TYPES_TO_TRY)):
        guessed = failures_in(f"{name}: {message}")
        findings = examine_failure(guessed[-1]).findings if guessed else ()
        if findings and findings[0].subject not in (BY_MESSAGE, BY_TYPE):
            return guessed, [], []
        if findings and findings[0].subject == BY_MESSAGE:  # a guessed type is not evidence
            by_words = by_words or guessed
        if guessed and not findings and note_about(guessed[-1]):
            of_others = of_others or guessed
    return [], by_words, of_others


def _with_reason_in_source(
    diagnosis: Diagnosis,
    failure: FailureFacts,
    project: ProjectSource,
    select: Collection[str],
    ignore: Collection[str],
) -> Diagnosis:
    """Return what the source shows about the call that failed, if the failure shows a consequence or nothing."""
    call = call_in_source(failure, project)
    if call is None:
        return diagnosis
    read = _finished([called_in_source(call, project)], project, select, ignore)
    reasons = [
        replace(finding, moment=Moment.AFTER_FAILURE)
        for finding in read.findings
        if finding.severity is Severity.ERROR
    ]
    left = without_consequences([Found(one) for one in (*reasons, *diagnosis.findings)], catalogue())
    if not reasons or diagnosis.findings and len(left) == len(reasons) + len(diagnosis.findings):
        return diagnosis
    return replace(
        read, findings=tuple(left), excerpts=tuple(dict.fromkeys((*read.excerpts, *diagnosis.excerpts)))
    )


def examine_saved(failure: FailureFacts, text: str, path: str = "") -> Diagnosis:
    """Judge the only exception of a saved text, with the files that it names, else with the code that the text contains."""
    project = functools.cache(functools.partial(files_of, failure))
    diagnosis = examine_failure(failure, project)
    pasted = pasted_project(text, path) if project() is None else None
    return diagnosis if pasted is None else _with_reason_in_pasted_code(diagnosis, failure, pasted)


def _with_reason_in_pasted_code(diagnosis: Diagnosis, failure: FailureFacts, project: Project) -> Diagnosis:
    """Return what the code beside a saved exception shows about it, if that is more than the exception itself shows."""
    if is_of_another_library(failure.frames):
        return diagnosis
    known = next(iter(diagnosis.findings), None)
    at_line = _at_pasted_line(failure, project.modules[0])
    reads = [examine_source(project)]
    if at_line is not None:
        reads.insert(0, examine_failure(at_line, lambda: project))
    reasons = [
        replace(finding, moment=Moment.AFTER_FAILURE)
        for read in reads
        for finding in read.findings
        if finding.severity is Severity.ERROR and finding.location and _is_reason(finding, known, failure)
    ]
    if not reasons:
        return diagnosis
    others = tuple(each for each in diagnosis.findings[1:] if each.id != reasons[0].id)
    return replace(
        diagnosis,
        findings=(reasons[0], *others),
        unexplained=(),
        excerpts=tuple(dict.fromkeys(each for read in (*reads, diagnosis) for each in read.excerpts)),
    )


def _at_pasted_line(failure: FailureFacts, module: Module) -> FailureFacts | None:
    """Return the exception as raised on a line of the pasted code: the one it quotes, or the layer that it names."""
    frame = failure.last_user_frame
    if frame is not None:
        lines = module.text.split("\n")
        same = [number for number, line in enumerate(lines, 1) if line.strip() == frame.text.strip() != ""]
    else:
        named = input_mismatch(failure.message)
        kind = re.sub(r"_\d+$", "", named.layer).replace("_", "") if named is not None else ""
        same = [
            call.node.lineno for call in module.calls if call.name.rpartition(".")[2].lower() == kind != ""
        ]
    if len(same) != 1:
        return None
    text = module.line_text(same[0]).strip()
    here = Frame(module.path, same[0], "<module>", text=text, library=False)
    others = tuple(each for each in failure.frames if each.library)
    return replace(failure, frames=(here, *others))


def _is_reason(finding: Finding, known: Finding | None, failure: FailureFacts) -> bool:
    """Whether pasted code, of which only a part may be there, shows the cause of the exception."""
    cause = catalogue()[finding.id]
    if known is None:
        frame = failure.last_user_frame
        named = failure.message + (frame.text if frame is not None else "")
        return _raised_by_cause(cause, failure) and bool(_names_in_common(finding.message, named))
    if finding.id == known.id:
        return finding.message != known.message and set(_NUMBER.findall(known.message)) <= set(
            _NUMBER.findall(finding.message)
        )
    also = any(finding.id in note for note in known.notes)
    return known.id in cause.explains or (also and known.confidence is Confidence.POSSIBLE)


_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_CODE = re.compile(r"`([^`]+)`")


def _names_in_common(message: str, said: str) -> set[str]:
    """Return the names that a finding shows as code and that the exception, or the line that raised it, contains."""
    shown = {name for code in _CODE.findall(message) for name in re.findall(r"[A-Za-z_]\w+", code)}
    return (shown - {"super", "self"}) & set(re.findall(r"[A-Za-z_]\w+", said))


def _raised_by_cause(cause: Cause, failure: FailureFacts) -> bool:
    announced = (cause.raises,) if isinstance(cause.raises, str) else cause.raises or ()
    return failure.type in announced or failure.type in ("Exception", "")


def _in_hidden_function(
    project: Project | None, select: Collection[str], ignore: Collection[str]
) -> Diagnosis | None:
    """Return what the source alone shows about the function that raised an unexplained exception."""
    if project is None:
        return None
    read = examine_source(project, select, ignore)
    findings = tuple(
        replace(finding, moment=Moment.AFTER_FAILURE)
        for finding in read.findings
        if finding.severity is Severity.ERROR and stands_in_lambda(project, finding)
    )
    return replace(read, findings=findings) if findings else None


def quoted_lines(failure: FailureFacts) -> dict[tuple[str, int | None, int], str]:
    """Return the user's lines that a saved traceback quotes; for a live one, the files are there."""
    if not failure.from_text:
        return {}
    frames = (*failure.frames, *failure.definition, *failure.made_at)
    return {(frame.path, frame.cell, frame.line): frame.text for frame in frames if frame.text}


def _what_it_repeats(failure: FailureFacts) -> FailureFacts:
    """Return the inner exception if the outer one only repeats its message: its own lines show more."""
    while failure.wrapped is not None and failure.wrapped.message[:80].strip():
        inner = failure.wrapped
        if inner.type == failure.type or inner.message[:80] not in failure.message:
            break
        if failure.user_frames and not inner.user_frames:
            break  # raised and caught inside a library
        failure = inner
    return failure


CUT_SHORT = (
    "`--smoke` ended training after two steps; code that uses the results of a whole training may fail here"
)


_OF_RESULTS = frozenset(
    "IndexError KeyError ValueError ZeroDivisionError FileNotFoundError AssertionError StopIteration".split()
)
"""Types of exceptions that few epochs can cause, such as too short a history."""


def _may_need_whole_training(failure: FailureFacts) -> bool:
    return not failure.called and (failure.type in _OF_RESULTS or "NoneType" in failure.message)


# --- a whole run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Everything known when a program has ended."""

    project: Project | None
    calls: Sequence[Call] = ()
    trainings: Sequence[tuple[TrainingFacts, Call]] = ()
    """How the completed calls of `fit` went."""
    clusters: Sequence[ClusterFacts] = ()
    """What the program knew about its cluster, per multi-worker strategy."""
    left: TrainingFacts | None = None
    """The tensors it still referenced at its end, and the functions it traced too often."""
    failure: FailureFacts | None = None
    """The exception that ended the program."""
    failed_call: Call | None = None
    """The call that raised it."""
    stopped: bool = False
    """Whether fitdoctor itself stopped the program."""
    whole: bool = True
    """Whether every `fit` ran in full, not shortened by `--smoke`."""
    environment: EnvironmentFacts | None = None
    crashes: tuple[Crash, ...] = ()
    script: Script | None = None
    origins: tuple[Origin, ...] = ()
    """Where a second run saw data become bad."""


def examine_run(run: Run, select: Collection[str] = (), ignore: Collection[str] = ()) -> Diagnosis:
    """Judge all moments of a run together."""

    def project() -> Project | None:
        return run.project

    cases: list[Case] = []
    crashes = list(run.crashes)
    if run.project is not None and any(_may_train(module.text) for module in run.project.modules):
        cases.extend(source_cases(run.project, calls=run.calls, crashes=crashes))
    cases.extend(cluster_case(cluster, project) for cluster in run.clusters)
    cases.extend(call_case(call, project, run.environment) for call in run.calls)
    cases.extend(training_case(training, call, project) for training, call in run.trainings)
    if run.left is not None:
        cases.append(leak_case(run.left, project))
    if run.failure is not None:
        cases.append(_explained_case(run, project, select, ignore))
    causes = None
    if all(case.moment is Moment.SOURCE for case in cases):
        texts = run.project.texts if run.project is not None else []
        causes = source_causes(texts, kinds_of(cases))
    diagnosis = _finished(cases, project, select, ignore, causes)
    findings = tuple(finding for finding in diagnosis.findings if not _refuted(finding, run, diagnosis))
    if run.failure is not None and not any(_explains_end(finding, run) for finding in findings):
        case = failure_case(run.failure, project, run.failed_call, run.environment)
        known = _finished([case], project, select, ignore, known_by_words(run.failure))
        if known.findings:
            findings = (*known.findings, *findings)
            diagnosis = replace(
                diagnosis, excerpts=tuple(dict.fromkeys((*diagnosis.excerpts, *known.excerpts)))
            )
        else:
            diagnosis = _with_unexplained(diagnosis, run.failure, run.project, run.failed_call)
            if run.trainings and not run.whole and _may_need_whole_training(run.failure):
                *others, last = diagnosis.unexplained
                diagnosis = replace(diagnosis, unexplained=(*others, replace(last, note=CUT_SHORT)))
    diagnosis = replace(
        diagnosis, findings=findings, crashes=(*diagnosis.crashes, *crashes), script=run.script
    )
    return at_origins(diagnosis, run.origins, run.project)


def _may_train(text: str) -> bool:
    return "keras" in text or "tensorflow" in text


def _explained_case(
    run: Run, project: ProjectSource, select: Collection[str], ignore: Collection[str]
) -> Case:
    """Return the case of the exception that ended the program, or of the one it re-raises if only that is known."""
    assert run.failure is not None
    failure = whole = _what_it_repeats(run.failure)
    first = failure_case(failure, project, run.failed_call, run.environment)
    while failure.wrapped is not None:
        case = failure_case(failure, project, run.failed_call, run.environment)
        if diagnose([case], select=select, ignore=ignore).findings:
            return case
        failure = failure.wrapped
    case = failure_case(failure, project, run.failed_call, run.environment)
    known = failure is whole or bool(diagnose([case], select=select, ignore=ignore).findings)
    return case if known else first


def _refuted(finding: Finding, run: Run, diagnosis: Diagnosis) -> bool:
    """Return whether the way the program ended contradicts a predicted error."""
    if finding.severity is not Severity.ERROR or finding.moment is Moment.AFTER_FAILURE:
        return False
    if finding.moment is Moment.BEFORE_FIT and finding.confidence is Confidence.CERTAIN:
        return False
    if run.script is not None and run.script.exit_code == 0 and run.whole:
        return True
    if finding.moment is not Moment.SOURCE:
        return False
    return _raises_another(finding, run.failure) or any(
        _explains_end(other, run) for other in diagnosis.findings
    )


_UNRELATED = ("NameError", "FileNotFoundError", "NotADirectoryError", "PermissionError", "SystemExit")
"""Exceptions that say nothing about training: the program did not reach the predicted failure."""


def _raises_another(finding: Finding, failure: FailureFacts | None) -> bool:
    """Return whether the program ended with another exception than the finding predicts."""
    cause = catalogue().get(finding.id)
    if failure is None or cause is None or cause.raises is None:
        return False
    announced = (cause.raises,) if isinstance(cause.raises, str) else cause.raises
    return failure.type not in (*announced, *_UNRELATED)


def _explains_end(finding: Finding, run: Run) -> bool:
    """Return whether a finding explains the end: it comes from the failure, or from the call that failed."""
    if finding.moment is Moment.AFTER_FAILURE:
        return True
    return (
        finding.moment is Moment.BEFORE_FIT
        and finding.severity is Severity.ERROR
        and finding.confidence is not Confidence.POSSIBLE
        and (run.stopped or run.failed_call is not None)
    )


def at_origins(diagnosis: Diagnosis, origins: Collection[Origin], project: Project | None) -> Diagnosis:
    """Move findings to the line where a second run saw their data become bad."""
    excerpts = dict.fromkeys(diagnosis.excerpts)
    findings = []
    read_line = line_reader(project, None) if origins else None
    for finding in diagnosis.findings:
        origin = next((each for each in origins if _is_of(each, finding)), None)
        text = read_line(origin.location) if origin is not None and read_line is not None else None
        if origin is not None and text is not None:
            place = origin.location
            excerpts[Excerpt(place.path, place.line, text, place.cell)] = None
            finding = replace(
                finding,
                location=place,
                evidence=(*finding.evidence, origin.trail),
                fixes=(*origin.fixes, *finding.fixes),
            )
            finding = finding.with_fingerprint(text)
        findings.append(finding)
    return replace(diagnosis, findings=tuple(findings), excerpts=tuple(excerpts))


def _is_of(origin: Origin, finding: Finding) -> bool:
    place = finding.location
    same = (origin.id, origin.subject) == (finding.id, finding.subject)
    return (
        same
        and place is not None
        and (place.path, place.line) == (origin.found_at.path, origin.found_at.line)
    )


# --- what all of them share ------------------------------------------------------------------------------------------


def _finished(
    cases: list[Case],
    project: ProjectSource,
    select: Collection[str],
    ignore: Collection[str],
    causes: Mapping[str, Cause] | None = None,
    quoted: Mapping[tuple[str, int | None, int], str] | None = None,
) -> Diagnosis:
    """Judge, remove suppressed findings, and add fingerprints. Without findings, no source is read.

    Args:
        cases: the facts of each moment.
        project: returns the source; called only if needed.
        select: ids to judge by.
        ignore: ids to leave out.
        causes: those that could find something, to avoid importing the others; all by default.
        quoted: lines of files that do not exist here, by path, cell and number.
    """
    from fitdoctor import __version__

    readers: list[ReadLine] = []

    def read_line(location: Location) -> str | None:
        if not readers:
            readers.append(line_reader(project(), quoted))
        return readers[0](location)

    diagnosis = diagnose(cases, select=select, ignore=ignore, causes=causes, read_line=read_line)
    if diagnosis.findings:
        diagnosis = _without_suppressed(_edited_at_origins(diagnosis, project()), project())
    return replace(diagnosis, tool_version=__version__)


def _edited_at_origins(diagnosis: Diagnosis, project: Project | None) -> Diagnosis:
    """Move the edits of every fix to where the values that they change are written."""
    if project is None or not any(fix.edits for finding in diagnosis.findings for fix in finding.fixes):
        return diagnosis
    from fitdoctor.source.origin_edits import at_their_origins

    excerpts, findings = dict.fromkeys(diagnosis.excerpts), []
    read_line = line_reader(project, None)
    for before in diagnosis.findings:
        finding = at_their_origins(before, project)
        place = finding.location
        text = read_line(place) if place is not None and place != before.location else None
        if place is not None and text is not None:
            excerpts[Excerpt(place.path, place.line, text, place.cell)] = None
            finding = finding.with_fingerprint(text)
        findings.append(finding)
    return replace(diagnosis, findings=tuple(findings), excerpts=tuple(excerpts))


def _without_suppressed(diagnosis: Diagnosis, project: Project | None) -> Diagnosis:
    """Remove the findings that a comment in the source suppresses."""
    if project is None:
        return diagnosis
    from fitdoctor.source.suppressions import suppress

    findings = diagnosis.findings
    for path in {finding.location.path for finding in findings if finding.location}:
        module = project.module_at(path)
        if module is not None:
            findings = suppress(module, findings).kept
    return replace(diagnosis, findings=findings)


def _with_unexplained(
    diagnosis: Diagnosis, failure: FailureFacts, project: Project | None, call: Call | None
) -> Diagnosis:
    told = _unexplained(failure, call)
    excerpts = diagnosis.excerpts
    read_line = line_reader(project, quoted_lines(failure))
    text = read_line(told.location) if told.location is not None else None
    if told.location is not None and text is not None:
        if told.location.end_column == 0:
            told = replace(told, location=whole_line(told.location, text))
        assert told.location is not None
        excerpt = Excerpt(told.location.path, told.location.line, text, told.location.cell)
        excerpts = tuple(dict.fromkeys((*excerpts, excerpt)))
    return replace(diagnosis, unexplained=(*diagnosis.unexplained, told), excerpts=excerpts)


def _unexplained(failure: FailureFacts, call: Call | None = None) -> Unexplained:
    """Return what is known about an unexplained failure and the call that raised it."""
    frame = failure.last_user_frame
    location = frame.location if frame is not None else None
    if frame is not None and not isinstance(frame.code, Unknown) and frame.code.location.line == frame.line:
        location = frame.code.location
    named = failure.layer and failure.layer_class
    layer = f"{failure.layer} ({failure.layer_class})" if named else failure.layer or failure.layer_class
    return Unexplained(
        type=failure.type,
        message=read_message(failure.raw_message, reworded=False).text or failure.message,
        location=location,
        called=failure.called,
        layer=layer,
        note=HIDDEN if hides_its_reason(failure) else note_about(failure),
        arguments=tuple(
            f"{name}: {value}" for name, value in failure.arguments if "inspect._empty" not in value
        )
        or tuple(_given(call)),
    )


def _given(call: Call | None) -> Iterator[str]:
    """Return the shapes and dtypes of the arguments of a call."""
    for data in call.data if call is not None else ():
        for array in (*data.x, *data.y, *data.sample_weight):
            if not isinstance(array.shape, Unknown):
                dtype = "" if isinstance(array.dtype, Unknown) else f" {array.dtype}"
                yield f"{array.path}: {array.shape}{dtype}"
