"""Train one student on the public pool and released labels, and evaluate it."""

from private_ensembles.experiments.students import read_inputs, run_student
from private_ensembles.jobs import io
from private_ensembles.student.students import save_student
from private_ensembles.teachers.device import choose_device

with io.job(snakemake) as job:
    aggregator, repeat = job.params.aggregator, job.params.student_seed
    bought = io.read_npz(job.input.labels)
    student, summary, history = run_student(
        *read_inputs(job.input.dataset),
        (bought[f"{aggregator}_queries"], bought[f"{aggregator}_labels"]),
        job.params.settings,
        seed=job.params.seed,
        path=(job.params.task, aggregator, "student", repeat),
        device=choose_device(job.params.device, job.threads),
        checkpoint=job.params.checkpoint,
        progress=job.progress,
    )
    name = {"task": job.params.task, "aggregator": aggregator, "student_seed": repeat}
    io.write_csv(job.output.summary, [name | summary])
    columns = [*name, "epoch", "accuracy"]
    io.write_csv(job.output.history, [name | row for row in history], columns)
    save_student(job.output.model, student)
