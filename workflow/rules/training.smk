# Data sets, ensembles of teachers, and their votes.
# Downloading and checking a data set is short, and everything long waits for it, so these jobs come
# first.


wildcard_constraints:
    dataset="|".join([*config["datasets"], *config["synthetic_votes"]]),
    file=settings.datasets.file_pattern(),
    kind="private|plain",
    profile="|".join(config["synthetic_votes"]) or "none",
    K=r"\d+",
    seed=r"\d+",
    slice=r"\d+of\d+",


# The mirror and the addresses say where the bytes come from, not what they are: the script reads
# them from the configuration, so that a changed address is no reason to download again.
rule download_data:
    message:
        "Downloading {wildcards.file} of {wildcards.dataset}"
    output:
        "data/raw/{dataset}/{file}",
    params:
        code=fingerprint("training/download_data.py", computes=False),
        sha256=lambda wc: settings.datasets.raw_file(wc.dataset, wc.file)["sha256"],
    log:
        "logs/download_data/{dataset}/{file}.log",
    benchmark:
        "results/benchmarks/download_data/{dataset}/{file}.tsv"
    priority: 3
    localrule: True
    script:
        "../scripts/training/download_data.py"


# The inputs are files by role; data that ship with scikit-learn have none.
rule prepare_dataset:
    message:
        "Reading and checking {wildcards.dataset}"
    input:
        unpack(lambda wc: settings.datasets.raw_files(wc.dataset)),
    output:
        "results/datasets/{dataset}.npz",
    params:
        code=fingerprint("training/prepare_dataset.py"),
        dataset="{dataset}",
        settings=lambda wc: settings.datasets.preparation_settings(wc.dataset),
        sha256=lambda wc: settings.datasets.checksums(wc.dataset),
        stand_in=lambda wc: settings.datasets[wc.dataset].stand_in,
        seed=config["seed"],
    log:
        "logs/prepare_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_dataset/{dataset}.tsv"
    priority: 3
    localrule: True
    script:
        "../scripts/training/prepare_dataset.py"


# How often a job writes a checkpoint changes no result, so the script reads that from the configuration.
rule train_teachers:
    message:
        "Training {wildcards.K} {wildcards.kind} teachers on {wildcards.dataset}, seed {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
    output:
        "results/teachers/{dataset}/kind={kind},K={K},seed={seed}.pt",
    params:
        code=fingerprint("training/train_teachers.py"),
        kind="{kind}",
        K=lambda wc: int(wc.K),
        slice=lambda wc: wc.get("slice"),
        training_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        # Plain teachers have no noise of their own.
        noise=lambda wc: config["noise"] if wc.kind == "private" else "reproducible",
        backend=lookup(within=config, dpath="teachers/backend"),
        settings=lambda wc: settings.training_parameters(wc.dataset, wc.kind, int(wc.K)),
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
        "../scripts/training/train_teachers.py"


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
        code=fingerprint("training/cast_votes.py"),
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
        "../scripts/training/cast_votes.py"


rule cast_forest_votes:
    message:
        "Training {wildcards.K} random forests on {wildcards.dataset} and casting their votes, seed {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
    output:
        "results/votes/{dataset}/kind=forest,K={K},seed={seed}.npz",
    params:
        code=fingerprint("training/cast_forest_votes.py"),
        K=lambda wc: int(wc.K),
        training_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=settings.forest_teachers.parameters(),
    log:
        "logs/cast_forest_votes/{dataset}/K={K},seed={seed}.log",
    benchmark:
        "results/benchmarks/cast_forest_votes/{dataset}/K={K},seed={seed}.tsv"
    priority: 1
    resources:
        mem_mb=growing(700),
    script:
        "../scripts/training/cast_forest_votes.py"


# Every K of a profile and vote_seed has the same queries. These votes are drawn first: the longest
# comparisons wait for them, and the last jobs of a run should be short.
rule synthesize_votes:
    message:
        "Drawing synthetic votes of {wildcards.K} teachers, profile {wildcards.profile}, seed {wildcards.seed}"
    output:
        "results/votes/{profile}/kind=synthetic,K={K},seed={seed}.npz",
    params:
        code=fingerprint("training/synthesize_votes.py"),
        name="{profile}",
        K=lambda wc: int(wc.K),
        vote_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=lookup(within=config, dpath="synthetic_votes/{profile}"),
    log:
        "logs/synthesize_votes/{profile}/K={K},seed={seed}.log",
    benchmark:
        "results/benchmarks/synthesize_votes/{profile}/K={K},seed={seed}.tsv"
    priority: 3
    localrule: True
    script:
        "../scripts/training/synthesize_votes.py"
