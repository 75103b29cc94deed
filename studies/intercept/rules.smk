# How many labels DPBag's budgets buy from teachers whose intercept is free.
TABLES.append("results/studies/tables/intercept.csv")


# Each split of UCI Adult takes ten seconds or so.
rule study_intercept:
    message:
        "Counting labels of teachers whose intercept is free"
    input:
        dataset=main.files.dataset(main.settings.dpbag.active_section.dataset),
    output:
        shown("results/studies/tables/intercept.csv"),
    params:
        code=fingerprint("intercept/study_intercept.py"),
        study=FREE_INTERCEPT,
        budget=main.settings.dpbag.asking(),
        scaling=main.config["dpbag"]["scaling"],
        seed=main.config["seed"],
    log:
        "logs/study_intercept/intercept.log",
    benchmark:
        "results/benchmarks/study_intercept/intercept.tsv"
    resources:
        mem_mb=main.growing(900),
        runtime=60,
    script:
        "study_intercept.py"
