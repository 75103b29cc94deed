# What the best label is worth: over the budget, for several labels, and told a wrong accuracy.
TABLES.append("results/studies/tables/best_label.csv")
FIGURES.append("results/studies/figures/best_label.png")


rule study_best_label:
    message:
        "Comparing the best label with the others"
    output:
        table=shown("results/studies/tables/best_label.csv"),
        png=shown("results/studies/figures/best_label.png"),
        pdf="results/studies/figures/best_label.pdf",
    params:
        code=fingerprint("best_label/study_best_label.py"),
        settings=asked.best_label.to_dict(),
        mechanisms=main.config["planner"]["mechanisms"],
        delta=main.config["planner"]["delta"],
    log:
        "logs/study_best_label/best_label.log",
    benchmark:
        "results/benchmarks/study_best_label/best_label.tsv"
    resources:
        mem_mb=main.growing(1000),
    script:
        "study_best_label.py"
