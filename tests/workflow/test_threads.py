"""Numerical libraries get as many threads as the rule says, and idle ones do not spin."""

import json
import os

import pytest

from private_ensembles.papers.darrm.mathematics import linear_program

SNAKEFILE = """
rule count:
    output: "{threads}.txt"
    threads: lambda wc: int(wc.threads)
    script: "count.py"
"""


def test_waiting_threads_are_passive(root):
    text = (root / "workflow" / "rules" / "common.smk").read_text(encoding="utf-8")
    assert '"OMP_WAIT_POLICY": "PASSIVE"' in text


def test_trainings_do_not_depend_on_what_else_is_in_a_batch(root):
    """As tests/training/teachers/test_stacked.py sees it; a value that somebody has set stays."""
    text = (root / "workflow" / "rules" / "common.smk").read_text(encoding="utf-8")
    assert 'os.environ.setdefault("MKL_CBWR", "AUTO")' in text


# All that computes on several threads, each on enough work to wake its threads.
LIBRARIES = """
import json, os, sys
sys.path.insert(0, snakemake.params.package)
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info

from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.training.teachers.device import choose_device

def busy():
    # Threads of this process that have computed for 0.1 s or more.
    ticks = 0.1 * os.sysconf("SC_CLK_TCK")
    found = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        found += int(fields[11]) + int(fields[12]) >= ticks
    return found

threads = snakemake.threads
choose_device("cpu", threads)
import torch
a = np.random.default_rng(0).standard_normal((1000, 1000))
for _ in range(10):
    a @ a
scipy.linalg.solve(a, a)
tensor = torch.from_numpy(a)
for _ in range(10):
    tensor @ tensor
for solver in ("highs", "auto"):
    optimize_gamma(K=101, m=20, epsilon=0.1, Delta=1e-5, solver=solver, threads=threads)
facts = {
    "pools": [pool["num_threads"] for pool in threadpool_info()],
    "torch": torch.get_num_threads(),
    "busy": busy(),
}
json.dump(facts, open(snakemake.output[0], "w"))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux's /proc")
def test_numerical_libraries_compute_on_as_many_threads_as_the_rule_says(
    tmp_path, root, run_snakemake, monkeypatch
):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    params = f'    params: package="{root}/workflow"\n    script:'
    (tmp_path / "Snakefile").write_text(SNAKEFILE.replace("    script:", params))
    (tmp_path / "count.py").write_text(LIBRARIES)
    done = run_snakemake(tmp_path, "--cores", "2", "1.txt", "2.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    for threads in (1, 2):
        facts = json.loads((tmp_path / f"{threads}.txt").read_text())
        assert facts["torch"] == threads
        assert len(facts["pools"]) >= 2
        assert set(facts["pools"]) == {threads}
    # With one thread, nobody but the main thread has computed.
    assert json.loads((tmp_path / "1.txt").read_text())["busy"] == 1


def test_solvers_are_told_their_threads():
    highs = linear_program.Highs(threads=2)
    assert highs.model.getOptionValue("threads")[1] == 2
    try:
        gurobi = linear_program.Gurobi(threads=2)
    except linear_program.SolverUnavailable as reason:
        pytest.skip(str(reason))
    assert gurobi.api.Model(env=gurobi.environment).Params.Threads == 2
