"""How a student's network is trained: the parameters, their defaults and ranges."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from private_ensembles.base import checks


@dataclass(frozen=True)
class Conditions:
    """The surroundings of a training, whatever is learnt in it.

    Attributes:
        seed, path: The address of its randomness.
        device: Where networks train.
        checkpoint: A file from which a killed training goes on.
        progress: Called with a message that says how far the training is.
        observe: Called after each epoch of a network with a function from inputs to scores. What
            it returns is kept, and training does not depend on it.
    """

    seed: int
    path: tuple[int | str, ...] = ()
    device: str | torch.device = "cpu"
    checkpoint: str | os.PathLike | None = None
    progress: Callable[[str], None] = lambda message: None
    observe: Callable[[Callable], float] | None = None


@dataclass(frozen=True)
class Training:
    """How a network is trained; the defaults were chosen on MNIST's training images (docs).

    Attributes:
        epochs: Passes over the pool (`vat`) or the labelled images (`supervised`).
        batch_size: Labelled images per step.
        unlabelled_batch_size: Images of the pool per step.
        learning_rate: Adam's step size in the first half; then it falls to 0 in a straight line.
        adversarial_radius: The Euclidean norm of the virtual adversarial perturbation, pixels in
            [0, 1].
        probe: The length of the finite difference that finds the perturbation's direction.
        adversarial_weight, entropy_weight: The weights of these losses beside the labels'
            cross-entropy, 0 for none.
        shift, rotation, scale: See `network.distort`.
        widths: The channels of the three convolutions.
        checkpoint_every: Epochs between two checkpoints.
    """

    epochs: int = 40
    batch_size: int = 32
    unlabelled_batch_size: int = 128
    learning_rate: float = 0.002
    adversarial_radius: float = 1.2
    probe: float = 0.01
    adversarial_weight: float = 1.0
    entropy_weight: float = 1.0
    shift: float = 0.14
    rotation: float = 0.2
    scale: float = 0.1
    widths: tuple[int, int, int] = (16, 32, 64)
    checkpoint_every: int = 5

    def __post_init__(self):
        """Raise ValueError naming a value that is out of range."""
        checks.check_integer(
            epochs=self.epochs,
            batch_size=self.batch_size,
            unlabelled_batch_size=self.unlabelled_batch_size,
            checkpoint_every=self.checkpoint_every,
            at_least=1,
        )
        checks.check_finite(
            learning_rate=self.learning_rate,
            adversarial_radius=self.adversarial_radius,
            probe=self.probe,
            above=0,
        )
        checks.check_finite(
            adversarial_weight=self.adversarial_weight,
            entropy_weight=self.entropy_weight,
            shift=self.shift,
            rotation=self.rotation,
            scale=self.scale,
            at_least=0,
        )
        object.__setattr__(self, "widths", tuple(self.widths))

    @classmethod
    def from_parameters(cls, parameters: Mapping) -> Training:
        """Return the training with these parameters, by their names.

        Raises:
            ValueError: A parameter is unknown or out of range.
        """
        if unknown := sorted(set(parameters) - set(cls.__dataclass_fields__)):
            raise ValueError(
                f"student: unknown parameter {unknown[0]}: must be one of "
                f"{', '.join(cls.__dataclass_fields__)}"
            )
        return cls(**parameters)
