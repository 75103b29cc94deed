"""What a network asks of a processor is counted, and its share of the limit is one."""

import pytest

from benchmarks import arithmetic

pytest.importorskip("torch", reason="networks need PyTorch")


def test_operations_of_pate_s_network_are_those_of_its_layers():
    import torch

    from private_ensembles.training.teachers.models import build_model

    model = build_model("mnist_cnn", (28, 28), 10)
    first, second, last = 2 * 25 * 16 * 24**2, 2 * 25 * 16 * 32 * 8**2, 2 * 512 * 10
    found = arithmetic.count_operations(model, torch.zeros(1, 1, 28, 28))
    assert found == (first + second + last, 2 * first + 3 * (second + last))


def test_a_share_is_of_the_matrix_product_beside_it(toy):
    with toy(arithmetic, IMAGES=16, ROUNDS=1, SIDE=128, PRODUCTS=1):
        data = arithmetic.measure(quick=True)
    row = data.iloc[0]
    for part in ("training", "forwards"):
        assert row[f"{part}_share"] == row[f"{part}_rate"] / row[f"{part}_limit"] > 0
    assert "GFLOP/s" in arithmetic.section(data)
