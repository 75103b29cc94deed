# DPBag: bagged teachers on UCI Adult, what their labels cost, and students trained on them.
wildcard_constraints:
    model="|".join(dpbag.MODELS),
    n=r"\d+",
    first=r"\d+",
    student_table="|".join(dpbag.ACCURACY_TABLES),
    count_table="|".join(dpbag.LABEL_TABLES),


# One partitioning into n shards of one split of the data (the seed).
BAGGING = "model={model},n={n},seed={seed}"


# All of the paper that this workflow reproduces.
rule dpbag:
    input:
        collect("results/dpbag/tables/{item}.csv", item=DPBAG_TABLES),
        collect("results/dpbag/tables/{item}.csv", item=["labels", "conjecture"]),
        collect("results/dpbag/figures/{item}.png", item=DPBAG_FIGURES),


# input: dataset. params: model, training (its parameters), n, partitions (list), budget (how many
# queries are needed), scaling, seed (of everything), repeat (the split of the data).
rule cast_bagged_votes:
    message:
        "Training {wildcards.model} teachers on {wildcards.n} shards, split {wildcards.seed}, partitions from {wildcards.first}"
    input:
        dataset="results/datasets/{dataset}.npz",
    output:
        f"results/dpbag/votes/{{dataset}}/{BAGGING},first={{first}}.npz",
    params:
        code=fingerprint("cast_bagged_votes.py"),
        model="{model}",
        training=lambda wc: settings.dpbag.training(wc.model),
        n=lambda wc: int(wc.n),
        partitions=lambda wc: settings.dpbag.partitions(wc.model, int(wc.first)),
        budget=settings.dpbag.budget(),
        scaling=config["dpbag"]["scaling"],
        seed=config["seed"],
        repeat=lambda wc: int(wc.seed),
    log:
        f"logs/cast_bagged_votes/{{dataset}}/{BAGGING},first={{first}}.log",
    benchmark:
        f"results/benchmarks/cast_bagged_votes/{{dataset}}/{BAGGING},first={{first}}.tsv"
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=60,
    script:
        "../scripts/cast_bagged_votes.py"


# input: votes of all partitions, in order. output: counts (labels that each budget buys), costs (what
# they cost; not for release). params: budget, k (list), facts (columns of every row).
rule account_bagging:
    message:
        "Accounting for labels of {wildcards.model} teachers on {wildcards.n} shards, split {wildcards.seed}"
    input:
        lambda wc: collect(
            f"results/dpbag/votes/{{dataset}}/{BAGGING},first={{first}}.npz",
            **wc,
            first=settings.dpbag.first_partitions(wc.model),
        ),
    output:
        counts=f"results/dpbag/privacy/{{dataset}}/{BAGGING}.csv",
        costs=f"results/dpbag/costs/{{dataset}}/{BAGGING}.npz",
    params:
        code=fingerprint("account_bagging.py"),
        budget=settings.dpbag.budget(),
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
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=30,
    script:
        "../scripts/account_bagging.py"


# input: dataset, counts and costs (lists, in the order of n). params: model, training, settings
# (draws of the noise, lambda), scaling, seed (of everything), repeat (the split).
rule train_bagged_students:
    message:
        "Training students of {wildcards.model} teachers, split {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
        counts=lambda wc: collect(
            f"results/dpbag/privacy/{{dataset}}/{BAGGING}.csv",
            **wc,
            n=settings.dpbag.grid(wc.model)["n"],
        ),
        costs=lambda wc: collect(
            f"results/dpbag/costs/{{dataset}}/{BAGGING}.npz",
            **wc,
            n=settings.dpbag.grid(wc.model)["n"],
        ),
    output:
        "results/dpbag/students/{dataset}/model={model},seed={seed}.csv",
    params:
        code=fingerprint("train_bagged_students.py"),
        model="{model}",
        training=lambda wc: settings.dpbag.training(wc.model),
        settings={key: config["dpbag"][key] for key in ("draws", "noise")},
        scaling=config["dpbag"]["scaling"],
        seed=config["seed"],
        repeat=lambda wc: int(wc.seed),
    log:
        "logs/train_bagged_students/{dataset}/model={model},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_bagged_students/{dataset}/model={model},seed={seed}.tsv"
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=60,
    script:
        "../scripts/train_bagged_students.py"


# params: model.
rule tabulate_student_accuracy:
    message:
        "Tabulating students of bagged teachers, {wildcards.student_table}"
    input:
        lambda wc: collect(
            "results/dpbag/students/{dataset}/model={model},seed={seed}.csv",
            dataset=settings.dpbag.used.dataset,
            model=dpbag.ACCURACY_TABLES[wc.student_table],
            seed=settings.dpbag.grid(dpbag.ACCURACY_TABLES[wc.student_table])["seeds"],
        ),
    output:
        report(
            "results/dpbag/tables/{student_table}.csv",
            caption="../report/bagged_students.rst",
            category="DPBag",
            subcategory="Students",
        ),
    params:
        code=fingerprint("tabulate_student_accuracy.py"),
    log:
        "logs/tabulate_student_accuracy/{student_table}.log",
    benchmark:
        "results/benchmarks/tabulate_student_accuracy/{student_table}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=10,
    script:
        "../scripts/tabulate_student_accuracy.py"


# input: counts (list), affordable.
rule tabulate_label_counts:
    message:
        "Tabulating labels that budgets buy, {wildcards.count_table}"
    input:
        counts=lambda wc: settings.dpbag.label_counts(dpbag.LABEL_TABLES[wc.count_table]),
        affordable="results/dpbag/tables/labels.csv",
    output:
        report(
            "results/dpbag/tables/{count_table}.csv",
            caption="../report/bagged_labels.rst",
            category="DPBag",
            subcategory="Labels",
        ),
    params:
        code=fingerprint("tabulate_label_counts.py"),
    log:
        "logs/tabulate_label_counts/{count_table}.log",
    benchmark:
        "results/benchmarks/tabulate_label_counts/{count_table}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=10,
    script:
        "../scripts/tabulate_label_counts.py"


# input: counts, students (tables of all models). output: png and pdf of each figure. params: delta.
rule draw_bagging:
    message:
        "Drawing labels and students of bagged teachers over epsilon"
    input:
        counts=collect("results/dpbag/tables/{item}.csv", item=settings.dpbag.run_tables("labels")),
        students=collect(
            "results/dpbag/tables/{item}.csv", item=settings.dpbag.run_tables("students")
        ),
    output:
        labels=report(
            "results/dpbag/figures/label_counts.png",
            caption="../report/bagging_labels.rst",
            category="DPBag",
            subcategory="Labels",
        ),
        labels_pdf="results/dpbag/figures/label_counts.pdf",
        students=report(
            "results/dpbag/figures/student_accuracy.png",
            caption="../report/bagging_students.rst",
            category="DPBag",
            subcategory="Students",
        ),
        students_pdf="results/dpbag/figures/student_accuracy.pdf",
    params:
        code=fingerprint("draw_bagging.py"),
        delta=config["dpbag"]["delta_of_counts"],
    log:
        "logs/draw_bagging/figures.log",
    benchmark:
        "results/benchmarks/draw_bagging/figures.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(400),
        runtime=10,
    script:
        "../scripts/draw_bagging.py"


# params: shards (every n), budget.
rule tabulate_affordable_labels:
    message:
        "Tabulating labels that budgets buy whatever the votes are"
    output:
        report(
            "results/dpbag/tables/labels.csv",
            caption="../report/affordable_labels.rst",
            category="DPBag",
            subcategory="Labels",
        ),
    params:
        code=fingerprint("tabulate_affordable_labels.py"),
        shards=settings.dpbag.shards(),
        budget=settings.dpbag.budget(),
    log:
        "logs/tabulate_affordable_labels/labels.log",
    benchmark:
        "results/benchmarks/tabulate_affordable_labels/labels.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=10,
    script:
        "../scripts/tabulate_affordable_labels.py"


# params: settings (teachers, partitions, noise, orders).
rule check_conjecture:
    message:
        "Comparing DPBag's conjecture with exact privacy losses"
    output:
        report(
            "results/dpbag/tables/conjecture.csv",
            caption="../report/conjecture.rst",
            category="DPBag",
            subcategory="Labels",
        ),
    params:
        code=fingerprint("check_conjecture.py"),
        settings=config["dpbag"]["conjecture"],
    log:
        "logs/check_conjecture/conjecture.log",
    benchmark:
        "results/benchmarks/check_conjecture/conjecture.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(400),
        runtime=10,
    script:
        "../scripts/check_conjecture.py"
