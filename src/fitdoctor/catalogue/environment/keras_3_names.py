"""Imports and dotted names of an older Keras that Keras 3 does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_3_fixes import as_keras, elsewhere, import_fix
from fitdoctor.catalogue.environment.keras_3_gone import (
    gone_imports,
    is_gone,
    is_gone_module,
    with_other_imports,
    without_experimental,
)
from fitdoctor.catalogue.environment.keras_signatures import REMOVED_NAMES
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.conditions import is_conditional, knows_another_way
from fitdoctor.source.module import CallSite, Module


def gone_imports_told(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report imports of modules and names that no longer exist."""
    for node, gone, source in gone_imports(module):
        yield _import_finding(cause, module, node, gone, source, Confidence.LIKELY)
    for plain in module.nodes(ast.Import):
        for alias in plain.names:
            source = as_keras(alias.name)
            outside_tf = alias.name.startswith("keras")
            if source and is_gone_module(source, outside_tf=outside_tf) and not is_conditional(module, plain):
                yield cause.finding(
                    f"Keras 3 has no module `{alias.name}`",
                    subject=f"import of {alias.name}",
                    location=module.location(plain),
                    fixes=[fix("import from a public module such as `keras.layers`")],
                )


def _import_finding(
    cause: Cause, module: Module, node: ast.ImportFrom, alias: ast.alias, source: str, confidence: Confidence
) -> Finding:
    return cause.finding(
        f"Keras 3 has no `{node.module}.{alias.name}`",
        subject=f"import of {alias.name}",
        location=module.location(node),
        evidence=[Evidence(claim="Keras 2 name", observed=f"{node.module}.{alias.name}")],
        fixes=[with_other_imports(module, node, import_fix(module, node, alias, source))],
        confidence=confidence,
    )


def gone_names_told(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report dotted names such as `keras.optimizers.legacy.Adam`."""
    for site in module.calls_under("keras."):
        if module.project is not None and site.name in module.project.set_names:
            continue
        found = (
            _gone_name(cause, module, site, site.node.func)
            if isinstance(site.node.func, ast.Attribute)
            else None
        )
        if found is not None and not knows_another_way(module, site.node):
            yield found


def _gone_name(cause: Cause, module: Module, site: CallSite, called: ast.Attribute) -> Finding | None:
    spelt = module.dotted(called)
    if ".legacy." in site.name and site.name.startswith("keras.optimizers."):
        return _legacy_finding(cause, module, site)
    if "experimental." in module.segment(called) and without_experimental(site.name):
        return _experimental_finding(cause, module, site)
    if site.name in REMOVED_NAMES or (
        is_gone(site.name, outside_tf=spelt.startswith("keras.")) and "experimental" not in site.name
    ):
        return cause.finding(
            f"Keras 3 has no `{site.name.removeprefix('keras.')}`",
            subject=f"name {site.name}",
            location=module.location(called),
            fixes=[elsewhere(module, called)],
        )
    return None


def _experimental_finding(cause: Cause, module: Module, site: CallSite) -> Finding:
    text = module.segment(site.node.func)
    plain = text.replace("experimental.preprocessing.", "").replace("experimental.", "")
    return cause.finding(
        f"Keras 3 has no `{text}`",
        subject=f"name {site.name}",
        location=module.location(site.node.func),
        evidence=[Evidence(claim="Keras 2 module", observed=text, expected=plain)],
        fixes=[fix("remove `experimental`", (Edit(module.location(site.node.func), plain),))],
    )


def _legacy_finding(cause: Cause, module: Module, site: CallSite) -> Finding:
    text = module.segment(site.node.func)
    return cause.finding(
        "Keras 3 has no `optimizers.legacy`",
        subject=f"name {site.name}",
        location=module.location(site.node.func),
        evidence=[Evidence(claim="Keras 2 module", observed=text)],
        fixes=[
            fix(
                "use the optimizer of the same name from `keras.optimizers`",
                (Edit(module.location(site.node.func), text.replace("legacy.", "", 1)),),
            )
        ],
    )
