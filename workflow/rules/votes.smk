# Votes of ensembles that are not networks: of random forests, and of teachers that do not exist.


rule cast_forest_votes:
    message:
        "Training {wildcards.K} random forests on {wildcards.dataset} and casting their votes, seed {wildcards.seed}"
    input:
        dataset="results/datasets/{dataset}.npz",
    output:
        "results/votes/{dataset}/kind=forest,K={K},seed={seed}.npz",
    params:
        code=fingerprint("cast_forest_votes.py"),
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
        "../scripts/cast_forest_votes.py"


# Every K of a profile and vote_seed has the same queries. Drawn first: the longest comparisons wait for
# them, and what is left for the end should be short.
rule synthesize_votes:
    message:
        "Drawing synthetic votes of {wildcards.K} teachers, profile {wildcards.profile}, seed {wildcards.seed}"
    output:
        "results/votes/{profile}/kind=synthetic,K={K},seed={seed}.npz",
    params:
        code=fingerprint("synthesize_votes.py"),
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
        "../scripts/synthesize_votes.py"
