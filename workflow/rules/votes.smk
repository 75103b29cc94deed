# Votes of ensembles that are no networks: of random forests, and of teachers that do not exist.


# input: dataset (a table). params: K, training_seed, seed (of everything), settings (of the forests).
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
    cache: SHARED
    threads: 1
    resources:
        mem_mb=growing(700),
        runtime=30,
    script:
        "../scripts/cast_forest_votes.py"


# params: name (of the profile), K, vote_seed, seed (of everything), settings (the profile, with
# n_queries). Every K of a profile and vote_seed has the same queries.
rule synthesize_votes:
    message:
        "Drawing votes of {wildcards.K} teachers that do not exist, profile {wildcards.profile}, seed {wildcards.seed}"
    output:
        "results/votes/{profile}/kind=synthetic,K={K},seed={seed}.npz",
    params:
        code=fingerprint("synthesize_votes.py"),
        name="{profile}",
        K=lambda wc: int(wc.K),
        vote_seed=lambda wc: int(wc.seed),
        seed=config["seed"],
        settings=lambda wc: config["synthetic_votes"][wc.profile],
    log:
        "logs/synthesize_votes/{profile}/K={K},seed={seed}.log",
    benchmark:
        "results/benchmarks/synthesize_votes/{profile}/K={K},seed={seed}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(400),
        runtime=10,
    script:
        "../scripts/synthesize_votes.py"
