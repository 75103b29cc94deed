"""Snakemake with its imports done: one process that forks for each run.

A dry run takes 3.7 s of one core, of which 2.6 go into imports and into the collection of garbage.
So one process imports Snakemake once, and forks for each run: there, Snakemake's own command line
runs in a process, a folder and an environment of its own, as if it had been started anew. Nothing
of the workflow is loaded before the fork, but for what `remembering.py` hands out. Jobs start in
forks, too (`warm_jobs.py`), unless they are to be started as ever. All processes of the tests share
both processes that fork.
"""

import gc
import importlib.util
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def _beside(name):
    """Return a module beside this one: where no folder counts, it is no module's."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    warm_jobs = _beside("warm_jobs")
else:
    from . import warm_jobs


class WarmSnakemake:
    """Runs Snakemake in forks."""

    def __init__(self, runs: str, jobs: str):
        """runs, jobs: addresses of the processes that fork for Snakemake, and for its jobs."""
        self._runs, self._jobs = runs, jobs

    def __call__(
        self,
        folder: Path,
        arguments,
        environment,
        timeout: float,
        memory: int | None = None,
        fresh: bool = False,
    ) -> subprocess.CompletedProcess:
        """Run Snakemake in a folder; returns the finished process, output as text.

        environment: all its variables. timeout: seconds, after which the run is killed. memory:
        bytes of address space for each process. fresh: Python is started for each job, as where
        memory is given.
        """
        arguments = [str(argument) for argument in arguments]
        request = {
            "folder": str(folder),
            "arguments": arguments,
            "environment": environment,
            "timeout": timeout,
            "memory": memory,
            "starting": None if memory or fresh else warm_jobs.command(self._jobs),
        }
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with open(os.devnull) as nothing:
                streams = [file.fileno() for file in (nothing, out, err)]
                status = warm_jobs.ask(self._runs, request, streams)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        if status == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(arguments, timeout, *texts)
        return subprocess.CompletedProcess(arguments, status, *texts)


def _load():
    """Load Snakemake, and what is to be remembered for its runs."""
    import docutils.core  # what the Snakefile and its modules load of others
    import jsonschema
    import nbformat
    import pydantic
    import requests
    import snakemake.cli
    import snakemake.profiles
    import snakemake.storage
    import snakemake.workflow
    import yte

    assert {docutils, jsonschema, nbformat, pydantic, requests, yte}
    snakemake.cli.get_argument_parser()  # loads all plugins
    rules = _beside("remembering").remember()

    def run(request):
        # The children live for a short time: what they leave, the system takes back.
        gc.disable()
        # The one thing that Snakemake notes when it is imported: where it was started.
        snakemake.workflow.Workflow._rundir = request["folder"]
        _run(snakemake.cli.main, rules, **request)

    return run, rules.learn


def _start_scripts_by(starting):
    """Let a command start scripts of one thread that run in no other environment than ours."""
    from snakemake.script import PythonScript

    execute = PythonScript.execute_script
    command = " ".join(map(shlex.quote, starting))

    def execute_script(job, fname, edit=False):
        if job.threads != 1 or job.container_img or job.conda_env or job.env_modules:
            execute(job, fname, edit)
        else:
            job._execute_cmd(f"{command} {{fname:q}}", fname=fname)

    PythonScript.execute_script = execute_script


def _run(main, rules, folder, arguments, environment, timeout, memory, starting):
    """Run Snakemake's command line in this process, which ends with it."""
    if starting:
        _start_scripts_by(starting)
    signal.alarm(int(timeout))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = ["snakemake", *arguments]
    code = 1
    try:
        main(arguments)
    except SystemExit as ended:
        # As Python ends: what is no number is a message.
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        else:
            code = int(ended.code or 0)
    finally:
        rules.tell()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    warm_jobs.serve(_load)
