"""Arrays of votes: looked at in pieces; archives that promise more than memory holds."""

import io as memory
import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from private_ensembles.release.files import arrays
from private_ensembles.release.files import votes_reader as own_votes
from private_ensembles.release.files.votes_reader import read_own_votes


def test_a_large_matrix_is_counted_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_PIECE", 64)
    votes = np.random.default_rng(0).integers(0, 5, (101, 7)).astype(np.uint8)
    np.save(tmp_path / "v.npy", votes)
    found = read_own_votes(tmp_path / "v.npy", n_classes=5, teachers=7).histogram()
    assert found.tolist() == [np.bincount(row, minlength=5).tolist() for row in votes]


def test_more_counts_than_memory_holds_are_refused_before_they_are_counted(
    tmp_path, monkeypatch, stand_in
):
    np.save(tmp_path / "v.npy", np.zeros((1000, 2), np.uint8))
    stand_in(own_votes, "os", sysconf=lambda name: 1 << 15)  # 1 GiB
    monkeypatch.setattr(arrays, "CellEncoder", lambda _: pytest.fail("looked at"))
    with pytest.raises(ValueError, match=r"1000 queries x 10000 classes need about 1 GiB of memo"):
        read_own_votes(tmp_path / "v.npy", n_classes=10_000)


def _header(shape, dtype="|u1"):
    start = memory.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(start, header)
    return start.getvalue()


def _archive(path, members, packed=zipfile.ZIP_DEFLATED):
    """Write members of a beginning and many zeros, a piece at a time."""
    with zipfile.ZipFile(path, "w", packed, compresslevel=1) as archive:
        for name, (start, zeros) in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(start)
                for _ in range(zeros >> 20):
                    member.write(bytes(1 << 20))
                member.write(bytes(zeros & ((1 << 20) - 1)))
    return path


@pytest.fixture
def one_gib(stand_in):
    stand_in(own_votes, "os", sysconf=lambda name: 1 << 15)
    stand_in(arrays, "np", load=lambda *_, **__: pytest.fail("unpacked"))


MEMORY = "of memory, and this machine has 1: split the queries"
BOMBS = {
    "votes": ({"votes.npy": (_header((600, 1 << 20)), 1 << 20)}, MEMORY),
    "counts": ({"counts.npy": (_header((300 << 20, 2)), 4)}, MEMORY),
    "labels beside few votes": (
        {"votes.npy": (_header((2, 2)), 4), "labels.npy": (_header((600 << 20,)), 4)},
        MEMORY,
    ),
    "a promise that nothing keeps": ({"votes.npy": (_header((1 << 20, 1 << 30)), 0)}, MEMORY),
    "queries whose counts do not fit": ({"votes.npy": (_header((4 << 20, 2)), 8 << 20)}, MEMORY),
    "no array": ({"votes": (b"", 64 << 20)}, "not a readable npz file: votes: the magic string"),
    "a header of many bytes": (
        {"votes.npy": (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", 64 << 20)},
        "not a readable npz file: votes: EOF: reading array header",
    ),
}


@pytest.mark.parametrize("case", BOMBS)
def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, one_gib, case):
    members, message = BOMBS[case]
    path = _archive(tmp_path / "v.npz", members)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_own_votes(path, n_classes=3)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_is_packed_in_another_way_is_refused(tmp_path):
    """A few bytes of bzip2 are unpacked whole, however much they hold."""
    path = _archive(tmp_path / "v.npz", {"votes.npy": (_header((2, 2)), 4)}, zipfile.ZIP_BZIP2)
    with pytest.raises(ValueError, match="votes is packed in a way that NumPy never uses"):
        read_own_votes(path, n_classes=3)


def test_a_file_that_unpacks_to_more_than_its_header_says_takes_next_to_no_memory(tmp_path):
    """In a process that may have 512 MiB."""
    path = _archive(tmp_path / "v.npz", {"votes.npy": (_header((2, 2)), 600 << 20)})
    assert path.stat().st_size < 5 << 20
    code = (
        "import sys; from private_ensembles.release.files import votes_reader\n"
        "votes_reader.os.sysconf = lambda name: 1 << 15\n"
        "try: votes_reader.read_own_votes(sys.argv[1], n_classes=10)\n"
        "except ValueError as error: print(error)"
    )

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))

    given = [sys.executable, "-c", code, str(path)]
    package = str(Path(own_votes.__file__).parents[3])
    found = subprocess.run(
        given,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": package, "OMP_NUM_THREADS": "1"},
        preexec_fn=limited,
    )
    assert MEMORY in found.stdout, found.stderr


def test_members_of_other_names_are_never_unpacked(tmp_path):
    path = _archive(
        tmp_path / "v.npz",
        {"votes.npy": (_header((2, 2)), 4), "notes.npy": (b"nothing known", 64 << 20)},
    )
    assert arrays._read_declared_sizes(path).keys() == {"votes"}
    # Whoever opens the notes fails: their own header is spoilt, though not the archive's list.
    with zipfile.ZipFile(path) as archive, open(path, "r+b") as file:
        file.seek(archive.getinfo("notes.npy").header_offset)
        file.write(b"none")
    with zipfile.ZipFile(path) as archive, pytest.raises(zipfile.BadZipFile):
        archive.open("notes.npy")
    found = read_own_votes(path, n_classes=3, teachers=2, kind="votes")
    assert found.histogram().tolist() == [[2, 0, 0], [2, 0, 0]]
