"""Give a script the object that Snakemake would, so that it can be looked at and stepped through.

    python workflow/mock_job.py RULE [WILDCARD=VALUE ...] [--run] [Snakemake's options]

prints what `snakemake` holds in the script of that rule; --run runs the script with it, in this
process, where a debugger stops. In Python, before the lines of a script are pasted:

    from mock_job import mock_job
    snakemake = mock_job("account_votes", "--configfile", "my.yaml", task="digits")

It stands beside the package, which never imports Snakemake. `snakemake.api` plans and runs but
hands out no job, so the workflow is loaded by the classes that the API itself uses.
"""

import difflib
import json
import os
import runpy
import shlex
import sys
from pathlib import Path

import yaml
from snakemake.api import SnakemakeApi
from snakemake.cli import parse_args, parse_config
from snakemake.common.workdir_handler import WorkdirHandler
from snakemake.dag import DAG
from snakemake.exceptions import WorkflowError
from snakemake.io import IOCache
from snakemake.jobs import Job
from snakemake.script import Snakemake
from snakemake.settings import types
from snakemake.workflow import Workflow
from threadpoolctl import threadpool_limits

# As this process was started; the workflow changes it for its jobs.
ENVIRONMENT = dict(os.environ)
SNAKEFILE = Path(__file__).resolve().parents[1] / "Snakefile"


def read_options(options):
    """Return Snakemake's command line, parsed; `targets` holds what is no option."""
    return parse_args(["--snakefile", str(SNAKEFILE), *options])[1]


def load_workflow(args):
    """Return the workflow as a command line configures it; this process is then in its folder."""
    snakefile = str(Path(args.snakefile).absolute())
    config = types.ConfigSettings(
        config=parse_config(args.config),
        configfiles=args.configfile or [],
        config_args=args.config,
    )
    WorkdirHandler(args.directory).change_to()  # relative paths above are not from that folder
    workflow = Workflow(
        config_settings=config,
        resource_settings=types.ResourceSettings(
            cores=args.cores, default_resources=args.default_resources
        ),
        workflow_settings=types.WorkflowSettings(),
        dag_settings=types.DAGSettings(),
        storage_settings=types.StorageSettings(),
        logger_manager=SnakemakeApi().logger_manager,
    )
    workflow.include(snakefile, overwrite_default_target=True)
    workflow.iocache = IOCache(None)  # holds the sizes of inputs, on which resources depend
    return workflow


def build_job(workflow, name, wildcards):
    """Return a job of a rule.

    Args:
        workflow: What `load_workflow` returns.
        name: The rule's name.
        wildcards: The value of each of the rule's wildcards.

    Raises:
        ValueError: There is no such rule with a script, or the wildcards are not its own.
    """
    rules = {rule.name: rule for rule in workflow.rules if rule.script}
    if name not in rules:
        near = difflib.get_close_matches(name, rules, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"rule {name}: there is none of this name that runs a script{hint}")
    rule = rules[name]
    if wildcards.keys() != rule.wildcard_names:
        usage = " ".join(f"{wildcard}=VALUE" for wildcard in sorted(rule.wildcard_names))
        raise ValueError(f"rule {name}: must be given {usage or 'no wildcards'}")
    output = str(rule.expand_output(wildcards)[0][0])
    if not rule.is_producer(output):
        raise ValueError(f"rule {name}: a wildcard has no such value, so it makes no {output}")
    # Wildcards come in the order of the file name, as Snakemake reads them from it.
    return Job(rule, DAG(workflow, rules=[]), rule.get_wildcards(output))


def hand_over(job):
    """Return the object that the job's script is given."""
    return Snakemake(
        job.input,
        job.output,
        job.params,
        job.wildcards,
        job.threads,
        job.resources,
        job.log,
        job.rule.module_globals["config"],
        job.rule.name,
        None,  # no repetition for a benchmark
    )


def mock_job(rule, /, *options, **wildcards):
    """Return the `snakemake` object of a rule's script.

    Args:
        rule: The rule's name.
        *options: Options of Snakemake's command line.
        **wildcards: The value of each of the rule's wildcards.

    Raises:
        ValueError: There is no such rule with a script, or the wildcards are not its own.
    """
    texts = {name: str(value) for name, value in wildcards.items()}
    return hand_over(build_job(load_workflow(read_options(options)), rule, texts))


def describe(snakemake):
    """Return what the object holds, as YAML; the configuration is long, so only its sections."""
    content = {"rule": snakemake.rule}
    for name in ("input", "output", "params", "wildcards", "log", "resources"):
        values = getattr(snakemake, name)
        content[name] = dict(values.items()) or list(values)
    content |= {"threads": snakemake.threads, "config": ", ".join(snakemake.config)}
    return yaml.safe_dump(json.loads(json.dumps(content, default=str)), sort_keys=False, width=100)


def require_held_libraries():
    """Raise ValueError if a portable run was started without the variables that jobs get.

    Planning has loaded NumPy in this process, so they would come too late.
    """
    from private_ensembles.base.instruction_sets import list_missing  # found once a plan is made

    missing = list_missing(ENVIRONMENT)
    if missing:
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in missing.items())
        raise ValueError(f"portable = true: start Python with these variables: {words}")


def run_script(job, snakemake):
    """Run the job's script in this process, with as many threads as Snakemake gives it."""
    script = Path(job.rule.snakefile).parent / job.rule.script
    # The variables are for libraries that the script loads, the limit is for those loaded already.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(snakemake.threads))
    with threadpool_limits(snakemake.threads):
        runpy.run_path(str(script.resolve()), {"snakemake": snakemake}, "__main__")


def main(arguments):
    """Print what a script would be given, or run it."""
    args = read_options([argument for argument in arguments if argument != "--run"])
    try:
        if not args.targets:
            raise ValueError("name a rule; snakemake --list-rules lists them")
        name, *pairs = args.targets
        if odd := [pair for pair in pairs if "=" not in pair]:
            raise ValueError(f"{odd[0]}: must be WILDCARD=VALUE")
        job = build_job(load_workflow(args), name, dict(pair.split("=", 1) for pair in pairs))
        snakemake = hand_over(job)
        if "--run" in arguments and snakemake.config["portable"]:
            require_held_libraries()
    except (ValueError, WorkflowError) as error:
        sys.exit(f"error: {error}")
    if "--run" in arguments:
        run_script(job, snakemake)
    else:
        print(describe(snakemake), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
