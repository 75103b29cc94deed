"""What changes rerun: machinery of the tables in test_reruns.py and test_reruns_pate.py.

A case is a change of a folder in which a tiny run has finished. Its name is "value: NAME" (values
of the configuration), "file: NAME" (an edit of code or content) or "act: NAME" (anything else).
"""

import copy
import fnmatch
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

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


def selected(request):
    """Return the cases that pytest was asked to run in the module of `request`."""
    return [
        item.callspec.params["case"]
        for item in request.session.items
        if item.path == request.path and "case" in getattr(item, "callspec", _NoCase).params
    ]


class _NoCase:
    params: dict = {}


def universe(folder, run_snakemake, tiny):
    """Return all jobs of a tiny run, whose configuration is the file `tiny` below the folder."""
    done = run_snakemake(folder, "-n", "--forceall", "--configfile", tiny)
    assert done.returncode == 0, done.stderr
    return planned_jobs(done.stdout + done.stderr)


def plans(cases, finished, run_snakemake, tmp_path_factory, tiny, configuration, acts):
    """Return what each case reruns: dry runs, two at a time, in copies of the finished run.

    configuration: NAME -> (values by path of keys joined by __, jobs); acts: NAME -> (function of
    the folder, jobs).
    """
    folders = SimpleQueue()
    for number in range(2):
        copied = tmp_path_factory.mktemp("plans") / str(number)
        folders.put(shutil.copytree(finished, copied))

    def plan(case):
        folder = folders.get()
        try:
            chosen = _apply(case, folder, tiny, configuration, acts)
            done = run_snakemake(folder, "-n", "--configfile", chosen)
            output = done.stdout + done.stderr
            return planned_jobs(output) if done.returncode == 0 else output
        finally:
            shutil.rmtree(folder)
            folders.put(shutil.copytree(finished, folder))

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(cases, pool.map(plan, cases), strict=True))


def _apply(case, folder, tiny, configuration, acts):
    """Make the change of one case in a folder; return the configuration file to run with."""
    kind, name = case.split(": ", 1)
    if kind == "act":
        acts[name][0](folder)
    elif kind == "file":
        append(folder / "workflow" / name, _CODE.get(name.rsplit(".", 1)[1], COMMENT))
    else:
        config = yaml.safe_load((folder / tiny).read_text())
        for path, value in configuration[name][0].items():
            section = config
            *keys, last = path.split("__")
            for key in keys:
                section = section.setdefault(key, {})
            section[last] = copy.deepcopy(value)
        (folder / "changed.yaml").write_text(yaml.safe_dump(config))
        return "changed.yaml"
    return tiny
