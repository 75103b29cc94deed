"""mat: what SVHN's files hold comes out, and nothing else passes for them."""

import hashlib

import numpy as np
import pytest
from scipy.io import savemat

from private_ensembles.training.data.mat import read_cropped_digits
from private_ensembles.training.data.prepare import prepare_dataset


def digits(n=12, seed=0):
    """X and y as in SVHN: label 10 stands for the digit 0."""
    draw = np.random.default_rng(seed)
    images = draw.integers(0, 256, (32, 32, 3, n), np.uint8)
    return images, (np.arange(n, dtype=np.uint8) % 10 + 1)[:, None]


def write(path, **content):
    savemat(path, content, do_compression=True)
    return path


def test_pixels_colours_and_labels_come_out_in_order(tmp_path):
    X, y = digits()
    images, labels = read_cropped_digits(write(tmp_path / "a.mat", X=X, y=y))
    assert images.shape == (12, 32, 32, 3)
    assert images.dtype == labels.dtype == np.uint8
    assert images.flags.c_contiguous
    for record, row, column, colour in ((0, 0, 0, 0), (11, 31, 5, 2), (7, 3, 30, 1)):
        assert images[record, row, column, colour] == X[row, column, colour, record]
    assert labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": None}, "holds no variable y: expected X and y"),
        ({"X": np.zeros((32, 32, 3, 12))}, r"X is float64 \(32, 32, 3, 12\): expected uint8"),
        ({"X": np.zeros((32, 32, 12), np.uint8)}, r"X is uint8 \(32, 32, 12\)"),
        ({"X": np.zeros((28, 32, 3, 12), np.uint8)}, r"X is uint8 \(28, 32, 3, 12\)"),
        ({"X": np.array([["a"]], object)}, r"X is object"),
        ({"y": np.ones((11, 1), np.uint8)}, "12 images and 11 labels: expected equal numbers"),
        ({"y": np.ones((12, 2), np.uint8)}, r"y is uint8 \(12, 2\): expected uint8 \(N, 1\)"),
        ({"y": np.full((12, 1), 11, np.uint8)}, "label 11 of record 0: expected 1 to 10"),
        ({"y": np.zeros((12, 1), np.uint8)}, "label 0 of record 0: expected 1 to 10"),
    ],
)
def test_other_contents_are_refused_by_name(tmp_path, changes, message):
    X, y = digits()
    content = {"X": X, "y": y} | changes
    path = write(tmp_path / "a.mat", **{k: v for k, v in content.items() if v is not None})
    with pytest.raises(ValueError, match=rf"a\.mat: .*{message}"):
        read_cropped_digits(path)


@pytest.mark.parametrize("cut", [0, 1, 100, 127, 130, 200, 5000, -1, -100])
def test_damaged_files_are_refused_by_name(tmp_path, cut):
    path = write(tmp_path / "a.mat", **dict(zip("Xy", digits(), strict=True)))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"a\.mat: ") as error:
        read_cropped_digits(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\x89HDF\r\n\x1a\n" + b"\0" * 600, b"x" * 600])
def test_other_kinds_of_files_are_refused_by_name(tmp_path, content):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.mat: not a readable MATLAB 5 file"):
        read_cropped_digits(tmp_path / "a.mat")


def test_bytes_changed_anywhere_never_end_in_another_exception(tmp_path):
    path = write(tmp_path / "a.mat", **dict(zip("Xy", digits(2), strict=True)))
    good = path.read_bytes()
    draw = np.random.default_rng(1)
    for _ in range(200):
        bad = bytearray(good)
        # Mostly the headers, whose sizes and types steer the reader.
        where = int(draw.integers(len(good) if draw.random() < 0.3 else 200))
        bad[where] = int(draw.integers(256))
        path.write_bytes(bytes(bad))
        try:
            images, labels = read_cropped_digits(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")
            continue
        assert len(images) == len(labels)


def prepare_svhn(folder, form, sizes, n_train):
    """A data set of such files: role -> number of images, each with pixels of its own."""
    files = {}
    for seed, (role, n) in enumerate(sizes.items()):
        content = dict(zip("Xy", digits(n, seed), strict=True))
        files[role] = write(folder / f"{role}.mat", **content)
    sha256 = {role: hashlib.sha256(path.read_bytes()).hexdigest() for role, path in files.items()}
    settings = {"format": form, "n_train": n_train, "n_test": sizes["test"]}
    return files, prepare_dataset("svhn", settings, files, sha256=sha256, stand_in=False, seed=0)


def test_svhn_is_prepared_in_colour_with_ten_classes(tmp_path):
    _, data = prepare_svhn(tmp_path, "mat", {"train": 20, "test": 10}, 20)
    assert data.train_images.shape == (20, 32, 32, 3)
    assert (data.pixel_max, data.n_classes) == (255, 10)


def test_additional_images_of_svhn_are_training_images_after_the_others(tmp_path):
    """So the code that PATE's section 5.1 points to trains its teachers (`ld_svhn`, extended)."""
    sizes = {"train": 20, "extra": 30, "test": 10}
    files, data = prepare_svhn(tmp_path, "mat_extended", sizes, 50)
    for place, role in ((slice(20), "train"), (slice(20, None), "extra")):
        images, labels = read_cropped_digits(files[role])
        np.testing.assert_array_equal(data.train_images[place], images)
        np.testing.assert_array_equal(data.train_labels[place], labels)
    assert len(data.test_labels) == 10
