# How much of the proven epsilon adversaries see on the teachers of this run.
TABLES.append("results/studies/tables/adversaries.csv")
FIGURES.append("results/studies/figures/adversaries.png")


# One record of one teacher is replaced, and the teacher is trained again.
rule attack_ensembles:
    message:
        "Attacking the teachers of this run by natural and poisoned records"
    input:
        **adversaries.input_files(main.settings, ATTACKED),
    output:
        table=shown("results/studies/tables/adversaries.csv"),
        png=shown("results/studies/figures/adversaries.png"),
        pdf="results/studies/figures/adversaries.pdf",
    params:
        **ATTACKED,
        code=fingerprint("adversaries/attack_ensembles.py"),
        seed=main.config["seed"],
        device=main.config["device"],
    log:
        "logs/attack_ensembles/adversaries.log",
    benchmark:
        "results/benchmarks/attack_ensembles/adversaries.tsv"
    priority: 1
    resources:
        mem_mb=main.growing(6000 if main.GPUS else 1800),
        gpu=main.GPUS,
    script:
        "attack_ensembles.py"
