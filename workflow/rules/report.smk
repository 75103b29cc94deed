# The comparison with the published numbers, the page that shows everything, and the copies in docs/.


# One page with all tables and figures; opens without a network.
rule report:
    input:
        "results/index.html",


# input: tables (list), teachers, datasets (lists; empty without DaRRM), records (DPBag's data set, or
# nothing). params: data, darrm and dpbag (what their printed numbers rest on), tasks (PATE's: parameters by name), deltas (DPBag's: delta, delta_of_counts),
# nzc (sizes of NZC's data, by task that is run). The published numbers lie beside the code
# (workflow/published), part of its fingerprint.
rule compare_published:
    message:
        "Comparing with the published numbers"
    input:
        tables=table_files(),
        teachers=TEACHERS,
        datasets=collect("results/datasets/{dataset}.npz", dataset=LABEL_DATASETS * bool(TEACHERS)),
        records=BAGGED_RECORDS,
    output:
        report(
            "results/fidelity.csv",
            caption="../report/fidelity.rst",
            category="Comparison",
        ),
    params:
        code=fingerprint("compare_published.py", also="../published/*.csv"),
        data=config["data"],
        darrm=settings.darrm.claims() if TEACHERS else {},
        tasks=settings.pate.parameters(TASKS),
        dpbag=settings.dpbag.claims() if "dpbag" in config["papers"] else {},
        deltas={key: config["dpbag"][key] for key in ("delta", "delta_of_counts")},
        nzc=settings.nzc.facts(NZC_TASKS) if "nzc" in config["papers"] else {},
    log:
        "logs/compare_published/fidelity.log",
    benchmark:
        "results/benchmarks/compare_published/fidelity.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(700),
        runtime=10,
    script:
        "../scripts/compare_published.py"


# input: fidelity, tables, figures, teachers, ledger. params: data.
rule build_index:
    message:
        "Building the page of results"
    input:
        fidelity="results/fidelity.csv",
        tables=[
            *table_files(),
            *TOTALS,
            rules.plan_mechanisms.output.table,
            rules.plan_mechanisms.output.audit,
        ],
        figures=[*figure_files(), *AUDIT[1:], rules.plan_mechanisms.output.png],
        teachers=TEACHERS,
        ledger=LEDGER,
    output:
        "results/index.html",
    params:
        code=fingerprint("build_index.py", also="../report/*"),
        data=config["data"],
    log:
        "logs/build_index/index.log",
    benchmark:
        "results/benchmarks/build_index/index.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(250),
        runtime=10,
    script:
        "../scripts/build_index.py"


# Copies into docs/, never part of `all`: what is in docs/ changes on request only. params: papers,
# settings (of the command that makes these files again).
rule publish_docs:
    message:
        "Copying tables and figures into docs/"
    input:
        fidelity="results/fidelity.csv",
        tables=[*TEACHERS, *LEDGER, *TOTALS, *table_files()],
        figures=[*AUDIT[1:], *figure_files()],
    output:
        fidelity="docs/fidelity.csv",
        pages=collect("docs/{paper}/README.md", paper=config["papers"]),
        tables=[docs_file(path) for path in [*TEACHERS, *LEDGER, *TOTALS, *table_files()]],
        figures=[docs_file(path) for path in [*AUDIT[1:], *figure_files()]],
    params:
        code=fingerprint("publish_docs.py"),
        papers=config["papers"],
        settings=f"data={config['data']} seed={config['seed']}",
    log:
        "logs/publish_docs/docs.log",
    benchmark:
        "results/benchmarks/publish_docs/docs.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(200),
        runtime=10,
    script:
        "../scripts/publish_docs.py"
