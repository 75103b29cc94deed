# Beyond the papers: which mechanism to use, and labels for somebody's own votes.


# The table ranks mechanisms at every epsilon; the audit has the exact epsilon of one label of each.
rule plan_mechanisms:
    message:
        "Ranking mechanisms by expected right labels"
    output:
        table=shown("results/planner/tables/planner.csv", "planner", "Planner"),
        audit=shown("results/planner/tables/audit.csv", "planner_audit", "Planner"),
        png=shown("results/planner/figures/correct_labels.png", "planner", "Planner"),
        pdf="results/planner/figures/correct_labels.pdf",
    params:
        code=fingerprint("plan_mechanisms.py"),
        settings=config["planner"],
        seed=config["seed"],
    log:
        "logs/plan_mechanisms/planner.log",
    benchmark:
        "results/benchmarks/plan_mechanisms/planner.tsv"
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/plan_mechanisms.py"


# The votes are a file of the user's. Everything that it makes may be shown, but for `private`.
rule apply_votes:
    message:
        "Releasing labels for your own votes"
    input:
        votes=config["votes"] or [],
    output:
        page="results/own/index.html",
        table="results/own/mechanisms.csv",
        labels="results/own/labels.csv",
        private="results/own/private/votes.csv",
        png="results/own/mechanisms.png",
        pdf="results/own/mechanisms.pdf",
    params:
        code=fingerprint("apply_votes.py", also=["../report/page.css", "../report/page.js"]),
        file={"kind": config["votes_kind"], "n_classes": config["n_classes"]},
        budget={name: config[name] for name in ("epsilon", "delta", "labels_wanted", "noise")},
        settings=config["planner"],
        seed=config["seed"],
    log:
        "logs/apply_votes/own.log",
    benchmark:
        "results/benchmarks/apply_votes/own.tsv"
    resources:
        mem_mb=growing(8000),
        runtime=120,
    script:
        "../scripts/apply_votes.py"
