# What K teachers' votes may release, at what privacy cost, and how often the label is right.
#   snakemake --cores all                        everything that the configuration asks for
#   snakemake --cores all --config data=paper    the same on MNIST and Fashion-MNIST
#   snakemake darrm | report | publish_docs      parts of it; see README.md
import os

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.current_basedir}/config.yaml"


# The environment is envs/requirements.lock, in which Snakemake itself runs. Jobs run in an image
# only if you ask for it with --software-deployment-method: the one that the Dockerfile's first
# command leaves in the local daemon, or one that you name.
IMAGE = os.environ.get("PRIVATE_ENSEMBLES_IMAGE", "docker-daemon://private-ensembles:latest")


container: IMAGE


include: "workflow/rules/common.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/darrm.smk"
include: "workflow/rules/pate.smk"
include: "workflow/rules/dpbag.smk"
include: "workflow/rules/nzc.smk"
include: "workflow/rules/labels.smk"
include: "workflow/rules/release.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        targets.default_targets(settings),


# Not on dry runs, and not in the jobs of a cluster.
onstart:
    transaction.check_permission_or_exit(
        workflow.dag.needrun_jobs(), own_keys.request_of(config)
    )
    announce.say(announce.describe_start(workflow.dag.needrun_jobs(), config))


onsuccess:
    announce.say(
        announce.describe_end(
            targets.final_file(settings),
            "results/fidelity.csv",
            requested=announce.list_requested_files(workflow.dag),
            since=STARTED,
            data=config["data"],
        )
    )
