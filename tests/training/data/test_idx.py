"""idx: a damaged or foreign file is refused with its name and what was expected."""

import gzip
import struct

import numpy as np
import pytest

from private_ensembles.training.data import idx


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
