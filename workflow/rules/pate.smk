# PATE: what votes of large ensembles may release, students, and the tables and figures of the paper.
from private_ensembles.papers.pate import targets as pate


wildcard_constraints:
    task="|".join(config["pate"]["tasks"]),
    aggregator=r"lnmax-\d+|confident",


# This makes all of the paper that this workflow reproduces.
rule pate:
    input:
        targets.paper_files(settings, "pate"),


rule account_votes:
    message:
        "Accounting for PATE's labels of {wildcards.task}: data-dependent, sanitised, data-independent"
    input:
        votes=lambda wc: pate.task_vote_file(settings.pate, wc.task),
    output:
        "results/pate/privacy/task={task}.csv",
    params:
        code=fingerprint("pate/account_votes.py", "private_ensembles.papers.pate.experiment"),
        paper="pate",
        name="{task}",
        seed=config["seed"],
        noise=config["noise"],
        settings=lambda wc: settings.pate.accounting(wc.task),
    log:
        "logs/account_votes/task={task}.log",
    benchmark:
        "results/benchmarks/account_votes/task={task}.tsv"
    resources:
        mem_mb=growing(1200),
    script:
        "../scripts/pate/account_votes.py"


use rule release_labels as release_pate_labels with:
    message:
        "Asking PATE's teachers of {wildcards.task} for labels"
    input:
        votes=lambda wc: pate.task_vote_file(settings.pate, wc.task),
    output:
        table="results/pate/labels/task={task}.csv",
        labels="results/pate/labels/task={task}.npz",
    params:
        code=fingerprint("darrm/release_labels.py", "private_ensembles.papers.pate.experiment"),
        paper="pate",
        name="{task}",
        settings=lambda wc: settings.pate.answer_settings(wc.task),
    log:
        "logs/release_pate_labels/task={task}.log",
    benchmark:
        "results/benchmarks/release_pate_labels/task={task}.tsv"


# A student sees the public pool and the released labels, and nothing else of the votes. The history
# (accuracy while it trains) is for the figure; it trains without. A killed job goes on from
# params.checkpoint (the start of a name), which is not an output: Snakemake would remove it.
rule train_student:
    message:
        "Training a student of {wildcards.task} on labels of {wildcards.aggregator}, seed {wildcards.seed}"
    input:
        dataset=lambda wc: files.dataset(settings.pate.tasks[wc.task].dataset),
        labels="results/pate/labels/task={task}.npz",
    output:
        summary="results/pate/students/task={task},aggregator={aggregator},seed={seed}.csv",
        history="results/pate/students/task={task},aggregator={aggregator},seed={seed}.history.csv",
        model="results/pate/students/task={task},aggregator={aggregator},seed={seed}.pt",
    params:
        code=fingerprint("pate/train_student.py"),
        checkpoint="results/pate/checkpoints/task={task},seed={seed}",
        stream=["{task}"],
        task="{task}",
        aggregator="{aggregator}",
        student_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=lambda wc: settings.pate.student(wc.task),
        keep_student=True,
        remarks={},
        device=config["device"],
    log:
        "logs/train_student/task={task},aggregator={aggregator},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_student/task={task},aggregator={aggregator},seed={seed}.tsv"
    resources:
        mem_mb=growing(6000 if GPUS else 1400),
        runtime=120,
        gpu=GPUS,
    script:
        "../scripts/pate/train_student.py"


# A baseline is the same kind of model, trained on all private data and their true labels.
use rule train_student as train_baseline with:
    message:
        "Training the non-private baseline of {wildcards.task}, seed {wildcards.seed}"
    input:
        dataset=lambda wc: files.dataset(settings.pate.tasks[wc.task].dataset),
    output:
        summary="results/pate/baselines/task={task},seed={seed}.csv",
    params:
        aggregator=None,
        keep_student=False,
        settings=lambda wc: settings.pate.baseline(wc.task),
    log:
        "logs/train_baseline/task={task},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_baseline/task={task},seed={seed}.tsv"


rule tabulate_students:
    message:
        "Tabulating utility and privacy of students, and sanitised privacy costs, PATE's table1 and table2"
    input:
        privacy=collect("results/pate/privacy/task={task}.csv", task=settings.pate.running_tasks()),
        labels=collect("results/pate/labels/task={task}.csv", task=settings.pate.running_tasks()),
        students=[
            pate.student_files(settings.pate, task) for task in pate.student_tasks(settings.pate)
        ],
        baselines=[
            pate.baseline_files(settings.pate, task) for task in pate.student_tasks(settings.pate)
        ],
    output:
        table1=shown("results/pate/tables/table1.csv", "pate_table1", "PATE", "Students"),
        table2=shown("results/pate/tables/table2.csv", "pate_table2", "PATE", "Privacy"),
    params:
        code=fingerprint("pate/tabulate_students.py"),
        tasks=settings.pate.descriptions(settings.pate.running_tasks()),
    log:
        "logs/tabulate_students/table1.log",
    benchmark:
        "results/benchmarks/tabulate_students/table1.tsv"
    localrule: True
    script:
        "../scripts/pate/tabulate_students.py"


# This computes what the printed numbers imply about each other, and needs neither votes nor parameters.
rule check_printed_arithmetic:
    message:
        "Recomputing PATE's printed numbers from printed numbers"
    output:
        arithmetic=shown(
            "results/pate/tables/printed_arithmetic.csv", "pate_arithmetic", "PATE", "Privacy"
        ),
        small_print=shown(
            "results/pate/tables/small_print.csv", "pate_small_print", "PATE", "Privacy"
        ),
    params:
        code=fingerprint(
            "pate/check_printed_arithmetic.py",
            data_files=["published/pate_*.csv", "published/pate.yaml"],
        ),
    log:
        "logs/check_printed_arithmetic/printed_arithmetic.log",
    benchmark:
        "results/benchmarks/check_printed_arithmetic/printed_arithmetic.tsv"
    localrule: True
    script:
        "../scripts/pate/check_printed_arithmetic.py"


rule draw_students:
    message:
        "Drawing students, privacy and consensus, PATE's figure1"
    input:
        unpack(lambda wc: pate.figure1_files(settings.pate, pate.figure1_task(settings.pate))),
    output:
        png=shown("results/pate/figures/figure1.png", "pate_figure1", "PATE", "Students"),
        pdf="results/pate/figures/figure1.pdf",
        data="results/pate/tables/figure1.csv",
    params:
        code=fingerprint("pate/draw_students.py"),
        task=pate.figure1_task(settings.pate),
        settings=lambda wc: settings.pate.figure1_settings(pate.figure1_task(settings.pate)),
    log:
        "logs/draw_students/figure1.log",
    benchmark:
        "results/benchmarks/draw_students/figure1.tsv"
    localrule: True
    script:
        "../scripts/pate/draw_students.py"


rule compare_noise:
    message:
        "Comparing Laplace and Gaussian noise, PATE's figure4"
    input:
        votes=pate.synthetic_vote_files(settings.pate, "figure4"),
    output:
        png=shown("results/pate/figures/figure4.png", "pate_figure4", "PATE", "Mechanisms"),
        pdf="results/pate/figures/figure4.pdf",
        data="results/pate/tables/figure4.csv",
    params:
        code=fingerprint("pate/compare_noise.py"),
        settings=settings.pate.figure_settings("figure4"),
    log:
        "logs/compare_noise/figure4.log",
    benchmark:
        "results/benchmarks/compare_noise/figure4.tsv"
    resources:
        mem_mb=growing(1500),
    script:
        "../scripts/pate/compare_noise.py"


rule draw_threshold_effects:
    message:
        "Drawing what the noisy threshold does, PATE's figure5"
    input:
        votes=pate.synthetic_vote_files(settings.pate, "figure5"),
    output:
        png=shown("results/pate/figures/figure5.png", "pate_figure5", "PATE", "Mechanisms"),
        pdf="results/pate/figures/figure5.pdf",
        data="results/pate/tables/figure5.csv",
        equal=shown(
            "results/pate/tables/equal_answers.csv", "pate_equal_answers", "PATE", "Mechanisms"
        ),
    params:
        code=fingerprint("pate/draw_threshold_effects.py"),
        settings=settings.pate.figure_settings("figure5"),
    log:
        "logs/draw_threshold_effects/figure5.log",
    benchmark:
        "results/benchmarks/draw_threshold_effects/figure5.tsv"
    resources:
        mem_mb=growing(1500),
    script:
        "../scripts/pate/draw_threshold_effects.py"
