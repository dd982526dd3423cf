"""The engine: select, judge, suppress, merge, rank."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Fix, Location, Moment, Severity
from fitdoctor.engine import Case, diagnose
from fitdoctor.facts import DataFacts, FitFacts, Unknown
from fitdoctor.records import replace


def cause(id="FIT203", slug="labels-out-of-range", severity=Severity.ERROR, explains=()):
    return Cause(id=id, slug=slug, severity=severity, explains=explains)


def always(the_cause, moment="before_fit", message="wrong", location=None, *seen, **details):
    def judge(fit: FitFacts):
        yield the_cause.finding(message, location, *seen, **details)

    getattr(the_cause, moment)(judge)
    return the_cause


def case(moment=Moment.BEFORE_FIT, **facts):
    return Case(moment, {"FitFacts": (FitFacts(),), **facts})


def ids(diagnosis):
    return [finding.id for finding in diagnosis.findings]


def judged(*causes, cases=None, **options):
    return diagnose(cases or [case()], causes={each.id: each for each in causes}, **options)


def test_a_judge_speaks_at_its_own_moment_only():
    diagnosis = judged(always(cause(), "after_failure"))
    assert diagnosis.findings == ()
    diagnosis = judged(always(cause(), "after_failure"), cases=[case(Moment.AFTER_FAILURE)])
    assert diagnosis.findings[0].moment is Moment.AFTER_FAILURE


@pytest.mark.parametrize(
    ("select", "ignore", "left"),
    [
        ((), (), ["FIT101", "FIT203"]),
        (("FIT2",), (), ["FIT203"]),
        (("labels-out-of-range",), (), ["FIT203"]),
        (("fit101",), (), ["FIT101"]),
        ((), ("FIT203",), ["FIT101"]),
        (("FIT2",), ("labels-out-of-range",), []),
    ],
)
def test_causes_are_chosen_by_id_beginning_or_slug(select, ignore, left):
    causes = always(cause("FIT101", "input-shape-mismatch")), always(cause())
    assert sorted(ids(judged(*causes, select=select, ignore=ignore))) == left


def test_a_judge_that_crashes_is_our_fault_and_silences_nobody():
    broken = cause("FIT101", "input-shape-mismatch")

    @broken.before_fit
    def from_data(fit: FitFacts):
        raise KeyError("shape")
        yield

    diagnosis = judged(broken, always(cause()))
    assert ids(diagnosis) == ["FIT203"]
    assert diagnosis.crashes[0].where == "FIT101 from_data"
    assert "KeyError" in diagnosis.crashes[0].error and "test_engine.py" in diagnosis.crashes[0].error


def test_what_a_judge_said_before_it_crashed_stays():
    half = cause()

    @half.before_fit
    def judge(fit: FitFacts):
        yield half.finding("wrong")
        raise ZeroDivisionError

    diagnosis = judged(half)
    assert ids(diagnosis) == ["FIT203"] and len(diagnosis.crashes) == 1


def test_a_fact_that_is_not_known_skips_the_judge_with_the_reason():
    needs_data = cause()

    @needs_data.before_fit
    def judge(fit: FitFacts, data: DataFacts):
        yield needs_data.finding("wrong")

    unknown = Unknown("the data is a generator")
    diagnosis = judged(needs_data, cases=[case(DataFacts=unknown)])
    assert [(skipped.id, skipped.reason) for skipped in diagnosis.skipped] == [
        ("FIT203", "the data is a generator")
    ]


def test_a_judge_may_take_an_unknown_fact():
    curious = cause()

    @curious.before_fit
    def judge(fit: FitFacts, data: DataFacts | Unknown):
        yield curious.finding(f"seen without data: {isinstance(data, Unknown)}")

    assert judged(curious).findings[0].message == "seen without data: True"


def test_each_of_several_facts_of_a_type_is_judged():
    per_data = cause()

    @per_data.before_fit
    def judge(data: DataFacts):
        yield per_data.finding("wrong", Location("a.py", 3), subject=data.role)

    both = (DataFacts("training"), DataFacts("validation"))
    diagnosis = judged(per_data, cases=[case(DataFacts=both)])
    assert [finding.subject for finding in diagnosis.findings] == ["training", "validation"]


def test_one_cause_and_subject_from_two_moments_is_one_finding():
    place = Location("train.py", 8, 5, 8, 9)
    early = always(cause(), "before_fit", "wrong", place, Evidence("seen early"), subject="y")
    late = (Evidence("seen late"), Fix("shift the labels"))
    always(early, "after_failure", "wrong", place, *late, subject="y", confidence=Confidence.CERTAIN)
    diagnosis = judged(early, cases=[case(), case(Moment.AFTER_FAILURE)])
    (finding,) = diagnosis.findings
    assert finding.moment is Moment.AFTER_FAILURE
    assert finding.confidence is Confidence.CERTAIN
    assert {each.claim for each in finding.evidence} == {"seen early", "seen late"}
    assert [fix.title for fix in finding.fixes] == ["shift the labels"]


def test_what_one_edit_corrects_is_one_finding():
    per_data, place = cause(), Location("a.py", 3, 1, 3, 9)

    @per_data.before_fit
    def judge(data: DataFacts):
        edits = (Edit(place, "batched"),)
        seen = Evidence(f"shape of the {data.role} data", "(3,)", "(None, 3)")
        yield per_data.finding("wrong", place, seen, Fix("batch", edits=edits), subject=data.role)

    both = (DataFacts("training"), DataFacts("validation"))
    (finding,) = judged(per_data, cases=[case(DataFacts=both)]).findings
    assert finding.subject == "training" and len(finding.evidence) == 2


def test_the_line_that_a_fix_can_edit_goes_before_the_line_that_raised():
    change = Location("train.py", 17, 13, 17, 26)
    cut = Fix("cut the first axis", edits=(Edit(change, "x.shape[1:]"),))
    read = always(cause(), "in_source", "starts with the samples", change, cut, subject="shape")
    always(read, "after_failure", "one axis too many", Location("model.py", 9), subject="shape")
    (finding,) = judged(read, cases=[case(Moment.SOURCE), case(Moment.AFTER_FAILURE)]).findings
    assert (finding.location, finding.moment) == (change, Moment.AFTER_FAILURE)


def test_two_places_are_two_findings():
    both = always(cause(), subject="a", location=Location("train.py", 8))
    always(both, subject="a", location=Location("train.py", 20))
    assert len(judged(both).findings) == 2


def test_a_consequence_is_not_told_beside_its_cause():
    root = always(cause("FIT101", "input-shape-mismatch", explains=("FIT203",)))
    assert ids(judged(root, always(cause()))) == ["FIT101"]


@pytest.mark.parametrize(
    ("first", "second", "hidden"),
    [
        (("", ""), ("", ""), True),
        (("a.py", ""), ("a.py", "a.py:3"), True),
        (("", ""), ("b.py", "b.py:3"), True),
        (("a.py", ""), ("b.py", ""), False),
        (("a.py", "a.py:3"), ("a.py", "a.py:9"), False),
    ],
)
def test_a_consequence_belongs_to_the_same_file_and_call(first, second, hidden):
    root, other = cause("FIT101", "input-shape-mismatch", explains=("FIT203",)), cause()

    def of_fit(fit: FitFacts):
        if fit.method == "fit":
            yield root.finding("wrong shape", Location("a.py", 1))

    def of_evaluate(fit: FitFacts):
        if fit.method == "evaluate":
            yield other.finding("wrong label", Location("b.py", 1))

    root.before_fit(of_fit)
    other.before_fit(of_evaluate)
    cases = [
        Case(Moment.BEFORE_FIT, {"FitFacts": (FitFacts(method),)}, *scope)
        for method, scope in (("fit", first), ("evaluate", second))
    ]
    assert ids(judged(root, other, cases=cases)) == (["FIT101"] if hidden else ["FIT101", "FIT203"])


def test_a_warning_does_not_stand_for_an_error():
    root = always(cause("FIT209", "softmax-over-one-unit", Severity.WARNING, explains=("FIT203",)))
    assert sorted(ids(judged(root, always(cause())))) == ["FIT203", "FIT209"]


def test_what_only_the_source_shows_does_not_stand_for_what_ended_the_program():
    root = always(cause("FIT101", "input-shape-mismatch", explains=("FIT203",)), "in_source")
    raised = always(cause(), "after_failure")
    cases = [case(Moment.SOURCE), case(Moment.AFTER_FAILURE)]
    assert ids(judged(root, raised, cases=cases)) == ["FIT203", "FIT101"]


def test_what_accounts_for_the_exception_comes_first_then_the_certain_then_errors():
    raised = always(cause("FIT407", "raised"), "after_failure")
    certain = always(cause("FIT203", "certain"), confidence=Confidence.CERTAIN)
    likely = always(cause("FIT204", "likely"))
    warning = always(cause("FIT210", "warning", Severity.WARNING), confidence=Confidence.CERTAIN)
    diagnosis = judged(warning, likely, certain, raised, cases=[case(), case(Moment.AFTER_FAILURE)])
    assert ids(diagnosis) == ["FIT407", "FIT203", "FIT204", "FIT210"]
    assert diagnosis.primary is diagnosis.findings[0]


def test_a_finding_without_columns_gets_its_whole_line():
    found = judged(
        always(cause(), location=Location("a.py", 3)), read_line=lambda place: "    model.fit(x)  "
    )
    location = found.findings[0].location
    assert (location.column, location.end_column) == (5, 17)
    assert found.excerpts[0].text == "    model.fit(x)  "


def test_a_fingerprint_does_not_know_the_line_number():
    def at(line):
        the_cause = always(cause(), location=Location("a.py", line))
        return judged(the_cause, read_line=lambda place: "model.fit(x)").findings[0].fingerprint

    assert at(3) == at(30) != ""


def test_of_a_call_seen_live_the_source_only_says_what_a_live_judge_cannot():
    both, source_only = cause("FIT203"), cause("FIT204", "label-shape-broadcast")

    def judge(fit: FitFacts):
        yield both.finding("of both moments")

    def reader(fit: FitFacts):
        yield source_only.finding("only read")

    both.in_source(both.before_fit(judge))
    source_only.in_source(reader)
    read = case(Moment.SOURCE, FitFacts=(FitFacts(),))
    causes = {each.id: each for each in (both, source_only)}
    assert ids(diagnose([read], causes=causes)) == ["FIT203", "FIT204"]
    assert ids(diagnose([replace(read, seen_live=True)], causes=causes)) == ["FIT204"]


def test_a_judge_of_live_calls_is_at_most_likely_about_the_source():
    the_cause = cause()

    def judge(fit: FitFacts):
        yield the_cause.certain("seen")

    the_cause.likely_in_source(the_cause.before_fit(judge))
    for moment, confidence in ((Moment.SOURCE, Confidence.LIKELY), (Moment.BEFORE_FIT, Confidence.CERTAIN)):
        [found] = judged(the_cause, cases=[case(moment)]).findings
        assert found.confidence is confidence
