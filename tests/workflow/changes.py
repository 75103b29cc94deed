"""What changes rerun: machinery of the tables in test_reruns.py and its like for other papers.

A table holds changes of a folder in which a tiny run has finished, and the jobs that each reruns.
Values of the configuration are judged by Snakemake itself, one dry run after the other in one
process. Edits of files are judged without it: the fingerprint of a rule says which files it rests
on, and the plan of the whole run which jobs rest on those of the rule. What is done to a folder
otherwise has a dry run of its own.
"""

import copy
import fnmatch
import json
import re
import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from tests import forks
from tests.conftest import users_environment

MODULE = "private_ensembles"
COMMENT = "\n# A comment.\n"
_CODE = {"py": "\nREVISION = 2\n", "csv": "\n", "rst": "\nMore.\n"}
_TARGETS = ("all", "darrm", "pate", "report")


def append(path, text):
    """Append text to a file."""
    path.write_bytes(path.read_bytes() + text.encode())


@dataclass(frozen=True)
class Job:
    """A planned job: its rule, and the files that it reads and writes."""

    rule: str
    inputs: frozenset[str]
    outputs: frozenset[str]


def read_plan(output):
    """Return the jobs planned in the output of a dry run, named as their logs are.

    Rules with a message are shown by it alone, so the folder must have been `silenced`.
    """
    jobs = {}
    for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", output, re.M):
        if rule in _TARGETS:
            continue
        named = dict(re.findall(r"^ {4}(input|output|log): (.*)$", block, re.M))
        files = (frozenset(named.get(kind, "").split(", ")) - {""} for kind in ("input", "output"))
        name = named["log"].removeprefix("logs/").removesuffix(".log")
        assert name not in jobs, "two jobs share a log"
        jobs[name] = Job(rule, *files)
    stated = re.search(r"^total +(\d+)$", output, re.M)
    targets = len(re.findall(rf"^(?:local)?rule (?:{'|'.join(_TARGETS)}):$", output, re.M))
    assert len(jobs) == (int(stated[1]) - targets if stated else 0), output
    return jobs


def silenced(folder):
    """Take the messages out of the rules of a folder, so that a dry run shows whole jobs."""
    for path in (folder / "workflow" / "rules").glob("*.smk"):
        path.write_text(re.sub(r"^    message:\n.*\n", "", path.read_text(), flags=re.M))
    return folder


def expand(patterns, universe):
    """Return the jobs that an expectation stands for."""
    jobs = set()
    for pattern in patterns:
        found = {name for name in universe if name.split("/")[0] == pattern}
        found |= set(fnmatch.filter(universe, pattern))
        assert found or ("/" in pattern and "*" not in pattern), f"{pattern} matches no job"
        jobs |= found or {pattern}
    return jobs


def follow(jobs, rules):
    """Return the names of the jobs of some rules, and of all that read what these write."""
    reached = {name for name, job in jobs.items() if job.rule in rules}
    while True:
        written = frozenset().union(*(jobs[name].outputs for name in reached))
        more = {name for name, job in jobs.items() if job.inputs & written} - reached
        if not more:
            return reached
        reached |= more


def list_watched_files(folder, configuration):
    """Print the files on which the fingerprint of each rule rests, below workflow/, as JSON.

    It is called in a process of its own, which `forks` started in the folder.
    """
    sys.path.insert(0, f"{folder}/workflow")
    from mock_job import load_workflow, read_options

    workflow = load_workflow(read_options(["--configfile", configuration]))
    from private_ensembles.run import fingerprint

    home = fingerprint.SCRIPTS.parent

    def list_files(script, *modules, data_files=()):
        paths = [fingerprint.SCRIPTS / script]
        for name in fingerprint.closure(script, *modules):
            path = home / name.replace(".", "/")
            paths.append(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
        for pattern in data_files:
            paths += home.glob(pattern)
        return [str(path.relative_to(home)) for path in paths]

    fingerprint.fingerprint = list_files
    codes = {rule.name: dict(rule.params.items()).get("code") for rule in workflow.rules}
    print(json.dumps({name: code(None) for name, code in codes.items() if code is not None}))


class Changes:
    """A finished run, in a copy without messages; a moved folder reruns nothing."""

    def __init__(self, finished, scratch, tiny):
        """Take a finished run.

        scratch: an empty folder. tiny: the configuration file of the run, below its folder.
        """
        self._finished = silenced(shutil.copytree(finished, scratch / "finished"))
        self._scratch = scratch
        self._tiny = tiny

    def check_values(self, table):
        """Fail where changes of values rerun other jobs than they are said to.

        table: NAME -> (values by path of keys joined by __, jobs).
        """
        configurations = [self._configure(values) for values, _ in table.values()]
        plans = self._plan(self._finished, configurations)
        self._compare({name: jobs for name, (_, jobs) in table.items()}, plans)

    def check_edits(self, table):
        """Fail where edits rerun other jobs than they are said to.

        table: file below workflow/ -> jobs.
        """
        said = forks.call(self._finished, list_watched_files, self._tiny, users_environment())
        watched = json.loads(said)
        rules = ({rule for rule, files in watched.items() if edited in files} for edited in table)
        self._compare(table, [follow(self._all_jobs, changed) for changed in rules])

    def check_edit_by_snakemake(self, name, jobs):
        """Fail where Snakemake itself reruns other jobs after an edit of a file."""
        path = self._finished / "workflow" / name
        before = path.read_bytes()
        append(path, _CODE.get(path.suffix.removeprefix("."), COMMENT))
        try:
            self._compare({name: jobs}, self._plan(self._finished, [self._tiny]))
        finally:
            path.write_bytes(before)

    def check_act(self, act, jobs):
        """Fail where other jobs are rerun after something was done to a copy of the folder."""
        folder = shutil.copytree(self._finished, self._scratch / "changed")
        try:
            act(folder)
            self._compare({"act": jobs}, self._plan(folder, [self._tiny]))
        finally:
            shutil.rmtree(folder)

    def _plan(self, folder, configurations, options=()):
        """Return the jobs that a dry run plans in a folder with each configuration."""
        arguments = [["-n", "--configfile", str(path), *options] for path in configurations]
        runs = forks.run_snakemake_in_turn(folder, arguments, users_environment(), timeout=1200)
        for done in runs:
            assert done.returncode == 0, done.stdout + done.stderr
        return [read_plan(done.stdout + done.stderr) for done in runs]

    @cached_property
    def _all_jobs(self):
        (jobs,) = self._plan(self._finished, [self._tiny], ["--forceall"])
        return jobs

    def _compare(self, expected, plans):
        wrong = {}
        for (name, patterns), plan in zip(expected.items(), plans, strict=True):
            jobs = expand(patterns, self._all_jobs)
            if set(plan) != jobs:
                more, missing = sorted(set(plan) - jobs), sorted(jobs - set(plan))
                wrong[name] = {"rerun": more, "not rerun": missing}
        assert not wrong, wrong

    def _configure(self, values):
        """Write the run's configuration with some values changed; returns the file."""
        config = copy.deepcopy(self._configured)
        for path, value in values.items():
            section = config
            *keys, last = path.split("__")
            for key in keys:
                section = section.setdefault(key, {})
            section[last] = copy.deepcopy(value)
        folder = self._scratch / "configurations"
        folder.mkdir(exist_ok=True)
        file = folder / f"{len(list(folder.iterdir()))}.yaml"
        file.write_text(yaml.safe_dump(config))
        return file

    @cached_property
    def _configured(self):
        return yaml.safe_load(Path(self._finished / self._tiny).read_text())
