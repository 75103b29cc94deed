"""Rules made by `use rule ... with`: Snakemake drops the resources that are not named anew."""

import re

import pytest

# A rule by itself or derived from another, up to the next line that begins at the margin.
_RULE = re.compile(
    r"^(?:rule (\w+)|use rule (\w+)(?: from \w+)? as (\w+) with):\n((?: .*\n|\n)*)", re.MULTILINE
)


def read_rules(root):
    """Every rule by name: the one that it is derived from, or None, and its resources by name."""
    rules = {}
    for path in [*(root / "workflow" / "rules").glob("*.smk"), *(root / "studies").rglob("*.smk")]:
        for name, base, derived, body in _RULE.findall(path.read_text(encoding="utf-8")):
            block = re.search(r"^    resources:\n((?: {8}.*\n)+)", body, re.MULTILINE)
            resources = set(re.findall(r"^ {8}(\w+)=", block[1], re.MULTILINE)) if block else None
            rules[derived or name] = (base or None, resources)
    return rules


def test_a_derived_rule_that_states_resources_states_all_of_its_base(root):
    rules = read_rules(root)
    derived = {name: rule for name, rule in rules.items() if rule[0]}
    assert len(derived) > 5
    for name, (base, resources) in derived.items():
        if resources is not None:
            assert resources >= (rules[base][1] or set()), (name, base)


RULES = """
rule a:
    resources:
        mem_mb=1,
        gpu=1,


use rule a as b with:
    resources:
        gpu=1,
"""


@pytest.mark.parametrize(
    ("rules", "holds"), [(RULES, False), (f"{RULES}        mem_mb=2,\n", True)]
)
def test_a_resource_left_out_is_noticed(tmp_path, rules, holds):
    (tmp_path / "workflow" / "rules").mkdir(parents=True)
    (tmp_path / "workflow" / "rules" / "some.smk").write_text(rules, encoding="utf-8")
    found = read_rules(tmp_path)
    assert (found["b"][1] >= found["a"][1]) == holds
