"""Train one non-private baseline on all private data with true labels, and evaluate it."""

from private_ensembles.experiments.students import read_inputs, run_student
from private_ensembles.jobs import io
from private_ensembles.teachers.device import choose_device

with io.job(snakemake) as job:
    repeat = job.params.student_seed
    _, summary, _ = run_student(
        *read_inputs(job.input.dataset),
        None,
        job.params.settings,
        seed=job.params.seed,
        path=(job.params.task, "baseline", repeat),
        device=choose_device(job.params.device, job.threads),
        checkpoint=job.params.checkpoint,
        progress=job.progress,
    )
    name = {"task": job.params.task, "student_seed": repeat}
    io.write_csv(job.output[0], [name | summary])
