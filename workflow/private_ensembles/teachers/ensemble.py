"""Train the teachers of one ensemble, or a slice of them, each on its own shard."""

import inspect

import torch

from private_ensembles import checks
from private_ensembles.jobs.checkpoint import Checkpoint
from private_ensembles.jobs.memory import keep_memory
from private_ensembles.jobs.progress import Meter
from private_ensembles.noise.secure import check_mode
from private_ensembles.noise.streams import torch_seed
from private_ensembles.teachers.device import first_line, is_out_of_memory, scaled
from private_ensembles.teachers.dpsgd import train_private_teacher
from private_ensembles.teachers.dpsgd_ensemble import train_private_ensemble
from private_ensembles.teachers.models import build_model
from private_ensembles.teachers.plain import train_plain_teacher
from private_ensembles.teachers.plain_ensemble import train_plain_ensemble

# One teacher after the other, and all together.
TRAINERS = {"private": train_private_teacher, "plain": train_plain_teacher}
ENSEMBLE_TRAINERS = {"private": train_private_ensemble, "plain": train_plain_ensemble}
BACKENDS = ("auto", "opacus")


def trains_together(backend, kind, device):
    """Whether one of BACKENDS trains all teachers together; raises ValueError for another name.

    `opacus` trains one teacher after the other. `auto` does so with plain teachers on a CPU, which
    one teacher keeps busy (docs/benchmarks/teachers.md); all others are faster together.
    """
    checks.one_of(BACKENDS, backend=backend)
    return backend == "auto" and (kind, torch.device(device).type) != ("plain", "cpu")


def train_ensemble(
    kind,
    images,
    labels,
    shards,
    *,
    pixel_max,
    n_classes,
    parameters,
    seed,
    path=(),
    members=None,
    backend="auto",
    device="cpu",
    noise="reproducible",
    checkpoint=None,
    progress=lambda message: None,
):
    """One teacher per shard: list of state_dicts on the CPU, in the order of the shards.

    kind: `private` or `plain`. images: uint8 (N, height, width) or (N, height, width, channels);
    labels: uint8 (N,). shards: sequence of index arrays. parameters: model and the trainer's
    keyword arguments. members: numbers of the teachers to train, all by default.

    Teacher i's weights, batches and noise come from torch_seed(seed, *path, kind, i, ...), one
    independent stream each, so no teacher depends on how many others there are, on their order, or
    on which job trains them. noise: secure draws batches and noise of private teachers from the
    system's entropy instead. backend: see `trains_together`; either gives the same teachers up to
    rounding. checkpoint: a Checkpoint to resume from, to write, and to remove in the end.

    Raises ValueError for an unknown kind, backend or parameter, diverged training, or too little
    memory.
    """
    checks.one_of(TRAINERS, kind=kind)
    parameters = dict(parameters)
    model_name = parameters.pop("model", "darrm_cnn")
    _check_names(kind, parameters)
    members = list(range(len(shards)) if members is None else members)
    streams = [_seeds(kind, check_mode(noise), seed, *path, kind, i) for i in members]
    models = [
        build_model(model_name, images.shape[1:], n_classes, one.pop("initial")) for one in streams
    ]
    device = torch.device(device)
    checkpoint = checkpoint or Checkpoint()
    data = {
        "images": torch.as_tensor(images, device=device),
        "labels": torch.as_tensor(labels, device=device).to(torch.int64),
        "shards": [torch.as_tensor(shards[i]) for i in members],
        "pixel_max": pixel_max,
        "checkpoint": checkpoint,
        "progress": lambda line: progress(f"{len(members)} {kind} teachers: {line}"),
    }
    if trains_together(backend, kind, device):
        seeds = {f"{name}s": [one[name] for one in streams] for name in streams[0]}
        teachers = ENSEMBLE_TRAINERS[kind](models, **data, **parameters, **seeds)
    else:
        teachers = _one_by_one(kind, models, streams, parameters, **data)
    checkpoint.remove()
    return teachers


def _one_by_one(
    kind, models, streams, parameters, *, images, labels, shards, pixel_max, checkpoint, progress
):
    """State_dicts of teachers trained one after the other."""
    saved = checkpoint.load()
    teachers = [] if saved is None else saved["teachers"]
    keep_memory()
    meter = Meter(len(models), "teachers", say=progress, log=progress, done=len(teachers))
    for i in range(len(teachers), len(models)):
        mine = shards[i].to(images.device)
        inputs = scaled(images[mine], pixel_max)
        try:
            state = TRAINERS[kind](
                *(models[i], inputs, labels[mine]), **parameters, **streams[i], device=images.device
            )
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise ValueError(
                f"teacher {i + 1} of {len(models)}: out of memory on {images.device}; use device: "
                f"cpu ({first_line(error)})"
            ) from error
        teachers.append(state)
        meter.advance(images=len(mine) * parameters["epochs"])
        if checkpoint.due():
            checkpoint.save(teachers=teachers)
    meter.finish()
    return teachers


def _seeds(kind, noise, seed, *path):
    """The seeds of one teacher by what they are for; None for the system's entropy."""
    secure = kind == "private" and noise == "secure"
    seeds = {
        "initial": torch_seed(seed, *path, "initialisation"),
        "sampling_seed": None if secure else torch_seed(seed, *path, "sampling"),
    }
    if kind == "private":
        seeds["noise_seed"] = None if secure else torch_seed(seed, *path, "noise")
    return seeds


def _check_names(kind, parameters):
    expected = {
        name
        for name, parameter in inspect.signature(TRAINERS[kind]).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    } - {"sampling_seed", "noise_seed", "device"}
    if unknown := sorted(set(parameters) - expected):
        raise ValueError(
            f"{kind} teachers: unknown parameter {unknown[0]}: must be one of "
            f"{', '.join(sorted(expected))}"
        )
