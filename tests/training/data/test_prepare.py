"""Prepared data sets: counts, classes and types are what the configuration and the paper say."""

import gzip
import hashlib
import importlib
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
import sklearn.datasets
import yaml

from private_ensembles.run.check import check
from private_ensembles.training.data.archive import content_sha256
from private_ensembles.training.data.prepare import (
    FORMATS,
    first_occurrences,
    load_breast_cancer,
    load_idx_dataset,
    prepare_dataset,
)

NAMES = {
    "train_images": "train-images-idx3-ubyte.gz",
    "train_labels": "train-labels-idx1-ubyte.gz",
    "test_images": "t10k-images-idx3-ubyte.gz",
    "test_labels": "t10k-labels-idx1-ubyte.gz",
}


@pytest.fixture
def idx_files(tmp_path):
    """Four small IDX files with labels 0 to 9 in turn; image i is filled with i."""
    files = {}
    for part, n in (("train", 40), ("test", 20)):
        images = np.repeat(np.arange(n, dtype=np.uint8), 16).reshape(n, 4, 4)
        labels = (np.arange(n) % 10).astype(np.uint8)
        contents = {
            f"{part}_images": struct.pack(">IIII", 0x803, n, 4, 4) + images.tobytes(),
            f"{part}_labels": struct.pack(">II", 0x801, n) + labels.tobytes(),
        }
        for role, content in contents.items():
            files[role] = tmp_path / NAMES[role]
            files[role].write_bytes(gzip.compress(content, mtime=0))
    return files


def checksums(files):
    return {role: hashlib.sha256(path.read_bytes()).hexdigest() for role, path in files.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "folder", "shape"),
    [
        ("mnist", "mnist", (28, 28)),
        ("fashion-mnist", "fashion-mnist", (28, 28)),
        ("mnist-10", "mnist", (28, 28)),
        ("notmnist", "notmnist", (28, 28)),
    ],
)
def test_real_files_give_what_the_configuration_says(root, paper_data, name, folder, shape):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    datasets = check(config).datasets
    settings, paths = datasets.preparation_settings(name), datasets.raw_files(name)
    files = {role: paper_data / folder / path.rsplit("/", 1)[1] for role, path in paths.items()}
    sha256 = datasets.checksums(name)
    data = prepare_dataset(name, settings, files, sha256=sha256, stand_in=False, seed=0)
    assert data.train_images.shape == (settings["n_train"], *shape)
    assert data.test_labels.shape == (settings["n_test"],)
    assert set(data.train_labels.tolist()) == set(range(len(settings["classes"])))


@pytest.mark.slow
def test_the_authors_labels_are_as_right_as_their_note_says(root, paper_data):
    """8,409 of 9,000 labels are true, and 98 of the student's 100 (PATE 2017's ensemble)."""
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    datasets, made = check(config).datasets, {}
    for name, folder in (("pate-2017", "pate-2017"), ("mnist-10", "mnist")):
        settings, paths = datasets.preparation_settings(name), datasets.raw_files(name)
        files = {role: paper_data / folder / path.rsplit("/", 1)[1] for role, path in paths.items()}
        if not all(path.is_file() for path in files.values()):
            pytest.skip(f"no {folder} here")
        sha256 = datasets.checksums(name)
        made[name] = prepare_dataset(name, settings, files, sha256=sha256, stand_in=False, seed=0)
    released, truth = made["pate-2017"], made["mnist-10"].test_labels
    assert (released.test_labels == truth[:9000]).sum() == 8409
    assert (released.train_labels == truth[released.train_queries]).sum() == 98


def test_classes_become_labels_in_the_order_given(idx_files):
    data = load_idx_dataset("d", idx_files, classes=[8, 5])
    assert data.train_labels.tolist() == [1, 0] * 4
    assert data.train_images[:2, 0, 0].tolist() == [5, 8]
    data = load_idx_dataset("d", idx_files, classes=range(10))
    assert data.train_labels.tolist() == [*range(10)] * 4
    assert data.n_classes == 10


def test_other_counts_than_configured_are_refused(idx_files):
    settings = {"format": "idx", "classes": [5, 8], "n_train": 9, "n_test": 4}
    with pytest.raises(ValueError, match=r"d: 8 train records: .* expects n_train = 9"):
        prepare_dataset(
            "d", settings, idx_files, sha256=checksums(idx_files), stand_in=False, seed=0
        )


def test_images_and_labels_of_different_number_are_refused(idx_files):
    files = idx_files | {"train_labels": idx_files["test_labels"]}
    with pytest.raises(ValueError, match=r"40 images and .* 20 labels"):
        load_idx_dataset("d", files, classes=[5, 8])


@pytest.mark.parametrize("classes", [[5], [5, 5]])
def test_classes_that_are_not_two_are_refused(idx_files, classes):
    with pytest.raises(ValueError, match="classes"):
        load_idx_dataset("d", idx_files, classes=classes)


def test_prepare_refuses_an_altered_file(idx_files):
    sha256 = checksums(idx_files)
    settings = {"format": "idx", "classes": [5, 8], "n_train": 8, "n_test": 4}
    data = prepare_dataset("d", settings, idx_files, sha256=sha256, stand_in=False, seed=0)
    assert data.provenance["files"] == sha256
    idx_files["test_images"].write_bytes(idx_files["test_images"].read_bytes() + b" ")
    with pytest.raises(ValueError, match=r"t10k-images.*has sha256 .* expected"):
        prepare_dataset("d", settings, idx_files, sha256=sha256, stand_in=False, seed=0)


@pytest.mark.parametrize(
    ("form", "n_train", "n_test", "n_classes"),
    [("digits_parity", 1437, 360, 2), ("digits", 1000, 797, 10)],
)
def test_digits_are_split_by_seed(form, n_train, n_test, n_classes):
    settings = {"format": form, "n_train": n_train, "n_test": n_test}
    first, again, other = (
        prepare_dataset("digits", settings, {}, sha256={}, stand_in=True, seed=seed)
        for seed in (0, 0, 1)
    )
    assert first.train_images.shape == (n_train, 8, 8)
    assert first.pixel_max == first.train_images.max() == 16
    shares = np.bincount(first.train_labels, minlength=n_classes) / n_train
    assert (np.abs(shares * n_classes - 1) < 0.2).all()
    assert content_sha256(first) == content_sha256(again) != content_sha256(other)
    assert first.stand_in


@pytest.mark.parametrize("form", ["digits", "digits_parity"])
def test_digits_split_loses_no_image_and_keeps_its_label(form):
    settings = {"format": form, "n_train": 1437, "n_test": 360}
    data = prepare_dataset("digits", settings, {}, sha256={}, stand_in=True, seed=0)
    digits = sklearn.datasets.load_digits()
    targets = digits.target % 2 if form == "digits_parity" else digits.target
    whole = np.column_stack([digits.images.reshape(-1, 64), targets])
    images = np.concatenate([data.train_images, data.test_images]).reshape(-1, 64)
    split = np.column_stack([images, np.concatenate([data.train_labels, data.test_labels])])
    assert sorted(split.tolist()) == sorted(whole.tolist())


def test_every_tumour_is_in_one_part_and_within_the_bounds():
    data = load_breast_cancer("cancer", n_train=400, n_test=169, generator=np.random.default_rng(0))
    parts = np.concatenate([data.train_features, data.test_features])
    found = np.column_stack([parts, np.concatenate([data.train_labels, data.test_labels])])
    whole = sklearn.datasets.load_breast_cancer()
    expected = np.column_stack([whole.data.astype(np.float32), whole.target])
    assert sorted(found.tolist()) == sorted(expected.tolist())
    assert (data.lower <= parts).all()
    assert (parts <= data.upper).all()
    assert len(data.test_labels) == 169


def test_the_parity_split_is_the_one_of_the_published_results():
    settings = {"format": "digits_parity", "n_train": 1437, "n_test": 360}
    data = prepare_dataset("digits", settings, {}, sha256={}, stand_in=True, seed=0)
    assert data.provenance["sha256"].startswith("a91505c259c8b138")


def test_equal_images_of_a_pool_are_kept_once_and_none_is_in_both_parts(idx_files):
    files = {"images": idx_files["train_images"], "labels": idx_files["train_labels"]}
    content = bytearray(gzip.decompress(files["images"].read_bytes()))
    content[16 + 16 * 30 :] = content[16 : 16 + 16 * 10]  # the last ten images repeat the first
    files["images"].write_bytes(gzip.compress(bytes(content)))
    settings = {"format": "idx_pool", "classes": [*range(10)], "n_train": 20, "n_test": 10}
    data = prepare_dataset("d", settings, files, sha256=checksums(files), stand_in=False, seed=0)
    train, test = (set(part[:, 0, 0].tolist()) for part in (data.train_images, data.test_images))
    assert not train & test
    assert train | test == set(range(30))
    assert data.provenance["repeated_images_left_out"] == 10
    assert (data.train_labels == data.train_images[:, 0, 0] % 10).all()
    with pytest.raises(ValueError, match="must be positive and add up to the 30 records"):
        settings |= {"n_train": 30}
        prepare_dataset("d", settings, files, sha256=checksums(files), stand_in=False, seed=0)


def test_the_first_of_equal_images_is_found():
    images = np.array([[[1, 2]], [[3, 4]], [[1, 2]], [[2, 1]], [[3, 4]]], np.uint8)
    assert first_occurrences(images).tolist() == [0, 1, 3]


@pytest.mark.parametrize(("n_train", "n_test"), [(1400, 360), (1797, 0), (-1, 1798)])
def test_prepare_refuses_splits_that_do_not_add_up(n_train, n_test):
    settings = {"format": "digits_parity", "n_train": n_train, "n_test": n_test}
    with pytest.raises(ValueError, match=f"n_train = {n_train}, n_test = {n_test}: must be"):
        prepare_dataset("digits", settings, {}, sha256={}, stand_in=True, seed=0)


def test_prepare_refuses_an_unknown_format():
    with pytest.raises(ValueError, match="format = 'csv': must be one of idx, idx_pool, "):
        prepare_dataset("digits", {"format": "csv"}, {}, sha256={}, stand_in=True, seed=0)


def test_every_format_of_the_schema_has_a_reader(root):
    schema = json.loads((root / "workflow/schemas/config.schema.json").read_text(encoding="utf-8"))
    asked = schema["$defs"]["Dataset"]["properties"]["format"]
    assert asked["enum"] == list(FORMATS)
    for name, form in FORMATS.items():
        module, _, function = form.reader.rpartition(".")
        assert callable(getattr(importlib.import_module(f"private_ensembles.{module}"), function))
        assert f"{name}: {form.description}." in asked["description"]


def test_preparing_data_needs_neither_torch_nor_pandas():
    code = (
        "import sys; from private_ensembles.training.data import download, prepare;"
        "sys.exit(bool({'torch', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0
