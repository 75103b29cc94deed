"""How teachers and students are trained, whichever paper they belong to."""

from typing import Literal

from pydantic import Field

from private_ensembles.configuration.types import (
    LEFT_OUT,
    Count,
    MainSection,
    NotNegative,
    Positive,
    Section,
    number,
)

Model = Literal["darrm_cnn", "mnist_cnn", "svhn_cnn", "mlp", "linear"]
MODEL = (
    "darrm_cnn is DaRRM's network, mnist_cnn one for ten classes, svhn_cnn one for SVHN; mlp has a "
    "hidden layer of 32, linear none."
)
BATCH_SIZE = "Expected (DP-SGD) or actual (SGD) images per step."
EPOCHS = "Passes over the shard."
LEARNING_RATE = "Step size of (DP-)SGD."


class Teachers(MainSection):
    """How ensembles are trained."""

    backend: Literal["auto", "ensemble", "opacus"] = Field(
        description="All teachers of a job in one computation, or one after the other."
    )
    per_job: Count = Field(description="Most teachers in one job.")
    checkpoint_seconds: NotNegative = Field(description="Seconds between two checkpoints.")


class PrivateTeachers(Section):
    """Teachers trained by DP-SGD."""

    model: Model = Field(description=MODEL)
    noise_multiplier: Positive = Field(
        description="Noise of DP-SGD as a multiple of max_grad_norm."
    )
    max_grad_norm: Positive = Field(description="Clipping norm C.")
    batch_size: Count = Field(description=BATCH_SIZE)
    epochs: Count = Field(description=EPOCHS)
    learning_rate: Positive = Field(description=LEARNING_RATE)


class PlainTeachers(Section):
    """Teachers trained by SGD."""

    model: Model = Field(description=MODEL)
    batch_size: Count = Field(description=BATCH_SIZE)
    epochs: Count = Field(description=EPOCHS)
    learning_rate: Positive = Field(description=LEARNING_RATE)
    momentum: number(ge=0, lt=1) = Field(description="Momentum of SGD.")


class ForestTeachers(MainSection):
    """Random forests as teachers, one for each shard of a table."""

    n_estimators: Count = Field(description="Trees of a forest.")
    max_features: number(gt=0, le=1) = Field(
        description="Share of the features that are tried at a split."
    )
    min_samples_leaf: Count = Field(description="Records in a leaf.")
    bootstrap: bool = Field(description="Whether a tree sees a bootstrap sample of the shard.")

    def parameters(self) -> dict:
        """Return the parameters of random forests, as scikit-learn names them."""
        # To scikit-learn, 1.0 is a share and 1 is one feature.
        return self.plain() | {"max_features": float(self.max_features)}


class NetworkStudent(Section):
    """Training of a student's network; private_ensembles/student/images.py has defaults."""

    method: Literal["supervised"] = Field(LEFT_OUT, description="Of a baseline.")
    epochs: Count = Field(LEFT_OUT, description=EPOCHS)
    batch_size: Count = Field(LEFT_OUT, description=BATCH_SIZE)
    unlabelled_batch_size: Count = Field(LEFT_OUT, description=BATCH_SIZE)
    learning_rate: Positive = Field(LEFT_OUT, description=LEARNING_RATE)
    adversarial_radius: Positive = Field(LEFT_OUT, description="Norm of the perturbation.")
    probe: Positive = Field(LEFT_OUT, description="Length of the finite difference.")
    adversarial_weight: NotNegative = Field(LEFT_OUT, description="Of that loss.")
    entropy_weight: NotNegative = Field(LEFT_OUT, description="Of that loss.")
    shift: NotNegative = Field(LEFT_OUT, description="Largest shift of an image.")
    rotation: NotNegative = Field(LEFT_OUT, description="Largest rotation in radians.")
    scale: NotNegative = Field(LEFT_OUT, description="Largest change of size.")
    widths: list[Count] = Field(
        LEFT_OUT, min_length=3, max_length=3, description="Channels of the three convolutions."
    )
    checkpoint_every: Count = Field(LEFT_OUT, description="Epochs between two checkpoints.")


class ForestStudent(Section):
    """Random forest of a student."""

    method: Literal["forest"] = Field(LEFT_OUT, description="Of a baseline.")
    n_trees: Count = Field(LEFT_OUT, description="Trees.")
    max_depth: Count = Field(LEFT_OUT, description="Longest path.")
    min_samples_leaf: Count = Field(LEFT_OUT, description="Records in a leaf.")
