# NZC: immutable noisy ArgMax beside LNMax, students, and the tables and figures of the paper.


# All of the paper that this workflow reproduces.
rule nzc:
    input:
        collect("results/nzc/tables/{item}.csv", item=NZC_TABLES),
        collect("results/nzc/figures/{item}.png", item=NZC_FIGURES),


# input: many, few (votes of the two ensembles of Table 1). output: table (CSV: what was asked and
# right), labels (npz; not for release), privacy (claimed and true costs, accuracies).
# params: task, seed, settings (K, few, pool, delta, lnmax, mechanism).
rule ask_nzc_labels:
    message:
        "Asking LNMax and NZC for the labels of {wildcards.nzc_task}"
    input:
        many=lambda wc: nzc_votes_file(wc.nzc_task, settings.nzc.largest(wc.nzc_task)),
        few=lambda wc: nzc_votes_file(wc.nzc_task, config["nzc"]["tasks"][wc.nzc_task]["few"]),
    output:
        table="results/nzc/labels/task={nzc_task}.csv",
        labels="results/nzc/labels/task={nzc_task}.npz",
        privacy="results/nzc/privacy/task={nzc_task}.csv",
    params:
        code=fingerprint("ask_nzc_labels.py"),
        task="{nzc_task}",
        seed=config["seed"],
        settings=lambda wc: settings.nzc.labels(wc.nzc_task),
    log:
        "logs/ask_nzc_labels/task={nzc_task}.log",
    benchmark:
        "results/benchmarks/ask_nzc_labels/task={nzc_task}.tsv"
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=20,
    script:
        "../scripts/ask_nzc_labels.py"


# One student per aggregator, one after the other. A killed job goes on from params.checkpoint (the
# start of a name), which is no output: Snakemake would remove it. params: task, student_seed, seed,
# settings (method, pool, parameters), device.
rule train_nzc_students:
    message:
        "Training students of {wildcards.nzc_task}, seed {wildcards.seed}"
    input:
        dataset=lambda wc: f"results/datasets/{settings.nzc.dataset(wc.nzc_task)}.npz",
        labels="results/nzc/labels/task={nzc_task}.npz",
    output:
        "results/nzc/students/task={nzc_task},seed={seed}.csv",
    params:
        code=fingerprint("train_nzc_students.py"),
        checkpoint="results/nzc/checkpoints/task={nzc_task},seed={seed}",
        task="{nzc_task}",
        student_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=lambda wc: settings.nzc.student_of(wc.nzc_task),
        device=config["device"],
    log:
        "logs/train_nzc_students/task={nzc_task},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_nzc_students/task={nzc_task},seed={seed}.tsv"
    threads: 1
    resources:
        mem_mb=growing(6000 if GPUS else 1500),
        runtime=240,
        gpu=GPUS,
    script:
        "../scripts/train_nzc_students.py"


# input: privacy, labels, students (lists). params: tasks (by name: stand_in, K, few).
rule tabulate_nzc:
    message:
        "Tabulating students, labels and privacy of NZC, table1 and table2"
    input:
        privacy=collect("results/nzc/privacy/task={task}.csv", task=NZC_TASKS),
        labels=collect("results/nzc/labels/task={task}.csv", task=NZC_TASKS),
        students=[nzc_student_files(task) for task in NZC_TASKS],
    output:
        students=report(
            "results/nzc/tables/table1.csv",
            caption="../report/nzc_table1.rst",
            category="NZC",
        ),
        labels=report(
            "results/nzc/tables/table2.csv",
            caption="../report/nzc_table2.rst",
            category="NZC",
        ),
    params:
        code=fingerprint("tabulate_nzc.py"),
        tasks=settings.nzc.descriptions(NZC_TASKS),
    log:
        "logs/tabulate_nzc/tables.log",
    benchmark:
        "results/benchmarks/tabulate_nzc/tables.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/tabulate_nzc.py"


# input: votes of every ensemble of every task, in the order of params.tasks (by name: sizes, pool).
# params: distances (shares of the largest ensemble).
rule draw_nzc_ensembles:
    message:
        "Drawing accuracy and distances against the number of teachers, figure2"
    input:
        [nzc_votes_file(task, size) for task in NZC_TASKS for size in settings.nzc.sizes(task)],
    output:
        png=report(
            "results/nzc/figures/figure2.png",
            caption="../report/nzc_figure2.rst",
            category="NZC",
        ),
        pdf="results/nzc/figures/figure2.pdf",
        data="results/nzc/tables/figure2.csv",
    params:
        code=fingerprint("draw_nzc_ensembles.py"),
        tasks=settings.nzc.ensembles(NZC_TASKS),
        distances=config["nzc"]["distances"],
    log:
        "logs/draw_nzc_ensembles/figure2.log",
    benchmark:
        "results/benchmarks/draw_nzc_ensembles/figure2.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(400),
        runtime=10,
    script:
        "../scripts/draw_nzc_ensembles.py"


# Needs no data. params: settings (teachers, classes, epsilon), mechanism.
rule audit_nzc_leads:
    message:
        "Auditing NZC's label by lead and rule for ties"
    output:
        report(
            "results/nzc/tables/leads.csv",
            caption="../report/nzc_leads.rst",
            category="NZC",
        ),
    params:
        code=fingerprint("audit_nzc_leads.py"),
        settings=config["nzc"]["leads"],
        mechanism=settings.nzc.mechanism(),
    log:
        "logs/audit_nzc_leads/leads.log",
    benchmark:
        "results/benchmarks/audit_nzc_leads/leads.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/audit_nzc_leads.py"
