# The comparison with the published numbers, the page that shows everything, and the copies in docs/.


# One page with all tables and figures; opens without a network.
rule report:
    input:
        "results/index.html",


# input: tables (list), teachers, datasets (list). params: data. The published numbers lie beside the
# code (workflow/published), part of its fingerprint.
rule compare_published:
    message:
        "Comparing with the published numbers"
    input:
        tables=collect("results/darrm/tables/{item}.csv", item=ALL_TABLES),
        teachers="results/darrm/privacy/teachers.csv",
        datasets=collect("results/datasets/{dataset}.npz", dataset=LABEL_DATASETS),
    output:
        report(
            "results/fidelity.csv",
            caption="../report/fidelity.rst",
            category="Comparison",
        ),
    params:
        code=fingerprint("compare_published.py", also="../published/*.csv"),
        data=config["data"],
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


# input: fidelity, tables, figures, teachers. params: data.
rule build_index:
    message:
        "Building the page of results"
    input:
        fidelity="results/fidelity.csv",
        tables=collect("results/darrm/tables/{item}.csv", item=ALL_TABLES),
        figures=collect("results/darrm/figures/{item}.png", item=FIGURES),
        teachers="results/darrm/privacy/teachers.csv",
    output:
        "results/index.html",
    params:
        code=fingerprint("build_index.py", also="../report/*.rst"),
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


# Copies into docs/, never part of `all`: what is in docs/ changes on request only. params: command
# (what the reader runs to make these files again).
rule publish_docs:
    message:
        "Copying tables and figures into docs/"
    input:
        tables=[
            "results/fidelity.csv",
            "results/darrm/privacy/teachers.csv",
            *collect("results/darrm/tables/{item}.csv", item=ALL_TABLES),
        ],
        figures=collect("results/darrm/figures/{item}.png", item=FIGURES),
    output:
        page="docs/darrm/README.md",
        tables=[
            "docs/darrm/fidelity.csv",
            "docs/darrm/teachers.csv",
            *collect("docs/darrm/{item}.csv", item=ALL_TABLES),
        ],
        figures=collect("docs/darrm/{item}.png", item=FIGURES),
    params:
        code=fingerprint("publish_docs.py"),
        data=config["data"],
        seed=config["seed"],
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
