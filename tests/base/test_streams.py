"""Streams: reproducible, addressed without collisions, independent of one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.base.streams import generator, stream, torch_seed
from tests.ranges import check_ends

parts = st.lists(st.one_of(st.integers(0, 2**70), st.text(max_size=5)), max_size=4)


@given(parts, parts)
def test_different_paths_have_different_keys(one, other):
    same = [(type(a), a) for a in one] == [(type(b), b) for b in other]
    assert (stream(0, *one).spawn_key == stream(0, *other).spawn_key) == same


def test_a_zero_at_the_end_of_a_path_is_another_address():
    """To NumPy, seeds 5, [5, 0] and [5, 0, 0] are one (findings/numpy_seed_lists.sh)."""
    paths = ((), (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0))
    assert len({generator(5, *path).integers(1 << 62) for path in paths}) == len(paths)


def test_text_and_number_differ():
    assert stream(0, "1").spawn_key != stream(0, 1).spawn_key


def test_same_address_gives_the_same_draws_everywhere():
    # Pinned: a change here changes every result of the workflow.
    assert generator(0, "mnist", 1).integers(0, 1000, 4).tolist() == [47, 436, 765, 439]
    assert torch_seed(0, "mnist", 1) == 7030958553176860807


def test_seed_changes_the_draws():
    assert not np.array_equal(generator(0, "a").random(8), generator(1, "a").random(8))


def test_numpy_integers_address_as_python_integers():
    assert stream(np.int64(3), np.uint8(4)).spawn_key == stream(3, 4).spawn_key


@given(st.integers(0, 2**64), parts)
def test_torch_seed_fits_63_bits(seed, path):
    assert 0 <= torch_seed(seed, *path) < 2**63


def test_teachers_differ_in_the_bits_that_pytorch_uses_of_a_seed():
    """On the CPU these are the last 32 (findings/torch_seed_bits.sh)."""
    seeds = {torch_seed(0, "noise", teacher) % 2**32 for teacher in range(1000)}
    assert len(seeds) == 1000


def test_no_bit_of_an_integer_is_lost():
    keys = {stream(0, 1 << bit).spawn_key for bit in range(130)} | {stream(0, 0).spawn_key}
    assert len(keys) == 131
    assert stream(0, 5 + 7 * 2**32).spawn_key[1:] == (5, 7)


RANGES = {
    "a seed": (stream, (-1, True, 0.5), (0, 1 << 80)),
    "a part of a path": (lambda x: stream(0, x), (-1, True, 0.5), (0, 1 << 80, "")),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
