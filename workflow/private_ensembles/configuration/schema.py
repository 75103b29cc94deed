"""The JSON schema of config.yaml, made from the models, for editors and other tools.

    python -m private_ensembles.configuration.schema > workflow/schemas/config.schema.yaml

writes it again (from the folder `workflow`, or if the package is installed); a test compares.
"""

import functools
import json
import re
from collections import Counter

from pydantic.json_schema import GenerateJsonSchema

from private_ensembles.configuration.root import Configuration

HEAD = """\
# Every key of config.yaml: type, range, meaning. Made from the models in
# private_ensembles/configuration by `python -m private_ensembles.configuration.schema`; what no
# single key shows (m <= K) is checked there, too.
"""
ORDER = (
    *("description", "type", "enum", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"),
    *("additionalProperties", "required"),
)
# What YAML reads as something else than text.
NO_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
WIDTH = 100


@functools.cache
def schema() -> dict:
    """Return the JSON schema, without titles and defaults: those of config.yaml count.

    Sections are where their key is; only those of several keys are definitions.
    """
    whole = Configuration.model_json_schema()
    definitions = whole.pop("$defs")
    uses = Counter(re.findall(r'"#/\$defs/(\w+)"', json.dumps([whole, definitions])))
    single = {name: definitions.pop(name) for name, number in uses.items() if number == 1}
    definitions = {name: _tidy(rule, single) for name, rule in definitions.items()}
    dialect = GenerateJsonSchema.schema_dialect
    return {"$schema": dialect, **_tidy(whole, single), "$defs": definitions}


def _tidy(rule, single: dict[str, dict]):
    """Return a rule in our order and words, the definitions in `single` put in place."""
    if isinstance(rule, list):
        return [_tidy(each, single) for each in rule]
    if not isinstance(rule, dict):
        return rule
    name = rule.get("$ref", "").rpartition("/")[2]
    if name in single:
        own = {key: value for key, value in rule.items() if key != "$ref"}
        return _tidy(single[name] | own, single)
    # Below "properties", "title" and "default" would be names of keys.
    kept = {
        key: {name: _tidy(each, single) for name, each in below.items()}
        if key == "properties"
        else _tidy(below, single)
        for key, below in rule.items()
        if key not in ("title", "default")
    }
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    choices = kept.get("anyOf", [])
    if len(choices) == 2 and "type" in choices[0] and choices[1] == {"type": "null"}:
        del kept["anyOf"]
        kept = choices[0] | kept | {"type": [choices[0]["type"], "null"]}
        if "enum" in kept:
            kept["enum"] = [*kept["enum"], None]
    # In one order, whichever way a model says it: what it means first.
    return dict(sorted(kept.items(), key=lambda item: _rank(item[0])))


def _rank(key: str) -> int:
    return ORDER.index(key) if key in ORDER else len(ORDER)


def text() -> str:
    """Return the schema as YAML, sections nested and the keys of a section below one another."""
    whole, lines = schema(), []
    writer = _Writer(whole)
    for key, below in whole.items():
        if key in ("properties", "$defs"):
            lines.append(f"{_flow(key)}:")
            lines += [f"  {writer.entry(name, rule, '    ')}" for name, rule in below.items()]
        else:
            lines.append(f"{_flow(key)}: {_flow(below)}")
    return HEAD + "\n".join(lines) + "\n"


class _Writer:
    """Writes the rules of keys as YAML; one that comes again refers to the first (&name, *name)."""

    def __init__(self, whole: dict):
        rules = Counter(json.dumps(rule) for rule in _described(whole))
        self.repeated = {rule for rule, number in rules.items() if number > 1}
        self.anchors: dict[str, str] = {}  # rule -> name

    def entry(self, key: str, rule: dict, indent: str) -> str:
        """Write a key and its rule; the keys of a section begin at `indent`."""
        start, same = f"{_flow(key)}: ", json.dumps(rule)
        if same in self.anchors:
            return f"{start}*{self.anchors[same]}"
        if same in self.repeated:
            alike = [name for name in self.anchors.values() if name.partition("-")[0] == key]
            self.anchors[same] = f"{key}-{len(alike) + 1}" if alike else key
            start += f"&{self.anchors[same]} "
        return start + self.rule(rule, indent)

    def rule(self, rule, indent: str) -> str:
        """Write a rule, or a part of one, on one line except for the keys of a section."""
        if isinstance(rule, list):
            return "[" + ", ".join(self.rule(each, indent) for each in rule) + "]"
        if not isinstance(rule, dict):
            return _flow(rule)
        parts = []
        for name, below in rule.items():
            flow = self.keys(below, indent) if name == "properties" else self.rule(below, indent)
            parts.append(f"{_flow(name)}: {flow}")
        return "{" + ", ".join(parts) + "}"

    def keys(self, rules: dict, indent: str) -> str:
        """Write the keys of a section, several on a line if they fit."""
        lines = []
        for key, rule in rules.items():
            entry = self.entry(key, rule, indent + "  ")
            if lines and len(lines[-1]) + len(entry) + 2 <= WIDTH:
                lines[-1] += f", {entry}"
            else:
                lines.append(indent + entry)
        return "{\n" + ",\n".join(lines) + "}"


def _described(rule):
    """Yield every rule below this one that has a description."""
    if isinstance(rule, dict):
        if isinstance(rule.get("description"), str):
            yield rule
        rule = list(rule.values())
    for below in rule if isinstance(rule, list) else ():
        yield from _described(below)


def _flow(value) -> str:
    """Write a value of YAML; text as JSON, which YAML reads, if it is more than a word."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, float):
        digits, e, exponent = repr(value).partition("e")
        return f"{float(digits)}{e}{exponent}"  # YAML reads 1e-09 as text, 1.0e-09 as a number
    is_word = isinstance(value, str) and value.isidentifier() and value.lower() not in NO_WORDS
    return value if is_word else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    print(text(), end="")
