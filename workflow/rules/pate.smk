# PATE: what votes of large ensembles may release, students, and the tables and figures of the paper.


# All of the paper that this workflow reproduces.
rule pate:
    input:
        collect("results/pate/privacy/task={task}.csv", task=TASKS),
        collect("results/pate/tables/{item}.csv", item=PATE_TABLES),
        collect("results/pate/figures/{item}.png", item=PATE_FIGURES),


# params: task, seed, noise, settings (pool, delta, confident, lnmax, printed, draws, orders, release,
# two_rounds).
rule account_votes:
    message:
        "Accounting for the labels of {wildcards.task}: data-dependent, sanitised, data-independent"
    input:
        votes=lambda wc: pate_votes_file(wc.task),
    output:
        "results/pate/privacy/task={task}.csv",
    params:
        code=fingerprint("account_votes.py"),
        task="{task}",
        seed=config["seed"],
        noise=config["noise"],
        settings=lambda wc: settings.pate.accounting(wc.task),
    log:
        "logs/account_votes/task={task}.log",
    benchmark:
        "results/benchmarks/account_votes/task={task}.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=30,
    script:
        "../scripts/account_votes.py"


# output: table (CSV: what was asked, answered, right), labels (npz: the released labels).
# params: task, seed, noise, settings (pool, confident, lnmax).
rule buy_labels:
    message:
        "Asking the teachers of {wildcards.task} for labels"
    input:
        votes=lambda wc: pate_votes_file(wc.task),
    output:
        table="results/pate/labels/task={task}.csv",
        labels="results/pate/labels/task={task}.npz",
    params:
        code=fingerprint("buy_labels.py"),
        task="{task}",
        seed=config["seed"],
        noise=config["noise"],
        settings=lambda wc: settings.pate.answers(wc.task),
    log:
        "logs/buy_labels/task={task}.log",
    benchmark:
        "results/benchmarks/buy_labels/task={task}.tsv"
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=10,
    script:
        "../scripts/buy_labels.py"


# A student sees the public pool and the released labels, and nothing else of the votes. output: summary
# (one row), history (accuracy while it trains: for the figure; it trains without), model. A killed
# job goes on from params.checkpoint, which is no output: Snakemake would remove it.
# params: task, aggregator, student_seed, seed, settings (method, pool, parameters), device.
rule train_student:
    message:
        "Training a student of {wildcards.task} on labels of {wildcards.aggregator}, seed {wildcards.seed}"
    input:
        dataset=lambda wc: pate_dataset_file(wc.task),
        labels="results/pate/labels/task={task}.npz",
    output:
        summary="results/pate/students/task={task},aggregator={aggregator},seed={seed}.csv",
        history="results/pate/students/task={task},aggregator={aggregator},seed={seed}.history.csv",
        model="results/pate/students/task={task},aggregator={aggregator},seed={seed}.pt",
    params:
        code=fingerprint("train_student.py"),
        checkpoint="results/pate/checkpoints/task={task},aggregator={aggregator},seed={seed}.pt",
        task="{task}",
        aggregator="{aggregator}",
        student_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=lambda wc: settings.pate.student(wc.task),
        device=config["device"],
    log:
        "logs/train_student/task={task},aggregator={aggregator},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_student/task={task},aggregator={aggregator},seed={seed}.tsv"
    threads: 1
    resources:
        mem_mb=growing(6000 if GPUS else 1500),
        runtime=120,
        gpu=GPUS,
    script:
        "../scripts/train_student.py"


# The same kind of model with all private data and their true labels. params: task, student_seed, seed,
# settings (method, pool, parameters), device.
rule train_baseline:
    message:
        "Training the non-private baseline of {wildcards.task}, seed {wildcards.seed}"
    input:
        dataset=lambda wc: pate_dataset_file(wc.task),
    output:
        "results/pate/baselines/task={task},seed={seed}.csv",
    params:
        code=fingerprint("train_baseline.py"),
        checkpoint="results/pate/checkpoints/task={task},baseline,seed={seed}.pt",
        task="{task}",
        student_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=lambda wc: settings.pate.baseline(wc.task),
        device=config["device"],
    log:
        "logs/train_baseline/task={task},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_baseline/task={task},seed={seed}.tsv"
    threads: 1
    resources:
        mem_mb=growing(6000 if GPUS else 1500),
        runtime=120,
        gpu=GPUS,
    script:
        "../scripts/train_baseline.py"


# input: privacy (in the order of params.tasks), labels, students, baselines (lists).
# params: tasks (by name: dataset, stand_in, synthetic, student).
rule tabulate_students:
    message:
        "Tabulating utility and privacy of students, table1"
    input:
        privacy=collect("results/pate/privacy/task={task}.csv", task=TASKS),
        labels=collect("results/pate/labels/task={task}.csv", task=TASKS),
        students=[student_files(task) for task in STUDENT_TASKS],
        baselines=[baseline_files(task) for task in STUDENT_TASKS],
    output:
        report(
            "results/pate/tables/table1.csv",
            caption="../report/pate_table1.rst",
            category="PATE",
            subcategory="Students",
        ),
    params:
        code=fingerprint("tabulate_students.py"),
        tasks=settings.pate.descriptions(TASKS),
    log:
        "logs/tabulate_students/table1.log",
    benchmark:
        "results/benchmarks/tabulate_students/table1.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/tabulate_students.py"


# input: privacy (list). params: tasks (by name: dataset, stand_in, synthetic).
rule tabulate_sanitized_privacy:
    message:
        "Tabulating sanitised privacy costs, table2"
    input:
        collect("results/pate/privacy/task={task}.csv", task=TASKS),
    output:
        report(
            "results/pate/tables/table2.csv",
            caption="../report/pate_table2.rst",
            category="PATE",
            subcategory="Privacy",
        ),
    params:
        code=fingerprint("tabulate_sanitized_privacy.py"),
        tasks=settings.pate.descriptions(TASKS),
    log:
        "logs/tabulate_sanitized_privacy/table2.log",
    benchmark:
        "results/benchmarks/tabulate_sanitized_privacy/table2.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/tabulate_sanitized_privacy.py"


# input: votes, in the order of params.tasks (by name: pool, delta, queries, epsilon, stand_in,
# synthetic). params: seed.
rule compare_equal_budgets:
    message:
        "Comparing mechanisms at the same total budget, equal_budget"
    input:
        [pate_votes_file(task) for task in TASKS],
    output:
        report(
            "results/pate/tables/equal_budget.csv",
            caption="../report/pate_equal_budget.rst",
            category="PATE",
            subcategory="Mechanisms",
        ),
    params:
        code=fingerprint("compare_equal_budgets.py"),
        tasks=settings.pate.budgets(TASKS) if EQUAL_BUDGET else {},
        seed=config["seed"],
    log:
        "logs/compare_equal_budgets/equal_budget.log",
    benchmark:
        "results/benchmarks/compare_equal_budgets/equal_budget.tsv"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=30,
    script:
        "../scripts/compare_equal_budgets.py"


# What the printed numbers imply about each other; needs neither votes nor parameters.
rule check_printed_arithmetic:
    message:
        "Recomputing printed numbers from printed numbers"
    output:
        arithmetic=report(
            "results/pate/tables/printed_arithmetic.csv",
            caption="../report/pate_arithmetic.rst",
            category="PATE",
            subcategory="Privacy",
        ),
        small_print=report(
            "results/pate/tables/small_print.csv",
            caption="../report/pate_small_print.rst",
            category="PATE",
            subcategory="Privacy",
        ),
    params:
        code=fingerprint("check_printed_arithmetic.py", also="../published/pate_*.csv"),
    log:
        "logs/check_printed_arithmetic/printed_arithmetic.log",
    benchmark:
        "results/benchmarks/check_printed_arithmetic/printed_arithmetic.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/check_printed_arithmetic.py"


# input: votes, labels, histories (of the students of params.task). params: task, settings (pool,
# delta, confident, lnmax, orders).
rule draw_students:
    message:
        "Drawing students, privacy and consensus, figure1"
    input:
        votes=pate_votes_file(FIGURE1_TASK) if FIGURE1_TASK else [],
        labels=f"results/pate/labels/task={FIGURE1_TASK}.npz",
        histories=student_files(FIGURE1_TASK, "history.csv") if FIGURE1_TASK else [],
    output:
        png=report(
            "results/pate/figures/figure1.png",
            caption="../report/pate_figure1.rst",
            category="PATE",
            subcategory="Students",
        ),
        pdf="results/pate/figures/figure1.pdf",
        data="results/pate/tables/figure1.csv",
    params:
        code=fingerprint("draw_students.py"),
        task=FIGURE1_TASK,
        settings=settings.pate.students_figure(FIGURE1_TASK) if FIGURE1_TASK else {},
    log:
        "logs/draw_students/figure1.log",
    benchmark:
        "results/benchmarks/draw_students/figure1.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=10,
    script:
        "../scripts/draw_students.py"


# input: votes of one ensemble per number of teachers, in the order of params.settings["teachers"].
# params: settings (teachers, scales, queries, delta, orders).
rule compare_noise:
    message:
        "Comparing Laplace and Gaussian noise, figure4"
    input:
        [synthetic_votes_file(K) for K in settings.pate.figure_teachers("figure4")],
    output:
        png=report(
            "results/pate/figures/figure4.png",
            caption="../report/pate_figure4.rst",
            category="PATE",
            subcategory="Mechanisms",
        ),
        pdf="results/pate/figures/figure4.pdf",
        data="results/pate/tables/figure4.csv",
    params:
        code=fingerprint("compare_noise.py"),
        settings=settings.pate.with_orders("figure4"),
    log:
        "logs/compare_noise/figure4.log",
    benchmark:
        "results/benchmarks/compare_noise/figure4.tsv"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=30,
    script:
        "../scripts/compare_noise.py"


# input: votes. params: settings (queries, checks: thresholds and sigma1, sigma2, scale, delta, orders).
rule draw_threshold_effects:
    message:
        "Drawing what the noisy threshold does, figure5"
    input:
        [synthetic_votes_file(K) for K in settings.pate.figure_teachers("figure5")],
    output:
        png=report(
            "results/pate/figures/figure5.png",
            caption="../report/pate_figure5.rst",
            category="PATE",
            subcategory="Mechanisms",
        ),
        pdf="results/pate/figures/figure5.pdf",
        data="results/pate/tables/figure5.csv",
    params:
        code=fingerprint("draw_threshold_effects.py"),
        settings=settings.pate.with_orders("figure5"),
    log:
        "logs/draw_threshold_effects/figure5.log",
    benchmark:
        "results/benchmarks/draw_threshold_effects/figure5.tsv"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=30,
    script:
        "../scripts/draw_threshold_effects.py"
