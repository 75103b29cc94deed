"""Describe a finished run as a Workflow Run RO-Crate, with a copy of the code that made it."""

import shutil
from pathlib import Path

from private_ensembles.jobs import io, provenance
from private_ensembles.page import crate
from private_ensembles.page.run_facts import DEFAULTS

with io.job(snakemake) as job:
    home, code = DEFAULTS.parent, job.output.code
    code.mkdir()
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(home / name, code)
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("workflow", "envs"):
        shutil.copytree(home / name, code / name, ignore=ignore)
    root = Path(job.params.metadata).parent
    fidelity = next(map(Path, job.input.fidelity), None)
    metadata = crate.build(root, code, fidelity, job.config, provenance.is_private)
    io.write_json(job.output.metadata, metadata)
