# What the votes of PATE's own ensembles cost, for whoever has them.
TABLES.append("results/studies/tables/authors_votes.csv")


# params.files says which file is a task's: task names are no names of inputs. The files are somebody's
# download, so no rule makes them.
rule account_authors_votes:
    message:
        "Accounting for the votes of the paper's own ensembles"
    input:
        AUTHORS_VOTES.values(),
    output:
        shown("results/studies/tables/authors_votes.csv"),
    params:
        code=fingerprint("authors_votes/account_authors_votes.py"),
        files=AUTHORS_VOTES,
        settings={
            task: authors_votes.accounting_settings(main.settings, task) for task in AUTHORS_VOTES
        },
    log:
        "logs/account_authors_votes/authors_votes.log",
    benchmark:
        "results/benchmarks/account_authors_votes/authors_votes.tsv"
    resources:
        mem_mb=main.growing(1200),
    script:
        "account_authors_votes.py"
