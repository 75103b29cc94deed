"""How teachers and students are trained, whichever paper they belong to."""

from typing import Annotated, Literal

from pydantic import Field

from private_ensembles.configuration import types
from private_ensembles.configuration.types import LEFT_OUT, about

Model = Literal["darrm_cnn", "mnist_cnn", "svhn_cnn", "mlp", "linear"]
MODEL = (
    "darrm_cnn is DaRRM's network, mnist_cnn one for ten classes, svhn_cnn one for SVHN; mlp has a "
    "hidden layer of 32, linear none."
)
BATCH_SIZE = "Expected (DP-SGD) or actual (SGD) images per step."
EPOCHS = "Passes over the shard."
LEARNING_RATE = "Step size of (DP-)SGD."


class Teachers(types.MainSection):
    """How ensembles are trained."""

    backend: Literal["auto", "opacus"] = about(
        "The faster way for the kind of teachers and the device, or one teacher after the other."
    )
    per_job: types.Count = about("Most teachers in one job.")
    checkpoint_seconds: types.NotNegative = about("Seconds between two checkpoints.")


class PrivateTeachers(types.Section):
    """Teachers trained by DP-SGD."""

    model: Model = about(MODEL)
    noise_multiplier: types.Positive = about("Noise of DP-SGD as a multiple of max_grad_norm.")
    max_grad_norm: types.Positive = about("Clipping norm C.")
    batch_size: types.Count = about(BATCH_SIZE)
    epochs: types.Repetitions = about(EPOCHS)
    learning_rate: types.Positive = about(LEARNING_RATE)


class PlainTeachers(types.Section):
    """Teachers trained by SGD."""

    model: Model = about(MODEL)
    batch_size: types.Count = about(BATCH_SIZE)
    epochs: types.Repetitions = about(EPOCHS)
    learning_rate: types.Positive = about(LEARNING_RATE)
    learning_rate_schedule: Literal["constant", "linear"] = about(
        "The same rate in every step, or falling linearly to 0.", LEFT_OUT
    )
    momentum: types.number(ge=0, lt=1) = about("Momentum of SGD.")


class ForestTeachers(types.MainSection):
    """Random forests as teachers, one for each shard of a table."""

    n_estimators: types.Count = about("Trees of a forest.")
    max_features: types.number(gt=0, le=1) = about("Share of the features tried at a split.")
    min_samples_leaf: types.Count = about("Records in a leaf.")
    bootstrap: bool = about("Whether a tree sees a bootstrap sample of the shard.")

    def parameters(self) -> dict:
        """Return the parameters of random forests, as scikit-learn names them."""
        # To scikit-learn, 1.0 is a share and 1 is one feature.
        return self.plain() | {"max_features": float(self.max_features)}


class NetworkStudent(types.Section):
    """Training of a student's network; private_ensembles/student/images.py has defaults."""

    method: Literal["supervised"] = about("Of a baseline.", LEFT_OUT)
    epochs: types.Repetitions = about(EPOCHS, LEFT_OUT)
    batch_size: types.Count = about(BATCH_SIZE, LEFT_OUT)
    unlabelled_batch_size: types.Count = about(BATCH_SIZE, LEFT_OUT)
    learning_rate: types.Positive = about(LEARNING_RATE, LEFT_OUT)
    adversarial_radius: types.Positive = about("Norm of the perturbation.", LEFT_OUT)
    probe: types.Positive = about("Length of the finite difference.", LEFT_OUT)
    adversarial_weight: types.NotNegative = about("Of that loss.", LEFT_OUT)
    entropy_weight: types.NotNegative = about("Of that loss.", LEFT_OUT)
    shift: types.NotNegative = about("Largest shift of an image.", LEFT_OUT)
    rotation: types.NotNegative = about("Largest rotation in radians.", LEFT_OUT)
    scale: types.NotNegative = about("Largest change of size.", LEFT_OUT)
    widths: Annotated[list[types.Count], Field(min_length=3, max_length=3)] = about(
        "Channels of the three convolutions.", LEFT_OUT
    )
    checkpoint_every: types.Count = about("Epochs between two checkpoints.", LEFT_OUT)


class ForestStudent(types.Section):
    """Random forest of a student."""

    method: Literal["forest"] = about("Of a baseline.", LEFT_OUT)
    n_trees: types.Count = about("Trees.", LEFT_OUT)
    max_depth: types.Count = about("Longest path.", LEFT_OUT)
    min_samples_leaf: types.Count = about("Records in a leaf.", LEFT_OUT)
