"""What Snakemake costs: the arithmetic of the measuring script."""

import pytest

from benchmarks import overhead


def test_share_is_what_no_script_used():
    assert overhead.share(10.0, {"a": [2.0, 3.0], "b": [2.5]}) == pytest.approx(0.25)
    assert overhead.share(10.0, {"a": [2.0, 3.0], "b": [2.5]}, empty=0.1) == pytest.approx(0.28)
    with pytest.raises(ValueError, match="must be at least"):
        overhead.share(7.0, {"a": [2.0, 3.0], "b": [2.5]})
