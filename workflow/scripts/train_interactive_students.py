"""Train the students of two rounds, and one of a single round at the same total, per seed."""

import pandas as pd

from private_ensembles.experiments.interactive_students import interactive_students
from private_ensembles.experiments.students import read_inputs, read_labels
from private_ensembles.jobs import io
from private_ensembles.teachers.device import choose_device
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    options, settings = job.params, job.params.settings
    inputs, facts = read_inputs(job.input.dataset)
    counts = read_votes(job.input.votes).histogram()[: settings["pool"]]
    bought = read_labels(job.input.labels, "confident")["confident"]
    found = [
        interactive_students(
            *(inputs, facts, counts, bought, settings),
            task=options.task,
            student_seed=student_seed,
            seed=options.seed,
            noise=options.noise,
            device=choose_device(options.device, job.threads),
            checkpoint=f"{options.checkpoint},seed={student_seed}",
            progress=job.progress,
        )
        for student_seed in settings["seeds"]
    ]
    io.write_csv(job.output[0], pd.concat(found, ignore_index=True))
