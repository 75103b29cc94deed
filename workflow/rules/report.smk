# The comparison with the published numbers, the page that shows everything, and the copies in docs/.
PAGES = "private_ensembles/papers/*/page.yaml"


# The page shows all tables and figures, and opens without a network.
rule report:
    input:
        "results/index.html",


# The parameters are what printed numbers rest on, by paper. The numbers, and which of ours belong to
# them, are files beside the code and part of its fingerprint.
rule compare_published:
    message:
        "Comparing all tables with the printed numbers"
    input:
        tables=targets.table_files(settings),
        others=targets.tables_in_other_folders(settings),
        datasets=list(targets.dataset_files_of_printed_sizes(settings).values()),
    output:
        shown("results/fidelity.csv", "fidelity", "Comparison"),
    params:
        code=fingerprint("report/compare_published.py", data_files=["published/*"]),
        data=config["data"],
        settings=targets.printed_number_settings(settings),
        datasets=targets.dataset_files_of_printed_sizes(settings),
        sizes=targets.size_rows(settings),
    log:
        "logs/compare_published/fidelity.log",
    benchmark:
        "results/benchmarks/compare_published/fidelity.tsv"
    localrule: True
    resources:
        mem_mb=growing(700),
    script:
        "../scripts/report/compare_published.py"


rule build_index:
    message:
        "Building the page of results"
    input:
        **targets.page_inputs(settings),
        fidelity="results/fidelity.csv",
    output:
        page="results/index.html",
    params:
        code=fingerprint(
            "report/build_index.py",
            data_files=[
                "report/*",
                PAGES,
                "published/*.yaml",
                "../config/scenarios/published.yaml",
                *templates("page", "pieces", "index", "starred", "charts", "views"),
            ],
        ),
        data=config["data"],
    log:
        "logs/build_index/index.log",
    benchmark:
        "results/benchmarks/build_index/index.tsv"
    localrule: True
    script:
        "../scripts/report/build_index.py"


# The copies in docs/ are never part of `all`, because docs/ changes on request only. What the run's
# configuration has changed goes with them, for the command that makes these files again.
rule publish_docs:
    message:
        "Copying tables and figures into docs/"
    input:
        **targets.published_files(settings),
        fidelity="results/fidelity.csv",
    output:
        **files.copies_in_docs(targets.published_files(settings)),
        fidelity="docs/fidelity.csv",
        configuration="docs/configuration.yaml",
        pages=collect("docs/{paper}/README.md", paper=config["papers"]),
    params:
        code=fingerprint("report/publish_docs.py", data_files=["report/sections.yaml", PAGES]),
        papers=config["papers"],
        configuration=lambda wildcards: overriding_configuration(config),
    log:
        "logs/publish_docs/docs.log",
    benchmark:
        "results/benchmarks/publish_docs/docs.tsv"
    localrule: True
    script:
        "../scripts/report/publish_docs.py"
