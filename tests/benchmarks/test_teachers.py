"""The benchmark of training runs, at toy sizes, and its page says what was measured."""

from functools import partial
from itertools import product

import pytest

from benchmarks import teachers

KINDS = ("plain", "private")


@pytest.fixture(scope="module")
def measured():
    patch = pytest.MonkeyPatch()
    tiny = {"linear": ((8, 8), 3, 200)}
    patch.setattr(teachers, "ENSEMBLES", {"cpu": (2, 3), "cuda": (2, 3)})
    patch.setattr(teachers, "SEQUENTIAL", 2)
    patch.setattr(teachers, "NETWORKS", tiny)
    patch.setattr(teachers, "MODELS", {"cpu": tiny, "cuda": tiny})
    patch.setattr(teachers, "STEP", {"cpu": 2, "cuda": 250})
    # A process per measurement costs seconds of imports; one test below pays them.
    patch.setattr(
        teachers, "in_a_process", lambda module, what, **facts: getattr(teachers, what)(**facts)
    )
    patch.setattr(teachers, "gpu_name", lambda: {"name": None})
    yield teachers.measure()
    patch.undo()


def test_measurements_have_a_process_and_its_peak_memory_of_their_own():
    how = {"kind": "plain", "together": True, "K": 50, "model": "linear"}
    result = teachers.in_a_process("teachers", "measure_training", **how)
    assert (result["trained"], result["steps"], result["images"]) == (50, 125, 200_000)
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
        way for way in teachers.WAYS["cpu"] for _ in range(2)
    ]
    measured = measured[measured["part"] == "training"]
    assert set(measured.groupby("method")["K"].apply(tuple)) == {(2, 3)}
    assert set(measured["method"]) == set(teachers.METHODS)
    # all of an ensemble, but not all that are trained one by one
    trained = measured.set_index(["together", "K"])["trained"]
    assert set(trained[True, 3]) == {3}
    assert set(trained[False, 3]) == {2}
    assert (measured["images"] == measured["trained"] * measured["steps"] * 32).all()


def test_page_says_what_is_extrapolated_and_what_was_not_measured(measured):
    page = teachers.page(measured.assign(seconds=2.0))
    assert "**Its seconds are extrapolated**" in page
    assert "**No GPU has been measured**" in page
    assert page.count("not measured") == 3 * 4 * len(teachers.ENSEMBLES["cuda"])
    row = measured.iloc[0]
    images = row["K"] * 5 * 1024
    assert teachers.training_seconds(row) == pytest.approx(row["seconds"] * images / row["images"])


def test_ratio_is_of_rates(measured):
    training = measured[measured["part"] == "training"]
    twice = training.assign(
        seconds=training["images"] / training["together"].map({False: 100.0, True: 250.0})
    )
    assert teachers.ratios(twice, "private").tolist() == pytest.approx([2.5] * 2)


@pytest.mark.parametrize(
    ("way", "kind"),
    [pair for pair in product(teachers.WAYS["cuda"], KINDS) if pair != ("bfloat16", "private")],
)
def test_every_way_of_a_gpu_gives_the_same_gradients_up_to_its_precision(way, kind, monkeypatch):
    import torch
    from torch.nn.functional import max_pool2d

    from private_ensembles.teachers.models import build_model
    from private_ensembles.teachers.pooling import MaxPool2x2
    from private_ensembles.teachers.stacked import Gradients, stack

    # What torch.compile traces is tested; to have it compiled takes half a minute a case.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager", fullgraph=True))
    monkeypatch.setattr(teachers, "COMPILED", {"torch.compile": {}, "CUDA graphs": {}})
    # as on a GPU
    monkeypatch.setattr(MaxPool2x2, "forward", lambda self, images: max_pool2d(images, 2))
    source = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (40, 8, 9), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (40,), generator=source)
    models = [build_model("darrm_cnn", (8, 9), 3, seed) for seed in range(3)]
    batches = list(torch.randperm(40, generator=source)[:30].split([8, 13, 9]))
    how = {"pixel_max": 255, "max_grad_norm": 1.0 if kind == "private" else None}
    wanted, found = (
        cls(models[0], images, labels, **how)(stack(models), batches)
        for cls in (Gradients, teachers.gradients_by(way))
    )
    difference = (wanted - found).abs().max() / wanted.abs().max()
    assert found.dtype == torch.float32
    assert difference < (0.05 if way == "bfloat16" else 1e-5)
    # another computation it is
    assert (difference > 1e-4) == (way == "bfloat16")


@pytest.fixture
def pretended_gpu(measured, monkeypatch, tmp_path):
    """A GPU on which one way fails; what was measured on a CPU lies in a file."""
    monkeypatch.setattr(teachers, "EARLIER", tmp_path / "teachers.csv")
    monkeypatch.setattr(teachers, "MODELS", {"cuda": teachers.NETWORKS})
    monkeypatch.setattr(teachers, "ENSEMBLES", {"cuda": (11, 50, 250, 1000)})
    measured.to_csv(tmp_path / "teachers.csv", index=False)

    def pretend(module, what, **how):
        if what == "gpu_name":
            return {"name": "Fake 9000"}
        if how.get("way") == "torch.compile":
            raise RuntimeError("measure_step: no compiler")
        images = 32 * how["K"]
        seconds = 1.0 if how.get("together") else how["K"] / 20
        memory = {"memory_mib": 9.0, "memory_before_mib": 1.0}
        return {"images": images, "seconds": seconds} | memory

    monkeypatch.setattr(teachers, "in_a_process", pretend)


def test_a_gpu_alone_is_added_to_what_was_measured_on_a_cpu(measured, pretended_gpu):
    data = teachers.measure(only="cuda")
    kept = data[data["device"] == "cpu"]
    assert kept["seconds"].tolist() == pytest.approx(measured["seconds"].tolist())
    page = teachers.page(data)
    assert "not measured" not in page
    assert "No GPU has been measured" not in page
    assert "## linear, cuda: Fake 9000" in page
    gpu = page.partition("cuda: Fake 9000")[2]
    for K in ("11", "50", "250", "1,000"):
        assert gpu.count(f" | {K} | ") == 4
    assert "12.50 at K = 250, 50.00 at K = 1,000" in gpu
    assert "nothing (failed) by torch.compile" in gpu
    assert "bfloat16" in gpu.partition("plain gradients")[2]


def test_a_gpu_that_is_not_there_is_no_measurement(monkeypatch):
    monkeypatch.setattr(teachers, "in_a_process", lambda *what, **how: {"name": None})
    with pytest.raises(ValueError, match="only = 'cuda': PyTorch finds no GPU here"):
        teachers.measure(only="cuda")
