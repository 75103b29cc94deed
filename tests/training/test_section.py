"""The configuration of data sets and trainings: one line for each mistake."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from private_ensembles.run.check import check
from private_ensembles.training.data.formats import FORMATS
from private_ensembles.training.data_section import Datasets
from private_ensembles.training.section import (
    ForestStudent,
    ForestTeachers,
    NetworkStudent,
    PlainTeachers,
)
from tests.run.shipped import DEFAULT, assert_refused, changed

FOREST = {"n_estimators": 10, "max_features": 1, "min_samples_leaf": 1, "bootstrap": True}
PLAIN = {"model": "mlp", "batch_size": 8, "epochs": 1, "learning_rate": 0.1, "momentum": 0.9}


def test_features_of_a_forest_are_a_share_and_never_a_number_of_features():
    """To scikit-learn, 1.0 is all features and 1 is one of them."""
    share = ForestTeachers(**FOREST).parameters()["max_features"]
    assert (share, type(share)) == (1.0, float)
    with pytest.raises(ValidationError):
        ForestTeachers(**FOREST | {"max_features": 2})


def test_students_may_leave_out_everything_and_hold_what_was_given():
    assert NetworkStudent().to_dict() == ForestStudent().to_dict() == {}
    assert NetworkStudent(epochs=3, widths=[4, 4, 4]).to_dict() == {
        "epochs": 3,
        "widths": [4, 4, 4],
    }


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (NetworkStudent, {"widths": [4, 4]}),
        (NetworkStudent, {"method": "forest"}),
        (ForestStudent, {"method": "supervised"}),
        (PlainTeachers, PLAIN | {"momentum": 1}),
        (PlainTeachers, PLAIN | {"noise_multiplier": 1}),
    ],
)
def test_parameters_of_another_model_or_out_of_range_are_refused(model, values):
    with pytest.raises(ValidationError):
        model(**values)


DATASETS = check(DEFAULT).datasets
FILE = {"role": "test", "sha256": "0" * 64, "urls": ["https://example.org/a"]}


@pytest.mark.parametrize(
    ("dataset", "values", "message"),
    [
        ("mnist-10", {"files_of": "cifar"}, "files_of = 'cifar': must be one of the data sets"),
        ("mnist-10", {"files_of": "mnist-10"}, "datasets.mnist-10.files_of = 'mnist-10': must be"),
        ("mnist-10", {"files_of": "svhn"}, "datasets.mnist-10.files = ['test', 'train']: must be"),
        ("mnist-10", {"files_of": 3}, "datasets.mnist-10.files_of = 3: must be text"),
        ("mnist", {"files_of": "mnist"}, "datasets.mnist.files_of = 'mnist': must be one of the"),
        ("svhn", {"files_of": "svhn-extended"}, "files_of = 'svhn-extended': must be one of the"),
        ("digits", {"files_of": "mnist"}, "must be left out, since format is digits_parity"),
        ("notmnist", {"format": "idx"}, "must be one file for each role train_images, "),
        ("adult", {"classes": [0, 1]}, "datasets.adult.classes = [0, 1]: must be left out"),
        ("pate-2017", {"classes": [0]}, "datasets.pate-2017.classes = [0]: must be"),
        ("digits", {"stand_in": 1}, "datasets.digits.stand_in = 1: must be true or false"),
        ("svhn", {"optional": "yes"}, "datasets.svhn.optional = 'yes': must be true or false"),
        ("digits", {"stand_in": False}, "darrm.embedded.dataset = 'digits': must be one of the st"),
        ("mnist", {"stand_in": True}, "darrm.datasets.mnist = 'mnist': must be one of the data s"),
        ("svhn", {"files": {"test.part": FILE}}, "files.test.part = 'test.part': must be another"),
        ("mnist", {"classes": [1, 2, 3]}, "darrm.datasets.mnist = 'mnist': must be one of the da"),
    ],
)
def test_mistake_is_one_line_with_key_value_and_what_is_allowed(dataset, values, message):
    assert_refused({f"datasets.{dataset}.{key}": value for key, value in values.items()}, message)


@pytest.mark.parametrize("name", ["adult", "mnist-10"])
def test_ensembles_of_darrm_need_two_classes_of_images(name):
    changes = {
        "darrm.datasets": {name: {"epsilon": 1, "Delta": 1e-5}},
        "pate.tasks.mnist": None,  # would object, too: its teachers are others
    }
    assert_refused(changes, f"darrm.datasets.{name} = '{name}': must be one of")


def test_what_ships_with_scikit_learn_are_stand_ins():
    stand_ins = [name for name in DATASETS if DATASETS[name].stand_in]
    assert stand_ins == ["digits", "digits-10", "breast-cancer"]


def test_raw_files_are_named_by_role():
    assert DATASETS.raw_files("digits") == {}
    files = DATASETS.raw_files("mnist")
    assert sorted(files) == sorted(FORMATS["idx"].roles)
    assert files["train_labels"] == "data/raw/mnist/train-labels-idx1-ubyte.gz"
    with pytest.raises(ValueError, match=r"file = 'x\.gz': must be one of the files of mnist"):
        DATASETS.raw_file("mnist", "x.gz")


def test_files_of_another_data_set_are_read_and_not_downloaded_again():
    assert DATASETS.raw_files("mnist-10") == DATASETS.raw_files("mnist")
    assert DATASETS.checksums("mnist-10") == DATASETS.checksums("mnist")
    assert DATASETS.checksums("digits-10") == {}
    with pytest.raises(ValueError, match="must be one of the files of mnist-10: none"):
        DATASETS.raw_file("mnist-10", "train-labels-idx1-ubyte.gz")


def test_a_file_beside_another_data_sets_files_has_a_folder_of_its_own(tmp_path):
    assert DATASETS.raw_files("svhn-extended") == {
        "train": "data/raw/svhn/train_32x32.mat",
        "extra": "data/raw/svhn-extended/extra_32x32.mat",
        "test": "data/raw/svhn/test_32x32.mat",
    }
    assert set(DATASETS.checksums("svhn-extended")) == {"train", "extra", "test"}
    for path in DATASETS.raw_files("svhn-extended").values():
        assert not DATASETS.is_available("svhn-extended", None, tmp_path)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    assert DATASETS.is_available("svhn-extended", None, tmp_path)
    assert DATASETS.is_available("svhn", None, tmp_path)


def test_preparation_holds_what_the_data_are_and_not_where_they_are():
    assert DATASETS.preparation_settings("svhn") == {
        "format": "mat",
        "n_train": 73257,
        "n_test": 26032,
    }
    assert set(DATASETS.preparation_settings("mnist-10")) == {
        "format",
        "classes",
        "n_train",
        "n_test",
    }


def test_names_of_files_are_matched_whole():
    pattern = re.compile(DATASETS.file_pattern())
    for name in ("train_32x32.mat", "adult.data", "adult.test", "t10k-labels-idx1-ubyte.gz"):
        assert pattern.fullmatch(name)
    for name in ("adultxdata", "etc.gz", "..", "../adult.data"):
        assert not pattern.fullmatch(name)
    assert Datasets({"digits": DEFAULT["datasets"]["digits"]}).file_pattern() == "none"


def test_optional_data_take_part_where_their_files_are(tmp_path):
    mirror = str(tmp_path / "mirror")
    # not optional: a job would say what is wrong
    assert DATASETS.is_available("mnist", mirror, tmp_path)
    assert not DATASETS.is_available("svhn", mirror, tmp_path)
    for folder, name in (("mirror/svhn", "train_32x32.mat"), ("data/raw/svhn", "test_32x32.mat")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_bytes(b"")
    assert DATASETS.is_available("svhn", mirror, tmp_path)
    assert not DATASETS.is_available("svhn", None, tmp_path)
    address = f"file://{tmp_path}/mirror"  # an address is not asked beforehand
    assert not DATASETS.is_available("svhn", address, tmp_path)
    asked = check(changed({"datasets.svhn.optional": False})).datasets
    assert asked.is_available("svhn", address, tmp_path)


def test_optional_data_are_looked_for_below_the_current_folder_and_in_the_mirror(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert not check(DEFAULT).is_available("svhn")
    for name in DEFAULT["datasets"]["svhn"]["files"]:
        Path("mirror/svhn").mkdir(parents=True, exist_ok=True)
        Path("mirror/svhn", name).touch()
    assert check(DEFAULT | {"data_mirror": "mirror"}).is_available("svhn")
    Path("data/raw").mkdir(parents=True)
    Path("mirror/svhn").rename("data/raw/svhn")
    assert check(DEFAULT).is_available("svhn")
