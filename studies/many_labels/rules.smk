# How right labels are by each law of noise if all of them share one budget.
TABLES.append("results/studies/tables/many_labels.csv")
FIGURES.append("results/studies/figures/many_labels.png")


# PATE's votes are drawn beside the study where their comparison is made.
rule study_many_labels:
    message:
        "Comparing noise laws by what their labels cost"
    input:
        equal_budget=["results/studies/tables/equal_budget.csv"] if BUDGETS else [],
    output:
        table=shown("results/studies/tables/many_labels.csv"),
        png=shown("results/studies/figures/many_labels.png"),
        pdf="results/studies/figures/many_labels.pdf",
    params:
        code=fingerprint("many_labels/study_many_labels.py"),
        settings=asked.many_labels.to_dict(),
        mechanisms=main.config["planner"]["mechanisms"],
        delta=main.config["planner"]["delta"],
        noise=main.config["noise"],
    log:
        "logs/study_many_labels/many_labels.log",
    benchmark:
        "results/benchmarks/study_many_labels/many_labels.tsv"
    resources:
        mem_mb=main.growing(1000),
    script:
        "study_many_labels.py"
