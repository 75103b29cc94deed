"""The benchmark of training runs, at toy sizes, and its section says what was measured."""

import pytest

from benchmarks import teachers

TINY = {"linear": ((8, 8), 3, 200)}
SIZES = {
    "ENSEMBLES": {"cpu": (2, 3), "cuda": (2, 3)},
    "MODELS": {"cpu": TINY, "cuda": TINY},
    "SEQUENTIAL": 2,
    "gpu_name": lambda: None,
}


@pytest.fixture(scope="module")
def measured(toy):
    with toy(teachers, **SIZES):
        yield teachers.measure()


def test_every_method_is_measured_at_every_size(measured):
    assert set(measured.groupby("method")["K"].apply(tuple)) == {(2, 3)}
    assert set(measured["method"]) == set(teachers.METHODS)
    # all of an ensemble, but not all that are trained one by one
    trained = measured.set_index(["together", "K"])["trained"]
    assert set(trained[True, 3]) == {3}
    assert set(trained[False, 3]) == {2}
    assert (measured["images"] == measured["trained"] * measured["steps"] * 32).all()
    assert (measured["memory_mib"] >= measured["memory_before_mib"]).all()


def test_section_says_what_is_extrapolated_and_what_was_not_measured(measured):
    section = teachers.section(measured.assign(seconds=2.0))
    assert "**Its seconds are extrapolated**" in section.replace("\n", " ")
    assert "**No GPU has been measured**" in section
    row = measured.iloc[0]
    images = row["K"] * 5 * 1024
    assert teachers.training_seconds(row) == pytest.approx(row["seconds"] * images / row["images"])


def test_a_gpu_alone_is_added_to_what_was_measured_on_a_cpu(measured, monkeypatch, tmp_path):
    measured.to_csv(tmp_path / "teachers.csv", index=False)

    def pretend(**how):
        if how["kind"] == "plain" and how["K"] == 1000:
            raise RuntimeError("out of memory")
        seconds = 1.0 if how["together"] else how["K"] / 20
        found = {"images": 32 * how["K"], "seconds": seconds}
        return found | {"memory_mib": 9.0, "memory_before_mib": 1.0}

    monkeypatch.setattr(teachers, "EARLIER", tmp_path / "teachers.csv")
    monkeypatch.setattr(teachers, "MODELS", {"cuda": TINY})
    monkeypatch.setattr(teachers, "ENSEMBLES", {"cuda": (11, 50, 250, 1000)})
    monkeypatch.setattr(teachers, "run_in_process", lambda gpu_name: "Fake 9000")
    monkeypatch.setattr(teachers, "measure_training", pretend)
    data = teachers.measure(only="cuda")
    kept = data[data["device"] == "cpu"]
    assert kept["seconds"].tolist() == pytest.approx(measured["seconds"].tolist())
    section = teachers.section(data)
    assert "No GPU has been measured" not in section
    gpu = section.partition("**linear, cuda: Fake 9000**")[2]
    for K in ("11", "50", "250", "1,000"):
        assert gpu.count(f" | {K} | ") == 4
    assert "12.50 at K = 250, 50.00 at K = 1,000" in gpu
    assert "| ensemble plain | 1,000 | nan | nan |" in gpu
    assert "No number for ensemble plain at K = 1,000: out of memory." in gpu


def test_a_gpu_that_is_not_there_is_no_measurement(toy):
    with toy(teachers, **SIZES), pytest.raises(ValueError, match="PyTorch finds no GPU here"):
        teachers.measure(only="cuda")
