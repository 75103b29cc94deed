"""device: where training happens, and pixels as numbers."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from private_ensembles.training.teachers import device
from private_ensembles.training.teachers.device import (
    CACHE_BYTES,
    choose_device,
    is_out_of_memory,
    pass_bytes,
    scale_pixels,
    square_root,
    to_channels_last,
)


def test_device_is_chosen_and_checked(stand_in):
    stand_in(device, "torch", cuda=SimpleNamespace(is_available=lambda: False))
    assert choose_device("auto").type == choose_device("cpu").type == "cpu"
    with pytest.raises(ValueError, match="device = 'cuda': PyTorch finds no GPU"):
        choose_device("cuda")
    with pytest.raises(ValueError, match="device = 'tpu': must be one of auto, cpu, cuda"):
        choose_device("tpu")


def test_products_are_in_full_single_precision():
    places = torch.backends.cudnn, torch.backends.cuda.matmul
    for place in places:
        place.allow_tf32 = True
    choose_device("cpu")
    assert not any(place.allow_tf32 for place in places)


def test_pixels_are_scaled_to_the_unit_interval():
    tensor = scale_pixels(torch.tensor([[[0, 16]]], dtype=torch.uint8), 16)
    assert tensor.shape == (1, 1, 1, 2)
    assert tensor.flatten().tolist() == [0.0, 1.0]


def test_colour_comes_first_and_contiguous():
    # Opacus computes wrong gradients of convolutions otherwise (test_stacked.py would show it).
    images = np.arange(2 * 3 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 3)
    tensor = scale_pixels(torch.from_numpy(images), 255, dtype=torch.float64)
    assert tensor.is_contiguous()
    assert tensor.dtype == torch.float64
    assert np.array_equal(tensor.numpy(), images.transpose(0, 3, 1, 2) / 255)


@pytest.mark.parametrize("shape", [(3, 1, 4, 6), (3, 2, 4, 6), (0, 1, 4, 6), (1, 2, 1, 5)])
def test_channels_last_is_the_same_tensor_and_convolutions_keep_to_it(shape):
    images = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    for given in (images, images.to(memory_format=torch.channels_last)):
        moved = to_channels_last(given)
        assert torch.equal(moved, images)
        assert moved.movedim(1, -1).is_contiguous()
        if len(moved):
            values = torch.nn.Conv2d(shape[1], 5, 3, padding=1)(moved)
            assert values.is_contiguous(memory_format=torch.channels_last)
            assert not values.is_contiguous()


def test_a_pass_may_take_the_caches_of_a_cpu_or_half_of_what_a_gpu_has_free(stand_in):
    memory = 10 << 30, 80 << 30
    stand_in(device, "torch", cuda=SimpleNamespace(mem_get_info=lambda device: memory))
    assert pass_bytes("cpu") == CACHE_BYTES
    assert pass_bytes("cuda") == 5 << 30


def test_lack_of_memory_is_told_from_other_failures():
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert is_out_of_memory(MemoryError())
    for text in (
        "CUDA error: out of memory\nCUDA kernel errors might be reported later",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    ):
        assert is_out_of_memory(RuntimeError(text))
    assert not is_out_of_memory(RuntimeError("shapes do not fit"))
    assert not is_out_of_memory(ValueError("can't allocate memory"))
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)


def test_square_roots_are_correctly_rounded_and_pytorch_s_are_not():
    """Once PyTorch's are, `square_root` is no longer needed."""
    values = torch.rand(10_000, generator=torch.Generator().manual_seed(0)) + 1e-3
    exact = values.double().numpy() ** 0.5
    np.testing.assert_array_equal(square_root(values).numpy(), exact.astype(np.float32))
    assert square_root(torch.zeros(1)).item() == 0
    if torch.backends.mkl.is_available():
        assert (values.sqrt() != square_root(values)).float().mean() > 0.05


def test_training_takes_no_function_whose_bits_depend_on_the_processor_s_maker(root):
    """MKL has these from an approximate reciprocal root or quotient, whatever MKL_CBWR says."""
    found = [
        f"{path.name}: {match[0]}"
        for path in (root / "workflow/private_ensembles/training").rglob("*.py")
        for match in re.finditer(r"\b\w+\.(sqrt|asin|acos|atan2?)\(", path.read_text())
        if not match[0].startswith(("np.", "math."))
    ]
    assert found == ["device.py: values.sqrt("]
