"""Train the students of two rounds, and of one round at the same total, of every task and seed."""

from functools import partial

import pandas as pd

from private_ensembles.base import files as io
from private_ensembles.labels.votes import read_votes
from private_ensembles.papers.common.students import read_inputs, read_labels
from private_ensembles.training.teachers.device import choose_device
from studies.interactive_students.rounds import (
    Repetition,
    summarise_students,
    train_interactive_students,
)

with io.job(snakemake) as job:
    options = job.params
    rows = []
    for task, settings in options.settings.items():
        files = options.files[task]
        inputs, facts = read_inputs(files["dataset"])
        counts = read_votes(files["votes"]).histogram()[: settings["pool"]]
        bought = read_labels(files["labels"], "confident")["confident"]
        for student_seed in settings["seeds"]:
            trained = train_interactive_students(
                inputs,
                facts,
                counts,
                bought,
                settings,
                Repetition(task, student_seed, options.seed, options.noise),
                device=choose_device(options.device, job.threads),
                checkpoint=f"{options.checkpoint},task={task},seed={student_seed}",
                progress=partial(job.report_progress, "%s, seed %d: %s", task, student_seed),
            )
            rows.append(trained)
    table = summarise_students(pd.concat(rows, ignore_index=True), options.tasks)
    io.write_csv(job.output[0], table)
