# What the votes of PATE's own ensembles cost, for whoever has them.
DOWNLOADS = authors_votes.describe_downloads(asked.authors_votes)
if AUTHORS_VOTES:
    TABLES.append("results/studies/tables/authors_votes.csv")
# The script reads these from the configuration: a changed mirror is no reason to download again.
config.update({name: main.config[name] for name in ("data_mirror", "download_timeout")})


# Nothing downloads these unless they are named, or lie in the mirror.
rule download_authors_votes:
    message:
        "Downloading {wildcards.votes}"
    output:
        "{votes}",
    params:
        code=fingerprint("authors_votes/download_authors_votes.py"),
        known=lambda wc: DOWNLOADS[wc.votes],
    log:
        "logs/download_authors_votes/{votes}.log",
    benchmark:
        "results/benchmarks/download_authors_votes/{votes}.tsv"
    wildcard_constraints:
        votes="|".join(map(re.escape, DOWNLOADS)) or "none",
    localrule: True
    script:
        "download_authors_votes.py"


# params.files says which file is a task's: task names are no names of inputs.
rule account_authors_votes:
    message:
        "Accounting for the votes of the paper's own ensembles"
    input:
        [file["path"] for file in AUTHORS_VOTES.values()],
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
