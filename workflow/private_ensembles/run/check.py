"""Check the configuration: one line says which file or option, key and value, and what is allowed.

The models (`configuration.Configuration` and its sections) hold keys, types, ranges and what
several keys must have in common. Pydantic finds what is wrong. The words are ours, because a
message must fit on one line and name the key as the user wrote it.
"""

import datetime
import os
import re
import sys
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from operator import attrgetter
from typing import Any, NoReturn

import yaml
from pydantic import ValidationError

from private_ensembles.base import checks
from private_ensembles.base.checks import did_you_mean
from private_ensembles.release.own_keys import SECTION_PATHS
from private_ensembles.run import file_names
from private_ensembles.run.configuration import TEXTS, Configuration
from private_ensembles.run.removed_names import advice

_TYPES = {
    "object": "a mapping of keys to values",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
}
_LIMITS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


class ConfigError(ValueError):
    """One thing wrong with the configuration, in one line: key, value, what is allowed."""

    def __init__(self, path: str, text: str):
        # A name may hold a line break, which the message must not.
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))
        self.path = path


class DuplicateKeyError(ValueError):
    """A key that stands twice in one mapping; the message names file, line and key."""


class _Loader(yaml.SafeLoader):
    """A loader of plain values that refuses a key that stands twice; PyYAML would take the last."""


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict:
    """Return a mapping of YAML as a dictionary; DuplicateKeyError if a key stands twice in it."""
    lines: dict[Hashable, int] = {}
    for name, _ in node.value:
        if name.tag == "tag:yaml.org,2002:merge":
            continue  # several mappings may be merged
        key, line = loader.construct_object(name, deep=True), name.start_mark.line + 1
        if isinstance(key, Hashable):  # PyYAML refuses any other key below
            if key in lines:
                raise DuplicateKeyError(
                    f"{name.start_mark.name}, line {line}: {key} is given twice, first in line "
                    f"{lines[key]}"
                )
            lines[key] = line
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)


def read_yaml(path: str | os.PathLike) -> Any:
    """Return what a YAML file holds, as plain values.

    Raises:
        DuplicateKeyError: A key stands twice in one mapping.
        yaml.YAMLError: The file is no YAML.
        ValueError: The file is no text in UTF-8.
        OSError: The file cannot be opened.
    """
    with open(path, encoding="utf-8") as file:
        loader = _Loader(file)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()


def check_or_exit(
    config: dict,
    folders: list[str],
    sources: list[tuple[str, dict]],
    mechanisms: Sequence[str] | None = None,
) -> Configuration:
    """Return the checked configuration, and replace its values in place by plain converted ones.

    If something is wrong, this prints one line `error: ...` on the first mistake and ends the
    process with status 1, because Snakemake would put an exception into a block with line numbers
    of our own files.

    Keys come in the order of the models or, if they are names, of the first source. To Snakemake
    the same values in another order are other parameters, and jobs would run again.

    Args:
        config: The configuration as Snakemake has merged it.
        folders: As for `check`.
        sources: What `config` was merged from, (name, content), later ones winning. The message
            names the one that holds the value.
        mechanisms: As for `check`.
    """
    try:
        _require_once(sources)
        ordered = _order_keys(config, sources[0][1] if sources else {})
        settings = check(ordered, *folders, mechanisms=mechanisms)
    except ConfigError as error:
        name = _origin(error.path, sources)
        _exit(f"{name}: {error}")
    config.clear()
    config.update(settings.to_dict())
    return settings


def _exit(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr, flush=True)
    sys.exit(1)


def check(config: dict, *folders: str, mechanisms: Sequence[str] | None = None) -> Configuration:
    """Return the configuration as models, with an absolute path of the mirror.

    A key of `own_keys.SECTION_PATHS` goes before what the section `own` says in its place.

    Args:
        config: The configuration as plain values.
        *folders: What a relative `data_mirror` or `votes` may be relative to, best first; by
            default the current folder.
        mechanisms: The names that `planner.mechanisms` may hold; None if they are not known.

    Raises:
        ConfigError: Something is wrong; the message names the first mistake.
    """
    context = {"folders": folders, "mechanisms": mechanisms}
    try:
        settings = Configuration.model_validate(_move_to_own_section(config), context=context)
    except ValidationError as error:
        typed = {f"own.{path}": key for key, path in SECTION_PATHS.items() if key in config}
        raise _explain_error(error.errors(include_url=False), typed) from None
    _require_apart(settings, config)
    return settings


def _move_to_own_section(config: Mapping) -> dict:
    """Return a configuration with each key that was typed moved to the section `own`.

    The result is a new mapping.

    >>> budget = {"epsilon": 1, "delta": 0}
    >>> _move_to_own_section({"epsilon": 2, "own": {"votes": None, "budget": budget}})
    {'own': {'votes': None, 'budget': {'epsilon': 2, 'delta': 0}}}
    """
    own: dict[str, Any] = {}
    for key, path in SECTION_PATHS.items():
        if key in config:
            section, _, name = path.rpartition(".")
            (own.setdefault(section, {}) if section else own)[name] = config[key]
    rest = {key: value for key, value in config.items() if key not in SECTION_PATHS}
    return fill_defaults({"own": own}, rest) if own else rest


def _require_apart(settings: Configuration, typed_config: Mapping) -> None:
    """Raise ConfigError if a file of the user's is one that labels are written to.

    Snakemake removes what is there before the job.
    """
    own = settings.own
    if own.votes is None:
        return
    output_names = file_names.own_votes if own.session.file is None else file_names.session_batch
    for key in ("votes", "session", "class_names", "answer"):
        name = key if key in typed_config else f"own.{SECTION_PATHS[key]}"
        try:
            checks.check_separate_files(
                output_names(settings).values(), **{name: attrgetter(SECTION_PATHS[key])(own)}
            )
        except ValueError as error:
            raise ConfigError(name, str(error)) from None


def sources(files: list, command_line: dict) -> list[tuple[str, dict]]:
    """Return the sources of Snakemake's configuration by name, the winning ones last.

    A file in which a key stands twice ends the process as in :func:`check_or_exit`, because
    Snakemake has taken the last one.

    Args:
        files: The configuration files in Snakemake's order, those of the command line first and
            the workflow's own at the end.
        command_line: What --config gave.
    """
    *others, own = [str(file) for file in files] or [""]
    paths = [(os.path.basename(own), own), *((file, file) for file in others)]
    contents = []
    for name, path in paths:
        try:
            contents.append((name, read_yaml(path)))
        except DuplicateKeyError as error:
            _exit(str(error))
        except (OSError, ValueError, yaml.YAMLError):
            continue  # only the name in a message is at stake
    return [*contents, ("--config", dict(command_line or {}))]


def _require_once(sources: list[tuple[str, dict]]) -> None:
    """Raise ConfigError for a key that was typed if `own` states it in this or a winning source."""
    for key, path in SECTION_PATHS.items():
        typed, stated = _find_last_source(key, sources), _find_last_source(f"own.{path}", sources)
        if typed is not None and stated is not None and stated >= typed:
            reason = f"it is own.{path}, which {sources[stated][0]} states, too"
            raise ConfigError(key, f"{key}: must be left out: {reason}")


def put_back_texts(config: dict, arguments: Sequence[str] | None) -> None:
    """Set values of `config` that are texts to what --config says, in place.

    Snakemake reads them as YAML, in which 1_10 and 11_0 are both 110. A list or a mapping stays,
    and is refused later.

    Args:
        config: The configuration as Snakemake has merged it.
        arguments: The arguments of --config, as Snakemake keeps them
            (`ConfigSettings.config_args`), such as ``batch=1_10``; None if it does not say.

    >>> config = {"batch": 110, "n_classes": 10, "unit": 7}
    >>> put_back_texts(config, ["batch=1_10", "n_classes=10", "unit='007'"])
    >>> config
    {'batch': '1_10', 'n_classes': 10, 'unit': '007'}
    """
    for argument in arguments or ():
        key, _, value = argument.partition("=")
        text = value.strip("'\"")  # Snakemake strips quotes, too
        if text and key in TEXTS and not isinstance(config[key], list | Mapping):
            config[key] = text


def imported_sources(own: str, settings: Mapping) -> list[tuple[str, dict]]:
    """Return the sources of the configuration of an imported workflow, as :func:`sources` does.

    Args:
        own: The path of this workflow's file, which holds every key.
        settings: What the other workflow says after `config:` of its `module`.

    Raises:
        OSError: The file cannot be read.
    """
    return [
        (os.path.basename(own), read_yaml(own)),
        ("config of the module", dict(settings)),
    ]


def fill_defaults(settings: Mapping, defaults: Mapping) -> dict:
    """Return settings filled up with defaults, section by section, as a new mapping.

    >>> fill_defaults({"darrm": {"K": 5}}, {"seed": 0, "darrm": {"K": 11, "m": [3]}})
    {'seed': 0, 'darrm': {'K': 5, 'm': [3]}}
    """
    filled = {**defaults, **settings}
    for key, value in filled.items():
        default = defaults.get(key)
        if isinstance(value, Mapping):
            filled[key] = fill_defaults(value, default if isinstance(default, Mapping) else {})
    return filled


def _origin(path: str, sources: list[tuple[str, dict]]) -> str:
    """Return the name of the last source that holds the key at `path`, or of the first."""
    return sources[_find_last_source(path, sources) or 0][0] if sources else "config"


def _find_last_source(path: str, sources: list[tuple[str, dict]]) -> int | None:
    """Return the number of the last source that holds the key at `path`; None: no source does."""
    for number, (_, content) in reversed(list(enumerate(sources))):
        rest = re.sub(r"\[\d+\]$", "", path)
        # Keys may hold points (file names), so the longest that fits is taken at each level.
        while isinstance(content, dict) and rest:
            keys = [str(key) for key in content if rest == str(key) or rest.startswith(f"{key}.")]
            if not keys:
                break
            key = max(keys, key=len)
            content, rest = content[key], rest[len(key) + 1 :]
        if not rest:
            return number
    return None


def list_base_folders(rundir: str, basedir: str) -> list[str]:
    """Return the folders that a relative path on the command line may be relative to, best first.

    With --directory, Snakemake has left the folder in which it was started before it reads the
    Snakefile, and in the jobs of a cluster that folder is not the user's. Then the workflow's own
    folder is the second best guess.

    Args:
        rundir: The folder in which Snakemake was started.
        basedir: The workflow's own folder.
    """
    return [rundir] if rundir == os.getcwd() else [rundir, basedir]


def _order_keys(value: Any, pattern: Any) -> Any:
    """Return `value` with the keys of its mappings in the order of `pattern`, others by name."""
    if not isinstance(value, dict):
        return value
    pattern = pattern if isinstance(pattern, dict) else {}
    ordered = [key for key in pattern if key in value]
    others = sorted((key for key in value if key not in pattern), key=str)
    return {key: _order_keys(value[key], pattern.get(key)) for key in (*ordered, *others)}


# Messages ----------------------------------------------------------------------------------------


def _explain_error(errors: list[dict], typed: Mapping[str, str]) -> ConfigError:
    """Return the first of Pydantic's errors as ours, an unknown key before one that is missing.

    `typed` has the keys that were typed on the command line, by the paths that they stand for.
    """
    unknown = [error for error in errors if error["type"] in ("extra_forbidden", "invalid_key")]
    error = (unknown or errors)[0]
    kind, location, value = error["type"], error["loc"], error["input"]
    path = _path(location)
    if unknown:
        if removed := advice(str(location[-1])):
            return ConfigError(path, f"{path}: {removed}")
        known_keys = _rule(location[:-1]).get("properties", {})
        section = _path(location[:-1], "", ".")
        candidates = known_keys if section else [*known_keys, *SECTION_PATHS]
        hint = did_you_mean(str(location[-1]), candidates, prefix=section)
        hint = hint or f"known: {', '.join(known_keys)}"
        return ConfigError(path, f"{path}: unknown key; {hint}")
    if kind == "missing":
        return ConfigError(path, f"{path}: missing")
    if location and location[-1] == "[key]":
        path = _path(location[:-1])
        if not isinstance(value, str):  # `no:` and `on:` are false and true, and `5:` is a number
            section = _path(location[:-2])
            reason = f"a name here is {value} to YAML and must be text; put it in quotes"
            return ConfigError(section, f"{section}: {reason}")
        pattern = next(iter(_rule(location[:-2])["patternProperties"]))
        return ConfigError(path, f"{path}: a name here must match {pattern}")
    if kind == "too_short" and value == {}:
        return ConfigError(path, f"{path}: must not be empty")
    allowed = "a list without repetition"
    if kind == "mistake":
        key, value, allowed = (error["ctx"][name] for name in ("key", "value", "allowed"))
        allowed = allowed.replace("{here}", path)
        path = f"{path}.{key}" if path and key[:1].isalpha() else f"{path}{key}"
    elif kind != "repetition":
        allowed = _describe(_rule(location))
        if kind == "string_type" and isinstance(value, Real | datetime.date):
            # We do not know what was written, because 1_10 and 11_0 are both 110.
            read_as = "a truth value" if isinstance(value, bool) else "a number"
            read_as = read_as if isinstance(value, Real) else "a date"
            allowed += f"; it was read as {read_as}: put it in quotes in a file for --configfile"
    key_path, bracket, index = path.partition("[")
    path = typed.get(key_path, key_path) + bracket + index
    shown = str(value) if isinstance(value, Real | datetime.date) else repr(value)
    shown = "null" if value is None else shown
    shown = shown if len(shown) <= 120 else shown[:117] + "..."
    return ConfigError(path, f"{path} = {shown}: must be {allowed}")


def _path(location: tuple, start: str = "", end: str = "") -> str:
    """Return the keys and indices of one of Pydantic's locations as the user would write them."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    path = start + "".join(steps).removeprefix(".")
    return path + end if path else ""


def _rule(location: tuple) -> dict:
    """Return the part of the JSON schema for the value at a location, without references.

    The key "null" says that the value may be null.
    """
    from private_ensembles.run.schema import schema  # only a mistake needs it

    whole = schema()

    def resolve(rule: dict) -> dict:
        if "anyOf" in rule:  # the value has a type or is null
            return resolve(rule["anyOf"][0]) | {"null": True}
        return whole["$defs"][rule["$ref"].rsplit("/", 1)[1]] if "$ref" in rule else rule

    rule = whole
    for step in location:
        if "items" in rule:
            rule = rule["items"]
        elif step in rule.get("properties", {}):
            rule = rule["properties"][step]
        else:
            rule = next(iter(rule["patternProperties"].values()))
        rule = resolve(rule)
    return rule


def _describe(rule: dict) -> str:
    """Return in words what a rule of the schema allows."""
    or_null = " or null" if rule.get("null") else ""
    if "enum" in rule or "const" in rule:
        words = rule["enum"] if "enum" in rule else [rule["const"]]
        return f"one of {', '.join(words)}{or_null}"
    words = _TYPES[rule["type"]]
    if "not" in rule:
        words = words.replace("an integer", "an odd integer")
    limits = [f"{sign} {rule[limit]}" for limit, sign in _LIMITS.items() if limit in rule]
    if limits:
        words += f" {' and '.join(limits)}"
    if "pattern" in rule:
        words += f" matching {rule['pattern']}"
    if "maxLength" in rule:
        words += f" of {rule.get('minLength', 1)} to {rule['maxLength']} characters"
    elif "minLength" in rule:
        words += " that is not empty"
    if "minItems" in rule:
        least, most = rule["minItems"], rule.get("maxItems")
        count = f"{least} value{'s' if least > 1 else ''}"
        words += f" of {count}" if most == least else f" of at least {count}"
    return words + or_null
