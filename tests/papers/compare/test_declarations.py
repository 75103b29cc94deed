"""What the YAML files declare and the CSV files print: read with clear errors, about each other."""

import math

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
    KEY,
    Key,
    equals_printed,
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


@pytest.fixture(scope="module")
def relations():
    return [key_of(row) for row in compare_relations(PRINTED, {}, data="paper").to_dict("records")]


@pytest.mark.parametrize("name", PAPERS)
def test_every_rule_is_about_printed_numbers_of_its_paper(name, keys, relations):
    declared = load_paper(name)
    mine = [key for key in (*keys, *relations) if key.paper == name]
    kinds = [declared.explanations, declared.remarks, declared.doubts, declared.rests_on]
    for rules in (*kinds, declared.inputs, declared.limits, declared.judged):
        for rule in rules:
            table = rule.table[0]  # of ours, which only some rules name
            assert any(rule.fits(key, table) for key in mine), rule


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


PLACE = Key("toy", "table1", "mnist", "lnmax-100", "epsilon")


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
    assert Rule.model_validate(about).fits(PLACE) == fits


def test_a_rule_may_name_our_table_and_the_first_that_fits_counts():
    rules = [Rule(table=["other"]), Rule(table=["ours"]), Rule()]
    assert find_rule(rules, PLACE, "ours") is rules[1]
    assert find_rule(rules, PLACE) is rules[2]
    assert find_rule(rules[:2], PLACE) is None


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
    other, elsewhere = PLACE._replace(row="nzc"), PLACE._replace(row="nzc", dataset="svhn")
    numbers = {PLACE: 1.0, other: 2.0, elsewhere: 3.0, PLACE._replace(column="delta"): 4.0}
    rule = JudgingRule(rivals="row", constants={"a guess": 0.5})
    assert rule.alternatives(PLACE, numbers, {other: 2.5}) == {
        "printed nzc": 2.0,
        "our nzc": 2.5,
        "a guess": 0.5,
    }
    assert JudgingRule(rivals="column").alternatives(PLACE, numbers, {}) == {"printed delta": 4.0}
    assert JudgingRule(half=1).alternatives(PLACE, numbers, numbers) == {}


# Printed numbers ----------------------------------------------------------------------------------


HEADER = ",".join([*KEY, "published", "published_sd"])


# Read from the papers by eye, not by the script that cut the tables out.
BY_EYE = [
    ("darrm table1 mnist Q=20 gnmax", "0.63", "0.09"),
    ("darrm table6 mnist Q=50 darrm_opt", "0.66", "0.05"),
    ("darrm table8 fashion-mnist Q=50 gnmax", "0.72", "0.08"),
    ("darrm table10 mnist Q=20 darrm_sub", "0.80", "0.09"),
    ("darrm table2 mnist Q=100 epsilon_total", "15.044", ""),
    ("darrm table5 fashion-mnist Q=50 epsilon_total", "2.695", ""),
    ("darrm table9 fashion-mnist Q=100 delta_total", "0.068", ""),
    ("darrm table4 fashion-mnist m=3 lambda", "35.74", ""),
    ("darrm table3 simulation M=15 m", "8.2708", ""),
    ("darrm section6.2 fashion-mnist data n_train", "10000", ""),
    ("pate table1 mnist lnmax-1000 epsilon", "8.03", ""),
    ("pate table1 svhn confident answered", "3098", ""),
    ("pate table1 adult baseline baseline_accuracy", "85.0", ""),
    ("pate table2 adult confident epsilon", "1.68", ""),
    ("pate table2 glyph interactive smooth_sensitivity_2", ".00088", ""),
    ("pate section4.1 glyph interactive epsilon_strong_composition", "10.14", ""),
    ("pate section5.3 glyph confident epsilon", "1.02", ""),
    ("pate appendixB.6 mnist gnss rdp", "0.52", ""),
]


def test_digits_are_kept_as_printed():
    printed = PRINTED.set_index(KEY)[["published", "published_sd"]]
    for key, digits, sd in BY_EYE:
        found = printed.loc[[tuple(key.split())]].to_numpy().tolist()
        assert found == [[digits, sd]], key


@pytest.mark.parametrize(
    ("value", "digits", "equal"),
    [
        (15.044483586, "15.044", True),
        (15.0446, "15.044", False),
        (0.0148, "0.015", True),
        (0.0145, "0.015", True),  # a tie goes either way
        (0.0145, "0.014", True),
        (0.01449, "0.015", False),
        (0.446, "0.4460", True),
        (12000, "10000", False),
        (1866.4, "1866", True),
        (1e-4, "1e-4", True),
        (math.nan, "0.1", False),
        (math.inf, "0.1", False),
    ],
)
def test_equal_means_equal_in_every_printed_digit(value, digits, equal):
    assert equals_printed(value, digits) is equal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper,item\n", "columns"),
        (HEADER + "\ndarrm,t,d,r,c,abc,\n", "'abc' is not a number"),
        (HEADER + "\ndarrm,t,d,r,c,nan,\n", "'nan' is not a number"),
        (HEADER + "\na,t,d,r,c,1,\na,t,d,r,c,2,\n", "occurs twice"),
    ],
)
def test_a_damaged_transcription_is_refused(tmp_path, text, message):
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_published([path])
