# This file has the configuration, the environment of the jobs, and functions for all rules.
import functools
import os
import sys
import time

from snakemake.jobs import GroupJob
from snakemake.logging import logger

# The root is found from this file, whoever included it: another workflow's Snakefile may be anywhere.
if not os.path.isdir(str(workflow.current_basedir)):
    sys.exit(
        f"error: {workflow.current_basedir}: is not on this machine, where jobs import the package "
        "from; let `snakefile:` name workflow/Snakefile, which brings the rest along"
    )
ROOT = os.path.abspath(f"{workflow.current_basedir}/../..")
sys.path.insert(0, f"{ROOT}/workflow")
os.environ |= {
    # Jobs import the package from here, so they run uninstalled, with --directory, on a cluster.
    "PYTHONPATH": os.pathsep.join(filter(None, [f"{ROOT}/workflow", os.environ.get("PYTHONPATH")])),
    # Idle threads of one job must not spin on the core of another (25 times slower otherwise).
    "OMP_WAIT_POLICY": "PASSIVE",
    # glibc keeps the memory that a step of a training frees for the next one (mallopt(3)): Linux would
    # fill it with zeros again, a tenth of a training's time. Other C libraries do not look here.
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}
# This makes MKL's batched products on an AMD processor independent of what else is in the batch.
os.environ.setdefault("MKL_CBWR", "AUTO")
# The Slurm executor alone reads this; as an option it would be relative to --directory.
os.environ.setdefault("SNAKEMAKE_SLURM_PARTITIONS", f"{ROOT}/profiles/slurm/partitions.yaml")

from private_ensembles.base import instruction_sets
from private_ensembles.run.changes import overriding_configuration
from private_ensembles.run.check import (
    check_or_exit,
    fill_defaults,
    imported_sources,
    put_back_texts,
    sources,
    list_base_folders,
)
from private_ensembles.release import own_keys, transaction
from private_ensembles.run import (
    announce,
    fingerprint as fingerprints,
    file_names as files,
    targets,
)
from private_ensembles.labels import registry
from private_ensembles.training.teachers.slices import slice_names

# The configuration of a workflow that imports this one says only what is different.
IMPORTED = not workflow.modifier.is_main_snakefile()
if IMPORTED:
    told = imported_sources(f"{ROOT}/config.yaml", config)
    config = fill_defaults(config, told[0][1])
else:
    put_back_texts(config, getattr(workflow.config_settings, "config_args", None))
    told = sources(workflow.configfiles, workflow.config_settings.config)
# `config` is checked in place: scripts see plain values in it; rules ask `settings` for what they need.
settings = check_or_exit(
    config,
    list_base_folders(workflow.rundir, workflow.basedir if IMPORTED else ROOT),
    told,
    sorted(registry.entries()),
)
if settings.portable:
    os.environ |= instruction_sets.PORTABLE  # before a job loads a library, on a cluster too

STARTED = time.time()


def log_group_error(group, msg=None, *, log_error=GroupJob.log_error, **more):
    """Say why a group of jobs failed, sbatch's reason included, which Snakemake 9.27 leaves out.

    Nothing else of another library is patched, and there is no other way: an executor hands the
    reason to this method alone. Once Snakemake says it, a test in tests/workflow/test_slurm.py
    fails, and this goes.
    """
    if msg:
        logger.error(msg)
    log_error(group, msg, **more)


if GroupJob.log_error.__module__ == "snakemake.jobs":  # once, however often this is imported
    GroupJob.log_error = log_group_error


# The scheduler is asked for a GPU only if the configuration insists on one.
GPUS = int(config["device"] == "cuda")


def growing(mem_mb):
    """A request for memory (MB) that doubles with every attempt, as the profiles' default does.

    About twice the peak measured on the paper's data, which each job's log tells, and 300 MB for
    Snakemake itself where Slurm runs the job. tests/workflow/test_resources.py compares.
    """
    return lambda wildcards, attempt: mem_mb * 2 ** (attempt - 1)


def fingerprint(*script_and_modules, data_files=(), computes=True):
    """The hash of a rule's code, as a parameter: read only if a job of the rule is to be judged.

    A portable run makes again what another run has computed: bytes of both would not fit together.
    """
    found = functools.cache(
        lambda: fingerprints.fingerprint(*script_and_modules, data_files=data_files)
    )
    if settings.portable and computes:
        return lambda wildcards: f"{found()}{fingerprints.PORTABLE}"
    return lambda wildcards: found()


def templates(*names):
    """The templates of a page, as its script's fingerprint counts them."""
    return [f"private_ensembles/report/templates/{name}.html" for name in names]


def shown(path, caption, category, subcategory=None, **items):
    """A file that Snakemake's report shows, with its caption (a file in workflow/report).

    items: of a pattern of files, what `collect` fills in.
    """
    paths = collect(path, **items) if items else path
    caption = f"../report/{caption}.rst"
    return report(paths, caption=caption, category=category, subcategory=subcategory)
