"""The students' network, and its training on few released labels and many images without any."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import torch
from torch import nn
from torch.nn.functional import affine_grid, cross_entropy, grid_sample, log_softmax
from torch.optim.adam import adam

from private_ensembles.base import checks
from private_ensembles.base.progress import Meter
from private_ensembles.base.streams import torch_seed
from private_ensembles.training.checkpoint import Checkpoint, hash_identity
from private_ensembles.training.initialisation import seeded_weights
from private_ensembles.training.student.training import Conditions, Training
from private_ensembles.training.student.virtual_adversarial import entropy, virtual_adversarial_loss

# So many images go through the network at a time when nothing is learnt.
_EVALUATION_BATCH = 1000


def student_cnn(
    image_shape: tuple[int, int, int],
    n_classes: int,
    *,
    widths: Sequence[int] = (16, 32, 64),
    seed: int = 0,
) -> nn.Sequential:
    """Return a freshly initialised network on the CPU.

    It has a 5x5 convolution, two of 3x3, the last two followed by 2x2 max pooling, each with a
    leaky ReLU, and one linear layer. There is no normalisation, because batches mix labelled
    images, others and perturbed ones. The first convolution halves images of 16 pixels and more,
    which would otherwise take most of the time. The process' random state is left as it was.

    Args:
        image_shape: (channels, height, width), at least 4 x 4 pixels.
        n_classes: The number of classes, >= 2.
        widths: The channels of the three convolutions, each >= 1.
        seed: 0 <= seed < 2**63; the same seed gives the same weights everywhere.

    Returns:
        A network from (N, channels, height, width) in [0, 1] to logits (N, n_classes).

    Raises:
        ValueError: An argument is out of range.
    """
    channels, height, width = image_shape
    if min(height, width) < 4 or channels < 1:
        raise ValueError(f"image_shape = {tuple(image_shape)}: must be at least 4 x 4 pixels")
    checks.check_integer(n_classes=n_classes, at_least=2)
    if len(widths) != 3 or min(widths) < 1:
        raise ValueError(f"widths = {list(widths)}: must be three integers >= 1")
    first, second, third = map(int, widths)
    stride = 2 if min(height, width) >= 16 else 1

    def pooled_size(size: int) -> int:
        # The stride divides the size, and each of the two poolings halves it; all round up.
        return math.ceil(math.ceil(size / stride) / 4)

    with seeded_weights(seed):
        return nn.Sequential(
            _ChannelsLastConv2d(channels, first, 5, stride=stride, padding=2),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(first, second, 3, padding=1),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(second, third, 3, padding=1),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Flatten(1),
            nn.Linear(third * pooled_size(height) * pooled_size(width), n_classes),
        )


class _ChannelsLastConv2d(nn.Conv2d):
    """The first convolution, which puts the channels last in a CPU's memory, for all layers.

    Max pooling then takes a tenth of the time. The bytes of grey images are alike in either order:
    the strides are what PyTorch goes by.
    """

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Convolve (N, channels, height, width) to (N, outputs, ...), channels last on a CPU."""
        if not images.is_cuda:
            last = images.movedim(1, -1)
            images = last.flatten(1).view(last.shape).movedim(-1, 1)
        return super().forward(images)


def distort(
    images: torch.Tensor,
    generator: torch.Generator,
    *,
    shift: float,
    rotation: float,
    scale: float,
) -> torch.Tensor:
    """Return each image moved, turned and stretched at random.

    Each distortion is drawn uniformly between its negative and itself. Interpolation is bilinear,
    and what comes in from outside is 0.

    Args:
        images: (N, channels, height, width).
        generator: A generator on the CPU, whatever the images' device.
        shift: The largest move, as a share of half the image's side.
        rotation: The largest turn, in radians.
        scale: The largest logarithm of the stretch, which is drawn for each side.

    Returns:
        Images of the same shape.
    """
    draws = (2 * torch.rand((len(images), 5), generator=generator) - 1).to(images.device)
    turn = draws[:, 0] * rotation
    stretch = torch.exp(draws[:, 1:3] * scale)
    move = draws[:, 3:5] * shift
    cosine, sine = torch.cos(turn), torch.sin(turn)
    rows = (
        torch.stack([cosine * stretch[:, 0], -sine * stretch[:, 1], move[:, 0]], dim=1),
        torch.stack([sine * stretch[:, 0], cosine * stretch[:, 1], move[:, 1]], dim=1),
    )
    grid = affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
    return grid_sample(images, grid, align_corners=False)


def to_channels_first(images: np.ndarray) -> np.ndarray:
    """Return a copy of images with the channels before height and width.

    Args:
        images: uint8 (N, height, width) or (N, height, width, channels).

    Returns:
        uint8 (N, channels, height, width).

    Raises:
        ValueError: The images have another type or rank, or there are none.
    """
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or 0 in images.shape:
        raise ValueError(
            f"images: {images.dtype} {images.shape} must be uint8 (N, height, width) or "
            "(N, height, width, channels), not empty"
        )
    reordered = images[:, None] if images.ndim == 3 else np.moveaxis(images, 3, 1)
    return np.array(reordered, order="C")  # a copy: PyTorch warns of arrays that cannot be written


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
) -> tuple[nn.Module, list[float]]:
    """Train a network on the labels of pool[index] and, if `unlabelled`, on the whole pool.

    Batches, distortions and perturbations come from one generator each at torch_seed(seed, *path,
    ...), drawn on the CPU, so that on the CPU the same arguments give the same bits. The checkpoint
    is written every `checkpoint_every` epochs and removed at the end. Now and then, progress is
    called with the loss, images per second and the remaining time (`Meter`).

    Args:
        pool: uint8 images as `to_channels_first` takes them, values 0..pixel_max.
        index: int64 (L,), L >= 1, indices into the pool.
        labels: int64 (L,).
        n_classes: The number of classes.
        training: How to train.
        conditions: Seed, device, checkpoint and progress. `observe` is called with the network's
            scores.
        unlabelled: Whether to train on the images without labels, too.
        pixel_max: What images are divided by.

    Returns:
        The network, in evaluation mode on the CPU, and one observation per epoch; none without
        `observe`.

    Raises:
        ValueError: The loss stops being finite, or the device's memory does not suffice.
    """
    images = to_channels_first(pool)
    device, progress = conditions.device, conditions.progress
    identity = hash_identity(
        {
            "training": asdict(training),
            "optimizer": "torch.optim.adam.adam",
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
        run = _Run(
            images,
            index,
            labels,
            n_classes,
            training,
            device,
            unlabelled=unlabelled,
            pixel_max=pixel_max,
        )
        run.start(conditions.seed, conditions.path)
        if (state := stored.load()) is not None:
            run.restore(state)
            progress(f"goes on after epoch {run.epoch} of {training.epochs}")
        meter = Meter(training.epochs, "epochs", say=progress, log=progress, done=run.epoch)
        while run.epoch < training.epochs:
            loss, seen = run.train_epoch()
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
    return run.model.to("cpu", memory_format=torch.contiguous_format).eval(), run.observed


def network_scores(model: nn.Module, images: np.ndarray, pixel_max: int) -> np.ndarray:
    """Return the probabilities of the classes, float64 (N, classes), rows summing to 1.

    Args:
        model: A network as `student_cnn` makes it.
        images: As `to_channels_first` takes them.
        pixel_max: What images are divided by.
    """
    inputs = torch.from_numpy(to_channels_first(images))
    device = next(model.parameters()).device
    with torch.inference_mode():
        parts = [
            model(part.to(device, torch.float32) / pixel_max).to("cpu", torch.float64)
            for part in inputs.split(_EVALUATION_BATCH)
        ]
        return torch.softmax(torch.cat(parts), dim=1).numpy()


class _Adam:
    """PyTorch's Adam with its default parameters, by the function that the class calls.

    The class itself imports PyTorch's compiler, which takes longer than a small training.
    """

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self.parameters = parameters
        self.state = {
            "exp_avgs": [torch.zeros_like(parameter) for parameter in parameters],
            "exp_avg_sqs": [torch.zeros_like(parameter) for parameter in parameters],
            "state_steps": [torch.zeros((), device=parameter.device) for parameter in parameters],
        }

    @torch.no_grad()
    def step(self, rate: float) -> None:
        adam(
            list(self.parameters),
            [parameter.grad for parameter in self.parameters],
            exp_avgs=self.state["exp_avgs"],
            exp_avg_sqs=self.state["exp_avg_sqs"],
            max_exp_avg_sqs=[],
            state_steps=self.state["state_steps"],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )


class _Run:
    """One training as it stands: model, optimizer, generators and finished epochs."""

    def __init__(
        self, images, index, labels, n_classes, training, device, *, unlabelled, pixel_max
    ):
        self.training, self.unlabelled, self.n_classes = training, unlabelled, n_classes
        self.pixel_max, self.device = pixel_max, torch.device(device)
        # All images go to the device once, as bytes; batches are scaled when they are used.
        self.pool = torch.from_numpy(images).to(self.device)
        self.index = torch.from_numpy(index)
        self.labels = torch.from_numpy(labels).to(self.device)

    def start(self, seed, path):
        """Start with a fresh model and fresh generators."""
        self.model = student_cnn(
            tuple(self.pool.shape[1:]),
            self.n_classes,
            widths=self.training.widths,
            seed=torch_seed(seed, *path, "initialisation"),
        ).to(self.device)
        if self.device.type == "cpu":
            # Weights lie as `_ChannelsLastConv2d` leaves images; otherwise each convolution would
            # put its weights in order first.
            self.model.to(memory_format=torch.channels_last)
        self.model.train()
        self.adam = _Adam(list(self.model.parameters()))
        self.generators = {
            name: torch.Generator().manual_seed(torch_seed(seed, *path, name))
            for name in ("batches", "distortions", "perturbations")
        }
        self.epoch = 0
        self.observed: list[float] = []

    def state(self):
        """Return all that training on from here depends on."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.adam.state,
            "generators": {name: g.get_state() for name, g in self.generators.items()},
            "epoch": self.epoch,
            "observed": list(self.observed),
        }

    def restore(self, state):
        """Go on with the training from where `state` was taken."""
        self.model.load_state_dict(state["model"])
        for name, tensors in self.adam.state.items():
            for tensor, saved in zip(tensors, state["optimizer"][name], strict=True):
                tensor.copy_(saved)
        for name, generator in self.generators.items():
            generator.set_state(state["generators"][name])
        self.epoch = state["epoch"]
        self.observed = list(state["observed"])

    def scores(self, images):
        """Return `network_scores` of the network as it is, without an effect on the training."""
        self.model.eval()
        try:
            return network_scores(self.model, images, self.pixel_max)
        finally:
            self.model.train()

    def train_epoch(self):
        """Train for one epoch; return its mean loss and the number of images seen."""
        losses, seen = [], 0
        batches = list(self._batches())
        for step, (labelled, others) in enumerate(batches):
            progress = (self.epoch + step / len(batches)) / self.training.epochs
            self.model.zero_grad(set_to_none=True)
            loss = self._loss(labelled, others)
            loss.backward()
            self.adam.step(self.training.learning_rate * min(1.0, 2 * (1 - progress)))
            losses.append(loss.detach())
            seen += len(labelled) + len(others)
        self.epoch += 1
        return float(torch.stack(losses).mean()), seen

    def _batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield each step's positions among the labelled images, and its indices into the pool."""
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
        images = self._distorted_images(torch.cat([self.index[labelled], others]))
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

    def _distorted_images(self, index):
        """Return images of the pool, float32 in [0, 1], freshly distorted."""
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
