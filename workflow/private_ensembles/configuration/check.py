"""Check the configuration, and cut from it the slice that each rule needs.

The schema (workflow/schemas/config.schema.yaml) is the one list of keys, types and ranges. It is
JSON schema; this module reads the subset in use, because a message must fit on one line, name the
key as the user wrote it, and say what is allowed.
"""

import difflib
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from numbers import Real
from pathlib import Path

from private_ensembles.configuration import dpbag as dpbag_config
from private_ensembles.configuration import nzc as nzc_settings
from private_ensembles.configuration import pate as pate_settings
from private_ensembles.configuration import pate_checks
from private_ensembles.configuration.datasets import (
    has_two_classes_of_images,
    is_stand_in,
    mistakes,
)
from private_ensembles.configuration.naming import delta_of, multiply

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "config.schema.yaml"
SHAPE_FIGURES = ("figure2", "figure6", "figure7", "figure8")
ACCURACY_TABLES = ("table1", "table6", "table8", "table10")

_TYPES = {
    "object": ("a mapping of keys to values", lambda v: isinstance(v, dict)),
    "array": ("a list", lambda v: isinstance(v, list)),
    "string": ("text", lambda v: isinstance(v, str)),
    "null": ("null", lambda v: v is None),
    "boolean": ("true or false", lambda v: isinstance(v, bool)),
    "integer": ("an integer", lambda v: isinstance(v, int) and not isinstance(v, bool)),
    "number": ("a number", lambda v: isinstance(v, Real) and not isinstance(v, bool)),
}


class ConfigError(ValueError):
    """One thing wrong with the configuration, in one line: key, value, what is allowed."""

    def __init__(self, path: str, text: str):
        # A name may hold a line break, the message must not.
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))
        self.path = path


# Checking ----------------------------------------------------------------------------------------


def check_or_exit(
    config: dict,
    folders: list[str],
    sources: list[tuple[str, dict]],
    mechanisms: Sequence[str] | None = None,
) -> None:
    """Check `config` and replace its values in place by the converted ones.

    folders, mechanisms: as for `check`. sources: what `config` was merged from, (name, content),
    later ones winning; the message names the one that holds the value. On the first thing wrong,
    prints one line `error: ...` and ends the process with status 1: Snakemake would put an
    exception into a block with line numbers of our own files. Keys come in the order of the first
    source, because to Snakemake the same values in another order are other parameters, and jobs
    would run again.
    """
    try:
        checked = check(config, *folders, mechanisms=mechanisms)
    except ConfigError as error:
        name = _origin(error.path, sources)
        print(f"error: {name}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
    config.clear()
    config.update(_ordered(checked, sources[0][1] if sources else {}))


def check(config: dict, *folders: str, mechanisms: Sequence[str] | None = None) -> dict:
    """Return a checked copy of the configuration: numbers as numbers, the mirror's path absolute.

    folders: what a relative `data_mirror` or `votes` may be relative to, best first; the current
    one if none is given. mechanisms: the names that `planner.mechanisms` may hold, where they are
    known. Raises ConfigError.
    """
    checked = _convert(config, _schema(), "")
    _validate(checked, _schema(), "")
    for path, value, allowed in _across(checked, mechanisms):
        raise _wrong(path, value, allowed)
    checked["data_mirror"] = _mirror(checked["data_mirror"], checked["data"], folders)
    checked["votes"] = _votes(checked["votes"], folders)
    return checked


def sources(files: list, command_line: dict) -> list[tuple[str, dict]]:
    """Return the sources of Snakemake's configuration by name, the winning ones last.

    files: configuration files in Snakemake's order, those of the command line first and the
    workflow's own at the end. command_line: what --config gave.
    """
    import yaml

    *given, own = [str(file) for file in files] or [""]
    named = [(os.path.basename(own), own), *((file, file) for file in given)]
    found = []
    for name, path in named:
        try:
            found.append((name, yaml.safe_load(Path(path).read_text(encoding="utf-8"))))
        except (OSError, ValueError, yaml.YAMLError):
            continue  # only the name in a message is at stake
    return [*found, ("--config", dict(command_line or {}))]


def _origin(path: str, sources: list[tuple[str, dict]]) -> str:
    """Return the name of the last source that holds the key at `path`, or of the first."""
    for name, content in reversed(sources):
        rest = re.sub(r"\[\d+\]$", "", path)
        # Keys may hold points (file names): take the longest that fits at each level.
        while isinstance(content, dict) and rest:
            keys = [str(key) for key in content if rest == str(key) or rest.startswith(f"{key}.")]
            if not keys:
                break
            key = max(keys, key=len)
            content, rest = content[key], rest[len(key) + 1 :]
        if not rest:
            return name
    return sources[0][0] if sources else "config"


def standpoints(rundir: str, basedir: str) -> list[str]:
    """Return the folders that a relative path on the command line may be relative to, best first.

    That is the folder in which Snakemake was started (rundir). With --directory, Snakemake has left
    it before it reads the Snakefile, and in the jobs of a cluster it is not the user's: then the
    workflow's own folder is the second best guess.
    """
    return [rundir] if rundir == os.getcwd() else [rundir, basedir]


def _ordered(value, pattern):
    """Return `value` with the keys of its mappings in the order of `pattern`, others by name."""
    if not isinstance(value, dict):
        return value
    pattern = pattern if isinstance(pattern, dict) else {}
    known = [key for key in pattern if key in value]
    others = sorted((key for key in value if key not in pattern), key=str)
    return {key: _ordered(value[key], pattern.get(key)) for key in (*known, *others)}


def _schema() -> dict:
    import yaml  # here, so that jobs that only read slices need not load it

    if "schema" not in _CACHE:
        _CACHE["schema"] = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    return _CACHE["schema"]


_CACHE: dict = {}


def _resolve(rule: dict) -> dict:
    reference = rule.get("$ref")
    return _schema()["$defs"][reference.rsplit("/", 1)[1]] if reference else rule


def _children(value, rule: dict, path: str) -> Iterator[tuple]:
    """Yield (key, value, rule, path) of what a mapping or list holds; rule None where unknown."""
    if isinstance(value, dict):
        known, other = rule.get("properties", {}), rule.get("additionalProperties")
        for key, item in value.items():
            fallback = other if isinstance(other, dict) else None
            yield key, item, known.get(key, fallback), f"{path}.{key}" if path else str(key)
    elif isinstance(value, list) and "items" in rule:
        for index, item in enumerate(value):
            yield index, item, rule["items"], f"{path}[{index}]"


def _convert(value, rule: dict, path: str):
    """Turn text into the number it stands for, where the schema wants a number."""
    rule = _resolve(rule)
    if isinstance(value, dict | list):
        converted = {
            key: _convert(item, below or {}, where)
            for key, item, below, where in _children(value, rule, path)
        }
        if isinstance(value, dict):
            return converted
        return list(converted.values()) if converted else list(value)
    types = _types(rule)
    if isinstance(value, str) and not {"string"} & set(types):
        if "null" in types and value.strip().lower() in ("null", "~", "none"):
            return None
        if {"integer", "number"} & set(types):
            value = _parse_number(value)
    if path in ("data_mirror", "votes") and value in ("null", "~"):
        return None  # as `--config data_mirror=null` hands it over
    integral = isinstance(value, float) and value.is_integer()
    return int(value) if integral and "integer" in types else value


def _parse_number(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _types(rule: dict) -> list[str]:
    types = rule.get("type", [])
    return [types] if isinstance(types, str) else types


def _validate(value, rule: dict, path: str) -> None:
    rule = _resolve(rule)
    if not _allowed(value, rule):
        raise _wrong(path, value, _describe(rule))
    if isinstance(value, dict):
        _validate_keys(value, rule, path)
    repeats = isinstance(value, list) and len(set(map(repr, value))) < len(value)
    if rule.get("uniqueItems") and repeats:
        raise _wrong(path, value, "a list without repetition")
    for _, item, below, where in _children(value, rule, path):
        _validate(item, below, where)


def _validate_keys(value: dict, rule: dict, path: str) -> None:
    prefix = f"{path}." if path else ""
    known, other = rule.get("properties", {}), rule.get("additionalProperties")
    for key in value:
        pattern = rule.get("propertyNames", {}).get("pattern")
        if pattern and not _matches(pattern, str(key)):
            raise ConfigError(f"{prefix}{key}", f"{prefix}{key}: a name here must match {pattern}")
        if key not in known and not isinstance(other, dict):
            close = difflib.get_close_matches(str(key), known, n=1, cutoff=0.6)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"known: {', '.join(known)}"
            raise ConfigError(f"{prefix}{key}", f"{prefix}{key}: unknown key; {hint}")
    for key in rule.get("required", ()):
        if key not in value:
            raise ConfigError(f"{prefix}{key}", f"{prefix}{key}: missing")
    if len(value) < rule.get("minProperties", 0):
        raise ConfigError(path, f"{path}: must not be empty")


def _allowed(value, rule: dict) -> bool:
    """Check one value against the keywords of `rule` that do not look inside it."""
    if "enum" in rule:
        return any(value == allowed and type(value) is type(allowed) for allowed in rule["enum"])
    types = _types(rule)
    if types and not any(_TYPES[name][1](value) for name in types):
        return False
    if isinstance(value, Real) and not isinstance(value, bool):
        return (
            math.isfinite(value)
            and value >= rule.get("minimum", -math.inf)
            and value > rule.get("exclusiveMinimum", -math.inf)
            and value <= rule.get("maximum", math.inf)
            and value < rule.get("exclusiveMaximum", math.inf)
            and not ("not" in rule and value % rule["not"]["multipleOf"] == 0)
        )
    if isinstance(value, str):
        pattern = rule.get("pattern")
        enough = len(value) >= rule.get("minLength", 0)
        return enough and (pattern is None or _matches(pattern, value))
    if isinstance(value, list):
        return rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", math.inf)
    return True


def _matches(pattern: str, text: str) -> bool:
    """Match as JSON schema does: Python's $ would let a line break pass at the end."""
    return re.search(re.sub(r"\$$", r"\\Z", pattern), text) is not None


def _describe(rule: dict) -> str:
    """Say in words what `rule` allows."""
    if "enum" in rule:
        return f"one of {', '.join(map(str, rule['enum']))}"
    words = " or ".join(_TYPES[name][0] for name in _types(rule))
    if rule.get("not", {}).get("multipleOf") == 2:
        words = words.replace("an integer", "an odd integer")
    limits = [
        f"{sign} {rule[keyword]}"
        for keyword, sign in (
            ("minimum", ">="),
            ("exclusiveMinimum", ">"),
            ("maximum", "<="),
            ("exclusiveMaximum", "<"),
        )
        if keyword in rule
    ]
    if limits:
        words = words.replace(" or null", "") + f" {' and '.join(limits)}"
        words += " or null" if "null" in _types(rule) else ""
    if "pattern" in rule:
        words += f" matching {rule['pattern']}"
    if "minLength" in rule:
        words = words.replace("text", "text that is not empty")
    if "minItems" in rule:
        most, least = rule.get("maxItems"), rule["minItems"]
        count = f"{least} value{'s' * (least > 1)}"
        words += f" of {count}" if most == least else f" of at least {count}"
    return words


def _wrong(path: str, value, allowed: str) -> ConfigError:
    shown = "null" if value is None else str(value) if isinstance(value, Real) else repr(value)
    shown = shown if len(shown) <= 120 else shown[:117] + "..."
    return ConfigError(path, f"{path} = {shown}: must be {allowed}")


def _across(config: dict, mechanisms: Sequence[str] | None) -> Iterator[tuple]:
    """Yield (path, value, allowed) for what no single key of the schema can show."""
    darrm, datasets = config["darrm"], config["datasets"]
    K = darrm["K"]
    planned = config["planner"]
    if planned["labels"] > planned["queries"]:
        allowed = f"at most planner.queries = {planned['queries']}"
        yield "planner.labels", planned["labels"], allowed
    for index, name in enumerate(planned["mechanisms"]):
        if mechanisms is not None and name not in mechanisms:
            yield f"planner.mechanisms[{index}]", name, f"one of {', '.join(mechanisms)}"
    figures = {name: darrm[name] for name in (*SHAPE_FIGURES, "figure9") if darrm[name]}
    for path, ms, owner, teachers in (
        ("darrm.m", darrm["m"], "darrm.K", K),
        *(
            (f"darrm.{name}.{key}", figure[key], f"darrm.{name}.K", figure["K"])
            for name, figure in figures.items()
            for key in ("m", "subsamples")
            if key in figure
        ),
    ):
        for index, m in enumerate(ms):
            if m > teachers:
                yield f"{path}[{index}]", m, f"at most {owner} = {teachers}"
    for index, teachers in enumerate(darrm["objectives"]["K"]):
        if (m := darrm["objectives"]["m"]) > teachers:
            yield f"darrm.objectives.K[{index}]", teachers, f"at least darrm.objectives.m = {m}"
    for name, figure in figures.items():
        if figure["Delta"] >= 0.5:
            yield f"darrm.{name}.Delta", figure["Delta"], "below 0.5"
    priors = {"darrm.prior": darrm["prior"], "darrm.sweeps.prior": darrm["sweeps"]["prior"]}
    if "figure9" in figures:
        priors |= {
            f"darrm.figure9.{key}": figures["figure9"][key] for key in ("prior_U", "prior_P")
        }
        for index, actual in enumerate(figures["figure9"]["actual"]):
            if not actual.startswith("fixed:"):
                priors[f"darrm.figure9.actual[{index}]"] = actual
    for path, prior in priors.items():
        kind, _, interval = prior.partition(":")
        low, high = map(float, interval.split(","))
        if not (low < high and (low + high >= 1 or kind == "absolute-uniform")):
            yield path, prior, "kind:a,b with a < b and a + b >= 1"
    for item, m in [*darrm["tables"].items(), ("", darrm["figure10"]["m"])]:
        if m is not None and m > K:
            yield (
                f"darrm.tables.{item}" if item else "darrm.figure10.m",
                m,
                f"at most darrm.K = {K}",
            )
    yield from mistakes(datasets)
    yield from dpbag_config.mistakes(config)
    for name in config["synthetic_votes"]:
        if name in datasets:  # their votes would be one folder
            yield f"synthetic_votes.{name}", name, "another name than those under datasets"
    yield from pate_checks.mistakes(config)
    yield from nzc_settings.mistakes(config)
    fit = [name for name in datasets if has_two_classes_of_images(datasets[name])]
    for is_embedded, path, name in (
        *((False, f"darrm.datasets.{name}", name) for name in darrm["datasets"]),
        (True, "darrm.embedded.dataset", darrm["embedded"]["dataset"]),
    ):
        known = [other for other in fit if is_stand_in(config, other) == is_embedded]
        if name not in known:
            kind = "stand-ins" if is_embedded else "data sets"
            yield path, name, f"one of the {kind} with two classes of images: {', '.join(known)}"
        if (n_train := datasets[name]["n_train"]) < K:
            yield f"datasets.{name}.n_train", n_train, f"at least darrm.K = {K}"
    stand_in = darrm["embedded"]["dataset"]
    used = list(darrm["datasets"]) if config["data"] == "paper" else [stand_in]
    for name in used:
        n_test = datasets[name]["n_test"]
        for index, queries in enumerate(darrm["queries"]):
            if queries > n_test:
                allowed = f"at most datasets.{name}.n_test = {n_test}"
                yield f"darrm.queries[{index}]", queries, allowed
    # One job draws for all m at once what costs m * Delta: it must remain a probability below 1.
    for path, Delta in [
        *((f"darrm.datasets.{name}.Delta", s["Delta"]) for name, s in darrm["datasets"].items()),
        ("darrm.embedded.Delta", darrm["embedded"]["Delta"]),
    ]:
        most = max(label_allowances(config) + [m or 1 for m in darrm["tables"].values()])
        if most * Delta >= 1:
            yield path, Delta, f"below 1/{most}, since a label costs m * Delta"
        if Delta == 0:
            # DP-SGD has no pure guarantee, and GNMax's sigma is infinite at delta = 0.
            yield path, Delta, "above 0, since the teachers are trained with Gaussian noise"


def _mirror(mirror: str | None, data: str, folders: Sequence[str]) -> str | None:
    if mirror is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", mirror):
        return mirror
    wanted = os.path.expanduser(mirror)
    paths = [os.path.abspath(os.path.join(folder, wanted)) for folder in folders or ["."]]
    found = next((path for path in paths if os.path.isdir(path)), None)
    if data == "paper" and found is None:
        looked = " and ".join(dict.fromkeys(paths))
        raise _wrong("data_mirror", mirror, f"an existing folder (looked at {looked}) or URL")
    return found or paths[0]


def _votes(votes: str | None, folders: Sequence[str]) -> str | None:
    """Return the absolute path of somebody's own votes; ConfigError where there is no such file."""
    if votes is None:
        return None
    wanted = os.path.expanduser(votes)
    paths = [os.path.abspath(os.path.join(folder, wanted)) for folder in folders or ["."]]
    found = next((path for path in paths if os.path.isfile(path)), None)
    if found is None:
        looked = " and ".join(dict.fromkeys(paths))
        raise _wrong("votes", votes, f"an existing file (looked at {looked})")
    return found


# Slices ------------------------------------------------------------------------------------------


def label_datasets(config: dict) -> list[str]:
    """Return the data sets whose labels are released in this configuration."""
    darrm = config["darrm"]
    return list(darrm["datasets"]) if config["data"] == "paper" else [darrm["embedded"]["dataset"]]


def label_allowances(config: dict) -> list[int]:
    """Return every m that labels are released for: those of `darrm.m` and of accuracy tables."""
    darrm = config["darrm"]
    tables = (darrm["tables"][item] for item in ACCURACY_TABLES)
    return sorted({*darrm["m"], *(m for m in tables if m is not None)})


def sweep_allowances(config: dict, K: int) -> list[int]:
    """Return the m that the sweeps solve at K teachers."""
    grid = config["darrm"]["sweeps"]
    return [m for m in grid["m"] if grid["least_share"] * K <= m <= K]


def dataset_settings(config: dict, dataset: str) -> dict:
    """Return epsilon, Delta, private_teachers and plain_teachers of one data set."""
    darrm = config["darrm"]
    section = darrm["datasets"].get(dataset, darrm["embedded"])
    keys = ("epsilon", "Delta", "private_teachers", "plain_teachers")
    return {key: section[key] if key in section else darrm[key] for key in keys}


def teachers(config: dict, dataset: str, kind: str, K: int | None = None) -> dict:
    """Return the training parameters of one kind ("private" or "plain") of (K) teachers.

    Those of a task of PATE, where its votes are cast on this data set, else DaRRM's. Ensembles of
    other sizes, which NZC compares, may train for another number of epochs.
    """
    task = pate_settings.task_of(config, dataset)
    if task is not None and task["kind"] == kind:
        return task["teachers"] | nzc_settings.retraining(config, dataset, K)
    settings = dataset_settings(config, dataset)[f"{kind}_teachers"]
    if config["darrm"]["shards"] == "permutation":
        return settings
    # What a shard holds is private then, so schedules follow from the stated numbers alone.
    size = {"shard_size": config["datasets"][dataset]["n_train"] // K} if kind == "private" else {}
    return settings | {"shards": config["darrm"]["shards"], **size}


def forest_teachers(config: dict) -> dict:
    """Return the parameters of random forests, as scikit-learn names them."""
    settings = config["forest_teachers"]
    # To scikit-learn, 1.0 is a share and 1 is one feature.
    return settings | {"max_features": float(settings["max_features"])}


def accounting(config: dict) -> dict[str, dict]:
    """Return, by data set, what the accountant of private teachers needs."""
    darrm = config["darrm"]
    result = {}
    for dataset in [*darrm["datasets"], darrm["embedded"]["dataset"]]:
        settings = dataset_settings(config, dataset)
        result[dataset] = {
            "stand_in": is_stand_in(config, dataset),
            "n_train": config["datasets"][dataset]["n_train"],
            "epsilon": settings["epsilon"],
            "Delta": settings["Delta"],
            "private_teachers": {
                key: settings["private_teachers"][key]
                for key in ("noise_multiplier", "batch_size", "epochs")
            },
        }
    return result


def query_cost(config: dict, dataset: str, m: int) -> dict:
    """Return (epsilon, Delta) of one teacher and (m epsilon, m Delta) of one label (Table 2)."""
    settings = dataset_settings(config, dataset)
    return {
        "stand_in": is_stand_in(config, dataset),
        "epsilon": settings["epsilon"],
        "Delta": settings["Delta"],
        "epsilon_query": multiply(m, settings["epsilon"]),
        "delta_query": multiply(m, settings["Delta"]),
    }


def paper_query_costs(config: dict, m: int) -> dict[str, dict]:
    """Return `query_cost` of the paper's data sets, by name."""
    return {name: query_cost(config, name, m) for name in config["darrm"]["datasets"]}


def query_costs(config: dict, m: int) -> dict[str, dict]:
    """Return `query_cost` of the paper's data sets and of those whose labels are released."""
    names = dict.fromkeys([*config["darrm"]["datasets"], *label_datasets(config)])
    return {name: query_cost(config, name, m) for name in names}


def label_experiment(config: dict, dataset: str, m: int) -> dict:
    """Return what the release of labels on one data set with one m needs.

    delta_query is GNMax's m * Delta, delta_gamma is DaRRM's 1 - (1 - Delta)^m (section 6.1).
    """
    darrm = config["darrm"]
    cost = query_cost(config, dataset, m)
    return {
        **cost,
        "K": darrm["K"],
        "m": m,
        "shards": darrm["shards"],
        "delta_gamma": delta_of(m, cost["Delta"]),
        "queries": darrm["queries"],
        "draws": darrm["draws"],
        "training_seeds": darrm["training_seeds"],
    }


def darrm_claims(config: dict) -> dict:
    """Return what DaRRM's printed numbers rest on, as `workflow/published/darrm.yaml` names it.

    Of teachers that are only accounted for, what the accountant needs.
    """
    darrm = config["darrm"]
    names = ("K", "prior", "delta_prime", "sigma_search", "tables")
    found = {name: darrm[name] for name in names}
    figure = darrm["figure6"] or {}
    found["figure6"] = {name: value for name, value in figure.items() if name != "subsamples"}
    found["datasets"], accounted = {}, accounting(config)
    for name in darrm["datasets"]:
        data = config["datasets"][name]
        sizes = {key: data[key] for key in ("n_train", "classes") if key in data}
        trained = name in label_datasets(config)
        costs = dataset_settings(config, name) if trained else accounted[name]
        found["datasets"][name] = costs | sizes
    return found
