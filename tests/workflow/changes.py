"""What changes rerun: machinery of the tables in test_reruns.py and its like for other papers.

A case is a change of a folder in which a tiny run has finished. Its name is "value: NAME" (values
of the configuration), "file: NAME" (an edit of code or content) or "act: NAME" (anything else).
"""

import copy
import fnmatch
import os
import re
import shutil
from functools import cached_property

import yaml

MODULE = "private_ensembles"
COMMENT = "\n# A comment.\n"
_CODE = {"py": "\nREVISION = 2\n", "csv": "\n", "rst": "\nMore.\n"}


def append(path, text):
    """Append text to a file."""
    path.write_bytes(path.read_bytes() + text.encode())


def planned_jobs(output):
    """Return the jobs planned in the output of a dry run, named as their logs are.

    Rules with a message are shown by it alone, so the folder must have been `silenced`.
    """
    found = re.findall(r"^ +log: logs/(.*)\.log", output, re.M)
    stated = re.search(r"^total +(\d+)$", output, re.M)
    targets = len(re.findall(r"^(?:local)?rule (?:all|darrm|pate|report):$", output, re.M))
    assert len(found) == (int(stated[1]) - targets if stated else 0), output
    assert len(found) == len(set(found)), "two jobs share a log"
    return set(found)


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


class Changes:
    """A finished run, in a copy without messages; a moved folder reruns nothing."""

    def __init__(self, finished, scratch, run_snakemake, tiny, configuration, acts):
        """Take a finished run and a table of changes.

        scratch: an empty folder. tiny: the configuration file of the run, below its folder.
        configuration: NAME -> (values by path of keys joined by __, jobs).
        acts: NAME -> (function of the folder, jobs).
        """
        self._finished = silenced(shutil.copytree(finished, scratch / "finished"))
        self._scratch = scratch
        self._run_snakemake, self._tiny = run_snakemake, tiny
        self._configuration, self._acts = configuration, acts

    @cached_property
    def _configured(self):
        """The configuration of the run."""
        return yaml.safe_load((self._finished / self._tiny).read_text())

    @cached_property
    def universe(self):
        """All jobs of the run."""
        return self._planned(self._finished, self._tiny, "--forceall")

    def rerun(self, *cases):
        """Return the jobs that changes rerun, all of them made at once.

        Values and edits are made in the folder itself, and edits undone: dry runs leave no trace,
        and a copy would cost a third of one. Whatever else happens, happens to a copy.
        """
        folder, acts = self._finished, any(case.startswith("act: ") for case in cases)
        if acts:
            folder = shutil.copytree(self._finished, self._scratch / "changed")
        config, edited = copy.deepcopy(self._configured), []
        try:
            for case in cases:
                kind, name = case.split(": ", 1)
                if kind == "act":
                    self._acts[name][0](folder)
                elif kind == "file":
                    edited.append(_Edit(folder / "workflow" / name))
                else:
                    self._set(self._configuration[name][0], config)
            changed = self._tiny
            if config != self._configured:
                changed = self._scratch / "changed.yaml"
                changed.write_text(yaml.safe_dump(config))
            return self._planned(folder, changed)
        finally:
            for edit in reversed(edited):
                edit.undo()
            if acts:
                shutil.rmtree(folder)

    def _planned(self, folder, configuration, *more):
        done = self._run_snakemake(folder, "-n", "--configfile", str(configuration), *more)
        assert done.returncode == 0, done.stdout + done.stderr
        return planned_jobs(done.stdout + done.stderr)

    @staticmethod
    def _set(values, config):
        for path, value in values.items():
            section = config
            *keys, last = path.split("__")
            for key in keys:
                section = section.setdefault(key, {})
            section[last] = copy.deepcopy(value)


class _Edit:
    """An edit of a file of code or content, until it is undone."""

    def __init__(self, path):
        self._path, self._before, self._status = path, path.read_bytes(), path.stat()
        append(path, _CODE.get(path.suffix.removeprefix("."), COMMENT))

    def undo(self):
        self._path.write_bytes(self._before)
        os.utime(self._path, ns=(self._status.st_atime_ns, self._status.st_mtime_ns))


def table(configuration, files, acts):
    """Return the jobs of every case by its name."""
    return {
        **{f"value: {name}": jobs for name, (_, jobs) in configuration.items()},
        **{f"file: {name}": jobs for name, jobs in files.items()},
        **{f"act: {name}": jobs for name, (_, jobs) in acts.items()},
    }


def together(cases):
    """Return the cases in groups, each of which is judged in one dry run.

    Edits of files that rerun the same jobs are made at once, and so are changes of values, and all
    others that rerun nothing: what one change reruns, no other change undoes. That each counts for
    all of its jobs by itself, `in_company` is for.
    """
    groups = {}
    for name, jobs in cases.items():
        kind = name.split(":")[0]
        alone = name if jobs and kind == "act" else kind
        groups.setdefault((alone, frozenset(jobs)), []).append(name)
    return {_title(names): names for names in groups.values()}


def _title(names):
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def group_company(cases):
    """Return the names of the changes that rerun jobs, as others of their group do."""
    groups = [names for names in together(cases).values() if len(names) > 1]
    return [name for names in groups for name in names if cases[name]]


def check(changed, cases, names):
    """Fail where changes, made at once, rerun other jobs than each is said to; say who does."""
    (expected,) = {frozenset(expand(cases[name], changed.universe)) for name in names}
    planned = changed.rerun(*names)
    if planned != expected and len(names) > 1:
        for name in names:
            check(changed, cases, [name])
    wrong = planned - expected, expected - planned
    assert wrong == (set(), set()), (names, wrong)
