"""The JSON schema of config.yaml, made from the models, for editors and other tools.

    python -m private_ensembles.run.schema > workflow/schemas/config.schema.json

writes it again (from the folder `workflow`, or if the package is installed), and a test compares
the two. What no single key shows (m <= K) is checked by the models alone.
"""

import json
from functools import cache

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from private_ensembles.run.configuration import Configuration


class ForEditors(GenerateJsonSchema):
    """A generator of Pydantic's schema without defaults, and with no names but those that match."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of a key as if it had no default."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: core_schema.CoreSchema) -> bool:
        """Return False: a key's title is its name."""
        return False

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Return the schema of a mapping, which holds no names but those of its pattern."""
        rule = super().dict_schema(schema)
        return {**rule, "additionalProperties": False} if "patternProperties" in rule else rule


@cache
def schema() -> dict:
    """Return the JSON schema; made once, since every message about a mistake looks into it."""
    generated = Configuration.model_json_schema(schema_generator=ForEditors)
    return {"$schema": ForEditors.schema_dialect, **generated}


def text() -> str:
    """Return the schema as JSON."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
