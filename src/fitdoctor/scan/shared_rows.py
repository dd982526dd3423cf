"""Rows that training and validation data have in common, by hashes that are kept in bounded memory."""

from __future__ import annotations

import threading
from typing import Any

MOST_HASHES = 1 << 24
"""The most hashes of validation rows: 128 MB. Of more rows, an even sample is kept, chosen by the hash."""


class RowMatch:
    """Collects the validation rows, then counts which of them are in the training data.

    Rows are compared by a 64-bit hash of their bytes: a false match is expected once in 10¹⁹ pairs.
    """

    def __init__(self, component: int = 0, most: int = MOST_HASHES) -> None:
        self.component = component
        self._most = most
        self._known: Any = None
        self._copies: Any = None
        self._found: Any = None
        self._lock = threading.Lock()
        self._shape: tuple[Any, str] | None = None
        self.forget()

    def forget(self) -> None:
        """Discard the rows since the last turn, or since the start."""
        if self._known is None:
            self.rows = 0
            """Validation rows."""
            self.every = 1
            """One in this many validation rows was kept."""
            self._kept: list[Any] = []
            self._number = 0
            self._shape = None
        else:
            self._found[:] = False
        self._trouble = ""
        self._sample: list[Any] = []

    def take(self, array: Any) -> None:
        """Add rows: validation rows before `turn`, training rows after it."""
        from fitdoctor.collect.shared import row_hashes

        if array.dtype.kind not in "biuf" or array.size == 0 or self._trouble:
            return
        form = (array.shape[1:], str(array.dtype))
        if array.ndim < 2:
            self._trouble = "rows of one value are not compared"
            return
        if self._shape not in (None, form):
            self._trouble = "training and validation differ in shape or type"
            return
        # As much as is looked at to tell whether rows repeat by nature.
        head = array.reshape(len(array), -1)[:4096, :64].copy() if len(self._sample) < 8 else None
        self._take(row_hashes(array), form, head)

    def take_hashes(self, hashes: Any, form: tuple[Any, str]) -> None:
        """Add rows given only by their hashes."""
        if self._shape not in (None, form):
            self._trouble = self._trouble or "training and validation differ in shape or type"
        if not self._trouble and len(hashes):
            self._take(hashes, form, None)

    def _take(self, hashes: Any, form: tuple[Any, str], head: Any) -> None:
        import numpy as np

        with self._lock:
            self._shape = form
            if self._known is None:
                self._keep(hashes)
                return
            if len(self._sample) < 8:
                self._sample.append((head, hashes[:4096]))
            if not len(self._known):
                return
            at: Any = np.searchsorted(self._known, hashes)
            at[at == len(self._known)] = 0
            self._found[at[self._known[at] == hashes]] = True

    def _keep(self, hashes: Any) -> None:
        import numpy as np

        self.rows += len(hashes)
        self._kept.append(self._chosen(hashes))
        self._number += len(self._kept[-1])
        while self._number > self._most:
            self.every *= 2
            self._kept = [self._chosen(np.concatenate(self._kept))]
            self._number = len(self._kept[0])

    def _chosen(self, hashes: Any) -> Any:
        import numpy as np

        # The upper bits: the lower ones of a product depend on the lower ones of the data alone.
        return hashes[(hashes >> np.uint64(40)) % np.uint64(self.every) == 0]

    def refuse(self, why: str) -> None:
        """Give up comparing rows, for the given reason."""
        self._trouble = why

    def turn(self) -> None:
        """Switch from collecting validation rows to matching training rows."""
        import numpy as np

        kept = np.concatenate(self._kept) if self._kept else np.zeros(0, np.uint64)
        self._kept = []
        self._known, self._copies = np.unique(kept, return_counts=True)
        self._found = np.zeros(len(self._known), bool)

    def shared(self) -> int | str:
        """The number of validation rows that are also in the training data, or the reason why it is unknown."""
        if self._trouble:
            return self._trouble
        if self._known is None or not len(self._known):
            return "no rows were compared"
        count = int(self._copies[self._found].sum()) * self.every
        if count and self._repeats():
            return "rows of this data naturally repeat"
        return min(count, self.rows)

    def _repeats(self) -> bool:
        import numpy as np

        from fitdoctor.collect.shared import repeats_by_nature

        hashes = np.concatenate([hashes for _rows, hashes in self._sample])
        rows = [rows for rows, _hashes in self._sample if rows is not None]
        # Without the rows nobody can tell why some repeat.
        return repeats_by_nature(np.concatenate(rows) if rows else None, hashes)
