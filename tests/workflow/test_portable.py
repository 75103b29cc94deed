"""`portable`: libraries of every job use one instruction set, and no file depends on another."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from private_ensembles.base import instruction_sets
from private_ensembles.base.provenance import record_path
from private_ensembles.command.main import main
from private_ensembles.run.check import ConfigError, check, read_yaml
from tests.instructions import OLDEST, needs_avx2, print_twice

from . import comparison

TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "2")
# Of the tiny run: floats that are no proof and no release, and gammas, whose certificates are
# compared. docs/reproduce.md has the table of the embedded run.
ROUNDED = ("teachers/", "planner/", "darrm/gamma/", "darrm/figures/", "darrm/tables/figure")
ROUNDED += ("darrm/tables/objectives.csv", "index.html")


def run(copy_workflow, run_snakemake, folder, *arguments, **variables):
    copy_workflow(folder)
    done = run_snakemake(folder, *TINY, *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return comparison.contents(folder)


@needs_avx2
@pytest.mark.slow
def test_a_portable_run_is_the_same_whatever_instructions_libraries_would_take(
    tmp_path, copy_workflow, run_snakemake
):
    """One run where the environment asks for the oldest ones, and one where it asks for nothing."""
    runs = [
        run(copy_workflow, run_snakemake, tmp_path / name, "--config", "portable=true", **variables)
        for name, variables in (("oldest", OLDEST), ("usual", {}))
    ]
    assert comparison.differences(*runs) == []


@needs_avx2
@pytest.mark.slow
def test_nothing_that_is_proven_or_released_depends_on_the_instructions(
    finished_tiny_run, tmp_path, copy_workflow, run_snakemake, capsys
):
    """Beside the usual run, one whose libraries take what a processor of 2008 has."""
    folder = tmp_path / "oldest"
    other = run(copy_workflow, run_snakemake, folder, **OLDEST)
    changed = comparison.differences(comparison.contents(finished_tiny_run), other)
    assert [name for name in changed if not name.startswith(ROUNDED)] == []

    assert main(["compare", "--json", str(finished_tiny_run), str(folder)]) == 1
    compared = json.loads(capsys.readouterr().out)
    kinds = {name: table["kind"] for name, table in compared["tables"].items()}
    assert set(kinds.values()) == {"equal", "rounding", "other processor"}
    # Simulated losses are differences of utilities that are nearly alike.
    assert {name for name in kinds if kinds[name] == "other processor"} == {"darrm/objectives.csv"}
    assert compared["processors"][1]["sets"]["OpenBLAS"] == "Nehalem"
    assert compared["statuses"] == []

    gammas = sorted((folder / "results/darrm/gamma").glob("*.json"))
    assert gammas
    for path in gammas:
        usual = finished_tiny_run / "results/darrm/gamma" / path.name
        one, two = (json.loads(file.read_text(encoding="utf-8")) for file in (usual, path))
        assert one["certificate"]["holds"]
        assert two["certificate"]["holds"]
        np.testing.assert_allclose(one["gamma"], two["gamma"], rtol=0, atol=1e-11)
        assert max(one["utility"], two["utility"]) <= min(
            one["utility_upper_bound"], two["utility_upper_bound"]
        )


@needs_avx2
def test_every_job_of_a_portable_run_is_held_at_one_set(finished_tiny_run, tmp_path, run_snakemake):
    """Its record says which, also where the user's environment says otherwise."""
    name = "results/darrm/tables/table2.csv"
    again = (*TINY, "--rerun-triggers", "mtime", "--force", name)
    records = []
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    for arguments in ((), ("--profile", "profiles/portable", "--config", "portable=true")):
        done = run_snakemake(folder, *again, *arguments, **OLDEST)
        assert done.returncode == 0, done.stderr
        records.append(json.loads((folder / record_path(name)).read_text()))
    free, held = records
    assert (free["portable"], held["portable"]) == (False, True)
    assert free["instruction_sets"]["OpenBLAS"] == "Nehalem"
    assert held["instruction_sets"]["OpenBLAS"] == "Haswell"
    assert held["instruction_sets"]["NumPy"] in ("X86_V3", "AVX2")
    assert free["processor"] == held["processor"] == instruction_sets.describe_processor()


@needs_avx2
def test_the_profile_sets_the_key_beside_other_keys(root, finished_tiny_run, run_snakemake):
    """In `config:` of a profile it would be lost beside --config, without a word."""
    profile = ("--profile", str(root / "profiles/portable"))
    for more in ((), ("--config", "seed=1")):
        done = run_snakemake(finished_tiny_run, "-n", "--cores", "1", *profile, *more)
        assert done.returncode == 0, done.stderr
        assert "portable" in done.stdout + done.stderr


# A rehearsal of labels, by each mechanism.
REHEARSED = """
import warnings
import numpy as np
from private_ensembles import Budget, Rehearsal, release_labels

warnings.simplefilter("ignore")  # of labels that are worth little
draw = np.random.default_rng(5)
for teachers, classes in ((40, 2), (50, 7)):
    counts = draw.multinomial(teachers, draw.dirichlet(np.full(classes, 0.4), 30))
    for name in ("confident_gnmax_exact", "exponential"):
        released = release_labels(
            counts, Budget(4, 1e-5), mechanism=name, rehearsal=Rehearsal(seed=3), anyway=True
        )
        print(released.labels.tolist(), released.parameters, "epsilon", released.epsilon)
"""


@needs_avx2
def test_seeded_labels_of_own_votes_and_their_noise_do_not_depend_on_the_instructions(root):
    """What they cost is an upper bound, and may differ in its last digits."""
    usual, oldest = print_twice(root, REHEARSED)
    assert len(usual.splitlines()) == 4
    for one, other in zip(usual.splitlines(), oldest.splitlines(), strict=True):
        (labels, _, epsilon), (others, _, other_epsilon) = (
            line.rpartition(" epsilon ") for line in (one, other)
        )
        assert labels == others
        assert float(epsilon) == pytest.approx(float(other_epsilon), rel=1e-9)


# What jobs compute, and a hash of each.
COMPUTED = """
import hashlib
import numpy as np, torch
from private_ensembles import noise_scale
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.training.teachers.device import scale_pixels
from private_ensembles.training.teachers.dpsgd import train_private_ensemble
from private_ensembles.training.teachers.models import build_model
from private_ensembles.training.teachers.plain import train_plain_teacher
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import SeededTensors
from private_ensembles.training.teachers.training import PlainTraining, PrivateTraining

torch.set_num_threads(1)
draw = torch.Generator().manual_seed(0)
images = torch.randint(0, 256, (300, 8, 8), generator=draw, dtype=torch.uint8)
labels = torch.randint(0, 10, (300,), generator=draw)
shards = list(torch.arange(300).split(100))
private = train_private_ensemble(
    [build_model("darrm_cnn", (8, 8), 10, seed) for seed in range(3)],
    ShardedRecords(images, labels, shards, pixel_max=255, n_classes=10),
    PrivateTraining(1.0, 1.0, batch_size=20, epochs=2, learning_rate=0.1),
    sampling=[SeededTensors(seed) for seed in range(3)],
    noise=[SeededTensors(10 + seed) for seed in range(3)],
)
plain = train_plain_teacher(
    build_model("darrm_cnn", (8, 8), 10, 0),
    scale_pixels(images, 255),
    labels,
    PlainTraining(batch_size=30, epochs=2, learning_rate=0.05, momentum=0.9),
    sampling=SeededTensors(3),
)
gamma = optimize_gamma(11, 3, 0.1, 1e-5).gamma
results = {
    "private teachers": [part for state in private for part in state.values()],
    "plain teacher": list(plain.values()),
    "gamma": [gamma],
    "noise": [noise_scale("exponential", epsilon=1, delta=1e-5, labels=20, teachers=51)],
}
for name, parts in results.items():
    data = b"".join(np.asarray(part).tobytes() for part in parts)
    print(name, hashlib.sha256(data).hexdigest())
"""
EMULATOR = "qemu-x86_64-static"


@needs_avx2
@pytest.mark.slow
@pytest.mark.skipif(shutil.which(EMULATOR) is None, reason="needs the package qemu-user-static")
def test_teachers_gammas_and_noise_are_the_same_on_an_emulated_processor_of_another_maker(root):
    environment = os.environ | instruction_sets.PORTABLE | {"PYTHONPATH": str(root / "workflow")}
    said = [
        subprocess.run(
            [*emulator, sys.executable, "-c", COMPUTED],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for emulator in ((), (EMULATOR, "-cpu", "Haswell"))
    ]
    assert len(said[0].splitlines()) == 4
    assert said[0] == said[1]


def test_a_processor_that_cannot_be_held_is_one_line(root, stand_in):
    config = read_yaml(root / "config.yaml")
    stand_in(instruction_sets, "platform", machine=lambda: "aarch64")
    assert check(config).portable is False
    with pytest.raises(ConfigError) as caught:
        check(config | {"portable": True})
    assert str(caught.value) == ("portable = True: must be false here: this processor is aarch64")
