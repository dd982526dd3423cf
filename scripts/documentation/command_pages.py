"""The reference of a command, from its parser."""

from __future__ import annotations

import argparse
import importlib

from fitdoctor.cli import COMMANDS

GUIDES = {
    "run": "../guides/first_repair.md",
    "lint": "../ci.md",
    "fix": "../fix.md",
    "memory": "../memory.md",
    "scan": "../scan.md",
}
"""The page that teaches a command."""


def page(command: str) -> str:
    """Return the page of a command as Markdown."""
    parser: argparse.ArgumentParser = importlib.import_module(f"fitdoctor.cli.{command}").make_parser()
    purpose = COMMANDS[command]
    lines = [f"# fitdoctor {command}", "", f"{purpose[0].upper()}{purpose[1:]}.", ""]
    if command in GUIDES:
        lines += [f"This page lists the options. The [guide]({GUIDES[command]}) shows how to use them.", ""]
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    lines += ["```console", f"$ {usage}", "```", ""]
    lines += _description(parser.description or "")
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        if not actions:
            continue
        title = {"positional arguments": "Arguments"}.get(group.title or "", (group.title or "").capitalize())
        lines += [f"## {title}", "", *([group.description, ""] if group.description else [])]
        lines += [f"| {'argument' if title == 'Arguments' else 'option'} | effect |", "| --- | --- |"]
        lines += [f"| {_name(action)} | {_help(action)} |" for action in actions]
        lines.append("")
    if parser.epilog:
        lines += [*_description(parser.epilog)]
    return "\n".join(lines)


def _description(text: str) -> list[str]:
    """Return the paragraphs; lines that the terminal keeps as they are stay so."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        indented = paragraph.startswith(" ")
        lines += ["```text", paragraph.strip("\n"), "```", ""] if indented else [paragraph, ""]
    return lines


def _name(action: argparse.Action) -> str:
    value = action.metavar or (
        action.dest.upper() if not action.choices else "|".join(map(str, action.choices))
    )
    shown = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return f"`{shown}`".replace("|", "\\|")
    takes = action.nargs != 0
    names = ", ".join(f"`{name} {shown}`" if takes else f"`{name}`" for name in action.option_strings)
    return names.replace("|", "\\|")


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%")
    if "%(" in text:
        text = text % vars(action)
    return text.replace("|", "\\|")
