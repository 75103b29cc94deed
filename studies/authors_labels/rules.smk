# How right the labels that PATE's authors released are, and their student.
RELEASED = {task: main.files.dataset(name) for task, name in AUTHORS_LABELS.items()}
TRUTH = {
    task: main.files.dataset(main.settings.pate.tasks[task].dataset) for task in AUTHORS_LABELS
}
TABLES.append("results/studies/tables/authors_labels.csv")


# The labels that PATE 2017's ensemble released, to the student that had them: its queries and labels
# are the training part of what `prepare_dataset` makes of them.
use rule train_student from main as train_on_authors_labels with:
    message:
        "Training a student of {wildcards.task} on the authors' labels, seed {wildcards.seed}"
    input:
        dataset=lambda wc: TRUTH[wc.task],
        labels=lambda wc: RELEASED[wc.task],
    output:
        summary="results/studies/authors_labels/task={task},seed={seed}.csv",
    params:
        aggregator="train",
        checkpoint="results/studies/checkpoints/authors,task={task},seed={seed}",
        keep_student=False,
    log:
        "logs/train_on_authors_labels/task={task},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_on_authors_labels/task={task},seed={seed}.tsv"


# params.released and params.datasets say which file holds a task's: task names are no names of inputs.
rule tabulate_authors_labels:
    message:
        "Tabulating students of the authors' labels"
    input:
        TRUTH.values(),
        RELEASED.values(),
        students=[authors_labels.student_files(main.settings, task) for task in AUTHORS_LABELS],
    output:
        shown("results/studies/tables/authors_labels.csv"),
    params:
        code=fingerprint("authors_labels/tabulate_authors_labels.py"),
        released=RELEASED,
        datasets=TRUTH,
    log:
        "logs/tabulate_authors_labels/authors_labels.log",
    benchmark:
        "results/benchmarks/tabulate_authors_labels/authors_labels.tsv"
    localrule: True
    script:
        "tabulate_authors_labels.py"
