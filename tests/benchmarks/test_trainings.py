"""The benchmark of trainings: every kind is measured, old code and new in turns, and counted."""

from contextlib import contextmanager

import pytest
import yaml

from benchmarks import process, trainings


@pytest.fixture
def config(root):
    return yaml.safe_load((root / "config.yaml").read_text("utf-8"))


@pytest.fixture
def in_place(monkeypatch):
    """Small pieces, measured in this process."""

    def run(module, what, *, library, **arguments):
        return getattr(trainings, what)(**arguments)

    monkeypatch.setattr(process, "in_a_process", run)


def test_units_are_those_of_the_papers_sizes(config):
    found = trainings.units(config)
    assert set(found) == set(trainings.KINDS)
    # 250 teachers for 12 epochs, 5 and 10 for 3, 25 for 6, 50 and 100 for 8, of 60,000 images
    assert found["teachers of ten classes"] == (12 + 3 + 3 + 6 + 8 + 8) * 60_000
    assert found["votes of ten classes"] == (250 + 5 + 10 + 25 + 50 + 100) * 10_000
    assert found["votes of two classes"] == 2 * 3 * 11 * (1866 + 2000)
    assert found["penalised intercepts"] == 5 * 100 * 250
    assert found["bagged boosted trees"] == 100 * (100 + 150)
    assert found["bagged logistic teachers"] == 5 * 100 * (50 + 100 + 250)
    # for each split one of all records, SAA's, and two for each number of partitions
    assert found["bagged logistic students"] == 5 * (1 + 3 * 5 * 6 * (1 + 2 * 3))
    assert found["bagged boosted students"] == 1 + 2 * 5 * 6 * (1 + 2 * 2)
    # 250 shards need all queries, fewer of them a part that grows with their square
    assert 5 * 100 * 16_280 < found["accounts of bagged teachers"] < 2 * 5 * 100 * 16_280
    again = trainings.units(config, sharing=False)["students, labels only"]
    epochs = config["nzc"]["student"]["epochs"]
    assert again - found["students, labels only"] == 3 * epochs * 2 * 9000
    config["pate"]["tasks"]["mnist"]["student_parameters"]["epochs"] += 1
    more = trainings.units(config)["students, virtual adversarial"]
    assert more - found["students, virtual adversarial"] == 12 * 9000
    # without parameters of the task's own, as in older configurations, all tasks' are MNIST's
    del config["pate"]["tasks"]["mnist"]["baseline_parameters"]
    config["pate"]["baselines"]["vat"]["epochs"] = 7
    assert trainings.units(config)["students, non-private baselines"] == 3 * 7 * 60_000


def test_pieces_are_trained_as_the_configuration_says(config):
    found = trainings.parameters(config)
    others = {"penalised intercepts", "accounts of bagged teachers"}
    others |= {kind for kind in trainings.KINDS if kind.startswith("votes")}
    assert set(found) == set(trainings.KINDS) - others
    assert found["teachers of ten classes"]["model"] == "mnist_cnn"
    assert found["students, labels only"]["rotation"] == 0
    config["pate"]["students"]["vat"]["probe"] = 0.5
    assert trainings.parameters(config)["students, virtual adversarial"]["probe"] == 0.5
    assert found["bagged logistic teachers"] == {"C": 1, "tolerance": 1e-6}
    assert not any({"epochs", "method", "n"} & set(how) for how in found.values())


def test_every_kind_is_measured_and_the_run_extrapolated(in_place):
    data = trainings.measure(quick=True)
    assert data["code"].tolist() == ["new"] * len(trainings.KINDS)
    assert (data["seconds"] > 0).all()
    page = trainings.page(data.assign(seconds=2.0, units=4, run_units=10))
    assert "--against" not in page
    for kind in trainings.KINDS:
        assert f"| {kind} | new | 2 | 10 | 5 |" in page


def test_old_code_and_new_take_turns(in_place, monkeypatch, root):
    @contextmanager
    def checkout(commit):
        yield root / "workflow"

    monkeypatch.setattr(process, "checkout", checkout)
    two = ("students, labels only", "votes of two classes")
    monkeypatch.setattr(trainings, "KINDS", {kind: trainings.KINDS[kind] for kind in two})
    data = trainings.measure(quick=True, against="HEAD")
    assert data["code"].tolist() == ["new", "old"] * 2
    assert (data["seconds"] > 0).all()
    page = trainings.page(data.assign(seconds=2.0, units=4, run_units=10))
    assert "--against HEAD --write-docs" in page
    for kind in two:
        assert f"| {kind} | old | 2 | 10 | 5 |" in page
    assert "| together | old | | | 10 |" in page
