"""Snakemake with its imports done: one process that forks for each run.

A dry run takes 3.7 s of one core, of which 2.6 go into imports and into the collection of garbage.
So one process imports Snakemake once, and forks for each run: there, Snakemake's own command line
runs in a process, a folder and an environment of its own, as if it had been started anew. Nothing
of the workflow is loaded before the fork, but for what `remembering.py` hands out. Jobs start in
forks, too (`warm_jobs.py`), unless they are to be started as ever.
"""

import gc
import importlib.util
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

if __name__ != "__main__":
    from .warm_jobs import WarmJobs


class WarmSnakemake:
    """The process that forks; started by the first run. Call `close` at the end."""

    def __init__(self):
        self._process = self._jobs = None

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
        # The processes have an environment only for Python's own start.
        bare = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
        warm = memory is None and not fresh and "-n" not in arguments
        if warm and self._jobs is None:
            self._jobs = WarmJobs(bare)
        if self._process is None:
            # -P as in `python -m snakemake`, where no folder but the current one counts.
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                env=bare,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        with tempfile.TemporaryDirectory() as place:
            request = {
                "folder": str(folder),
                "arguments": [str(argument) for argument in arguments],
                "environment": environment,
                "timeout": timeout,
                "memory": memory,
                "place": place,
                "starting": self._jobs.command if warm else None,
            }
            print(json.dumps(request), file=self._process.stdin, flush=True)
            returned = self._process.stdout.readline()
            assert returned, "the process that forks has ended"
            out, err = ((Path(place) / name).read_text() for name in ("out", "err"))
        if int(returned) == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(request["arguments"], timeout, out, err)
        return subprocess.CompletedProcess(request["arguments"], int(returned), out, err)

    def close(self):
        """End the processes, by ending their input."""
        if self._process is not None:
            self._process.communicate(timeout=60)
        if self._jobs is not None:
            self._jobs.close()


def _serve():
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
    rules = _remembering().remember()
    # The children live for a short time: what they leave, the system takes back.
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            # The one thing that Snakemake notes when it is imported: where it was started.
            snakemake.workflow.Workflow._rundir = request["folder"]
            _run(snakemake.cli.main, rules, **request)
        status = os.waitpid(child, 0)[1]
        rules.learn(request["place"])
        print(os.waitstatus_to_exitcode(status), flush=True)


def _remembering():
    """Return the module beside this one: where no folder counts, it is no module's."""
    path = Path(__file__).with_name("remembering.py")
    spec = importlib.util.spec_from_file_location("remembering", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def _run(main, rules, folder, arguments, environment, timeout, memory, place, starting):
    """Run Snakemake's command line in this process, which ends with it."""
    if starting:
        _start_scripts_by(starting)
    signal.alarm(int(timeout))
    for descriptor, name in enumerate((os.devnull, f"{place}/out", f"{place}/err")):
        mode = os.O_WRONLY | os.O_CREAT if descriptor else os.O_RDONLY
        os.dup2(os.open(name, mode, 0o600), descriptor)
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
        rules.tell(place)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
