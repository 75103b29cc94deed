"""How teachers and students are trained, whichever paper they belong to."""

from typing import Annotated, Literal

from pydantic import Field

from private_ensembles.base import settings
from private_ensembles.base.settings import LEFT_OUT, about

Model = Literal["darrm_cnn", "mnist_cnn", "svhn_cnn", "mlp", "linear"]
MODEL = (
    "darrm_cnn is DaRRM's network, mnist_cnn one for ten classes, svhn_cnn one for SVHN; mlp has a "
    "hidden layer of 32, linear none."
)
BATCH_SIZE = "Expected (DP-SGD) or actual (SGD) images per step."
EPOCHS = "Passes over the shard."
LEARNING_RATE = "Step size of (DP-)SGD."


class Teachers(settings.MainSection):
    """How ensembles are trained."""

    backend: Literal["auto", "opacus"] = about(
        "The faster way for the kind of teachers and the device, or one teacher after the other."
    )
    per_job: settings.Count = about("Most teachers in one job.")
    checkpoint_seconds: settings.NotNegative = about("Seconds between two checkpoints.")


class PrivateTeachers(settings.Section):
    """Teachers trained by DP-SGD."""

    model: Model = about(MODEL)
    noise_multiplier: settings.Positive = about("Noise of DP-SGD as a multiple of max_grad_norm.")
    max_grad_norm: settings.Positive = about("Clipping norm C.")
    batch_size: settings.Count = about(BATCH_SIZE)
    epochs: settings.Repetitions = about(EPOCHS)
    learning_rate: settings.Positive = about(LEARNING_RATE)


class PlainTeachers(settings.Section):
    """Teachers trained by SGD."""

    model: Model = about(MODEL)
    batch_size: settings.Count = about(BATCH_SIZE)
    epochs: settings.Repetitions = about(EPOCHS)
    learning_rate: settings.Positive = about(LEARNING_RATE)
    learning_rate_schedule: Literal["constant", "linear"] = about(
        "The same rate in every step, or falling linearly to 0.", LEFT_OUT
    )
    momentum: settings.number(ge=0, lt=1) = about("Momentum of SGD.")


class ForestTeachers(settings.MainSection):
    """Random forests as teachers, one for each shard of a table."""

    n_estimators: settings.Count = about("Trees of a forest.")
    max_features: settings.number(gt=0, le=1) = about("Share of the features tried at a split.")
    min_samples_leaf: settings.Count = about("Records in a leaf.")
    bootstrap: bool = about("Whether a tree sees a bootstrap sample of the shard.")

    def parameters(self) -> dict:
        """Return the parameters of random forests, as scikit-learn names them."""
        # To scikit-learn, 1.0 is a share and 1 is one feature.
        return self.plain() | {"max_features": float(self.max_features)}


class NetworkStudent(settings.Section):
    """Training of a student's network; training/student/images.py has defaults."""

    method: Literal["supervised"] = about("Of a baseline.", LEFT_OUT)
    epochs: settings.Repetitions = about(EPOCHS, LEFT_OUT)
    batch_size: settings.Count = about(BATCH_SIZE, LEFT_OUT)
    unlabelled_batch_size: settings.Count = about(BATCH_SIZE, LEFT_OUT)
    learning_rate: settings.Positive = about(LEARNING_RATE, LEFT_OUT)
    adversarial_radius: settings.Positive = about("Norm of the perturbation.", LEFT_OUT)
    probe: settings.Positive = about("Length of the finite difference.", LEFT_OUT)
    adversarial_weight: settings.NotNegative = about("Of that loss.", LEFT_OUT)
    entropy_weight: settings.NotNegative = about("Of that loss.", LEFT_OUT)
    shift: settings.NotNegative = about("Largest shift of an image.", LEFT_OUT)
    rotation: settings.NotNegative = about("Largest rotation in radians.", LEFT_OUT)
    scale: settings.NotNegative = about("Largest change of size.", LEFT_OUT)
    widths: Annotated[list[settings.Count], Field(min_length=3, max_length=3)] = about(
        "Channels of the three convolutions.", LEFT_OUT
    )
    checkpoint_every: settings.Count = about("Epochs between two checkpoints.", LEFT_OUT)


class ForestStudent(settings.Section):
    """Random forest of a student."""

    method: Literal["forest"] = about("Of a baseline.", LEFT_OUT)
    n_trees: settings.Count = about("Trees.", LEFT_OUT)
    max_depth: settings.Count = about("Longest path.", LEFT_OUT)
    min_samples_leaf: settings.Count = about("Records in a leaf.", LEFT_OUT)
