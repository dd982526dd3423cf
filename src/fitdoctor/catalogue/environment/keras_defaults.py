"""Arguments that had a default in Keras 2 and have none in Keras 3: the size of average pooling."""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.traced import at_frame, module_of, raised_here
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import append_arguments, fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

_WITHOUT_DEFAULT = ("keras.layers.AveragePooling", "keras.layers.AvgPool")
_MISSING = pattern(
    r"(?:AveragePooling|AvgPool)[123]D\.__init__\(\) missing 1 required positional argument: 'pool_size'"
)


def without_pool_size(cause: Cause, module: Module, site: CallSite) -> Iterator[Finding]:
    """Report `AveragePooling2D()`, whose default size was 2."""
    if site.name.startswith(_WITHOUT_DEFAULT) and not site.node.args:
        if not any(keyword.arg in (None, "pool_size") for keyword in site.node.keywords):
            yield _finding(cause, module, site, Confidence.LIKELY, [])


def missed_pool_size(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report that Keras requires the size."""
    frame = failure.last_user_frame
    if frame is None or not _MISSING.search(failure.message):
        return
    evidence = [raised_here(failure)]
    module = module_of(project, frame)
    for site in module.calls if module is not None else ():
        if (
            module is not None
            and site.name.startswith(_WITHOUT_DEFAULT)
            and at_frame(module, site.node, frame)
        ):
            yield _finding(cause, module, site, Confidence.CERTAIN, evidence)
            return
    yield cause.finding(
        "average pooling layers have no default `pool_size` in Keras 3",
        subject="argument pool_size",
        location=frame.location,
        evidence=evidence,
        fixes=[fix("set `pool_size=2`, the default in Keras 2")],
        confidence=Confidence.CERTAIN,
    )


def _finding(
    cause: Cause, module: Module, site: CallSite, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    called = site.name.rpartition(".")[2]
    return cause.finding(
        f"`{called}` has no default `pool_size` in Keras 3",
        subject=f"argument pool_size of {called}",
        location=module.location(site.node),
        evidence=[
            Evidence("`pool_size`", observed="not set", expected="2, the default in Keras 2"),
            *evidence,
        ],
        fixes=[
            fix(
                "set `pool_size=2`, the default in Keras 2",
                append_arguments(module.code(site.node), "pool_size=2"),
            )
        ],
        confidence=confidence,
    )
