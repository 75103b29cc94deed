"""Where teachers train: the device, what memory it has left, and pixels on it as numbers."""

import torch

from private_ensembles.base import checks

# Room for one pass on a CPU: more than the caches hold makes passes slower, not faster.
CACHE_BYTES = 16 << 20
# How libraries without a type of their own for it say that memory is short: PyTorch on a CPU, the
# CUDA driver, cuBLAS and cuDNN.
OUT_OF_MEMORY = (
    "can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DEVICE_ALLOCATION_FAILED",
)


def choose_device(device, threads=1):
    """torch.device for `auto` (a GPU if there is one), `cpu` or `cuda`; sets torch's CPU threads.

    Raises ValueError for another name, or for cuda if there is none.
    """
    checks.check_choice(("auto", "cpu", "cuda"), device=device)
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device = 'cuda': PyTorch finds no GPU here; use auto or cpu")
    torch.set_num_threads(max(1, int(threads)))
    # A GPU's products would round to ten bits otherwise, far from what a CPU computes.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def scale_pixels(images, pixel_max, dtype=torch.float32):
    """uint8 images in 0..pixel_max -> float tensor (N, channels, height, width) in [0, 1].

    images: tensor (N, height, width), or (N, height, width, channels) in colour; the result is on
    its device. pixel_max is a property of the format, not of the data, so scaling costs no privacy.
    """
    pixels = images.unsqueeze(1) if images.ndim == 3 else images.movedim(3, 1)
    # Contiguous: of channels-last input, Opacus 1.6 computes wrong gradients of convolutions.
    return pixels.to(dtype).contiguous() / pixel_max


def send_to_device(tensor, device):
    """A tensor from the CPU on `device`: on a GPU without waiting for what that still has to do."""
    if torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def to_channels_last(images):
    """Images (N, channels, height, width) with the channels last in memory; as they are on a GPU.

    On a CPU plain training takes three quarters of the time then, and what is between the layers
    stays in this order. Not for Opacus: see `scaled`.
    """
    if images.is_cuda:
        return images
    last = images.movedim(1, -1)
    # The bytes of grey images are alike in either order: the strides are what PyTorch goes by.
    return last.flatten(1).view(last.shape).movedim(-1, 1)


def pass_bytes(device):
    """Bytes that one pass of an ensemble's gradients may take on `device`.

    Half of what a GPU has free, so that what the libraries allocate besides still fits.
    """
    device = torch.device(device)
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 2
    return CACHE_BYTES


def is_out_of_memory(error):
    """Tell whether an exception says that memory is short, on a GPU or on the CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in OUT_OF_MEMORY)


def first_line(error):
    """The first line of what an exception says, or its type if it says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)
