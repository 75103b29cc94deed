"""Train the teachers of one ensemble, or a slice of them, each on its own shard."""

from functools import partial

import torch

from private_ensembles.base import checks
from private_ensembles.base.progress import Meter
from private_ensembles.training.checkpoint import Checkpoint
from private_ensembles.training.teachers.device import first_line, is_out_of_memory, scale_pixels
from private_ensembles.training.teachers.dpsgd import train_private_ensemble, train_private_teacher
from private_ensembles.training.teachers.models import build_model
from private_ensembles.training.teachers.plain import train_plain_ensemble, train_plain_teacher
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import Randomness
from private_ensembles.training.teachers.training import SOURCES, build_training

# TRAINERS train one teacher after the other, and ENSEMBLE_TRAINERS all together.
TRAINERS = {"private": train_private_teacher, "plain": train_plain_teacher}
ENSEMBLE_TRAINERS = {"private": train_private_ensemble, "plain": train_plain_ensemble}
BACKENDS = ("auto", "opacus")


def trains_together(backend, kind, device):
    """Return whether a backend trains all teachers together.

    `opacus` trains one teacher after the other. `auto` does so with plain teachers on a CPU, which
    one teacher keeps busy (docs/benchmarks); all others are faster together.

    Args:
        backend: One of BACKENDS.
        kind: `private` or `plain`.
        device: Where the teachers train.

    Raises:
        ValueError: The backend is unknown.
    """
    checks.check_choice(BACKENDS, backend=backend)
    return backend == "auto" and (kind, torch.device(device).type) != ("plain", "cpu")


def train_ensemble(
    kind,
    records: ShardedRecords,
    parameters,
    randomness: Randomness,
    *,
    members=None,
    backend="auto",
    device="cpu",
    checkpoint=None,
    progress=lambda message: None,
):
    """Train one teacher on each shard.

    Args:
        kind: `private` or `plain`.
        records: The records and their shards.
        parameters: The model's name (`model`), and the fields of PrivateTraining or PlainTraining
            by their names.
        randomness: The seeds and sources of the teachers.
        members: The numbers of the teachers to train, all by default.
        backend: See `trains_together`; either gives the same teachers up to rounding.
        device: Where to train.
        checkpoint: A Checkpoint to resume from, to write, and to remove in the end.
        progress: Called with a message that says how far the training is.

    Returns:
        A list of state_dicts on the CPU, in the order of `members`.

    Raises:
        ValueError: An unknown kind, backend or parameter, one that is out of range, diverged
            training, or too little memory.
    """
    checks.check_choice(TRAINERS, kind=kind)
    parameters = dict(parameters)
    model = parameters.pop("model", "darrm_cnn")
    training = build_training(kind, parameters)
    members = list(range(len(records.shards)) if members is None else members)
    models = [
        build_model(
            model, records.images.shape[1:], records.n_classes, randomness.initial_seed(kind, i)
        )
        for i in members
    ]
    sources = {name: [randomness.source(kind, i, name) for i in members] for name in SOURCES[kind]}
    device = torch.device(device)
    checkpoint = checkpoint or Checkpoint()
    if trains_together(backend, kind, device):
        train = ENSEMBLE_TRAINERS[kind]
    else:
        train = partial(_train_one_by_one, TRAINERS[kind])
    teachers = train(
        models,
        records.select_members(device, members),
        training,
        **sources,
        checkpoint=checkpoint,
        progress=lambda line: progress(f"{len(members)} {kind} teachers: {line}"),
    )
    checkpoint.remove()
    return teachers


def _train_one_by_one(train, models, records, training, *, checkpoint, progress, **sources):
    """Return the state_dicts of teachers trained one after the other by one of TRAINERS."""
    saved = checkpoint.load()
    teachers = [] if saved is None else saved["teachers"]
    device = records.images.device
    meter = Meter(len(models), "teachers", say=progress, log=progress, done=len(teachers))
    for i in range(len(teachers), len(models)):
        shard = records.shards[i].to(device)
        inputs = scale_pixels(records.images[shard], records.pixel_max)
        own_sources = {name: of_all[i] for name, of_all in sources.items()}
        try:
            state = train(
                models[i], inputs, records.labels[shard], training, **own_sources, device=device
            )
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise ValueError(
                f"teacher {i + 1} of {len(models)}: out of memory on {device}; use device: "
                f"cpu ({first_line(error)})"
            ) from error
        teachers.append(state)
        meter.advance(images=len(shard) * training.epochs)
        if checkpoint.is_due():
            checkpoint.save(teachers=teachers)
    meter.finish()
    return teachers
