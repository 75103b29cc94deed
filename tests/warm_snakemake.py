"""Snakemake with its imports done: one process that forks for each run.

A dry run takes 3.7 s of one core, of which 2.6 go into imports and into the collection of garbage.
So one process imports Snakemake once, and forks for each run: there, Snakemake's own command line
runs in a process, a folder and an environment of its own, as if it had been started anew. Nothing
of the workflow is loaded before the fork but the configuration's modules, which are handed out
where they are as here. What is remembered of files counts for files of the same text alone; what
one run learns of Snakefiles, the next one knows. Jobs start in forks, too (`warm_jobs.py`), unless
they are to be started as ever.
"""

import ast
import copy
import gc
import importlib.machinery
import importlib.util
import json
import os
import pickle
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

if __name__ != "__main__":
    from .warm_jobs import WarmJobs

ROOT = Path(__file__).parents[1]
FINGERPRINT = Path("workflow/private_ensembles/jobs/fingerprint.py")


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
    _remember_syntax_trees()
    _remember_configurations()
    _remember_values()
    sys.meta_path.insert(0, _ConfigurationFinder())
    rules = _RememberedRules(snakemake.workflow)
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


class _ConfigurationFinder:
    """Hands out the modules of the configuration, whose models take a quarter of a dry run to make.

    Only where all of them have the text that they have here. They load nothing else of the package.
    """

    NAME = "private_ensembles.configuration"

    def __init__(self):
        sys.path.insert(0, str(ROOT / "workflow"))
        for name in ("check", "targets"):
            importlib.import_module(f"{self.NAME}.{name}")
        del sys.path[0]
        ours = [name for name in sys.modules if name.split(".")[0] == "private_ensembles"]
        self._modules = {name: sys.modules.pop(name) for name in ours}
        del self._modules["private_ensembles"]
        assert all(name.startswith(self.NAME) for name in self._modules)
        here = Path(self._modules[self.NAME].__file__).parent
        self._texts = {path.name: path.read_bytes() for path in here.glob("*.py")}

    def find_spec(self, name, path, target=None):
        """Return where a module is; None where others are to say."""
        if name not in self._modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name == self.NAME and spec:
            there = Path(spec.origin).parent
            if self._texts != {path.name: path.read_bytes() for path in there.glob("*.py")}:
                self._modules.clear()
                return None
        if spec:
            spec.loader = self
        return spec

    def create_module(self, spec):
        """Return the module, which from now on lies where it was looked for."""
        module = self._modules[spec.name]
        module.__file__ = spec.origin
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        return module

    def exec_module(self, module):
        """Do nothing: it has been executed."""


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


def _remember_values():
    """Look up a value of the configuration by its keys: `lookup` compares all keys there are."""
    import dpath

    get = dpath.get

    def direct(values, path):
        found = values
        for key in path.split("/"):
            if not isinstance(found, dict) or key not in found or set(key) & set("*?[]"):
                return get(values, path)
            found = found[key]
        return found

    dpath.get = direct


class _RememberedRules:
    """What Snakemake makes of a Snakefile, by its text: a quarter of a dry run.

    A run writes what it did not know into its place, and the process that forks learns it.
    """

    def __init__(self, workflow):
        self._known, self._new = {}, {}
        self._parse = workflow.parse
        workflow.parse = self._remembered

    def _remembered(self, path, workflow, linemap, overwrite_shellcmd=None, rulecount=0):
        with workflow.sourcecache.open(path) as file:
            text = file.read()
        # All that the code says of where its file is.
        place = f"snakefile={path.get_path_or_uri(secret_free=True)!r}"
        known = self._known | self._new
        if (text, rulecount) not in known:
            code, count = self._parse(path, workflow, linemap, overwrite_shellcmd, rulecount)
            self._new[text, rulecount] = code.replace(place, "\0"), count, dict(linemap)
            return code, count
        code, count, lines = known[text, rulecount]
        linemap |= lines
        return code.replace("\0", place), count

    def tell(self, folder):
        """Write what is new into a folder."""
        if self._new:
            with open(f"{folder}/rules", "wb") as file:
                pickle.dump(self._new, file)

    def learn(self, folder):
        """Take what a run has written into a folder."""
        if os.path.exists(f"{folder}/rules"):
            with open(f"{folder}/rules", "rb") as file:
                self._known |= pickle.load(file)


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
