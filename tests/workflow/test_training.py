"""Training through the workflow: in several jobs, and killed in the middle."""

import shutil

import numpy as np
import pytest

from .test_kills import TEACHERS, kill_training, long_training

VOTES = "results/votes/digits/kind=private,K=5,seed=0.npz"
TINY = ("--configfile", "config/scenarios/tiny.yaml")


def test_votes_of_slices_are_those_of_the_ensemble(tmp_path, run_snakemake, finished_tiny_run):
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    (folder / "slices.yaml").write_text("teachers: {per_job: 3}\n")
    for path in (TEACHERS, VOTES):
        (folder / path).unlink()
    done = run_snakemake(folder, *TINY, "slices.yaml", "--cores", "2", "--", VOTES)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {path.name for path in (folder / TEACHERS).parent.iterdir()}
    kinds = "private", "plain"  # the votes of both come from one job
    slices = {f"kind={kind},K=5,seed=0,slice={part}of2.pt" for kind in kinds for part in (1, 2)}
    assert names == slices | {"kind=plain,K=5,seed=0.pt"}
    both = [np.load(where / VOTES, allow_pickle=False) for where in (folder, finished_tiny_run)]
    assert np.array_equal(both[0]["votes"], both[1]["votes"])
    assert np.array_equal(both[0]["labels"], both[1]["labels"])


@pytest.mark.slow
def test_killed_training_goes_on_from_its_checkpoint_to_the_same_bytes(
    tmp_path, run_snakemake, finished_tiny_run
):
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    (folder / TEACHERS).unlink()
    kill_training(folder)
    assert run_snakemake(folder, "--unlock").returncode == 0
    resumed = run_snakemake(folder, *long_training(folder, 1000))
    assert resumed.returncode == 0, resumed.stderr
    assert "training goes on from there" in resumed.stderr
    assert list((folder / TEACHERS).parent.glob("*private*")) == [folder / TEACHERS]
    assert list((folder / TEACHERS).parent.glob(".*")) == []
    data = (folder / TEACHERS).read_bytes()

    (folder / TEACHERS).unlink()
    anew = run_snakemake(folder, *long_training(folder, 1000))
    assert anew.returncode == 0, anew.stderr
    assert "training goes on" not in anew.stderr
    assert (folder / TEACHERS).read_bytes() == data
