"""Bagged votes drawn at random, small enough for loops."""

import numpy as np
import pytest

from private_ensembles.papers.dpbag.votes import BaggedVotes, pack_votes
from private_ensembles.training.data.shards import draw_partitions, shard_of_record


@pytest.fixture(scope="session")
def bagged():
    """Draw (BaggedVotes, votes uint8 (k, n, Q)); records that n does not divide are left out."""

    def draw(k, n, records, queries, seed=0):
        generator = np.random.default_rng(seed)
        chance = generator.random(queries)
        votes = (generator.random((k, n, queries)) < chance).astype(np.uint8)
        shards = shard_of_record(draw_partitions(records, n, range(k), seed, "test"), records)
        return BaggedVotes(pack_votes(votes), shards, queries), votes

    return draw
