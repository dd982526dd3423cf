"""Probes the other workers of a cluster while TensorFlow waits for them, and lists those that do not answer.

Run as a file by a process that creates its strategy: TensorFlow holds the interpreter's lock while it waits, so that
process itself cannot report anything. Arguments: seconds to wait, a file for the result (or ""), how to
report ("" for silence), and `name=host:port` for each of the others.
"""

import json
import os
import socket
import sys
import time


def _answers(address: str) -> bool:
    host, _colon, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=2):
            return True
    except (OSError, ValueError):
        return False


def silent_among(others: list[tuple[str, str]]) -> list[str]:
    """Return the workers, by name and address, that do not answer now."""
    return [f"{name} ({address})" for name, address in others if not _answers(address)]


def _main(seconds: str, piece: str, tell: str, *others: str) -> None:
    parent, patience = os.getppid(), float(seconds)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        time.sleep(min(0.5, patience))
        if os.getppid() != parent:
            return
    silent = silent_among(
        [(name, address) for name, _sign, address in (word.partition("=") for word in others)]
    )
    if not silent:
        return
    if piece:
        with open(piece, "w", encoding="utf-8") as file:
            json.dump({"kind": "silent", "workers": silent, "seconds": int(patience)}, file)
    if tell:
        waits = f"the strategy is waiting for {', '.join(silent)}: no answer for {int(patience)} s"
        sys.stderr.write(f"fitdoctor: FIT606 {waits}; check that it is running with the same TF_CONFIG\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
