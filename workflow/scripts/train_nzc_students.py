"""Train one student per aggregator on its labels, and evaluate them: NZC's Table 1."""

from private_ensembles.experiments.marks import NOT_FOR_RELEASE
from private_ensembles.experiments.students import read_inputs, run_student
from private_ensembles.jobs import io
from private_ensembles.teachers.device import choose_device

with io.job(snakemake) as job:
    inputs, facts = read_inputs(job.input.dataset)
    asked = io.read_npz(job.input.labels)
    rows, task, repeat = [], job.params.task, job.params.student_seed
    for name in [key.removesuffix("_labels") for key in asked if key.endswith("_labels")]:
        job.progress("student of %s", name)
        _, summary, _ = run_student(
            *(inputs, facts),
            (asked[f"{name}_queries"], asked[f"{name}_labels"]),
            job.params.settings,
            seed=job.params.seed,
            path=("nzc", task, name, "student", repeat),
            device=choose_device(job.params.device, job.threads),
            checkpoint=f"{job.params.checkpoint}.{name}.pt",
            progress=job.progress,
        )
        where = {"task": task, "aggregator": name, "student_seed": repeat}
        rows.append({**where, **summary, "release": NOT_FOR_RELEASE})
    io.write_csv(job.output[0], rows)
