"""The configuration: every mistake is one line with the key, the value and what is allowed."""

import copy
import datetime
import json
import math
from functools import cache

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from snakemake.cli import parse_config

from private_ensembles.command.main import main
from private_ensembles.run import check as module
from private_ensembles.run.check import (
    ConfigError,
    check,
    check_or_exit,
    put_back_texts,
)
from private_ensembles.run.configuration import TEXTS
from private_ensembles.run.removed_names import REMOVED, advice
from tests.run.shipped import DEFAULT, GONE, ROOT, assert_refused, changed

SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.json"
PAPER = "darrm.datasets.mnist"


def test_default_configuration_is_valid_and_unchanged_by_the_check():
    assert check(DEFAULT).to_dict() == DEFAULT | {"noise": "reproducible"}  # which `auto` is here


SCENARIOS = sorted((ROOT / "config" / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenarios_are_valid(path, tmp_path):
    check(module.fill_defaults(yaml.safe_load(path.read_text()), DEFAULT), str(tmp_path))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"darrm.K": 10}, "darrm.K = 10: must be an odd integer >= 1"),
        ({"darrm.K": True}, "darrm.K = True: must be an odd integer >= 1"),
        ({"darrm.K": "eleven"}, "darrm.K = 'eleven': must be an odd integer >= 1"),
        ({"darrm.m": [1, 12]}, "darrm.m[1] = 12: must be at most darrm.K = 11"),
        ({"darrm.m": []}, "darrm.m = []: must be a list of at least 1 value"),
        ({"darrm.m": 3}, "darrm.m = 3: must be a list of at least 1 value"),
        ({"darrm.m": [1, 1]}, "darrm.m = [1, 1]: must be a list without repetition"),
        ({"darrm.tables.table2": 13}, "darrm.tables.table2 = 13: must be at most darrm.K = 11"),
        ({"darrm.objectives.K": [11, 1]}, "K[1] = 1: must be at least darrm.objectives.m = 3"),
        ({"darrm.figure10.m": 13}, "darrm.figure10.m = 13: must be at most darrm.K = 11"),
        ({"darrm.figure2.m": [12]}, "figure2.m[0] = 12: must be at most darrm.figure2.K = 11"),
        ({"darrm.datasets.mnist.epsilon": 0}, PAPER + ".epsilon = 0: must be a number > 0"),
        ({"darrm.datasets.mnist.epsilon": math.inf}, PAPER + ".epsilon = inf: must be a number"),
        ({"darrm.datasets.mnist.epsilon": math.nan}, PAPER + ".epsilon = nan: must be a number"),
        ({"darrm.datasets.mnist.epsilon": "inf"}, PAPER + ".epsilon = inf: must be a number"),
        ({"darrm.datasets.mnist.Delta": 1}, PAPER + ".Delta = 1: must be a number >= 0 and < 1"),
        ({"darrm.datasets.mnist.Delta": 0}, PAPER + ".Delta = 0: must be above 0"),
        ({"darrm.datasets.mnist.Delta": 0.2}, PAPER + ".Delta = 0.2: must be below 1/7"),
        ({"darrm.delta_prime": 0}, "darrm.delta_prime = 0: must be a number >= 1e-100 and < 1"),
        ({"darrm.prior": "normal"}, "darrm.prior = 'normal': must be text matching"),
        ({"darrm.prior": "uniform:0.2,.7"}, "prior = 'uniform:0.2,.7': must be kind:a,b with"),
        ({"darrm.queries": [10**6]}, "queries[0] = 1000000: must be at most datasets.digits.n"),
        (
            {"darrm.tables.table1": "x"},
            "darrm.tables.table1 = 'x': must be an integer >= 1 and <= 1000000 or null",
        ),
        ({"darrm.tabels": {}}, "darrm.tabels: unknown key; did you mean darrm.tables?"),
        ({"sede": 1}, "sede: unknown key; did you mean seed?"),
        ({"qqq": 1}, "qqq: unknown key; known: data, papers, data_mirror, "),
        ({"darrm.tables.table3": 1}, "darrm.tables.table3: unknown key; did you mean darrm.tables"),
        (
            {"darrm.figure6.subsamples": [36]},
            "darrm.figure6.subsamples[0] = 36: must be at most darrm.figure6.K = 35",
        ),
        ({"darrm.figure8.Delta": 0.6}, "darrm.figure8.Delta = 0.6: must be below 0.5"),
        (
            {"darrm.figure9.prior_P": "uniform:0.1,0.7"},
            "darrm.figure9.prior_P = 'uniform:0.1,0.7': must be kind:a,b with",
        ),
        (
            {"darrm.figure9.actual": ["absolute-uniform:0.7,0.1"]},
            "darrm.figure9.actual[0] = 'absolute-uniform:0.7,0.1': must be kind:a,b with a < b",
        ),
        ({"darrm.figure9.actual": ["fixed:2"]}, "actual[0] = 'fixed:2': must be text matching"),
        ({"darrm.figure2": None}, "darrm.figure2 = null: must be a mapping"),
        ({"data": "papr"}, "data = 'papr': must be one of embedded, paper"),
        ({"solver": None}, "solver = null: must be one of auto, gurobi, highs"),
        ({"data_mirror": ""}, "data_mirror = '': must be text that is not empty or null"),
        ({"darrm": None}, "darrm = null: must be a mapping of keys to values"),
        ({"darrm.plain_teachers.momentum": 1}, "darrm.plain_teachers.momentum = 1: must be a"),
        (
            {"darrm.plain_teachers.model": "cnn"},
            "model = 'cnn': must be one of darrm_cnn, mnist_cnn, svhn_cnn, mlp, linear",
        ),
        ({"datasets.mnist.classes": [5]}, "classes = [5]: must be a list of at least 2 values"),
        ({"teachers.backend": "jax"}, "backend = 'jax': must be one of auto, opacus"),
        ({"teachers.checkpoint_seconds": -1}, "seconds = -1: must be a number >= 0"),
        ({"datasets.mnist.files": {}}, "datasets.mnist.files = []: must be one file for each role"),
        ({"datasets.mnist.n_train": 10}, "K = 11: must be at most datasets.mnist.n_train = 10"),
        ({"darrm.K": 1439}, "darrm.K = 1439: must be at most datasets.digits.n_train = 1437"),
        ({"datasets.Digits": {}}, "datasets.Digits: a name here must match ^[a-z]"),
        # What Python and Snakemake take for words of their own.
        ({"lambda": 1}, "lambda: unknown key; known: data, papers"),
        ({"class": 1}, "class: unknown key; did you mean n_classes?"),
        ({"darrm.datasets": {}}, "darrm.datasets: must not be empty"),
        (
            {"darrm.embedded.dataset": "mnist"},
            "darrm.embedded.dataset = 'mnist': must be one of the stand-ins with two classes of "
            "images: digits",
        ),
        (
            {"darrm.datasets.cifar": {"epsilon": 1, "Delta": 1e-5}},
            "darrm.datasets.cifar = 'cifar': must be one of the data sets with two classes of "
            "images: mnist, fashion-mnist",
        ),
        ({"darrm.prior": GONE}, "darrm.prior: missing"),
        ({"datasets.mnist.classes": GONE}, "mnist.classes = null: must be at least two class"),
        (
            {"data": "paper", "data_mirror": "no/such/folder"},
            "data_mirror = 'no/such/folder': must be an existing folder (looked at ",
        ),
    ],
)
def test_mistake_is_one_line_with_key_value_and_what_is_allowed(values, message):
    assert_refused(values, message)


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_a_name_that_is_no_text_any_more_is_refused_and_never_guessed(key):
    """From a file, where Snakemake has read 1_10 and 11_0 as the same number."""
    for value, what in (
        (110, "a number"),
        (2026.1, "a number"),
        (True, "a truth value"),
        (datetime.date(2026, 3, 1), "a date"),
    ):
        with pytest.raises(ConfigError) as caught:
            check(DEFAULT | {key: value})
        says = f"; it was read as {what}: put it in quotes in a file for --configfile"
        assert str(caught.value).startswith(f"{key} = {value}: must be text")
        assert says in str(caught.value)


# What Snakemake 9.27 makes of --config: some of it is text still.
READ = {
    "007": 7,
    "1_10": 110,
    "11_0": 110,
    "2026.10": 2026.1,
    "1e3": 1000.0,
    "True": True,
    "nan": float("nan"),
    "on": "on",
    "null": "null",
    "2026-03-01": "2026-03-01",
    "a #b": "a",
}


@pytest.mark.parametrize("word", ["no", "on", "null", "5", "1.5", "2026-03-01"])
def test_a_name_that_is_no_text_to_yaml_is_told_to_be_put_in_quotes(word):
    (name,) = yaml.safe_load(f"{word}: 1")
    with pytest.raises(ConfigError) as caught:
        check(DEFAULT | {"synthetic_votes": {name: DEFAULT["synthetic_votes"]["glyph"]}})
    reason = f"a name here is {name} to YAML and must be text; put it in quotes"
    assert str(caught.value) == f"synthetic_votes: {reason}"


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_a_name_on_the_command_line_is_taken_as_it_is_written(key):
    for text, value in READ.items():
        assert repr(parse_config([f"{key}={text}"])) == repr({key: value})
        for quote in ("", "'", '"'):
            config = {key: value}
            put_back_texts(config, [f"{key}={quote}{text}{quote}"])
            assert config == {key: text}


def test_numbers_in_a_list_and_truth_values_on_the_command_line_are_what_they_say():
    """Snakemake leaves them as texts (findings/snakemake_config_values.sh)."""
    read = parse_config(["darrm={m: [3, 5]}", "portable=false"])
    assert read == {"darrm": {"m": ["3", "5"]}, "portable": "false"}
    configuration = check(changed({"darrm.m": read["darrm"]["m"], "portable": read["portable"]}))
    assert configuration.darrm.m == [3, 5]
    assert configuration.portable is False


def test_what_is_no_text_stays_as_it_was_read():
    config = {"epsilon": 10, "batch": ["a"], "class_names": {"a": "b"}, "unit": None}
    kept = dict(config)
    put_back_texts(config, ["epsilon=1_0", "batch=[a]", "class_names={a: b}", "unit="])
    put_back_texts(config, None)
    assert config == kept


@pytest.mark.parametrize("name", [".", "..", "...", "a/b", "", "x" * 201])
def test_a_batch_is_no_other_folder(name):
    with pytest.raises(ConfigError, match=r"^batch = "):
        check(DEFAULT | {"batch": name})


def test_check_leaves_its_argument_alone():
    config = changed({"seed": "7"})
    check(config)
    assert config["seed"] == "7"


def test_user_stands_where_snakemake_was_started(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert module.list_base_folders(str(tmp_path / "out"), "/base") == [str(tmp_path / "out")]
    # With --directory out, Snakemake has left the folder by now.
    assert module.list_base_folders(str(tmp_path), "/base") == [str(tmp_path), "/base"]


@pytest.mark.parametrize(
    ("sources", "name"),
    [
        ([("config.yaml", DEFAULT), ("--config", {})], "config.yaml"),
        (
            [("config.yaml", DEFAULT), ("my.yaml", {"darrm": {"K": 10}}), ("--config", {})],
            "my.yaml",
        ),
        ([("config.yaml", DEFAULT), ("my.yaml", {"darrm": {"m": [1]}})], "config.yaml"),
    ],
)
def test_message_names_the_file_that_holds_the_value(capsys, sources, name):
    with pytest.raises(SystemExit) as exit_:
        check_or_exit(changed({"darrm.K": 10}), [], sources)
    assert exit_.value.code == 1
    assert (
        capsys.readouterr().err
        == f"error: {name}: darrm.K = 10: must be an odd integer >= 1 and <= 9999\n"
    )


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("darrm.draws", 10**12, "an integer >= 1 and <= 100000"),
        ("darrm.objectives.repetitions", 10**6, "an integer >= 1 and <= 100000"),
        ("darrm.K", 1000001, "an odd integer >= 1 and <= 9999"),
        ("darrm.private_teachers.epochs", 10**7, "an integer >= 1 and <= 100000"),
        ("darrm.datasets.mnist.epsilon", 10**6, "a number > 0 and <= 100"),
        ("planner.teachers", 10**9, "an integer >= 2 and <= 1000000"),
        ("planner.queries", 10**9, "an integer >= 1 and <= 1000000"),
        ("planner.delta", 1e-150, "a number >= 1e-100 and < 1"),
        ("epsilon", 10**6, "a number >= 1e-06 and <= 100"),
        ("epsilon", 1e-9, "a number >= 1e-06 and <= 100"),
        ("delta", 1e-150, "a number >= 1e-100 and < 1"),
        ("seed", 2**64, "an integer >= 0 and < 9223372036854775808"),
    ],
)
def test_what_no_machine_can_do_is_refused_at_once(key, value, allowed):
    assert_refused({key: value}, f"{key} = {value}: must be {allowed}")


def keys(value):
    """The keys of a mapping and of those in it, in their order."""
    return [(key, keys(value[key])) for key in value] if isinstance(value, dict) else None


def test_keys_come_in_the_order_of_the_workflows_own_file():
    """To Snakemake the same values in another order are other parameters."""

    def merged(values):
        # As Snakemake merges: what the user gave comes first.
        config = module.fill_defaults(values, module.fill_defaults(DEFAULT, values))
        sources = [("config.yaml", DEFAULT), ("my.yaml", values)]
        check_or_exit(config, [], sources)
        return json.dumps(config)

    digits = {"student_parameters": {"widths": [4, 4, 4], "batch_size": 8}, "pool": 600}
    tasks = {"digits": digits, "glyph": {"pool": 20000}}
    forth = {"seed": 1, "pate": {"draws": 3, "tasks": tasks}}
    back = {
        "pate": {
            "tasks": {
                "glyph": {"pool": 20000},
                "digits": {
                    "pool": 600,
                    "student_parameters": {"batch_size": 8, "widths": [4, 4, 4]},
                },
            },
            "draws": 3,
        },
        "seed": 1,
    }
    assert repr(forth) != repr(back)
    assert merged(forth) == merged(back)
    assert keys(json.loads(merged({}))) == keys(DEFAULT)


def test_message_names_the_file_also_for_list_items_and_keys_with_points(capsys):
    file = {"sha256": "x", "role": "train_images", "urls": ["http://x"]}
    wrong = {"datasets": {"mnist": {"files": {"a.b.gz": file}}}}
    config = changed({})
    config["datasets"]["mnist"]["files"]["a.b.gz"] = file
    with pytest.raises(SystemExit):
        check_or_exit(config, [], [("config.yaml", DEFAULT), ("my.yaml", wrong)])
    assert "error: my.yaml: datasets.mnist.files.a.b.gz.sha256 = 'x'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        wrong = {"darrm": {"m": [1, 99]}}
        check_or_exit(
            module.fill_defaults(wrong, DEFAULT), [], [("config.yaml", DEFAULT), ("my.yaml", wrong)]
        )
    assert capsys.readouterr().err.startswith("error: my.yaml: darrm.m[1] = 99")


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
paths = st.sampled_from(
    [
        *("data", "seed", "data_mirror", "darrm", "darrm.K", "darrm.m", "darrm.tables"),
        *("darrm.prior", "darrm.queries", "darrm.datasets.mnist", "darrm.figure2.epsilon"),
        *("darrm.embedded.private_teachers", "datasets", "datasets.mnist.files"),
        *("datasets.digits", "darrm.figure6", "darrm.figure7.m", "darrm.figure9.actual"),
        *("darrm.sweeps", "darrm.sweeps.Delta", "papers", "synthetic_votes"),
        *("pate.tasks", "pate.tasks.glyph", "pate.tasks.glyph.two_rounds", "pate.figure1"),
        *("pate.tasks.digits.teachers", "pate.figure4", "pate.figure5.checks"),
        *("pate.tasks.digits.student_parameters", "pate.orders", "pate.tasks.svhn.dataset"),
    ]
)


@settings(max_examples=30)
@given(paths, junk)
def test_any_junk_is_one_line_or_passes_the_schema_for_others_too(path, value):
    try:
        config = check(changed({path: value})).to_dict()
    except ConfigError as error:
        assert "\n" not in str(error)
        return
    validator().validate(config)


@cache
def validator():
    """The schema, read once for all configurations."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def test_what_an_imported_configuration_leaves_out_is_filled_in_and_nothing_is_changed():
    given = {"darrm": {"K": 9, "figure6": None}, "audit": None}
    before = copy.deepcopy(given)
    whole = module.fill_defaults(given, DEFAULT)
    assert given == before
    assert whole["darrm"]["K"] == 9
    assert whole["darrm"]["figure6"] is None
    assert whole["audit"] is None
    theirs = {key: value for key, value in whole.items() if key not in given}
    assert theirs == {key: value for key, value in DEFAULT.items() if key not in given}
    assert whole["darrm"].keys() == DEFAULT["darrm"].keys()
    # A mapping where the default has none is the mapping.
    assert module.fill_defaults({"a": {"b": 1}}, {"a": None}) == {"a": {"b": 1}}
    assert check(whole).to_dict()["darrm"]["K"] == 9


def test_a_mistake_in_an_imported_configuration_is_its_own(capsys):
    given = {"darrm": {"K": 10}}
    told = module.imported_sources(str(ROOT / "config.yaml"), given)
    with pytest.raises(SystemExit):
        check_or_exit(module.fill_defaults(given, told[0][1]), [], told)
    assert capsys.readouterr().err.startswith("error: config of the module: darrm.K = 10: ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seed: 1\ndata: paper\nseed: 2\n", "line 3: seed is given twice, first in line 1"),
        (
            "pate:\n  tasks:\n    mnist: {K: 5,\n K: 6}\n",
            "line 4: K is given twice, first in line 3",
        ),
        ("a:\n- {x: 1, y: 2, x: 1}\n", "line 2: x is given twice"),
        ('{"K": 5, "K": 5}', "line 1: K is given twice"),
        ("1: a\n0x1: b\n", "line 2: 1 is given twice"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path, text, says, capsys):
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(module.DuplicateKeyError) as refused:
        module.read_yaml(tmp_path / "my.yaml")
    assert str(refused.value).startswith(f"{tmp_path}/my.yaml, {says}")
    (tmp_path / "config.yaml").write_text("seed: 0\n")
    with pytest.raises(SystemExit) as left:
        module.sources([tmp_path / "my.yaml", tmp_path / "config.yaml"], {})
    assert left.value.code == 1
    assert capsys.readouterr().err == f"error: {refused.value}\n"


@pytest.mark.parametrize(
    "text",
    [
        "a: {x: 1}\nb: {x: 1}\n",
        "base: &base {x: 1, y: 2}\nmore: {<<: *base, x: 3}\n",
        "one: &one {x: 1}\ntwo: &two {y: 2}\nboth: {<<: [*one, *two]}\n",
        "list: [1, 1]\nnone: null\ndate: 2020-01-01\n",
        "",
    ],
)
def test_everything_else_is_read_as_pyyaml_does(tmp_path, text):
    (tmp_path / "my.yaml").write_text(text)
    assert module.read_yaml(tmp_path / "my.yaml") == yaml.safe_load(text)


def test_nothing_but_plain_values_is_built(tmp_path):
    (tmp_path / "my.yaml").write_text("x: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(yaml.YAMLError):
        module.read_yaml(tmp_path / "my.yaml")


# Names that still are something elsewhere: an option of release and plan, a subcommand.
ELSEWHERE = {"most_ones", "release"}


def test_a_key_that_is_gone_says_what_to_do():
    for name in REMOVED.keys() - ELSEWHERE:
        assert_refused({name: 3}, f"{name}: is gone: {REMOVED[name]}")
        assert_refused({f"planner.{name}": 3}, f"planner.{name}: is gone: {REMOVED[name]}")


def test_an_option_that_is_gone_says_what_to_do(capsys):
    for name in REMOVED.keys() - ELSEWHERE:
        option = f"--{name.replace('_', '-')}"
        with pytest.raises(SystemExit) as end:
            main(["plan", "--teachers", "9", "--queries", "3", "--classes", "2", option, "1"])
        assert end.value.code == 2
        assert capsys.readouterr().err == f"error: {option} is gone: {REMOVED[name]}\n"


def test_a_name_that_never_was_there_gets_no_advice():
    assert advice("--nothing") is None
