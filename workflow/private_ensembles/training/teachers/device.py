"""Where teachers train: the device, what memory it has left, and pixels on it as numbers."""

import numpy as np
import torch

from private_ensembles.base import checks

# One pass on a CPU gets this much: more than the caches hold makes passes slower, not faster.
CACHE_BYTES = 16 << 20
# Libraries that have no exception of their own for it say so that memory is short: PyTorch on a
# CPU, the CUDA driver, cuBLAS and cuDNN.
OUT_OF_MEMORY = (
    "can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DEVICE_ALLOCATION_FAILED",
)


def choose_device(device, threads=1):
    """Return the torch.device of a name, and set the number of torch's CPU threads.

    Args:
        device: `auto` (a GPU if there is one), `cpu` or `cuda`.
        threads: The number of CPU threads.

    Raises:
        ValueError: The name is another, or it is `cuda` and there is no GPU.
    """
    checks.check_choice(("auto", "cpu", "cuda"), device=device)
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device = 'cuda': PyTorch finds no GPU here; use auto or cpu")
    torch.set_num_threads(max(1, int(threads)))
    # Otherwise a GPU's products would round to ten bits, far from what a CPU computes.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def scale_pixels(images, pixel_max, dtype=torch.float32):
    """Scale images to [0, 1], channels first.

    pixel_max is a property of the format, not of the data, so scaling costs no privacy.

    Args:
        images: A uint8 tensor (N, height, width), or (N, height, width, channels) in colour, values
            0..pixel_max.
        pixel_max: The largest value that a pixel may have.
        dtype: The type of the result.

    Returns:
        A tensor (N, channels, height, width) on the images' device.
    """
    pixels = images.unsqueeze(1) if images.ndim == 3 else images.movedim(3, 1)
    # The result is contiguous, because Opacus 1.6 computes wrong gradients of convolutions for
    # channels-last input.
    return pixels.to(dtype).contiguous() / pixel_max


def send_to_device(tensor, device):
    """Return a CPU's tensor on `device`; a GPU is not waited for."""
    if torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def to_channels_last(images):
    """Return images (N, channels, height, width) with the channels last in a CPU's memory.

    On a GPU they stay as they are. On a CPU plain training then takes three quarters of the time,
    and what is between the layers stays in this order. It is not for Opacus: see `scale_pixels`.
    """
    if images.is_cuda:
        return images
    reordered = images.movedim(1, -1)
    # The bytes of grey images are alike in either order: the strides are what PyTorch goes by.
    return reordered.flatten(1).view(reordered.shape).movedim(-1, 1)


def square_root(values):
    """Return the square root of a tensor, correctly rounded on a CPU.

    PyTorch's own is MKL's there, from the processor's approximate reciprocal root: of 32-bit floats
    one in six is rounded otherwise, and another maker's processor rounds others. Where its first
    call is made by several threads, it may be off by thousands of units (pytorch #188792).
    """
    if values.device.type == "cpu":
        return torch.from_numpy(np.sqrt(values.detach().numpy()))
    return values.sqrt()


def pass_bytes(device):
    """Return how many bytes one pass of an ensemble's gradients may take on `device`.

    On a GPU it is half of the free memory, so that what libraries allocate besides still fits.
    """
    device = torch.device(device)
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 2
    return CACHE_BYTES


def is_out_of_memory(error):
    """Return whether an exception says that memory is short, on a GPU or on the CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY)


def first_line(error):
    """Return the first line of an exception's message, or its type if it has none."""
    return next(iter(str(error).splitlines()), type(error).__name__)
