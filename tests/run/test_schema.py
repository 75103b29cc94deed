"""The JSON schema: made from the models, complete, and what config.yaml holds to."""

import dataclasses
import json
import re

import jsonschema
import numpy as np
import pytest

from private_ensembles.run import schema
from private_ensembles.run.check import read_yaml
from private_ensembles.training.student.forest import train_forest
from private_ensembles.training.student.training import Training
from tests.run.shipped import DEFAULT, ROOT

PATH = ROOT / "workflow" / "schemas" / "config.schema.json"
SCHEMA = schema.schema()
# Parameters of students, whose code has defaults (compared below).
PARAMETERS = (".vat", ".forest", ".student_parameters", ".baseline_parameters", ".nzc.student")


def test_default_configuration_is_valid_for_any_json_schema_validator():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(DEFAULT, SCHEMA)


def _resolved(rule):
    rule = rule["anyOf"][0] if "anyOf" in rule else rule  # something or null
    return SCHEMA["$defs"][rule["$ref"].rsplit("/", 1)[1]] if "$ref" in rule else rule


def _named(rule):
    """What stands behind the names of a mapping whose keys the user chooses."""
    return list(rule.get("patternProperties", {}).values())


def _keys(rule, path=""):
    """Yield every key with its rule, and with a description that is the key's or its section's."""
    rule = rule if "description" in rule else _resolved(rule)
    yield path, rule
    rule = _resolved(rule)
    for key, below in rule.get("properties", {}).items():
        yield from _keys(below, f"{path}.{key}")
    for below in [*_named(rule), *([rule["items"]] if "items" in rule else [])]:
        yield from _keys(below, f"{path}.*")


def test_file_is_what_the_models_say():
    written = json.loads(PATH.read_text(encoding="utf-8"))
    assert written == SCHEMA  # else: see the module's docstring


def test_editors_find_the_schema_from_the_configuration():
    first, _, _ = (ROOT / "config.yaml").read_text(encoding="utf-8").partition("\n")
    assert ROOT / first.partition("$schema=")[2] == PATH


def test_every_whole_number_has_a_least_and_a_most():
    numbers = [(path, _resolved(rule)) for path, rule in _keys(SCHEMA)]
    numbers = [(path, rule) for path, rule in numbers if rule.get("type") == "integer"]
    assert len(numbers) > 100
    for path, rule in numbers:
        assert "minimum" in rule, path
        assert {"maximum", "exclusiveMaximum"} & set(rule), path


def test_no_key_is_defined_twice():
    read_yaml(ROOT / "config.yaml")


def test_every_key_is_explained_and_no_mapping_lets_unknown_keys_through():
    found = dict(_keys(SCHEMA))
    assert len(found) > 400
    for path, rule in found.items():
        assert path == "" or path.endswith("*") or rule.get("description"), path
        if "object" in _resolved(rule).get("type", ""):  # also where it may be null
            assert _resolved(rule)["additionalProperties"] is False, path


def test_every_key_of_the_schema_is_in_the_default_configuration():
    def walk(rule, value, path):
        rule = _resolved(rule)
        for key, below in rule.get("properties", {}).items():
            if path.endswith(PARAMETERS):
                continue
            if path.startswith((".audit.budgets.", ".audit.totals")) and key not in value:
                continue  # what is left out is DaRRM's
            if match := re.fullmatch(r"\.(datasets|(?:pate|nzc)\.tasks)\.[^.]+", path):
                # Each format, and each kind of votes, has keys of its own.
                named = DEFAULT
                for step in match[1].split("."):
                    named = named[step]
                assert any(key in each for each in named.values()), key
                if key not in value:
                    continue
            assert key in value, f"{path}.{key}"
            if value[key] is not None:
                walk(below, value[key], f"{path}.{key}")
        for below in _named(rule):
            for key, item in value.items():
                if item is not None:
                    walk(below, item, f"{path}.{key}")

    walk(SCHEMA, DEFAULT, "")


def test_schema_knows_the_parameters_of_students_and_no_others():
    kinds = SCHEMA["$defs"]
    network = {field.name for field in dataclasses.fields(Training)}
    assert set(kinds["NetworkStudent"]["properties"]) == {*network, "method"}
    with pytest.raises(ValueError, match="must be one of") as error:
        train_forest(np.zeros((1, 1)), np.zeros(1, int), np.zeros(1, int), 2, {"x": 1}, seed=0)
    known = set(str(error.value).rsplit("one of ", 1)[1].split(", "))
    assert set(kinds["ForestStudent"]["properties"]) == {*known, "method"}
