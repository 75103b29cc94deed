# What a student between two rounds gains over one round at the same cost.
READ = {task: interactive_students.input_files(main.settings, task) for task in INTERACTIVE}
TABLES.append("results/studies/tables/interactive_students.csv")


# The students see what was released of the votes; the second round's mechanism sees them. params.files
# says which files are a task's: task names are no names of inputs.
rule train_interactive_students:
    message:
        "Training students in two rounds, beside one round at the same total"
    input:
        [list(read.values()) for read in READ.values()],
    output:
        shown("results/studies/tables/interactive_students.csv"),
    params:
        code=fingerprint("interactive_students/train_interactive_students.py"),
        checkpoint="results/studies/checkpoints/interactive",
        files=READ,
        tasks=main.settings.pate.descriptions(list(INTERACTIVE)),
        settings=INTERACTIVE,
        seed=main.config["seed"],
        noise=main.config["noise"],
        device=main.config["device"],
    log:
        "logs/train_interactive_students/interactive_students.log",
    benchmark:
        "results/benchmarks/train_interactive_students/interactive_students.tsv"
    resources:
        mem_mb=main.growing(6000 if main.GPUS else 1400),
        runtime=120,
        gpu=main.GPUS,
    script:
        "train_interactive_students.py"
