"""Check what a worker can know about its cluster before joining: its own port and the other hosts."""

from __future__ import annotations

import errno
import os
import socket
import sys
from types import FrameType
from typing import Any

from fitdoctor.facts.cluster import ClusterFacts, cluster_of
from fitdoctor.failure.frames import frame_of

_NO_SUCH_HOST = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))


def cluster_facts(frame: FrameType | None) -> ClusterFacts:
    """Read TF_CONFIG as a new strategy would, and check what needs no other worker.

    Args:
        frame: the user's frame that creates the strategy.
    """
    text = os.environ.get("TF_CONFIG", "")
    made = None
    if frame is not None:
        made = frame_of(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name).location
    cluster = cluster_of(text)
    if cluster is None or joined_already():
        return ClusterFacts(text, made)
    return ClusterFacts(
        text,
        made,
        taken=cluster.address if _taken(cluster.address) else "",
        unresolved=tuple(address for _name, address in cluster.others if not _resolves(address)),
    )


def joined_already() -> bool:
    """Whether TensorFlow's server of this process is running and holds the port."""
    context: Any = getattr(sys.modules.get("tensorflow.python.eager.context"), "_context", None)
    servers = ("_server_def", "_collective_ops_server_def")
    return any(getattr(context, server, None) is not None for server in servers)


def _taken(address: str) -> bool:
    """Whether the port is unavailable on any interface of this machine."""
    port = int(address.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        # As servers do: a recently closed connection does not count.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def _resolves(address: str) -> bool:
    """Whether a host name resolves; a name server that does not answer is ignored."""
    host, _colon, port = address.rpartition(":")
    try:
        socket.getaddrinfo(host.strip("[]"), int(port))
    except socket.gaierror as error:
        return error.errno not in _NO_SUCH_HOST
    except (OSError, UnicodeError):
        return True
    return True
