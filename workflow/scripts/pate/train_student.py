"""Train one student of a task on each aggregator's labels, or one on all private data."""

from private_ensembles.base import files
from private_ensembles.papers.common.students import (
    identify_student,
    map_to_first_identical,
    read_inputs,
    read_labels,
    run_student,
)
from private_ensembles.training.student.students import save_student
from private_ensembles.training.teachers.device import choose_device

with files.job(snakemake) as job:
    options = job.params
    inputs, facts = read_inputs(job.input.dataset)
    summaries = []
    histories = []
    trained = {}
    released = read_labels(job.input.get("labels"), options.aggregator)
    for name, first in map_to_first_identical(released).items():
        columns, stream = identify_student(name, options.task, options.student_seed)
        if first == name:
            job.report_progress("student of %s", name)
            trained[name] = run_student(
                inputs,
                facts,
                released[name],
                options.settings,
                seed=options.seed,
                path=(*options.stream, *stream),
                watched=options.keep_student,
                device=choose_device(options.device, job.threads),
                checkpoint=f"{options.checkpoint}.{name}.pt",
                progress=job.report_progress,
            )
        student, summary, history = trained[first]
        summaries.append({**columns, **summary, **options.remarks})
        histories += [{**columns, **row} for row in history]
    files.write_csv(job.output.summary, summaries)
    if options.keep_student:
        files.write_csv(job.output.history, histories, [*columns, "epoch", "accuracy"])
        save_student(job.output.model, student)
