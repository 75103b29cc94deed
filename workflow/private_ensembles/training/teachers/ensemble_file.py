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
    """Read the teachers' state_dicts, a list, and the metadata of an ensemble file.

    Raises:
        ValueError: The file is damaged or something else; the message names it.
        OSError: The file cannot be opened.
    """

    def parse(content):
        teachers = content["teachers"]
        return [teachers[i] for i in range(len(teachers))], json.loads(content["metadata"])

    return read_tensors(path, "ensemble of teachers", parse)


# Slices of one ensemble share these facts; versions and machines may differ.
SHARED = ("dataset", "kind", "K", "seed", "training_seed", "training", "noise", "shards")


def load_slices(paths):
    """Read all teachers' state_dicts, a list, and the metadata from the files of the slices.

    Args:
        paths: The files, in order. One file without a slice is the whole ensemble.

    Raises:
        ValueError: A file is damaged, belongs to another ensemble, or has other teachers than come
            next; the message names it.
        OSError: A file cannot be opened.
    """
    states, facts = [], None
    for path in paths:
        teachers, own_facts = load_ensemble(path)
        facts = facts or {key: value for key, value in own_facts.items() if key != "slice"}
        different = [key for key in SHARED if own_facts.get(key) != facts.get(key)]
        if different:
            raise ValueError(f"{os.fspath(path)}: {different[0]} is another than in {paths[0]}")
        members = slice_members(own_facts["K"], own_facts.get("slice"))
        if members != range(len(states), len(states) + len(teachers)):
            raise ValueError(
                f"{os.fspath(path)}: holds {len(teachers)} teachers from {members.start} on: "
                f"must begin with teacher {len(states)}"
            )
        states += teachers
    if len(states) != facts["K"]:
        raise ValueError(f"{os.fspath(paths[-1])}: is the last of {len(states)} of {facts['K']}")
    return states, facts
