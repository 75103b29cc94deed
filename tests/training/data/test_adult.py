"""adult: every record and every value of the files comes out, and nothing unknown passes."""

import numpy as np
import pytest
import yaml

from private_ensembles.run.check import check
from private_ensembles.training.data.adult import (
    CATEGORICAL,
    NUMERIC,
    feature_names,
    load_adult,
)
from private_ensembles.training.data.adult import read_adult_file as read
from private_ensembles.training.data.prepare import prepare_dataset

FIRST = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    "2174, 0, 40, United-States, <=50K"
)
SECOND = "17, ?, 1, 11th, 7, Never-married, ?, Own-child, Black, Female, 0, 4356, 99, ?, >50K"


@pytest.fixture
def part(tmp_path):
    def write(*lines, name="adult.data"):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


def decoded(row):
    """Attribute -> value of one record's features."""
    names = feature_names().tolist()
    numeric = {name: float(row[names.index(name)]) for name in NUMERIC}
    ones = [names[i] for i in np.flatnonzero(row[len(NUMERIC) :]) + len(NUMERIC)]
    return numeric, ones


def test_the_features_are_dpbags_108():
    assert len(feature_names()) == 108  # supplement, section 3
    assert len(set(feature_names().tolist())) == 108


def test_a_record_can_be_read_off_its_features(part):
    features, labels = read(part(FIRST, SECOND, ""))
    assert labels.tolist() == [0, 1]
    assert features.dtype == np.float32
    numeric, ones = decoded(features[0])
    assert list(numeric.values()) == [39, 77516, 13, 2174, 0, 40]
    assert ones == [
        *("workclass=State-gov", "education=Bachelors", "marital-status=Never-married"),
        *("occupation=Adm-clerical", "relationship=Not-in-family", "race=White", "sex=Male"),
        "native-country=United-States",
    ]
    _, ones = decoded(features[1])
    assert {"workclass=?", "occupation=?", "native-country=?"} < set(ones)
    assert (features[:, len(NUMERIC) :].sum(axis=1) == len(CATEGORICAL)).all()


def test_the_test_part_has_a_remark_in_front_and_full_stops(part):
    path = part("|1x3 Cross validator", f"{FIRST}.", f"{SECOND}.", "", name="adult.test")
    features, labels = read(path)
    plain, plain_labels = read(part(FIRST, SECOND))
    assert (features == plain).all()
    assert labels.tolist() == plain_labels.tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("39, State-gov", "line 2: 2 fields: expected 15"),
        (f"{FIRST}, more", "line 2: 16 fields: expected 15"),
        (FIRST.replace("39", "-39"), "line 2: age = '-39': expected a number"),
        (FIRST.replace("39", "3_9"), "line 2: age = '3_9': expected a number"),
        (FIRST.replace("77516", "12345678"), "fnlwgt = '12345678': expected a number"),
        (FIRST.replace("40", "?"), r"hours-per-week = '\?': expected a number"),
        (FIRST.replace("White", "?"), r"race = '\?': is not a known value"),
        (FIRST.replace("Male", "male"), "sex = 'male': is not a known value"),
        (FIRST.replace("State-gov", "Ünknown"), "workclass = .*: is not a known value"),
        (FIRST.replace("<=50K", "50K"), "class '50K': expected <=50K or >50K"),
        (FIRST.replace("<=50K", "<=50K.."), "class '<=50K..': expected"),
        ("|1x3 Cross validator", "line 2: 1 fields"),
        ("x," * 3000, "line 2: .* fields"),
    ],
)
def test_unknown_things_are_refused_with_file_and_line(part, line, message):
    with pytest.raises(ValueError, match=rf"adult\.data: .*{message}") as error:
        read(part(FIRST, line))
    assert "\n" not in str(error.value)


def test_a_file_without_records_is_refused(part):
    with pytest.raises(ValueError, match=r"adult\.data: holds no record"):
        read(part("|1x3 Cross validator", ""))


def test_features_do_not_depend_on_who_is_in_the_data(part):
    alone = load_adult("a", part(FIRST), part(FIRST, name="b"))
    both = load_adult("a", part(FIRST, SECOND), part(FIRST, name="b"))
    assert alone.feature_names.tolist() == both.feature_names.tolist()
    assert (alone.upper == both.upper).all()
    assert (alone.lower == both.lower).all()
    assert (alone.train_features[0] == both.train_features[0]).all()


def test_the_real_files_have_the_counts_that_adult_names_gives(root, paper_data):
    folder = paper_data / "adult"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    datasets = check(config).datasets
    settings, sha256 = datasets.preparation_settings("adult"), datasets.checksums("adult")
    files = {"train": folder / "adult.data", "test": folder / "adult.test"}
    data = prepare_dataset("adult", settings, files, sha256=sha256, stand_in=False, seed=0)
    assert data.train_features.shape == (32561, 108)
    assert data.test_features.shape == (16281, 108)
    assert int(data.train_labels.sum()) == 7841
    assert int(data.test_labels.sum()) == 3846
    missing = [name.endswith("=?") for name in data.feature_names.tolist()]
    incomplete = [
        int(part[:, missing].any(axis=1).sum())
        for part in (data.train_features, data.test_features)
    ]
    assert incomplete == [2399, 1221]
    numeric = np.vstack([data.train_features, data.test_features])[:, : len(NUMERIC)]
    assert (numeric >= data.lower[: len(NUMERIC)]).all()
    assert (numeric <= data.upper[: len(NUMERIC)]).all()
