"""The benchmark of training runs, at toy sizes, and its page says what was measured."""

import pytest

from benchmarks import teachers


@pytest.fixture(scope="module")
def measured():
    patch = pytest.MonkeyPatch()
    patch.setattr(teachers, "ENSEMBLES", (2, 3))
    patch.setattr(teachers, "SEQUENTIAL", 2)
    patch.setattr(teachers, "MODELS", {"linear": 3})
    patch.setattr(teachers, "IMAGES", 200)
    # A process per measurement costs seconds of imports; one test below pays them.
    patch.setattr(
        teachers, "in_a_process", lambda module, what, **facts: getattr(teachers, what)(**facts)
    )
    patch.setattr(teachers, "gpu_name", lambda: {"name": None})
    yield teachers.measure()
    patch.undo()


def test_measurements_have_a_process_and_its_peak_memory_of_their_own():
    how = {"kind": "plain", "backend": "ensemble", "K": 2, "model": "mnist_cnn", "images": 64}
    result = teachers.in_a_process("teachers", "measure_training", **how)
    assert (result["trained"], result["steps"], result["images"]) == (2, 1, 64)
    assert result["memory_mib"] >= result["memory_before_mib"] > 50


def test_both_ways_of_convolutions_are_the_same_sums():
    import torch

    from private_ensembles.teachers.models import build_model

    model = build_model("darrm_cnn", (9, 8), 3)
    other = teachers._unfolded(model)
    images = torch.rand(5, 1, 9, 8, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(model(images), other(images), atol=1e-6)
    assert [name for name, _ in other.named_parameters()] == list(model.state_dict())


def test_every_method_is_measured_at_every_size(measured):
    assert measured.loc[measured["part"] == "step", "method"].tolist() == [
        way for way in teachers.WAYS for _ in range(2)
    ]
    measured = measured[measured["part"] == "training"]
    assert set(measured.groupby("method")["K"].apply(tuple)) == {(2, 3)}
    assert set(measured["method"]) == set(teachers.METHODS)
    # all of an ensemble, but not all that are trained one by one
    trained = measured.set_index(["backend", "K"])["trained"]
    assert set(trained["ensemble", 3]) == {3}
    assert set(trained["opacus", 3]) == {2}
    assert (measured["images"] == measured["trained"] * measured["steps"] * 32).all()


def test_page_says_what_is_extrapolated_and_what_was_not_measured(measured):
    page = teachers.page(measured.assign(seconds=2.0))
    assert "**Its seconds are extrapolated**" in page
    assert page.count("not measured") == 3 * 4 * len(teachers.ENSEMBLES)
    row = measured.iloc[0]
    images = row["K"] * 5 * 1024
    assert teachers.training_seconds(row) == pytest.approx(row["seconds"] * images / row["images"])


def test_ratio_is_of_rates(measured):
    training = measured[measured["part"] == "training"]
    twice = training.assign(
        seconds=training["images"] / training["backend"].map({"opacus": 100.0, "ensemble": 250.0})
    )
    assert teachers.ratios(twice, "private").tolist() == pytest.approx([2.5] * 2)
