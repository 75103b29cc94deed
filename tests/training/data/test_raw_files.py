"""Raw files of IDX, MATLAB and Adult: all of it comes out, and nothing else passes."""

import gzip
import hashlib
import struct

import numpy as np
import pytest
import yaml
from scipy.io import savemat

from private_ensembles.run.check import check
from private_ensembles.training.data import idx
from private_ensembles.training.data.adult import (
    CATEGORICAL,
    NUMERIC,
    feature_names,
    load_adult,
)
from private_ensembles.training.data.adult import read_adult_file as read
from private_ensembles.training.data.mat import read_cropped_digits
from private_ensembles.training.data.prepare import prepare_dataset


def images_bytes(images):
    return struct.pack(">IIII", 0x803, *images.shape) + images.tobytes()


def labels_bytes(labels):
    return struct.pack(">II", 0x801, len(labels)) + bytes(labels)


@pytest.fixture
def images():
    return np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)


def test_images_are_read_back_plain_and_packed(tmp_path, images):
    (tmp_path / "plain").write_bytes(images_bytes(images))
    (tmp_path / "packed.gz").write_bytes(gzip.compress(images_bytes(images)))
    for name in ("plain", "packed.gz"):
        read = idx.read_images(tmp_path / name)
        assert read.dtype == np.uint8
        assert np.array_equal(read, images)


def test_labels_are_read_back(tmp_path):
    (tmp_path / "labels").write_bytes(labels_bytes([0, 9, 5]))
    assert idx.read_labels(tmp_path / "labels").tolist() == [0, 9, 5]


def test_label_out_of_range_is_refused(tmp_path):
    (tmp_path / "labels").write_bytes(labels_bytes([0, 10]))
    with pytest.raises(ValueError, match=r"labels: label 10 of record 1: expected 0 to 9"):
        idx.read_labels(tmp_path / "labels")


def test_wrong_magic_number_is_refused(tmp_path, images):
    (tmp_path / "f").write_bytes(images_bytes(images))
    with pytest.raises(ValueError, match=r"f: IDX magic number 0x00000803: expected 0x00000801"):
        idx.read_labels(tmp_path / "f")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "ends early"),
        (lambda data: data + b"x", "trailing bytes"),
        (lambda data: data[:10], "IDX header of 10 bytes: expected 16"),
        (lambda data: b"", "IDX header of 0 bytes"),
        (lambda data: data[:4] + b"\xff" * 12, "promises"),
        (lambda data: struct.pack(">IIII", 0x803, 0, 4, 5), "at least one"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_damaged_content_is_refused_by_name(tmp_path, images, change, message, pack):
    path = tmp_path / "damaged.gz"
    path.write_bytes(pack(change(images_bytes(images))))
    with pytest.raises(ValueError, match=message) as caught:
        idx.read_images(path)
    assert str(path) in str(caught.value)


def test_every_truncation_of_a_gzip_file_is_refused(tmp_path, images):
    data = gzip.compress(images_bytes(images))
    for length in range(len(data)):
        path = tmp_path / "short.gz"
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"short\.gz"):
            idx.read_images(path)


def test_flipped_bits_in_a_gzip_file_are_refused(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (20, 8, 8)).astype(np.uint8)
    data = bytearray(gzip.compress(images_bytes(images), mtime=0))
    for position in (len(data) // 2, len(data) - 6, len(data) - 2):
        damaged = data.copy()
        damaged[position] ^= 0x10
        (tmp_path / "bad.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"bad\.gz"):
            idx.read_images(tmp_path / "bad.gz")


def test_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="nothing"):
        idx.read_images(tmp_path / "nothing")


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


@pytest.mark.slow
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
