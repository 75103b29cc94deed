"""Attack the ensembles of this run by natural and poisoned records, and draw what was seen."""

import json
from pathlib import Path

from private_ensembles.base import files as io
from private_ensembles.labels.votes import read_votes
from private_ensembles.training.data.images import read_labelled_images
from private_ensembles.training.teachers.device import choose_device
from studies.adversaries.attacks import Target, attack_ensembles
from studies.adversaries.figure import draw

with io.job(snakemake) as job:
    options, files = job.params, job.input
    device = choose_device(options.device, job.threads)

    def target(kind: str, task: dict) -> Target:
        return Target(
            read_labelled_images(files[f"{kind}_dataset"]),
            read_votes(files[f"{kind}_votes"]),
            kind,
            task["training"],
            seed=options.seed,
            training_seed=task["training_seed"],
            device=device,
        )

    gamma = json.loads(Path(files["gamma"]).read_text(encoding="utf-8"))["gamma"]
    table = attack_ensembles(
        (target("plain", options.plain), options.plain),
        (target("private", options.private), options.private, gamma),
        options.settings,
        options.seed,
        job.report_progress,
    )
    io.write_csv(job.output.table, table)
    draw(table, job.output.png, job.output.pdf)
