"""An ensemble's teachers in a file, or in one file for each slice of them."""

import io
import json
import os
import pickle
from pathlib import Path

import torch

from private_ensembles.teachers.slices import slice_members


def save_ensemble(path, teachers, metadata):
    """Write state_dicts and JSON-able metadata; equal contents give equal bytes."""
    buffer = io.BytesIO()  # torch.save writes a file's own name into it otherwise
    torch.save(
        {"teachers": dict(enumerate(teachers)), "metadata": json.dumps(metadata, sort_keys=True)},
        buffer,
    )
    Path(path).write_bytes(buffer.getvalue())


def load_ensemble(path):
    """(list of state_dicts, metadata) of an ensemble file; tensors and plain values only.

    Raises ValueError naming the file if it is damaged or something else.
    """
    data = io.BytesIO(Path(path).read_bytes())
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


# What slices of one ensemble share; versions and machines may differ.
SHARED = ("dataset", "kind", "K", "seed", "training_seed", "training", "noise", "shards")


def load_slices(paths):
    """(list of all state_dicts, metadata) of an ensemble from the files of its slices, in order.

    One file without a slice is the whole ensemble. Raises ValueError naming the file that is
    damaged, belongs to another ensemble, or has other teachers than are wanted next.
    """
    states, facts = [], None
    for path in paths:
        some, found = load_ensemble(path)
        facts = facts or {key: value for key, value in found.items() if key != "slice"}
        different = [key for key in SHARED if found.get(key) != facts.get(key)]
        if different:
            raise ValueError(f"{os.fspath(path)}: {different[0]} is another than in {paths[0]}")
        wanted = slice_members(found["K"], found.get("slice"))
        if wanted != range(len(states), len(states) + len(some)):
            raise ValueError(
                f"{os.fspath(path)}: holds {len(some)} teachers from {wanted.start} on: "
                f"must begin with teacher {len(states)}"
            )
        states += some
    if len(states) != facts["K"]:
        raise ValueError(f"{os.fspath(paths[-1])}: is the last of {len(states)} of {facts['K']}")
    return states, facts
