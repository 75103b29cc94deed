"""Snakemake with its imports done: one process that forks for each run.

A dry run takes 3.7 s of one core, of which 2.6 go into imports and into the collection of garbage.
So one process imports Snakemake once, and forks for each run: there, Snakemake's own command line
runs in a process, a folder and an environment of its own, as if it had been started anew. Nothing
of the workflow is loaded before the fork, and jobs are started as ever. What is remembered of files
counts for files of the same text alone.
"""

import ast
import copy
import gc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
FINGERPRINT = Path("workflow/private_ensembles/jobs/fingerprint.py")


class WarmSnakemake:
    """The process that forks; started by the first run. Call `close` at the end."""

    def __init__(self):
        self._process = None

    def __call__(
        self, folder: Path, arguments, environment, timeout: float, memory: int | None = None
    ) -> subprocess.CompletedProcess:
        """Run Snakemake in a folder; returns the finished process, output as text.

        environment: all its variables. timeout: seconds, after which the run is killed. memory:
        bytes of address space for each process.
        """
        if self._process is None:
            # It has an environment only for Python's own start; -P as in `python -m snakemake`,
            # where no folder but the current one counts.
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                env=environment,
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
            }
            print(json.dumps(request), file=self._process.stdin, flush=True)
            returned = self._process.stdout.readline()
            assert returned, "the process that forks has ended"
            out, err = ((Path(place) / name).read_text() for name in ("out", "err"))
        if int(returned) == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(request["arguments"], timeout, out, err)
        return subprocess.CompletedProcess(request["arguments"], int(returned), out, err)

    def close(self):
        """End the process, by ending its input."""
        if self._process is not None:
            self._process.communicate(timeout=60)


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
    _remember_syntax_trees()
    _remember_configurations()
    # The children live for a short time: what they leave, the system takes back.
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            # The one thing that Snakemake notes when it is imported: where it was started.
            snakemake.workflow.Workflow._rundir = request["folder"]
            _run(snakemake.cli.main, **request)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _remember_syntax_trees():
    """Parse the workflow's files once: fingerprints need the trees of all of them in each run."""
    parse = ast.parse
    texts = [path.read_text() for path in (ROOT / "workflow").rglob("*.py")]
    known = {text: parse(text) for text in texts}

    def remembered(source, *arguments, **named):
        return known.get(source) or parse(source, *arguments, **named)

    ast.parse = remembered
    sys.meta_path.insert(0, _RememberingFinder(known.values()))


class _RememberingFinder:
    """Finds the module of fingerprints as Python does, and tells it what it says of those trees.

    Half of a dry run would be spent on writing them out. Only for the module as it is here: of
    another it knows nothing.
    """

    def __init__(self, trees):
        spec = importlib.util.spec_from_file_location("fingerprint", ROOT / FINGERPRINT)
        ours = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(ours)
        self._known = {}  # by identity: `ast.parse` hands out these very trees, which live as long
        for tree in trees:
            telling = []
            self._known[id(tree)] = tree, ours._canonical(tree, telling), telling

    def find_spec(self, name, path, target=None):
        """Return where a module is; None where others are to say."""
        if name != "private_ensembles.jobs.fingerprint":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and Path(spec.origin).read_bytes() == (ROOT / FINGERPRINT).read_bytes():
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: self._remind(load, module)
        return spec

    def _remind(self, load, module):
        load(module)
        canonical = module._canonical

        def remembered(node, telling):
            if id(node) not in self._known:
                return canonical(node, telling)
            _, text, told = self._known[id(node)]
            telling.extend(told)
            return text

        module._canonical = remembered


def _remember_configurations():
    """Read the configurations once: each run reads config.yaml as Snakemake does and as we do."""
    load = yaml.load
    paths = [ROOT / "config.yaml", *(ROOT / "tests" / "config").glob("*.yaml")]
    known = {
        (path.read_text(), loader): load(path.read_text(), loader)
        for path in paths
        for loader in (yaml.SafeLoader, yaml.FullLoader)
    }

    def remembered(stream, Loader):
        text = stream
        if hasattr(stream, "read"):
            text = stream.read()
            stream.seek(0)  # what is not known is read as ever, under its name
        found = known.get((text, Loader))
        return copy.deepcopy(found) if found is not None else load(stream, Loader)

    yaml.load = remembered


def _run(main, folder, arguments, environment, timeout, memory, place):
    """Run Snakemake's command line in this process, which ends with it."""
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
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
