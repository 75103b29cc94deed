"""Let every teacher of an ensemble vote once on every query."""

import numpy as np
import torch

from private_ensembles.training.teachers.device import scale_pixels, to_channels_last
from private_ensembles.training.teachers.models import build_model

# So many images go at a time: what the caches of a CPU hold, and enough to keep a GPU busy.
BATCH_SIZES = {"cpu": 64, "cuda": 4096}


def cast_votes(
    teachers, images, *, model, pixel_max, n_classes, device="cpu", batch_size=None, meter=None
):
    """Return each teacher's vote on each image: the class of the largest logit, the first if equal.

    Args:
        teachers: Their state_dicts.
        images: uint8 (queries, height, width) or (queries, height, width, channels).
        model: The name of the architecture.
        pixel_max: The largest value that a pixel may have.
        n_classes: The number of classes.
        device: Where to compute.
        batch_size: The number of images at a time; by default one of BATCH_SIZES.
        meter: A meter that counts the teachers that have voted.

    Returns:
        (queries, teachers), of the smallest unsigned type.

    Raises:
        ValueError: A state_dict does not fit the model, or logits are not finite.
    """
    device = torch.device(device)
    pixels = torch.as_tensor(images, device=device)
    network = build_model(model, images.shape[1:], n_classes).to(device).eval()
    if batch_size is None:
        batch_size = BATCH_SIZES.get(device.type, 4096)
    votes = np.empty((len(images), len(teachers)), np.min_scalar_type(n_classes - 1))
    with torch.inference_mode():
        for i, state in enumerate(teachers):
            try:
                network.load_state_dict(state)
            except (RuntimeError, TypeError, AttributeError) as error:
                line = str(error).splitlines()[0]
                raise ValueError(f"teacher {i} does not fit model {model}: {line}") from None
            logits = torch.cat(
                [
                    network(to_channels_last(scale_pixels(batch, pixel_max)))
                    for batch in pixels.split(batch_size)
                ]
            )
            if not torch.isfinite(logits).all():
                raise ValueError(f"teacher {i}: logits are not finite: it cannot vote")
            votes[:, i] = logits.argmax(dim=1).cpu().numpy()
            if meter is not None:
                meter.advance()
    return votes
