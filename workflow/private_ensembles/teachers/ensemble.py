"""Train all teachers of one ensemble, one per shard, and keep them in one file."""

import inspect
import io as standard_io
import json
import os
import pickle
import time
from pathlib import Path

import torch

from private_ensembles.randomness import torch_seed
from private_ensembles.secure_noise import check_mode
from private_ensembles.teachers.dpsgd import train_private_teacher
from private_ensembles.teachers.models import build_model
from private_ensembles.teachers.plain import train_plain_teacher

TRAINERS = {"private": train_private_teacher, "plain": train_plain_teacher}


def choose_device(device, threads=1):
    """torch.device for `auto` (a GPU if there is one), `cpu` or `cuda`; sets torch's CPU threads.

    Raises ValueError for another name, or for cuda where there is none.
    """
    if device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device = {device!r}: must be auto, cpu or cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device = 'cuda': PyTorch finds no GPU here; use auto or cpu")
    torch.set_num_threads(max(1, int(threads)))
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def scaled(images, pixel_max, device="cpu"):
    """uint8 images in 0..pixel_max -> float32 tensor (N, channels, height, width) in [0, 1].

    images: array or tensor (N, height, width), or (N, height, width, channels) in colour.
    pixel_max is a property of the format, not of the data, so scaling costs no privacy.
    """
    pixels = torch.as_tensor(images).to(device)
    pixels = pixels.unsqueeze(1) if pixels.ndim == 3 else pixels.movedim(3, 1)
    return pixels.to(torch.float32) / pixel_max


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
    device="cpu",
    noise="reproducible",
    progress=lambda message: None,
):
    """One teacher per shard: list of state_dicts on the CPU, in the order of the shards.

    kind: `private` or `plain`. images: uint8 (N, height, width); labels: uint8 (N,). shards:
    sequence of index arrays. parameters: model and the trainer's keyword arguments. Teacher i's
    weights, batches and noise come from torch_seed(seed, *path, kind, i, ...), one independent
    stream each, so no teacher depends on how many others there are or on their order. noise:
    secure draws batches and noise of private teachers from the system's entropy instead.

    Raises ValueError for an unknown kind or parameter, diverged training, or too little GPU memory.
    """
    if kind not in TRAINERS:
        raise ValueError(f"kind = {kind!r}: must be one of {', '.join(TRAINERS)}")
    parameters = dict(parameters)
    model_name = parameters.pop("model", "darrm_cnn")
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
    inputs = scaled(images, pixel_max, device)
    targets = torch.from_numpy(labels).to(device, torch.int64)
    teachers = []
    start = time.monotonic()
    for i, shard in enumerate(shards):
        seeds = {"sampling_seed": torch_seed(seed, *path, kind, i, "sampling")}
        if kind == "private" and check_mode(noise) == "secure":
            seeds = {"sampling_seed": None, "noise_seed": None}
        elif kind == "private":
            seeds["noise_seed"] = torch_seed(seed, *path, kind, i, "noise")
        initial = torch_seed(seed, *path, kind, i, "initialisation")
        model = build_model(model_name, images.shape[1:], n_classes, initial)
        mine = torch.as_tensor(shard, device=device)
        try:
            state = TRAINERS[kind](
                model, inputs[mine], targets[mine], **parameters, **seeds, device=device
            )
        except torch.OutOfMemoryError as error:
            raise ValueError(
                f"teacher {i + 1} of {len(shards)}: out of memory on {device}; use device: cpu "
                f"({str(error).splitlines()[0]})"
            ) from error
        teachers.append(state)
        elapsed = time.monotonic() - start
        remaining = elapsed / (i + 1) * (len(shards) - i - 1)
        progress(
            f"{kind} teacher {i + 1} of {len(shards)} trained, "
            f"{elapsed:.0f} s elapsed, {remaining:.0f} s remaining"
        )
    return teachers


def save_ensemble(path, teachers, metadata):
    """Write state_dicts and JSON-able metadata; equal contents give equal bytes."""
    buffer = standard_io.BytesIO()  # torch.save writes a file's own name into it otherwise
    torch.save(
        {"teachers": dict(enumerate(teachers)), "metadata": json.dumps(metadata, sort_keys=True)},
        buffer,
    )
    Path(path).write_bytes(buffer.getvalue())


def load_ensemble(path):
    """(list of state_dicts, metadata) of an ensemble file; tensors and plain values only.

    Raises ValueError naming the file if it is damaged or something else.
    """
    data = standard_io.BytesIO(Path(path).read_bytes())
    try:
        content = torch.load(data, map_location="cpu", weights_only=True)
        teachers = content["teachers"]
        states = [teachers[i] for i in range(len(teachers))]
        metadata = json.loads(content["metadata"])
    except (
        OSError,  # torch reports a file without beginning so
        RuntimeError,
        pickle.UnpicklingError,
        EOFError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(
            f"{os.fspath(path)}: not a readable ensemble of teachers: {reason}"
        ) from None
    return states, metadata
