"""Points that an exact sampler must throw away, handed to it one by one."""

import numpy as np
import pytest

from private_ensembles.base import softmax

SCORES = np.array([0.3, 1.1, -0.4])


class HandedOut:
    """Stands in for fair bits: hands out points, and then further bits that are all ones.

    points: whole numbers below 2^BITS, one for each draw of a point. `draw_each` asks for 64 bits
    where `draw` asks for BITS.
    """

    def __init__(self, *points):
        self.points = list(points)

    def __call__(self, number):
        if number == softmax.BITS:
            return self.points.pop(0)
        if number == 64:
            point = self.points.pop(0) << (64 - softmax.BITS)
            return int.from_bytes(point.to_bytes(8, "big"), "big")
        return (1 << number) - 1


def last_point(class_index):
    """The end of a class' interval on the line, which is a little longer than the class' share."""
    return int(softmax.class_intervals(SCORES).ends[class_index]) - 1


def first_point(class_index):
    ends = softmax.class_intervals(SCORES).ends
    return int(ends[class_index - 1]) if class_index else 0


@pytest.mark.parametrize("class_index", range(3))
def test_a_point_beyond_the_true_share_is_thrown_away(class_index):
    other = (class_index + 1) % 3
    bits = HandedOut(last_point(class_index), first_point(other))
    assert softmax.draw(SCORES, bits) == other
    assert bits.points == []
    bits = HandedOut(last_point(class_index), first_point(other))
    assert softmax.draw_each(SCORES[None], bits).tolist() == [other]
    assert bits.points == []


@pytest.mark.parametrize("class_index", range(3))
def test_a_point_within_the_sure_share_is_taken(class_index):
    bits = HandedOut(first_point(class_index))
    assert softmax.draw(SCORES, bits) == class_index


def test_a_point_beyond_all_classes_is_thrown_away():
    beyond = last_point(2) + 1
    assert beyond < 1 << softmax.BITS
    assert softmax.draw(SCORES, HandedOut(beyond, first_point(1))) == 1
    assert softmax.draw_each(SCORES[None], HandedOut(beyond, first_point(1))).tolist() == [1]
