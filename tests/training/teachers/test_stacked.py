"""Sums of clipped gradients: Opacus' own, whatever the lengths of batches and of passes."""

import copy
import functools
import weakref
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from private_ensembles.training.teachers import stacked
from private_ensembles.training.teachers.device import scale_pixels
from private_ensembles.training.teachers.layerwise import LayerwiseGradients
from private_ensembles.training.teachers.models import MODELS, build_model
from private_ensembles.training.teachers.stacked import (
    StackedGradients,
    cut_batches,
    require_finite_states,
    stack_parameters,
)
from private_ensembles.training.teachers.training import CLIPPED_NORM

SHAPES = {"svhn_cnn": (32, 32, 3), "mnist_cnn": (28, 28), "darrm_cnn": (8, 9)}
# Full, ragged and empty batches; 3 and 5 are no multiples of the width.
LENGTHS = (8, 3, 0, 5)


def problem(name, lengths=LENGTHS, dtype=torch.float32):
    """Models, uint8 images, labels, and for each model a batch of its own records."""
    source = torch.Generator().manual_seed(0)
    shape = SHAPES.get(name, (6, 7))
    images = torch.randint(0, 256, (40, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (40,), generator=source)
    models = [build_model(name, shape, 3, seed).to(dtype) for seed in range(len(lengths))]
    batches = [torch.randperm(40, generator=source)[:length] for length in lengths]
    return models, images, labels, batches


@functools.cache
def unclipped(name, dtype):
    """The sums under a bound that no gradient reaches."""
    return sums(name, 1e6, dtype)


def sums(name, clip, dtype=torch.float32, lengths=LENGTHS, way=StackedGradients, **how):
    models, images, labels, batches = problem(name, lengths, dtype)
    gradients = way(models[0], images, labels, pixel_max=255, max_grad_norm=clip, **how)
    return gradients(stack_parameters(models), batches)


@functools.cache
def opacus_sums(name, clip, dtype):
    """The clipped sums as Opacus' own optimizer leaves them before it adds noise: (K, D)."""
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    models, images, labels, batches = problem(name, dtype=dtype)
    rows = []
    for model, batch in zip(models, batches, strict=True):
        wrapped = GradSampleModule(copy.deepcopy(model), loss_reduction="sum")
        parameters = list(wrapped.parameters())
        optimizer = DPOptimizer(
            torch.optim.SGD(parameters, lr=1.0),
            noise_multiplier=0.0,
            max_grad_norm=clip,
            expected_batch_size=1,
        )
        if len(batch):
            loss = cross_entropy(
                wrapped(scale_pixels(images[batch], 255, dtype=dtype)),
                labels[batch],
                reduction="sum",
            )
            loss.backward()
        else:
            for parameter in parameters:
                parameter.grad_sample = parameter.new_zeros((0, *parameter.shape))
        optimizer.clip_and_accumulate()
        rows.append(torch.cat([p.summed_grad.flatten() for p in parameters]).detach())
    return torch.stack(rows)


@pytest.mark.filterwarnings("ignore:Full backward hook")
@pytest.mark.parametrize(
    ("name", "clip", "dtype"),
    [
        *((name, 0.1, torch.float64) for name in MODELS),
        ("darrm_cnn", 0.1, torch.float32),
        ("linear", 1e6, torch.float64),
        *(
            pytest.param(name, clip, dtype, marks=pytest.mark.slow)
            for name in MODELS
            for clip, dtype in ((0.1, torch.float32), (1e6, torch.float32), (1e6, torch.float64))
        ),
    ],
)
@pytest.mark.parametrize("way", [StackedGradients, LayerwiseGradients])
def test_clipped_sums_are_those_of_opacus(name, clip, way, dtype):
    tolerance = 1e-12 if dtype is torch.float64 else 1e-5
    ours, theirs = sums(name, clip, dtype, way=way), opacus_sums(name, clip, dtype)
    scale = theirs.abs().max()
    assert (ours - theirs).abs().max() <= tolerance * scale
    assert (ours[2] == 0).all()  # the empty batch
    if clip < 1e6:
        # clipping was at work, and no sum is longer than it allows
        assert not torch.allclose(ours, unclipped(name, dtype), rtol=0.1)
        assert (ours.norm(dim=1) <= torch.tensor(LENGTHS) * clip * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("name", "clip"),
    [
        ("darrm_cnn", 0.5),
        ("linear", None),
        *(pytest.param(n, c, marks=pytest.mark.slow) for n in MODELS for c in (0.5, None)),
    ],
)
def test_no_bit_depends_on_the_size_of_a_pass_or_on_the_number_of_threads(name, clip):
    lengths = (6, 3, 0, 9, 1)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        whole = sums(name, clip, lengths=lengths, records=1000)
        for threads, records in ((1, 1), (1, 10), (2, 16)):
            torch.set_num_threads(threads)
            assert torch.equal(whole, sums(name, clip, lengths=lengths, records=records))
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["mnist_cnn", "linear"])
@pytest.mark.parametrize(
    ("way", "clip"), [(StackedGradients, 0.5), (StackedGradients, None), (LayerwiseGradients, 0.5)]
)
def test_no_bit_depends_on_the_other_teachers_or_their_order(name, way, clip):
    models, images, labels, batches = problem(name, (9, 3, 6))
    gradients = way(models[0], images, labels, pixel_max=255, max_grad_norm=clip)
    whole = gradients(stack_parameters(models), batches)
    for order in ([2, 1, 0], [1], [0, 2]):
        some = gradients(stack_parameters([models[i] for i in order]), [batches[i] for i in order])
        assert torch.equal(some, whole[order])


def test_batches_are_cut_into_pieces_and_nothing_is_lost_or_added():
    batches = [torch.arange(n) + 100 * i for i, n in enumerate([0, 9, 4, 1, 0])]
    owners, lengths, records = cut_batches(batches, 4)
    assert owners.tolist() == [1, 1, 1, 2, 3]
    assert lengths.tolist() == [4, 4, 1, 4, 1]
    assert torch.equal(records, torch.cat(batches))
    assert [len(part) for part in cut_batches([torch.arange(0), torch.arange(0)], 4)] == [0, 0, 0]


@pytest.mark.parametrize("clip", [0.5, None])
def test_a_long_batch_in_pieces_is_the_sum_of_all_its_records(clip):
    whole, pieces = (
        sums("mnist_cnn", clip, torch.float64, (9, 3, 30), longest=longest) for longest in (64, 4)
    )
    assert torch.allclose(whole, pieces, rtol=0, atol=1e-12)


class Short:
    """A pass that runs out of memory above so many blocks."""

    def __init__(self, monkeypatch, most, error):
        self.sizes, work = [], StackedGradients._pass

        def limited(gradients, *given):  # given: the records last
            self.sizes.append(len(given[-1]))
            if len(given[-1]) > most:
                raise error
            return work(gradients, *given)

        monkeypatch.setattr(StackedGradients, "_pass", limited)


def test_out_of_memory_halves_the_passes_and_changes_no_bit(monkeypatch):
    lengths = (30, 0, 40, 25)
    whole = sums("mlp", 0.5, lengths=lengths, records=1000)
    short = Short(monkeypatch, 50, RuntimeError("CUDA error: out of memory\nmore"))
    assert torch.equal(whole, sums("mlp", 0.5, lengths=lengths, records=1000))
    # all, then whole batches up to half of it, or one
    assert short.sizes == [95, 30, 40, 25]


def test_later_passes_stay_as_small(monkeypatch):
    models, images, labels, batches = problem("mlp", (10, 10, 10, 10))
    gradients = StackedGradients(models[0], images, labels, pixel_max=255, max_grad_norm=0.5)
    short = Short(monkeypatch, 20, MemoryError())
    for sizes in ([40, 20, 20], [20, 20]):
        gradients(stack_parameters(models), batches)
        assert short.sizes == sizes
        short.sizes.clear()


def test_what_a_failed_pass_had_allocated_is_gone_before_the_next(monkeypatch, stand_in):
    work, held, given_back = StackedGradients._pass, [], []

    def full(gradients, *given):
        if len(given[-1]) <= 30:
            return work(gradients, *given)
        mine = torch.empty(1 << 20)
        held.append(weakref.ref(mine))
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(StackedGradients, "_pass", full)

    def empty_cache():
        given_back.append([ref() is None for ref in held])

    stand_in(stacked, "torch", cuda=SimpleNamespace(empty_cache=empty_cache))
    sums("mlp", 0.5, lengths=(30, 30, 10, 20), records=1000)
    assert given_back == [[True], [True, True]]


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate"), MemoryError()]
)
def test_memory_for_not_even_the_smallest_pass_is_one_line(error, monkeypatch):
    Short(monkeypatch, 1, error)
    with pytest.raises(ValueError, match="out of memory on cpu with 8 records of one") as caught:
        sums("mlp", 0.5, records=16)
    assert "\n" not in str(caught.value)


def test_other_failures_are_not_taken_for_a_lack_of_memory(monkeypatch):
    Short(monkeypatch, 0, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        sums("mlp", 0.5)


def test_a_pass_is_as_large_as_memory_allows(monkeypatch):
    models, images, labels, _ = problem("mnist_cnn")
    sizes = []
    for room in (1, 1 << 24, 1 << 28):
        monkeypatch.setattr(stacked, "pass_bytes", lambda device, room=room: room)
        sizes.append(StackedGradients(models[0], images, labels, pixel_max=255).records)
    assert sizes[0] == 1
    assert sizes[2] == pytest.approx(16 * sizes[1], rel=0.2)  # linear in the room


def test_no_tensor_of_a_pass_has_more_numbers_than_32_bits_count(monkeypatch):
    monkeypatch.setattr(stacked, "pass_bytes", lambda device: 1 << 50)
    models, images, labels, _ = problem("darrm_cnn")
    # nor are there more records than make a GPU faster
    assert (
        StackedGradients(models[0], images, labels, pixel_max=255).records == stacked.MOST_RECORDS
    )
    monkeypatch.setattr(stacked, "MOST_RECORDS", 1 << 40)
    gradients = StackedGradients(models[0], images, labels, pixel_max=255)
    # the weights of as many teachers, if each has one record: no image has as many columns
    size = sum(p.numel() for p in models[0].parameters())
    assert gradients.records == (2**31 - 1) // size


def test_rows_are_state_dicts_and_nothing_else_passes():
    models, *_ = problem("darrm_cnn")
    for state, model in zip(
        require_finite_states(stack_parameters(models), models[0]), models, strict=True
    ):
        wanted = model.state_dict()
        assert list(state) == list(wanted)
        assert all(torch.equal(state[name], wanted[name]) for name in wanted)
        # saved alone, without the matrix
        assert all(t.untyped_storage().nbytes() == t.numel() * 4 for t in state.values())
    rows = stack_parameters(models)
    rows[1, -1] = float("inf")
    with pytest.raises(ValueError, match=r"training diverged: 7\.bias is not finite"):
        require_finite_states(rows, models[0])
    normalised = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    with pytest.raises(ValueError, match="model has buffers"):
        stack_parameters([normalised])


@pytest.mark.parametrize("way", [StackedGradients, LayerwiseGradients])
def test_no_clipped_gradient_is_longer_than_the_accountants_take_it_to_be(way):
    """Where all pixels are alike, rounding errors are all of one sign."""
    images = torch.full((40, 160, 160), 255, dtype=torch.uint8)
    labels = torch.arange(40) % 2
    models = [build_model("linear", (160, 160), 2, seed) for seed in range(40)]
    with torch.no_grad():
        for scale, model in enumerate(models):
            for parameter in model.parameters():
                parameter *= 0.01 * scale
    gradients = way(models[0], images, labels, pixel_max=255, max_grad_norm=1.0)
    sums = gradients(stack_parameters(models), [torch.tensor([i]) for i in range(40)])
    longest = float(sums.double().norm(dim=1).max())
    assert 0.999 < longest < 1 + 1e-6 < CLIPPED_NORM


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


def many(way, device, name="darrm_cnn", clip=0.5, dtype=torch.float32, **how):
    """The sums of 60 teachers with batches of 64 images of 28 x 28 pixels, and what made them."""
    source = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (500, 28, 28), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (500,), generator=source)
    models = [build_model(name, (28, 28), 3, seed).to(dtype) for seed in range(60)]
    batches = [torch.randperm(500, generator=source)[:64] for _ in models]
    given = models[0], images.to(device), labels.to(device)
    gradients = way(*given, pixel_max=255, max_grad_norm=clip, **how)
    return gradients(stack_parameters(models, device), batches), gradients


@GPU
@pytest.mark.parametrize("name", ["darrm_cnn", "mnist_cnn"])
def test_a_gpu_computes_the_sums_of_a_cpu_and_clips_as_well(name):
    on_cpu, on_gpu = (
        many(way, device, name, dtype=torch.float64)[0].cpu()
        for way, device in ((LayerwiseGradients, "cpu"), (StackedGradients, "cuda"))
    )
    assert (on_cpu - on_gpu).abs().max() <= 1e-12 * on_cpu.abs().max()
    # In single precision, on a CPU too, a few of millions of squares in which a maximum is looked
    # for have two as good as equal: a record's gradient, of norm 0.5 at most, is another then.
    single = many(StackedGradients, "cuda", name)[0].cpu().double()
    errors = (on_cpu - single).norm(dim=1)
    assert (errors < 1e-5).sum() >= 50
    assert errors.max() < 0.02
    assert (single.norm(dim=1) <= 64 * 0.5 * CLIPPED_NORM).all()


@GPU
def test_a_pass_on_a_gpu_takes_no_more_than_it_may(monkeypatch):
    for room in (1 << 28, 1 << 30):
        monkeypatch.setattr(stacked, "pass_bytes", lambda device, room=room: room)
        for clip in (0.5, None):
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            _, gradients = many(StackedGradients, "cuda", clip=clip)
            assert gradients.records < 60 * 64  # several passes
            assert room / 4 < torch.cuda.max_memory_allocated() - before < room


@GPU
def test_a_gpu_out_of_memory_goes_on_with_smaller_passes():
    whole, first = many(StackedGradients, "cuda", records=10**6)
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((1 << 30) / total)
    try:
        halved, gradients = many(StackedGradients, "cuda", records=10**6)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert first.records == 10**6
    assert gradients.records < 60 * 64
    assert (whole - halved).abs().max() <= 1e-5 * whole.abs().max()


@GPU
def test_nothing_waits_for_a_gpu():
    _, gradients = many(StackedGradients, "cuda")
    size = sum(p.numel() for p in gradients.model.parameters())
    parameters = torch.zeros(60, size, device="cuda")
    batches = [torch.arange(5)] * 60
    gradients(parameters, batches)
    torch.cuda.set_sync_debug_mode("error")
    try:
        gradients(parameters, batches)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize(
    "name",
    ["darrm_cnn", *(pytest.param(n, marks=pytest.mark.slow) for n in ("mnist_cnn", "svhn_cnn"))],
)
def test_no_bit_depends_on_the_number_of_threads(name):
    source = torch.Generator().manual_seed(0)
    shape = (32, 32, 3) if name == "svhn_cnn" else (28, 28)
    images = torch.randint(0, 256, (200, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 10, (200,), generator=source)
    models = [build_model(name, shape, 10, seed) for seed in range(3)]
    batches = [torch.arange(n) for n in (32, 45, 150)]
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            way = LayerwiseGradients(models[0], images, labels, pixel_max=255, max_grad_norm=0.7)
            found.append(way(stack_parameters(models), batches))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("name", MODELS)
def test_all_layers_with_parameters_are_known_and_their_norms_are_trusted(name):
    """`training.CLIPPED_NORM` supposes at most 2^13 numbers in a row of a kernel."""
    for layer in MODELS[name]((32, 32, 3), 10):
        if type(layer) is nn.Conv2d:
            kind = (layer.stride, layer.dilation, layer.groups, layer.padding_mode)
            assert kind == ((1, 1), (1, 1), 1, "zeros")
            assert not isinstance(layer.padding, str)
            assert layer.out_channels * layer.in_channels * layer.kernel_size[1] <= 2**13
        else:
            assert type(layer) is nn.Linear or not list(layer.parameters())
        assert getattr(layer, "bias", 0) is not None
