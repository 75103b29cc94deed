"""Numerical libraries get as many threads as the rule says, and idle ones do not spin."""

SNAKEFILE = """
rule count:
    output: "{threads}.txt"
    threads: lambda wc: int(wc.threads)
    script: "count.py"
"""
SCRIPT = """
import os
names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
open(snakemake.output[0], "w").write(" ".join(os.environ[name] for name in names))
"""


def test_snakemake_tells_scripts_their_threads(tmp_path, run_snakemake):
    # What Snakemake 9 does, and what our rules rely on.
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "count.py").write_text(SCRIPT)
    done = run_snakemake(tmp_path, "--cores", "2", "1.txt", "2.txt")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "1.txt").read_text() == "1 1 1"
    assert (tmp_path / "2.txt").read_text() == "2 2 2"


def test_waiting_threads_are_passive(root):
    text = (root / "workflow" / "rules" / "common.smk").read_text(encoding="utf-8")
    assert '"OMP_WAIT_POLICY": "PASSIVE"' in text
