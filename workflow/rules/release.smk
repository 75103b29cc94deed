# This goes beyond the papers and releases labels of somebody's own votes.


# The votes are a file of the user's. What may be shown of them has a folder of its own. Snakemake
# leaves finished labels in place until they are replaced (`update` copies them, and they are not
# private). What was paid for is kept where no rule has an output. There is no benchmark, because the
# time that it took may tell something about the votes.
OWN = files.own_votes(settings)
BATCH = files.session_batch(settings)
STATED = files.own_input_files(settings)
PAID = update if settings.noise == "secure" else str


rule apply_votes:
    message:
        "Releasing labels for your own votes"
    input:
        votes=config["own"]["votes"] or [],
        stated=STATED,
    output:
        page=PAID(OWN["page"]),
        table=PAID(OWN["table"]),
        curves=PAID(OWN["curves"]),
        labels=PAID(OWN["labels"]),
        png=PAID(OWN["png"]),
        pdf=PAID(OWN["pdf"]),
        private=OWN["private"],
    params:
        code=fingerprint(
            "release/apply_votes.py",
            data_files=["report/page.css", "report/page.js", *templates("page", "pieces", "own")],
        ),
        ensemble=config["own"]["ensemble"],
        budget=config["own"]["budget"],
        protection=config["own"]["protection"],
        wanted=config["own"]["wanted"],
        reading=config["own"]["reading"],
        planner=own_keys.request_of(config)["planner"],
        noise=config["noise"],
        seed=config["seed"],
        labels_file=lambda wildcards, output: str(output.labels),
    log:
        "logs/apply_votes/own.log",
    resources:
        mem_mb=growing(8000),
        runtime=120,
    script:
        "../scripts/release/apply_votes.py"


# A batch of a session that is asked for again gets the labels that it got, so its files may be
# removed and made anew. The session's file is no input: it changes with every batch.
rule release_batch:
    message:
        "Releasing a batch of your session"
    input:
        votes=config["own"]["votes"] or [],
        stated=STATED,
    output:
        labels=BATCH["labels"],
        status=BATCH["status"],
    params:
        code=fingerprint("release/release_batch.py"),
        session=config["own"]["session"],
        reading=config["own"]["reading"],
    log:
        "logs/release_batch/batch.log",
    resources:
        mem_mb=growing(2000),
    script:
        "../scripts/release/release_batch.py"
