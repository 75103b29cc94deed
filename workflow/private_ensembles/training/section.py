"""How teachers and students are trained, whichever paper they belong to."""

from typing import Annotated, Literal

from pydantic import Field

from private_ensembles.base import settings
from private_ensembles.base.settings import LEFT_OUT, describe_key

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

    backend: Literal["auto", "opacus"] = describe_key(
        "The faster way for the kind of teachers and the device, or one teacher after the other."
    )
    per_job: settings.Count = describe_key("Most teachers in one job.")
    checkpoint_seconds: settings.NotNegative = describe_key("Seconds between two checkpoints.")


class PrivateTeachers(settings.Section):
    """Teachers trained by DP-SGD."""

    model: Model = describe_key(MODEL)
    noise_multiplier: settings.Positive = describe_key(
        "Noise of DP-SGD as a multiple of max_grad_norm."
    )
    max_grad_norm: settings.Positive = describe_key("Clipping norm C.")
    batch_size: settings.Count = describe_key(BATCH_SIZE)
    epochs: settings.Repetitions = describe_key(EPOCHS)
    learning_rate: settings.Positive = describe_key(LEARNING_RATE)


class PlainTeachers(settings.Section):
    """Teachers trained by SGD."""

    model: Model = describe_key(MODEL)
    batch_size: settings.Count = describe_key(BATCH_SIZE)
    epochs: settings.Repetitions = describe_key(EPOCHS)
    learning_rate: settings.Positive = describe_key(LEARNING_RATE)
    learning_rate_schedule: Literal["constant", "linear"] = describe_key(
        "The same rate in every step, or falling linearly to 0.", LEFT_OUT
    )
    momentum: Annotated[float, *settings.number(ge=0, lt=1)] = describe_key("Momentum of SGD.")


class ForestTeachers(settings.MainSection):
    """Random forests as teachers, one for each shard of a table."""

    n_estimators: settings.Count = describe_key("Trees of a forest.")
    max_features: Annotated[float, *settings.number(gt=0, le=1)] = describe_key(
        "Share of the features tried at a split."
    )
    min_samples_leaf: settings.Count = describe_key("Records in a leaf.")
    bootstrap: bool = describe_key("Whether a tree sees a bootstrap sample of the shard.")

    def parameters(self) -> dict:
        """Return the parameters of random forests, as scikit-learn names them."""
        # scikit-learn takes 1.0 for a share, but 1 for one feature.
        return self.to_dict() | {"max_features": float(self.max_features)}


class NetworkStudent(settings.Section):
    """Training of a student's network; training/student/network.py has defaults."""

    method: Literal["supervised"] = describe_key("Of a baseline.", LEFT_OUT)
    epochs: settings.Repetitions = describe_key(EPOCHS, LEFT_OUT)
    batch_size: settings.Count = describe_key(BATCH_SIZE, LEFT_OUT)
    unlabelled_batch_size: settings.Count = describe_key(BATCH_SIZE, LEFT_OUT)
    learning_rate: settings.Positive = describe_key(LEARNING_RATE, LEFT_OUT)
    adversarial_radius: settings.Positive = describe_key("Norm of the perturbation.", LEFT_OUT)
    probe: settings.Positive = describe_key("Length of the finite difference.", LEFT_OUT)
    adversarial_weight: settings.NotNegative = describe_key("Of that loss.", LEFT_OUT)
    entropy_weight: settings.NotNegative = describe_key("Of that loss.", LEFT_OUT)
    shift: settings.NotNegative = describe_key("Largest shift of an image.", LEFT_OUT)
    rotation: settings.NotNegative = describe_key("Largest rotation in radians.", LEFT_OUT)
    scale: settings.NotNegative = describe_key("Largest change of size.", LEFT_OUT)
    widths: Annotated[list[settings.Count], Field(min_length=3, max_length=3)] = describe_key(
        "Channels of the three convolutions.", LEFT_OUT
    )
    checkpoint_every: settings.Count = describe_key("Epochs between two checkpoints.", LEFT_OUT)


class ForestStudent(settings.Section):
    """Random forest of a student."""

    method: Literal["forest"] = describe_key("Of a baseline.", LEFT_OUT)
    n_trees: settings.Count = describe_key("Trees.", LEFT_OUT)
    max_depth: settings.Count = describe_key("Longest path.", LEFT_OUT)
    min_samples_leaf: settings.Count = describe_key("Records in a leaf.", LEFT_OUT)
