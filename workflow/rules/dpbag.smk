# DPBag: bagged teachers on UCI Adult, what their labels cost, and students trained on them.
from private_ensembles.papers.dpbag import targets as dpbag
from private_ensembles.papers.dpbag.section import MODELS

# This names one partitioning into n shards of one split of the data (the seed).
BAGGING = "model={model},n={n},seed={seed}"
# These are the tables of this run, each with its model.
STUDENT_TABLES = settings.dpbag.run_tables("students")
LABEL_TABLES = settings.dpbag.run_tables("labels")


wildcard_constraints:
    model="|".join(MODELS),
    n=r"\d+",
    first=r"\d+",


# This makes all of the paper that this workflow reproduces.
rule dpbag:
    input:
        targets.paper_files(settings, "dpbag"),


# `repeat` is the split of the data, and the budget says how many queries are needed. Boosted trees are
# the longest jobs of all: one at the end would keep a single core busy.
rule cast_bagged_votes:
    message:
        "Training {wildcards.model} teachers on {wildcards.n} shards, split {wildcards.seed}, partitions from {wildcards.first}"
    input:
        dataset="results/datasets/{dataset}.npz",
    output:
        f"results/dpbag/votes/{{dataset}}/{BAGGING},first={{first}}.npz",
    params:
        code=fingerprint("dpbag/cast_bagged_votes.py"),
        model="{model}",
        training=lambda wc: settings.dpbag.training(wc.model),
        n=lambda wc: int(wc.n),
        partitions=lambda wc: settings.dpbag.partitions(wc.model, int(wc.first)),
        budget=settings.dpbag.asking(),
        scaling=lookup(within=config, dpath="dpbag/scaling"),
        seed=config["seed"],
        repeat=lambda wc: int(wc.seed),
    log:
        f"logs/cast_bagged_votes/{{dataset}}/{BAGGING},first={{first}}.log",
    benchmark:
        f"results/benchmarks/cast_bagged_votes/{{dataset}}/{BAGGING},first={{first}}.tsv"
    priority: 2
    resources:
        runtime=60,
    script:
        "../scripts/dpbag/cast_bagged_votes.py"


# The counts are the labels that each budget buys; the costs, what they cost, are not for release.
rule account_bagging:
    message:
        "Accounting for labels of {wildcards.model} teachers on {wildcards.n} shards, split {wildcards.seed}"
    input:
        lambda wc: dpbag.vote_files(settings.dpbag, **wc),
    output:
        counts=f"results/dpbag/privacy/{{dataset}}/{BAGGING}.csv",
        costs=f"results/dpbag/costs/{{dataset}}/{BAGGING}.npz",
    params:
        code=fingerprint("dpbag/account_bagging.py"),
        budget=settings.dpbag.asking(),
        k=lambda wc: settings.dpbag.grid(wc.model)["k"],
        facts=lambda wc: {
            "dataset": wc.dataset,
            "stand_in": settings.datasets[wc.dataset].stand_in,
            "model": wc.model,
            "n": int(wc.n),
            "seed": int(wc.seed),
        },
    log:
        f"logs/account_bagging/{{dataset}}/{BAGGING}.log",
    benchmark:
        f"results/benchmarks/account_bagging/{{dataset}}/{BAGGING}.tsv"
    priority: 1
    script:
        "../scripts/dpbag/account_bagging.py"


# This does not use train_student: these students are logistic models or trees on a table, hundreds in a
# job, one for each number of shards, of partitions and budget that labels were accounted for.
rule train_bagged_students:
    message:
        "Training students of {wildcards.model} teachers, split {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
        counts=lambda wc: dpbag.split_files(settings.dpbag, "privacy", **wc),
        costs=lambda wc: dpbag.split_files(settings.dpbag, "costs", **wc),
    output:
        "results/dpbag/students/{dataset}/model={model},seed={seed}.csv",
    params:
        code=fingerprint("dpbag/train_bagged_students.py"),
        model="{model}",
        training=lambda wc: settings.dpbag.training(wc.model),
        settings={key: config["dpbag"][key] for key in ("draws", "noise")},
        scaling=lookup(within=config, dpath="dpbag/scaling"),
        seed=config["seed"],
        repeat=lambda wc: int(wc.seed),
    log:
        "logs/train_bagged_students/{dataset}/model={model},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_bagged_students/{dataset}/model={model},seed={seed}.tsv"
    resources:
        runtime=60,
    script:
        "../scripts/dpbag/train_bagged_students.py"


rule tabulate_student_accuracy:
    message:
        "Tabulating students of bagged teachers, DPBag's tables 5 and 7"
    input:
        **{item: dpbag.student_files(settings.dpbag, of) for item, of in STUDENT_TABLES.items()},
    output:
        means=shown(
            "results/dpbag/tables/{item}.csv",
            "bagged_students",
            "DPBag",
            "Students",
            item=STUDENT_TABLES,
        ),
        by_split=collect("results/dpbag/tables/{item}_by_split.csv", item=STUDENT_TABLES),
    params:
        code=fingerprint("dpbag/tabulate_student_accuracy.py"),
        tables=list(STUDENT_TABLES),
    log:
        "logs/tabulate_student_accuracy/students.log",
    benchmark:
        "results/benchmarks/tabulate_student_accuracy/students.tsv"
    localrule: True
    script:
        "../scripts/dpbag/tabulate_student_accuracy.py"


rule tabulate_label_counts:
    message:
        "Tabulating labels that budgets buy, DPBag's tables 6 and 8"
    input:
        **{item: settings.dpbag.label_count_files(of) for item, of in LABEL_TABLES.items()},
        affordable="results/dpbag/tables/labels.csv",
    output:
        means=shown(
            "results/dpbag/tables/{item}.csv",
            "bagged_labels",
            "DPBag",
            "Labels",
            item=LABEL_TABLES,
        ),
        by_split=collect("results/dpbag/tables/{item}_by_split.csv", item=LABEL_TABLES),
    params:
        code=fingerprint("dpbag/tabulate_label_counts.py"),
        tables=list(LABEL_TABLES),
    log:
        "logs/tabulate_label_counts/labels.log",
    benchmark:
        "results/benchmarks/tabulate_label_counts/labels.tsv"
    localrule: True
    script:
        "../scripts/dpbag/tabulate_label_counts.py"


# The figures show all models together.
rule draw_bagging:
    message:
        "Drawing labels and students of bagged teachers over epsilon"
    input:
        counts=collect("results/dpbag/tables/{item}.csv", item=LABEL_TABLES),
        students=collect("results/dpbag/tables/{item}.csv", item=STUDENT_TABLES),
    output:
        labels=shown("results/dpbag/figures/label_counts.png", "bagging_labels", "DPBag", "Labels"),
        labels_pdf="results/dpbag/figures/label_counts.pdf",
        students=shown(
            "results/dpbag/figures/student_accuracy.png", "bagging_students", "DPBag", "Students"
        ),
        students_pdf="results/dpbag/figures/student_accuracy.pdf",
    params:
        code=fingerprint("dpbag/draw_bagging.py"),
        delta=lookup(within=config, dpath="dpbag/delta_of_counts"),
    log:
        "logs/draw_bagging/figures.log",
    benchmark:
        "results/benchmarks/draw_bagging/figures.tsv"
    localrule: True
    script:
        "../scripts/dpbag/draw_bagging.py"


rule tabulate_affordable_labels:
    message:
        "Tabulating labels that budgets buy whatever the votes are"
    output:
        shown("results/dpbag/tables/labels.csv", "affordable_labels", "DPBag", "Labels"),
    params:
        code=fingerprint("dpbag/tabulate_affordable_labels.py"),
        shards=settings.dpbag.shards(),
        budget=settings.dpbag.budget(),
    log:
        "logs/tabulate_affordable_labels/labels.log",
    benchmark:
        "results/benchmarks/tabulate_affordable_labels/labels.tsv"
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/dpbag/tabulate_affordable_labels.py"


rule check_conjecture:
    message:
        "Comparing DPBag's conjecture with exact privacy losses"
    output:
        shown("results/dpbag/tables/conjecture.csv", "conjecture", "DPBag", "Labels"),
    params:
        code=fingerprint("dpbag/check_conjecture.py"),
        settings=lookup(within=config, dpath="dpbag/conjecture"),
    log:
        "logs/check_conjecture/conjecture.log",
    benchmark:
        "results/benchmarks/check_conjecture/conjecture.tsv"
    localrule: True
    script:
        "../scripts/dpbag/check_conjecture.py"
