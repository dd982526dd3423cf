"""A rule: likely from the source, certain at the line that raised, and reported from the text if the source is missing."""

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.rules import Rule, find, findings_from_failure
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Moment, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.source.module import Module
from tests.catalogue.input_facts import project_of

CAUSE = Cause(id="FIT999", slug="odd-call", severity=Severity.ERROR)
PROGRAM = "import keras\nodd(1)\nodd(\n    2,\n)\n"
PROJECT = project_of(PROGRAM)
(MODULE,) = PROJECT.modules


@CAUSE.rule(
    "odd",
    says=r"odd (?P<what>\w+)",
    types=("ValueError",),
    problem="an odd {what}",
    remedy="remove the {what}",
    subject="{what}",
)
def odd_calls(module: Module) -> Iterator[Finding]:
    """Find calls, at their argument."""
    for site in module.calls:
        where = module.location(site.node.args[0])
        yield CAUSE.finding("odd", where, Evidence("call", site.name), fix("remove it"), subject="call")


CAUSE.message("strange", "a strange call", "remove it", subject="call")
RULE = CAUSE.rules[0]


def failed(line: int, type: str = "ValueError", message: str = "an odd number") -> FailureFacts:
    frame = Frame(path=MODULE.path, line=line, function="<module>", text="odd(2)")
    return FailureFacts(type=type, message=message, frames=(frame,))


def found(rules: list[Rule], failure: FailureFacts) -> list[Finding]:
    return list(findings_from_failure(CAUSE, rules, failure, PROJECT))


def lines(findings: list[Finding]) -> list[int | None]:
    return [finding.location.line if finding.location else None for finding in findings]


def test_a_rule_registers_a_judge_of_the_source_and_all_rules_one_of_the_failure() -> None:
    assert [judge.moment for judge in CAUSE.judges] == [Moment.AFTER_FAILURE, Moment.SOURCE]
    assert CAUSE.judges[1].words == ("odd",)
    assert len(CAUSE.rules) == 2


def test_a_match_in_the_source_is_likely() -> None:
    findings = list(CAUSE.judges[1].function(MODULE))
    assert lines(findings) == [2, 4]
    assert {finding.confidence for finding in findings} == {Confidence.LIKELY}


def test_a_rule_is_not_asked_about_source_without_its_words() -> None:
    assert not list(find(Rule(find=odd_calls, words=("even",)), MODULE))


def test_the_match_in_the_statement_that_raised_is_certain() -> None:
    (finding,) = found(CAUSE.rules, failed(3))
    assert lines([finding]) == [4]
    assert finding.confidence is Confidence.CERTAIN
    assert [each.claim for each in finding.evidence] == ["call", "the error is raised here"]


def test_without_source_the_text_is_reported() -> None:
    (finding,) = findings_from_failure(CAUSE, CAUSE.rules, failed(3), Unknown("not read"))
    assert (finding.message, finding.fixes[0].title) == ("an odd number", "remove the number")


def test_a_message_alone_shows_its_cause() -> None:
    (finding,) = found(CAUSE.rules, failed(1, message="how\nstrange"))
    assert (finding.message, lines([finding])) == ("a strange call", [1])


def test_another_exception_is_not_explained() -> None:
    for failure in (failed(3, type="TypeError"), failed(3, message="an even number")):
        assert not found(CAUSE.rules, failure)


def test_what_else_the_failure_must_show_is_asked_unless_the_line_matches() -> None:
    for anywhere, count in ((True, 0), (False, 1)):
        rule = Rule(re.compile("odd"), find=odd_calls, fits=lambda _failure: False, anywhere=anywhere)
        assert len(found([rule], failed(3))) == count
    assert not found([Rule(re.compile("odd"), "odd", "remove it", fits=lambda _failure: False)], failed(3))


def test_a_line_elsewhere_is_found_if_the_rule_says_so() -> None:
    assert lines(found([Rule(re.compile("odd"), find=odd_calls, anywhere=True)], failed(1))) == [2]
    assert not found([Rule(re.compile("odd"), find=odd_calls)], failed(1))


def test_a_finder_gets_the_failure_that_it_asks_for() -> None:
    def by_message(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
        """Find the number that the exception names."""
        if failure is not None:
            yield CAUSE.finding(failure.message, module.location(module.calls[0].node))

    by_message.__annotations__ = {"module": "Module", "failure": "FailureFacts | None", "return": ""}
    rule = Rule(re.compile("odd"), find=by_message)
    assert not list(find(rule, MODULE))
    assert [finding.message for finding in found([rule], failed(2))] == ["an odd number"]
