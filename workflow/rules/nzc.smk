# NZC: immutable noisy ArgMax beside LNMax, students, and the tables and figures of the paper.
from private_ensembles.papers.nzc import targets as nzc


wildcard_constraints:
    nzc_task="|".join(config["nzc"]["tasks"]),


# This makes all of the paper that this workflow reproduces.
rule nzc:
    input:
        targets.paper_files(settings, "nzc"),


# The labels are of Table 1's two ensembles. NZC's labels are not private, and have no exact sampler.
use rule release_labels as release_nzc_labels with:
    message:
        "Asking LNMax and NZC for the labels of {wildcards.nzc_task}"
    input:
        unpack(lambda wc: nzc.label_vote_files(settings.nzc, wc.nzc_task)),
    output:
        table="results/nzc/labels/task={nzc_task}.csv",
        labels="results/nzc/labels/task={nzc_task}.npz",
    params:
        code=fingerprint("darrm/release_labels.py", "private_ensembles.papers.nzc.experiment"),
        paper="nzc",
        name="{nzc_task}",
        noise="reproducible",
        settings=lambda wc: settings.nzc.label_settings(wc.nzc_task),
    log:
        "logs/release_nzc_labels/task={nzc_task}.log",
    benchmark:
        "results/benchmarks/release_nzc_labels/task={nzc_task}.tsv"


use rule account_votes as account_nzc_votes with:
    message:
        "Accounting for NZC's labels of {wildcards.nzc_task}: claimed and true"
    input:
        unpack(lambda wc: nzc.label_vote_files(settings.nzc, wc.nzc_task)),
    output:
        "results/nzc/privacy/task={nzc_task}.csv",
    params:
        code=fingerprint("pate/account_votes.py", "private_ensembles.papers.nzc.experiment"),
        paper="nzc",
        name="{nzc_task}",
        noise="reproducible",
        settings=lambda wc: settings.nzc.label_settings(wc.nzc_task),
    log:
        "logs/account_nzc_votes/task={nzc_task}.log",
    benchmark:
        "results/benchmarks/account_nzc_votes/task={nzc_task}.tsv"
    resources:
        mem_mb=growing(600),
        runtime=30,


# One job trains all students of a task, one after the other: aggregator is None. Labels that are the
# same (NZC's and those without noise) have one student.
use rule train_student as train_nzc_students with:
    message:
        "Training students of {wildcards.nzc_task} on NZC's labels, seed {wildcards.seed}"
    input:
        dataset=lambda wc: files.dataset(settings.nzc.pate_task(wc.nzc_task).dataset),
        labels="results/nzc/labels/task={nzc_task}.npz",
    output:
        summary="results/nzc/students/task={nzc_task},seed={seed}.csv",
    params:
        checkpoint="results/nzc/checkpoints/task={nzc_task},seed={seed}",
        stream=["nzc", "{nzc_task}"],
        task="{nzc_task}",
        aggregator=None,
        keep_student=False,
        remarks={"release": "not for release"},
        settings=lambda wc: settings.nzc.student_settings(wc.nzc_task),
    log:
        "logs/train_nzc_students/task={nzc_task},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_nzc_students/task={nzc_task},seed={seed}.tsv"
    resources:
        mem_mb=growing(6000 if GPUS else 1400),
        runtime=240,
        gpu=GPUS,


rule tabulate_nzc:
    message:
        "Tabulating students, labels and privacy, NZC's table1 and table2"
    input:
        privacy=collect("results/nzc/privacy/task={task}.csv", task=settings.nzc.running_tasks()),
        labels=collect("results/nzc/labels/task={task}.csv", task=settings.nzc.running_tasks()),
        students=[nzc.student_files(settings.nzc, task) for task in settings.nzc.running_tasks()],
    output:
        students=shown("results/nzc/tables/table1.csv", "nzc_table1", "NZC"),
        labels=shown("results/nzc/tables/table2.csv", "nzc_table2", "NZC"),
    params:
        code=fingerprint("nzc/tabulate_nzc.py"),
        tasks=settings.nzc.descriptions(settings.nzc.running_tasks()),
    log:
        "logs/tabulate_nzc/tables.log",
    benchmark:
        "results/benchmarks/tabulate_nzc/tables.tsv"
    localrule: True
    script:
        "../scripts/nzc/tabulate_nzc.py"


# params.votes says which file holds the votes of how many teachers of a task.
rule draw_nzc_ensembles:
    message:
        "Drawing accuracy and distances against the number of teachers, NZC's figure2"
    input:
        [votes.values() for votes in nzc.vote_files(settings.nzc).values()],
    output:
        png=shown("results/nzc/figures/figure2.png", "nzc_figure2", "NZC"),
        pdf="results/nzc/figures/figure2.pdf",
        data="results/nzc/tables/figure2.csv",
    params:
        code=fingerprint("nzc/draw_nzc_ensembles.py"),
        votes=nzc.vote_files(settings.nzc),
        tasks=settings.nzc.ensembles(settings.nzc.running_tasks()),
        distances=lookup(within=config, dpath="nzc/distances"),
    log:
        "logs/draw_nzc_ensembles/figure2.log",
    benchmark:
        "results/benchmarks/draw_nzc_ensembles/figure2.tsv"
    localrule: True
    script:
        "../scripts/nzc/draw_nzc_ensembles.py"


# This needs no data.
rule audit_nzc_leads:
    message:
        "Auditing NZC's label by lead and rule for ties"
    output:
        shown("results/nzc/tables/leads.csv", "nzc_leads", "NZC"),
    params:
        code=fingerprint("nzc/audit_nzc_leads.py"),
        settings=lookup(within=config, dpath="nzc/leads"),
        mechanism=settings.nzc.mechanism(),
    log:
        "logs/audit_nzc_leads/leads.log",
    benchmark:
        "results/benchmarks/audit_nzc_leads/leads.tsv"
    localrule: True
    script:
        "../scripts/nzc/audit_nzc_leads.py"
