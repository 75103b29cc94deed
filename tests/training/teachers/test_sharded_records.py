"""sharded_records: each teacher gets its own shard, and nothing but tensors."""

import torch

from private_ensembles.training.teachers.sharded_records import ShardedRecords


def test_members_have_their_own_shards_as_integers():
    records = ShardedRecords(
        torch.zeros((4, 2, 2), dtype=torch.uint8), [0, 1, 0, 1], [[0], [1, 2], [3]], 16, 2
    )
    tensors = records.select_members(torch.device("cpu"), [2, 1])
    assert [shard.tolist() for shard in tensors.shards] == [[3], [1, 2]]
    assert tensors.labels.dtype == torch.int64
