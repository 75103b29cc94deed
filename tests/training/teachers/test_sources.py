"""sources: each draw of an ensemble's training has a source of its own, seeded or secure."""

import pytest
import torch

from private_ensembles.training.teachers.sources import Randomness, SecureTensors, SeededTensors
from private_ensembles.training.teachers.training import SOURCES


def test_only_private_teachers_have_noise_and_only_theirs_is_secure():
    seeded, secure = Randomness(1), Randomness(1, noise="secure")
    assert SOURCES == {"private": ("sampling", "noise"), "plain": ("sampling",)}
    for name in SOURCES["private"]:
        assert isinstance(seeded.source("private", 0, name), SeededTensors)
        assert isinstance(secure.source("private", 0, name), SecureTensors)
    plain = (ways.source("plain", 0, "sampling") for ways in (seeded, secure))
    assert torch.equal(*(source.permutation(100) for source in plain))
    assert secure.initial_seed("private", 0) == seeded.initial_seed("private", 0)
    with pytest.raises(ValueError, match="noise = 'none'"):
        Randomness(1, noise="none")


def test_no_two_sources_of_an_ensemble_are_the_same():
    firsts = []
    for path in ((), ("other",)):
        randomness = Randomness(0, path)
        for kind, names in SOURCES.items():
            for teacher in range(3):
                weights = SeededTensors(randomness.initial_seed(kind, teacher))
                training = [randomness.source(kind, teacher, name) for name in names]
                firsts += [source.uniform(1).item() for source in (weights, *training)]
    assert len(set(firsts)) == len(firsts) == 2 * 3 * (3 + 2)


def test_a_source_is_fresh_each_time_that_it_is_asked_for():
    same = (Randomness(0).source("private", 1, "noise") for _ in range(2))
    assert torch.equal(*(source.uniform(5) for source in same))
