"""How many rows the last batch has."""

import pytest

from fitdoctor.collect.batch_size import last_rows
from fitdoctor.facts import Unknown

pytestmark = [pytest.mark.tf, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize(
    ("samples", "batch_size", "split", "rows"),
    [
        (100, 32, 0.0, 4),
        (96, 32, 0.0, 0),
        (20, 32, 0.0, 0),
        (100, 32, 0.2, 16),
        (120, 32, 0.2, 0),
        (Unknown("a generator"), 32, 0.0, 0),
        (100, Unknown("not told"), 0.0, 0),
        (100, 0, 0.0, 0),
    ],
)
def test_rows_of_the_last_batch(samples: object, batch_size: object, split: float, rows: int) -> None:
    assert last_rows(samples, batch_size, split) == rows
