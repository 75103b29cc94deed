"""Types that sections share: what they take, what they turn it into, and what they refuse."""

import pytest
from pydantic import ValidationError

from private_ensembles.base import settings


class Sample(settings.Section):
    """A section with keys of several types, each of which may be left out."""

    seed: settings.Seed = settings.LEFT_OUT
    K: settings.K = settings.LEFT_OUT
    m: settings.Allowances = settings.LEFT_OUT
    delta_prime: settings.SmallDelta = settings.LEFT_OUT
    table1: settings.Maybe[settings.Allowance] = settings.LEFT_OUT

    def mistakes(self):
        yield from settings.find_numbers_above("m", self.m or [], self.K or 1, "{here}.K")


def test_text_that_yaml_does_not_read_as_a_number_becomes_one():
    read = Sample(seed="7", K="11", m=["1", 3.0], delta_prime="1e-5", table1="null").to_dict()
    assert read == {"seed": 7, "K": 11, "m": [1, 3], "delta_prime": 1e-5, "table1": None}
    assert [type(m) for m in read["m"]] == [int, int]


@pytest.mark.parametrize(
    "ways", [(0, 0.0, -0.0, "0.0"), (1, 1.0, "1"), (0.1, "1e-1"), (1e10, 10**10)]
)
def test_a_number_is_the_same_parameter_however_it_is_written(ways):
    """Snakemake compares the text of parameters: 0 and 0.0 would be two."""

    class Scale(settings.Section):
        scale: settings.NotNegative

    assert len({repr(Scale(scale=way).to_dict()) for way in ways}) == 1


@pytest.mark.parametrize(
    "values",
    [
        {"seed": -1},
        {"seed": True},
        {"seed": 1.5},
        {"seed": "1_0"},
        {"seed": "\u0661"},
        {"K": 10},
        {"K": None},
        {"m": [1, 1]},
        {"m": []},
        {"delta_prime": 1},
        {"delta_prime": float("nan")},
        {"unknown": 1},
    ],
)
def test_values_of_another_type_or_out_of_range_are_refused(values):
    with pytest.raises(ValidationError):
        Sample(**values)


def test_at_most_names_the_number_of_a_list_that_is_above():
    assert list(settings.find_numbers_above("m", [1, 13, 3], 11, "K")) == [
        ("m[1]", 13, "at most K = 11")
    ]
    assert list(settings.find_numbers_above("m", 13, 11, "K")) == [("m", 13, "at most K = 11")]
    assert list(settings.find_numbers_above("m", 11, 11, "K")) == []
    with pytest.raises(ValidationError, match="m\\[0\\]"):
        Sample(K=3, m=[5])


def test_plain_and_pick_return_what_was_given():
    sample = Sample(seed=1, table1=None)
    assert sample.to_dict() == {"seed": 1, "table1": None}
    assert list(sample.pick("table1", "K", "seed")) == ["table1", "seed"]
