"""What a Snakemake that forks remembers of files: what it would make of them in each run anew.

All of it counts for files of the same text alone: what runs are of is another copy of the workflow,
in which a test may have changed anything.
"""

import ast
import copy
import importlib.machinery
import importlib.util
import os
import pickle
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
FINGERPRINT = Path("workflow/private_ensembles/jobs/fingerprint.py")


def remember() -> "_RememberedRules":
    """Let this process remember, for its forks; return what is to be told of Snakefiles."""
    import snakemake.workflow

    _remember_syntax_trees()
    finder = _ConfigurationFinder()
    remember_configurations((yaml.SafeLoader, yaml.FullLoader, finder.loader()))
    _remember_values()
    sys.meta_path.insert(0, finder)
    return _RememberedRules(snakemake.workflow)


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

    Only where all of them, and what they load of other packages, have the text that they have here.
    """

    NAME = "private_ensembles.configuration"

    def __init__(self):
        sys.path.insert(0, str(ROOT / "workflow"))
        for name in ("check", "targets"):
            importlib.import_module(f"{self.NAME}.{name}")
        del sys.path[0]
        ours = [name for name in sys.modules if name.split(".")[0] == "private_ensembles"]
        self._modules = {name: sys.modules.pop(name) for name in ours}
        self._house = Path(self._modules.pop("private_ensembles").__file__).parent
        others = [name for name in self._modules if not name.startswith(self.NAME)]
        files = [Path(self._modules.pop(name).__file__) for name in others]
        files += (self._house / "configuration").glob("*.py")
        self._texts = {path.relative_to(self._house): path.read_bytes() for path in files}

    def loader(self):
        """Return the class with which the configuration reads its files once more."""
        return self._modules[f"{self.NAME}.strict_yaml"].Loader

    def find_spec(self, name, path, target=None):
        """Return where a module is; None where others are to say."""
        if name not in self._modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name == self.NAME and spec:
            there = Path(spec.origin).parents[1]
            if not self._same(there):
                self._modules.clear()
                return None
        if spec:
            spec.loader = self
        return spec

    def _same(self, house: Path) -> bool:
        names = {path.relative_to(house) for path in (house / "configuration").glob("*.py")}
        files = {name: house / name for name in names | set(self._texts)}
        there = {name: path.read_bytes() for name, path in files.items() if path.is_file()}
        return there == self._texts

    def create_module(self, spec):
        """Return the module, which from now on lies where it was looked for."""
        module = self._modules[spec.name]
        module.__file__ = spec.origin
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        return module

    def exec_module(self, module):
        """Do nothing: it has been executed."""


def remember_configurations(loaders=()):
    """Read the configurations once: each run reads config.yaml as Snakemake does and as we do.

    loaders: with which they are read at once, and not when they are asked for.
    """
    load = yaml.load
    paths = [ROOT / "config.yaml", *(ROOT / "tests" / "config").glob("*.yaml")]
    texts = {path.read_text(encoding="utf-8") for path in paths}
    known = {(text, loader): load(text, loader) for text in texts for loader in loaders}

    def remembered(stream, Loader):
        text = stream
        if hasattr(stream, "read"):
            text = stream.read()
            stream.seek(0)  # what is not known is read as ever, under its name
        if text not in texts:
            return load(stream, Loader)
        if (text, Loader) not in known:
            known[text, Loader] = load(text, Loader)
        return copy.deepcopy(known[text, Loader])

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

    A run writes what it did not know into a folder, and the process that forks learns it before it
    forks again.
    """

    def __init__(self, workflow):
        self._known, self._new = {}, {}
        self._folder = tempfile.TemporaryDirectory()
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

    def tell(self):
        """Write what is new where the process that forks looks for it."""
        if self._new:
            name = Path(self._folder.name) / str(os.getpid())
            name.with_suffix(".part").write_bytes(pickle.dumps(self._new))
            name.with_suffix(".part").rename(name)

    def learn(self):
        """Take what runs have written."""
        for path in Path(self._folder.name).iterdir():
            if not path.suffix:
                self._known |= pickle.loads(path.read_bytes())
                path.unlink()
