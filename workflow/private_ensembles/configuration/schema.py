"""The JSON schema of config.yaml, made from the models, for editors and other tools.

    python -m private_ensembles.configuration.schema > workflow/schemas/config.schema.yaml

writes it again (from the folder `workflow`, or where the package is installed); a test compares.
"""

import functools
import json

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


@functools.cache
def schema() -> dict:
    """Return the JSON schema, without titles and defaults: those of config.yaml count."""
    found = _tidy(Configuration.model_json_schema())
    definitions = found.pop("$defs")
    return {"$schema": GenerateJsonSchema.schema_dialect, **found, "$defs": definitions}


def _tidy(rule):
    if isinstance(rule, list):
        return [_tidy(each) for each in rule]
    if not isinstance(rule, dict):
        return rule
    # Below "properties" and "$defs", "title" and "default" would be names of keys.
    kept = {
        key: {name: _tidy(each) for name, each in below.items()}
        if key in ("properties", "$defs")
        else _tidy(below)
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
        kept |= choices[0] | {"type": [choices[0]["type"], "null"]}
        if "enum" in kept:
            kept["enum"] = [*kept["enum"], None]
    # In one order, whichever way a model says it: what it means first.
    return dict(sorted(kept.items(), key=lambda item: _rank(item[0])))


def _rank(key: str) -> int:
    return ORDER.index(key) if key in ORDER else len(ORDER)


def text() -> str:
    """Return the schema as YAML, one line for each key of the configuration."""
    return HEAD + "\n".join(_lines(schema(), "")) + "\n"


def _lines(value: dict, indent: str, comma: str = ""):
    for key, below in value.items():
        head = f"{indent}{_flow(key)}:"
        if key in ("properties", "$defs"):
            yield head
            yield from _lines(below, indent + "  ")
        elif isinstance(below, dict) and "properties" in below:
            # A mapping of keys to values: one line says what it is, and one each what a key is.
            facts = _flow({name: fact for name, fact in below.items() if name != "properties"})
            yield f"{head} {facts[:-1]}, properties: {{"
            yield from _lines(below["properties"], indent + "  ", ",")
            yield f"{indent}}}}}"
        else:
            yield f"{head} {_flow(below)}{comma}"


def _flow(value) -> str:
    """Write YAML on one line; text as JSON, which YAML reads, where it is more than a word."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, float):
        digits, e, exponent = repr(value).partition("e")
        return f"{float(digits)}{e}{exponent}"  # YAML reads 1e-09 as text, 1.0e-09 as a number
    is_word = isinstance(value, str) and value.isidentifier() and value.lower() not in NO_WORDS
    return value if is_word else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    print(text(), end="")
