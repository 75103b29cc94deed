"""images: counts, classes and types are what the configuration and the paper say."""

import gzip
import hashlib
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from private_ensembles.datasets.images import (
    LabelledImages,
    content_sha256,
    read_dataset,
    write_dataset,
)
from private_ensembles.datasets.prepare import load_digits_parity, load_idx_dataset, prepare

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


def small(**changes):
    arrays = {
        "train_images": np.zeros((4, 5, 5), np.uint8),
        "train_labels": np.array([0, 1, 0, 1], np.uint8),
        "test_images": np.full((2, 5, 5), 16, np.uint8),
        "test_labels": np.array([1, 0], np.uint8),
    }
    return LabelledImages("small", **(arrays | {"pixel_max": 16, "n_classes": 2} | changes))


@pytest.mark.parametrize(
    ("name", "n_train", "n_test"), [("mnist", 11272, 1866), ("fashion-mnist", 12000, 2000)]
)
def test_classes_5_and_8_have_the_papers_counts(paper_data, name, n_train, n_test):
    files = {role: paper_data / name / file for role, file in NAMES.items()}
    data = load_idx_dataset(name, files, classes=[5, 8], n_train=n_train, n_test=n_test)
    assert data.train_images.shape == (n_train, 28, 28)
    assert data.test_labels.shape == (n_test,)
    assert set(data.train_labels.tolist()) == {0, 1}


def test_classes_become_labels_in_the_order_given(idx_files):
    data = load_idx_dataset("d", idx_files, classes=[8, 5], n_train=8, n_test=4)
    assert data.train_labels.tolist() == [1, 0] * 4
    assert data.train_images[:2, 0, 0].tolist() == [5, 8]


def test_other_counts_than_configured_are_refused(idx_files):
    with pytest.raises(ValueError, match=r"8 train images of classes .* expects n_train = 9"):
        load_idx_dataset("d", idx_files, classes=[5, 8], n_train=9, n_test=4)


def test_images_and_labels_of_different_number_are_refused(idx_files):
    files = idx_files | {"train_labels": idx_files["test_labels"]}
    with pytest.raises(ValueError, match=r"40 images and .* 20 labels"):
        load_idx_dataset("d", files, classes=[5, 8])


@pytest.mark.parametrize("classes", [[5], [5, 5]])
def test_classes_that_are_not_two_are_refused(idx_files, classes):
    with pytest.raises(ValueError, match="classes"):
        load_idx_dataset("d", idx_files, classes=classes)


def test_prepare_refuses_an_altered_file(idx_files):
    sha256 = {
        role: hashlib.sha256(path.read_bytes()).hexdigest() for role, path in idx_files.items()
    }
    settings = {"format": "idx", "classes": [5, 8], "n_train": 8, "n_test": 4}
    data = prepare("d", settings, idx_files, sha256=sha256, stand_in=False, seed=0)
    assert data.provenance["files"] == sha256
    idx_files["test_images"].write_bytes(idx_files["test_images"].read_bytes() + b" ")
    with pytest.raises(ValueError, match=r"t10k-images.*has sha256 .* expected"):
        prepare("d", settings, idx_files, sha256=sha256, stand_in=False, seed=0)


def test_digits_are_split_by_seed_and_labelled_by_parity():
    settings = {"format": "digits_parity", "n_train": 1437, "n_test": 360}
    first, again, other = (
        prepare("digits", settings, {}, sha256={}, stand_in=True, seed=seed) for seed in (0, 0, 1)
    )
    assert first.train_images.shape == (1437, 8, 8)
    assert first.pixel_max == first.train_images.max() == 16
    assert 0.45 < first.train_labels.mean() < 0.55
    assert content_sha256(first) == content_sha256(again) != content_sha256(other)
    assert first.stand_in


def test_digits_split_loses_no_image_and_keeps_its_label():
    from sklearn.datasets import load_digits

    data = load_digits_parity("digits", n_test=360, generator=np.random.default_rng(0))
    digits = load_digits()
    whole = sorted(
        (i.astype(np.uint8).tobytes(), t % 2)
        for i, t in zip(digits.images, digits.target, strict=True)
    )
    split = [
        (image.tobytes(), label)
        for part in ("train", "test")
        for image, label in zip(
            getattr(data, f"{part}_images"), getattr(data, f"{part}_labels"), strict=True
        )
    ]
    assert sorted(split) == whole


def test_prepare_refuses_wrong_counts_and_formats():
    settings = {"format": "digits_parity", "n_train": 1400, "n_test": 360}
    with pytest.raises(ValueError, match=r"1437 training images remain: .* n_train = 1400"):
        prepare("digits", settings, {}, sha256={}, stand_in=True, seed=0)
    with pytest.raises(ValueError, match="n_test = 1797"):
        prepare("digits", settings | {"n_test": 1797}, {}, sha256={}, stand_in=True, seed=0)
    with pytest.raises(ValueError, match="format = 'csv'"):
        prepare("digits", settings | {"format": "csv"}, {}, sha256={}, stand_in=True, seed=0)


def test_dataset_file_is_read_back_and_its_bytes_depend_on_contents_only(tmp_path):
    data = small(provenance={"a": 1}, stand_in=True)
    write_dataset(tmp_path / "a.npz", data)
    write_dataset(tmp_path / "b.npz", read_dataset(tmp_path / "a.npz"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = read_dataset(tmp_path / "b.npz")
    assert read.stand_in is True
    assert read.provenance == {"a": 1}
    assert read.name == "small"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_images": np.zeros((4, 5, 5))}, "train_images is float64"),
        ({"train_images": np.zeros((0, 5, 5), np.uint8)}, "not empty"),
        ({"train_labels": np.zeros(3, np.uint8)}, r"train_labels is uint8 \(3,\)"),
        ({"test_labels": np.array([0, 2], np.uint8)}, "test_labels reach 2"),
        ({"test_images": np.full((2, 5, 5), 17, np.uint8)}, "test_images reach 17"),
        ({"test_images": np.zeros((2, 5, 6), np.uint8)}, "must be of one size"),
        ({"pixel_max": 0}, "pixel_max = 0"),
        ({"n_classes": 1}, "n_classes = 1"),
    ],
)
def test_images_that_break_the_promises_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_damaged_dataset_file_is_refused_by_name(tmp_path):
    write_dataset(tmp_path / "a.npz", small())
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"a\.npz: not a readable npz"):
        read_dataset(tmp_path / "a.npz")


def test_preparing_data_needs_neither_torch_nor_pandas():
    code = (
        "import sys, private_ensembles.datasets.prepare, private_ensembles.datasets.download;"
        "sys.exit(bool({'torch', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0
