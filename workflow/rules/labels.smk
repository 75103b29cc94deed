# This goes beyond the papers and says which mechanism to use.


# The table ranks mechanisms at every epsilon; the audit has the exact epsilon of one label of each.
rule plan_mechanisms:
    message:
        "Ranking mechanisms by expected right labels"
    output:
        table=shown("results/planner/tables/planner.csv", "planner", "Planner"),
        labels=shown("results/planner/tables/fewer_labels.csv", "fewer_labels", "Planner"),
        audit=shown("results/planner/tables/audit.csv", "planner_audit", "Planner"),
        png=shown("results/planner/figures/correct_labels.png", "planner", "Planner"),
        pdf="results/planner/figures/correct_labels.pdf",
    params:
        code=fingerprint("labels/plan_mechanisms.py"),
        settings=config["planner"],
        seed=config["seed"],
        noise=config["noise"],
    log:
        "logs/plan_mechanisms/planner.log",
    benchmark:
        "results/benchmarks/plan_mechanisms/planner.tsv"
    priority: 1
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/labels/plan_mechanisms.py"
