"""An ensemble's teachers in a file, or in one file for each slice of them."""

import json
import os
from pathlib import Path

from private_ensembles.training.teachers.slices import slice_members
from private_ensembles.training.tensors import pack, read_tensors


def save_ensemble(path, teachers, metadata):
    """Write state_dicts and JSON-able metadata; equal contents give equal bytes."""
    text = json.dumps(metadata, sort_keys=True)
    Path(path).write_bytes(pack({"teachers": dict(enumerate(teachers)), "metadata": text}))


def load_ensemble(path):
    """(list of state_dicts, metadata) of an ensemble file; tensors and plain values only.

    Raises ValueError naming the file if it is damaged or something else.
    """

    def parse(content):
        teachers = content["teachers"]
        return [teachers[i] for i in range(len(teachers))], json.loads(content["metadata"])

    return read_tensors(path, "ensemble of teachers", parse)


# What slices of one ensemble share; versions and machines may differ.
SHARED = ("dataset", "kind", "K", "seed", "training_seed", "training", "noise", "shards")


def load_slices(paths):
    """(list of all state_dicts, metadata) of an ensemble from the files of its slices, in order.

    One file without a slice is the whole ensemble. Raises ValueError naming the file that is
    damaged, belongs to another ensemble, or has other teachers than are wanted next.
    """
    states, facts = [], None
    for path in paths:
        teachers, own_facts = load_ensemble(path)
        facts = facts or {key: value for key, value in own_facts.items() if key != "slice"}
        different = [key for key in SHARED if own_facts.get(key) != facts.get(key)]
        if different:
            raise ValueError(f"{os.fspath(path)}: {different[0]} is another than in {paths[0]}")
        wanted = slice_members(own_facts["K"], own_facts.get("slice"))
        if wanted != range(len(states), len(states) + len(teachers)):
            raise ValueError(
                f"{os.fspath(path)}: holds {len(teachers)} teachers from {wanted.start} on: "
                f"must begin with teacher {len(states)}"
            )
        states += teachers
    if len(states) != facts["K"]:
        raise ValueError(f"{os.fspath(paths[-1])}: is the last of {len(states)} of {facts['K']}")
    return states, facts
