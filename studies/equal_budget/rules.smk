# How often a label is right by each mechanism on the same votes at one budget.
TABLES.append("results/studies/tables/equal_budget.csv")


# params.votes says which file holds a task's votes: task names are no names of inputs.
rule compare_equal_budgets:
    message:
        "Comparing mechanisms at the same total budget on PATE's votes"
    input:
        main.pate.vote_files(main.settings.pate).values(),
    output:
        shown("results/studies/tables/equal_budget.csv"),
    params:
        code=fingerprint("equal_budget/compare_equal_budgets.py"),
        votes=main.pate.vote_files(main.settings.pate),
        tasks=BUDGETS,
        seed=main.config["seed"],
        noise=main.config["noise"],
    log:
        "logs/compare_equal_budgets/equal_budget.log",
    benchmark:
        "results/benchmarks/compare_equal_budgets/equal_budget.tsv"
    priority: 1
    resources:
        mem_mb=main.growing(1500),
    script:
        "compare_equal_budgets.py"
