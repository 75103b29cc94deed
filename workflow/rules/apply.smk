# Beyond the papers: which mechanism to use, and labels for somebody's own votes.


# output: table (ranked mechanisms at every epsilon), audit (exact epsilon of one label of each),
# png, pdf. params: settings (the section planner), seed.
rule plan_mechanisms:
    message:
        "Ranking mechanisms by expected right labels"
    output:
        table=report(
            "results/planner/tables/planner.csv",
            caption="../report/planner.rst",
            category="Planner",
        ),
        audit=report(
            "results/planner/tables/audit.csv",
            caption="../report/planner_audit.rst",
            category="Planner",
        ),
        png=report(
            "results/planner/figures/correct_labels.png",
            caption="../report/planner.rst",
            category="Planner",
        ),
        pdf="results/planner/figures/correct_labels.pdf",
    params:
        code=fingerprint("plan_mechanisms.py"),
        settings=config["planner"],
        seed=config["seed"],
    log:
        "logs/plan_mechanisms/planner.log",
    benchmark:
        "results/benchmarks/plan_mechanisms/planner.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=20,
    script:
        "../scripts/plan_mechanisms.py"


# input: votes (a file of the user's). output: page, table, labels, png, pdf may be shown; private may
# not. params: file (kind, n_classes), budget (epsilon, delta, labels_wanted, noise), settings (the
# section planner), seed.
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
        code=fingerprint("apply_votes.py", also=["../report/page.*"]),
        file={"kind": config["votes_kind"], "n_classes": config["n_classes"]},
        budget={name: config[name] for name in ("epsilon", "delta", "labels_wanted", "noise")},
        settings=config["planner"],
        seed=config["seed"],
    log:
        "logs/apply_votes/own.log",
    benchmark:
        "results/benchmarks/apply_votes/own.tsv"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=120,
    script:
        "../scripts/apply_votes.py"
