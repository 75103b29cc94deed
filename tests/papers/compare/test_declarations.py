"""What the YAML files declare: read with clear errors, and about numbers that exist."""

import pytest

from private_ensembles.papers.compare.comparison import compare_relations
from private_ensembles.papers.compare.declarations import (
    JudgingRule,
    Rule,
    find_rule,
    load_paper,
    read_paper,
)
from private_ensembles.papers.compare.printed import (
    FOLDER,
    Key,
    key_of,
    read_published,
)
from private_ensembles.papers.compare.reproduced import flatten_settings

PRINTED = read_published(FOLDER.glob("*.csv"))
PAPERS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
GOOD = """
beside:
  - table: table1
    row: n={n}
    numbers: {epsilon: ours}
"""


@pytest.fixture(scope="module")
def keys():
    return [key_of(cell) for cell in PRINTED.to_dict("records")]


def test_every_paper_with_printed_numbers_is_declared(keys):
    assert {key.paper for key in keys} == set(PAPERS)
    assert load_paper("planner").tables() == []


@pytest.mark.parametrize("name", PAPERS)
def test_every_rule_is_about_printed_numbers_of_its_paper(name, keys):
    declared = load_paper(name)
    mine = [key for key in keys if key.paper == name]
    rows = compare_relations(PRINTED, {}, data="paper").to_dict("records")
    relations = [key for key in map(key_of, rows) if key.paper == name]
    kinds = [declared.explanations, declared.remarks, declared.doubts, declared.rests_on]
    for rules in (*kinds, declared.inputs, declared.limits, declared.judged):
        for rule in rules:
            table = rule.table[0]  # of ours, which only some rules name
            assert any(rule.fits(key, table) for key in [*mine, *relations]), rule


@pytest.mark.parametrize("name", PAPERS)
def test_what_a_number_rests_on_is_among_the_printed_parameters(name, keys):
    declared = load_paper(name)
    known = flatten_settings(declared.parameters)
    for key in keys:
        rule = find_rule(declared.rests_on, key, "table1")
        for text in rule.parameters if rule and key.paper == name else ():
            one = text.format(**key._asdict())
            # Data sets of the paper's that no run can have are not among them.
            assert key.dataset == "heart-failure" or any(
                known_name == one or known_name.startswith(f"{one}.") for known_name in known
            )
    # 1e-5 without a point is a text in YAML.
    assert not [value for value in known.values() if isinstance(value, str) and value[0].isdigit()]


@pytest.mark.parametrize("name", PAPERS)
def test_every_explanation_and_limit_names_a_test_that_exists(name, root):
    for rule in load_paper(name).explanations + load_paper(name).limits:
        path, _, test = rule.test.partition("::")
        assert f"def {test}(" in (root / path).read_text(encoding="utf-8")


def test_limits_are_stated_of_numbers_that_have_them_and_of_no_others():
    for cell in PRINTED.to_dict("records"):
        stated = find_rule(load_paper(cell["paper"]).limits, key_of(cell)) is not None
        assert stated == bool(cell["low"]) == bool(cell["high"]), cell


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("beside: [", "while parsing"),
        ("parameters: {}", "beside: Field required"),
        (GOOD + "words: []", "words: Extra inputs are not permitted"),
        (GOOD.replace("row:", "rwo:"), r"beside\.0\.row: Field required"),
        (
            GOOD.replace("ours", "{value: ours, unit: percents}"),
            r"beside\.0\.numbers\.epsilon\.unit: Input should be 'one', 'percent' or 'thousands'",
        ),
    ],
)
def test_mistakes_are_one_line_with_file_and_place(tmp_path, text, message):
    path = tmp_path / "toy.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_paper(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


KEY = Key("toy", "table1", "mnist", "lnmax-100", "epsilon")


@pytest.mark.parametrize(
    ("about", "fits"),
    [
        ({}, True),
        ({"row": "lnmax-*"}, True),
        ({"row": ["nzc", "lnmax-1??"], "item": "table1"}, True),
        ({"row": "lnmax-*", "dataset": "svhn"}, False),
        ({"column": "eps"}, False),
        ({"table": "ours"}, False),
    ],
)
def test_a_rule_fits_where_all_its_patterns_do(about, fits):
    assert Rule.model_validate(about).fits(KEY) == fits


def test_a_rule_may_name_our_table_and_the_first_that_fits_counts():
    rules = [Rule(table=["other"]), Rule(table=["ours"]), Rule()]
    assert find_rule(rules, KEY, "ours") is rules[1]
    assert find_rule(rules, KEY) is rules[2]
    assert find_rule(rules[:2], KEY) is None


@pytest.mark.parametrize(
    ("given", "value", "agrees"),
    [
        ({"half": 0.005}, 0.005, True),
        ({"half": 0.005}, 0.006, False),
        ({"side": "below"}, -1e-9, True),
        ({"side": "below"}, 0.0, False),
        ({"side": "above"}, 0.0, False),
        ({"side": "above"}, 1e-9, True),
    ],
)
def test_half_a_unit_or_a_side_says_how_a_printed_zero_is_meant(given, value, agrees):
    assert JudgingRule.model_validate(given).agrees(value, 0.0) == agrees


def test_rivals_are_the_other_rows_or_columns_and_what_is_named():
    other, elsewhere = KEY._replace(row="nzc"), KEY._replace(row="nzc", dataset="svhn")
    numbers = {KEY: 1.0, other: 2.0, elsewhere: 3.0, KEY._replace(column="delta"): 4.0}
    rule = JudgingRule(rivals="row", constants={"a guess": 0.5})
    assert rule.alternatives(KEY, numbers, {other: 2.5}) == {
        "printed nzc": 2.0,
        "our nzc": 2.5,
        "a guess": 0.5,
    }
    assert JudgingRule(rivals="column").alternatives(KEY, numbers, {}) == {"printed delta": 4.0}
    assert JudgingRule(half=1).alternatives(KEY, numbers, numbers) == {}
