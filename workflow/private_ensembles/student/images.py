"""Train a network on a few released labels and many public images without any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import torch
from torch.nn.functional import cross_entropy, log_softmax

from private_ensembles.jobs.checkpoint import Checkpoint, identity_of
from private_ensembles.jobs.progress import Meter
from private_ensembles.noise.streams import torch_seed
from private_ensembles.student.augmentation import distort
from private_ensembles.student.networks import student_cnn
from private_ensembles.student.training import Conditions, Training
from private_ensembles.student.virtual_adversarial import entropy, virtual_adversarial_loss

# Images per forward pass when nothing is learnt.
_EVALUATION_BATCH = 1000


def channels_first(images: np.ndarray) -> np.ndarray:
    """uint8 (N, height, width) or (N, height, width, channels) -> (N, channels, height, width).

    Raises ValueError for another type or rank, or no images at all.
    """
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or 0 in images.shape:
        raise ValueError(
            f"images: {images.dtype} {images.shape} must be uint8 (N, height, width) or "
            "(N, height, width, channels), not empty"
        )
    moved = images[:, None] if images.ndim == 3 else np.moveaxis(images, 3, 1)
    return np.array(moved, order="C")  # a copy: PyTorch warns of arrays that cannot be written


def train_network(
    pool: np.ndarray,
    index: np.ndarray,
    labels: np.ndarray,
    n_classes: int,
    training: Training,
    conditions: Conditions,
    *,
    unlabelled: bool,
    pixel_max: int,
) -> tuple[torch.nn.Module, list[float]]:
    """A network trained on the labels of pool[index] and, if `unlabelled`, on the whole pool.

    pool: uint8 images as `channels_first` takes them, values 0..pixel_max; index, labels: int64
    (L,), L >= 1. Batches, distortions and perturbations come from one generator each at
    torch_seed(seed, *path, ...), drawn on the CPU, so that on the CPU the same arguments give the
    same bits. The checkpoint is written every `checkpoint_every` epochs and removed at the end;
    progress is told the loss, images per second and the remaining time now and then (`Meter`).
    Returns the network, in evaluation mode on the CPU, and one observation per epoch (none without
    `observe`, which is given the network's `network_scores`).

    Raises ValueError if the loss stops being finite, or the device's memory does not suffice.
    """
    images = channels_first(pool)
    device, progress = conditions.device, conditions.progress
    identity = identity_of(
        {
            "training": asdict(training),
            "optimizer": "torch.optim.Adam",
            "n_classes": n_classes,
            "unlabelled": unlabelled,
            "pixel_max": pixel_max,
            "seed": [conditions.seed, *conditions.path],
            "torch": torch.__version__,
            "device": torch.device(device).type,
        },
        images,
        index,
        labels,
    )
    stored = Checkpoint(conditions.checkpoint, identity)
    try:
        run = _Run(images, index, labels, n_classes, training, unlabelled, pixel_max, device)
        run.start(conditions.seed, conditions.path)
        if (state := stored.load()) is not None:
            run.restore(state)
            progress(f"goes on after epoch {run.epoch} of {training.epochs}")
        meter = Meter(training.epochs, "epochs", say=progress, log=progress, done=run.epoch)
        while run.epoch < training.epochs:
            loss, seen = run.advance()
            if not np.isfinite(loss):
                raise ValueError(
                    f"student: the loss is {loss} in epoch {run.epoch}: lower the learning rate, "
                    f"{training.learning_rate}"
                )
            if conditions.observe is not None:
                run.observed.append(float(conditions.observe(run.scores)))
            meter.advance(images=seen, note=f"loss {loss:.4f}")
            if conditions.checkpoint is not None and run.epoch % training.checkpoint_every == 0:
                stored.save(**run.state())
        meter.finish()
    except torch.OutOfMemoryError as error:
        raise ValueError(
            f"student: out of memory on {device}; use smaller batches or device: cpu "
            f"({str(error).splitlines()[0]})"
        ) from error
    stored.remove()
    return run.model.cpu().eval(), run.observed


def network_scores(model: torch.nn.Module, images: np.ndarray, pixel_max: int) -> np.ndarray:
    """Probabilities of the classes, float64 (N, classes), rows summing to 1."""
    inputs = torch.from_numpy(channels_first(images))
    device = next(model.parameters()).device
    with torch.inference_mode():
        parts = [
            model(part.to(device, torch.float32) / pixel_max).to("cpu", torch.float64)
            for part in inputs.split(_EVALUATION_BATCH)
        ]
        return torch.softmax(torch.cat(parts), dim=1).numpy()


class _Run:
    """One training as it stands: model, optimizer, generators and finished epochs."""

    def __init__(self, images, index, labels, n_classes, training, unlabelled, pixel_max, device):
        self.training, self.unlabelled, self.n_classes = training, unlabelled, n_classes
        self.pixel_max, self.device = pixel_max, torch.device(device)
        # On the device once, as bytes; batches are scaled when they are used.
        self.pool = torch.from_numpy(images).to(self.device)
        self.index = torch.from_numpy(index)
        self.labels = torch.from_numpy(labels).to(self.device)

    def start(self, seed, path):
        """A fresh model and generators."""
        self.model = student_cnn(
            tuple(self.pool.shape[1:]),
            self.n_classes,
            widths=self.training.widths,
            seed=torch_seed(seed, *path, "initialisation"),
        ).to(self.device)
        self.model.train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)
        self.generators = {
            name: torch.Generator().manual_seed(torch_seed(seed, *path, name))
            for name in ("batches", "distortions", "perturbations")
        }
        self.epoch = 0
        self.observed: list[float] = []

    def state(self):
        """All that training on from here depends on."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generators": {name: g.get_state() for name, g in self.generators.items()},
            "epoch": self.epoch,
            "observed": list(self.observed),
        }

    def restore(self, state):
        """Take up the training where `state` was taken."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        for name, generator in self.generators.items():
            generator.set_state(state["generators"][name])
        self.epoch = state["epoch"]
        self.observed = list(state["observed"])

    def scores(self, images):
        """`network_scores` of the network as it is; training goes on as if nothing had happened."""
        self.model.eval()
        try:
            return network_scores(self.model, images, self.pixel_max)
        finally:
            self.model.train()

    def advance(self):
        """One epoch: (its mean loss, number of images seen)."""
        losses, seen = [], 0
        batches = list(self._batches())
        for step, (labelled, others) in enumerate(batches):
            progress = (self.epoch + step / len(batches)) / self.training.epochs
            self.model.zero_grad(set_to_none=True)
            loss = self._loss(labelled, others)
            loss.backward()
            rate = self.training.learning_rate * min(1.0, 2 * (1 - progress))
            self.optimizer.param_groups[0]["lr"] = rate
            self.optimizer.step()
            losses.append(loss.detach())
            seen += len(labelled) + len(others)
        self.epoch += 1
        return float(torch.stack(losses).mean()), seen

    def _batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Positions among the labelled images, and indices into the pool, of each step."""
        generator, settings = self.generators["batches"], self.training
        if not self.unlabelled:
            order = torch.randperm(len(self.index), generator=generator)
            for part in order.split(settings.batch_size):
                yield part, order[:0]
            return
        order = torch.randperm(len(self.pool), generator=generator)
        for part in order.split(settings.unlabelled_batch_size):
            size = (settings.batch_size,)
            yield torch.randint(len(self.index), size, generator=generator), part

    def _loss(self, labelled, others):
        settings = self.training
        images = self._images(torch.cat([self.index[labelled], others]))
        logits = self.model(images)
        n = len(labelled)
        loss = cross_entropy(logits[:n], self.labels[labelled.to(self.device)])
        if len(others) == 0:
            return loss
        log_p = log_softmax(logits[n:], dim=1)
        if settings.entropy_weight:
            loss = loss + settings.entropy_weight * entropy(log_p).mean()
        if settings.adversarial_weight:
            loss = loss + settings.adversarial_weight * virtual_adversarial_loss(
                self.model,
                images[n:],
                log_p,
                self.generators["perturbations"],
                radius=settings.adversarial_radius,
                probe=settings.probe,
            )
        return loss

    def _images(self, index):
        """Images of the pool, float32 in [0, 1], freshly distorted."""
        images = self.pool[index.to(self.device)].to(torch.float32) / self.pixel_max
        settings = self.training
        if settings.shift == settings.rotation == settings.scale == 0:
            return images
        return distort(
            images,
            self.generators["distortions"],
            shift=settings.shift,
            rotation=settings.rotation,
            scale=settings.scale,
        )
