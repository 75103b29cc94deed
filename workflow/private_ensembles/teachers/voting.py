"""Let every teacher of an ensemble vote once on every query."""

import numpy as np
import torch

from private_ensembles.teachers.ensemble import scaled
from private_ensembles.teachers.models import build_model


def cast_votes(teachers, images, *, model, pixel_max, n_classes, device="cpu", batch_size=128):
    """The class each teacher gives each image: smallest unsigned type (queries, teachers).

    teachers: state_dicts. images: uint8 (queries, height, width). model: name of the architecture.
    A vote is the class of the largest logit, the first one among equals.

    Raises ValueError when a state_dict does not fit the model or its logits are not finite.
    """
    inputs = scaled(images, pixel_max, device)
    network = build_model(model, images.shape[1:], n_classes).to(device).eval()
    votes = np.empty((len(images), len(teachers)), np.min_scalar_type(n_classes - 1))
    with torch.no_grad():
        for i, state in enumerate(teachers):
            try:
                network.load_state_dict(state)
            except (RuntimeError, TypeError, AttributeError) as error:
                line = str(error).splitlines()[0]
                raise ValueError(f"teacher {i} does not fit model {model}: {line}") from None
            logits = torch.cat([network(batch) for batch in inputs.split(batch_size)])
            if not torch.isfinite(logits).all():
                raise ValueError(f"teacher {i}: logits are not finite: it cannot vote")
            votes[:, i] = logits.argmax(dim=1).cpu().numpy()
    return votes
