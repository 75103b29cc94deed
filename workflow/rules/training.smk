# Ensembles of teachers, what they cost, and their votes.
from private_ensembles.papers.darrm.targets import TEACHERS_COST


# How often it writes a checkpoint changes nothing, so the script reads that from the configuration.
rule train_teachers:
    message:
        "Training {wildcards.K} {wildcards.kind} teachers on {wildcards.dataset}, seed {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
    output:
        "results/teachers/{dataset}/kind={kind},K={K},seed={seed}.pt",
    params:
        code=fingerprint("train_teachers.py"),
        kind="{kind}",
        K=lambda wc: int(wc.K),
        slice=lambda wc: wc.get("slice"),
        training_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        # Plain teachers have no noise of their own.
        noise=lambda wc: config["noise"] if wc.kind == "private" else "reproducible",
        backend=lookup(within=config, dpath="teachers/backend"),
        settings=lambda wc: settings.training(wc.dataset, wc.kind, int(wc.K)),
        device=config["device"],
    log:
        "logs/train_teachers/{dataset}/kind={kind},K={K},seed={seed}.log",
    benchmark:
        "results/benchmarks/train_teachers/{dataset}/kind={kind},K={K},seed={seed}.tsv"
    priority: 1
    resources:
        mem_mb=growing(6000 if GPUS else 1200),
        runtime=60,
        gpu=GPUS,
    script:
        "../scripts/train_teachers.py"


# An ensemble of more than `teachers.per_job` teachers is trained by several jobs.
use rule train_teachers as train_slice with:
    message:
        "Training slice {wildcards.slice} of {wildcards.K} {wildcards.kind} teachers on {wildcards.dataset}, seed {wildcards.seed}"
    output:
        "results/teachers/{dataset}/kind={kind},K={K},seed={seed},slice={slice}.pt",
    log:
        "logs/train_teachers/{dataset}/kind={kind},K={K},seed={seed},slice={slice}.log",
    benchmark:
        "results/benchmarks/train_teachers/{dataset}/kind={kind},K={K},seed={seed},slice={slice}.tsv"


rule cast_votes:
    message:
        "Casting the votes of {wildcards.K} {wildcards.kind} teachers on {wildcards.dataset}, seed {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
        teachers=lambda wc: files.teachers(
            slice_names(int(wc.K), config["teachers"]["per_job"]), **wc
        ),
    output:
        "results/votes/{dataset}/kind={kind},K={K},seed={seed}.npz",
    params:
        code=fingerprint("cast_votes.py"),
        device=config["device"],
    log:
        "logs/cast_votes/{dataset}/kind={kind},K={K},seed={seed}.log",
    benchmark:
        "results/benchmarks/cast_votes/{dataset}/kind={kind},K={K},seed={seed}.tsv"
    priority: 1
    resources:
        mem_mb=growing(6000 if GPUS else 800),
        gpu=GPUS,
    script:
        "../scripts/cast_votes.py"


# Needs no data, so the paper's data sets are accounted for whatever is run.
rule account_teachers:
    message:
        "Accounting for the privacy of one private teacher of each data set"
    output:
        TEACHERS_COST,
    params:
        code=fingerprint("account_teachers.py"),
        K=lookup(within=config, dpath="darrm/K"),
        datasets=settings.darrm.accounting(),
    log:
        "logs/account_teachers/teachers.log",
    benchmark:
        "results/benchmarks/account_teachers/teachers.tsv"
    localrule: True
    resources:
        mem_mb=growing(800),
    script:
        "../scripts/account_teachers.py"
