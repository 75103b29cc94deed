"""download: only the right bytes arrive, whatever the addresses do."""

import hashlib
import os
import stat

import pytest

from private_ensembles.training.data import download
from private_ensembles.training.data.download import (
    DownloadError,
    KnownFile,
    RetryPolicy,
    fetch,
)
from tests.loopback import CONTENT, SHA256, Server


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def get(server, tmp_path):
    """fetch() with the server as only address and short waits; keeps the pauses asked for."""
    pauses = []

    def get(*behaviours, **changes):
        server.behaviours = list(behaviours)
        file = {
            "dataset": "mnist",
            "file": "f.gz",
            "sha256": SHA256,
            "git_blob": "",
            "urls": [f"{server.url}/f.gz"],
        }
        patience = {"attempts": 3, "timeout": 0.3, "pause": 1.0, "sleep": pauses.append}
        for values in (file, patience):
            values |= {name: changes.pop(name) for name in values if name in changes}
        return fetch(
            KnownFile(**file), tmp_path / "f.gz", retry_policy=RetryPolicy(**patience), **changes
        )

    get.pauses = pauses
    return get


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


def test_good_file_arrives_complete_and_readable(get, tmp_path):
    get("good")
    assert (tmp_path / "f.gz").read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["f.gz"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "f.gz").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("trouble", ["truncate", "stall"])
def test_interrupted_transfer_is_resumed_where_it_stopped(get, server, tmp_path, trouble):
    get(trouble, "good")
    assert (tmp_path / "f.gz").read_bytes() == CONTENT
    assert server.ranges[0] is None
    assert server.ranges[1].startswith("bytes=")
    assert server.ranges[1] != "bytes=0-"


@pytest.mark.parametrize(
    "behaviours",
    [("truncate", "no_ranges"), ("truncate", "other_range", "good"), ("wrong", "good")],
)
def test_what_a_server_got_wrong_is_read_again(get, tmp_path, behaviours):
    get(*behaviours)
    assert (tmp_path / "f.gz").read_bytes() == CONTENT


def test_partial_file_survives_failure_privately_and_is_continued(get, server, tmp_path):
    with pytest.raises(DownloadError, match="more expected"):
        get("truncate", attempts=1)
    part = tmp_path / "f.gz.part"
    assert leftovers(tmp_path) == ["f.gz.part"]
    assert stat.S_IMODE(part.stat().st_mode) == 0o600
    have = part.stat().st_size
    get("good")
    assert server.ranges[-1] == f"bytes={have}-"
    assert leftovers(tmp_path) == ["f.gz"]


def test_complete_partial_file_is_used_without_a_request(get, server, tmp_path):
    (tmp_path / "f.gz.part").write_bytes(CONTENT)
    get("status500")
    assert server.ranges == []
    assert (tmp_path / "f.gz").read_bytes() == CONTENT


@pytest.mark.parametrize("part", [CONTENT + b"more", b"wrong" * 100])
def test_partial_file_of_other_bytes_is_dropped(get, tmp_path, part):
    (tmp_path / "f.gz.part").write_bytes(part)
    get("good")
    assert (tmp_path / "f.gz").read_bytes() == CONTENT


def test_symbolic_link_in_place_of_partial_file_is_not_written_through(get, tmp_path):
    victim = tmp_path / "victim"
    (tmp_path / "f.gz.part").symlink_to(victim)
    with pytest.raises(OSError, match="part"):
        get("good")
    assert not victim.exists()


def test_wrong_checksum_is_tried_from_the_start_again_then_reported(get, server, tmp_path):
    with pytest.raises(DownloadError, match=r"wrong sha256 [0-9a-f]{64}"):
        get("wrong", attempts=2)
    assert server.ranges == [None, None]
    assert leftovers(tmp_path) == []


def test_wrong_checksum_followed_by_failures_ends(get, server):
    with pytest.raises(DownloadError, match="HTTP 503"):
        get("wrong", "status503", attempts=3)
    assert len(server.ranges) == 3


def test_server_errors_are_retried_with_doubling_pauses(get, server, tmp_path):
    get("status503", "status500", "good")
    assert get.pauses == [1.0, 2.0]
    assert (tmp_path / "f.gz").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("behaviours", "message"),
    [
        (["status404"], "HTTP 404"),
        (["redirect"], r"redirected to ftp://example\.org/x: must be https"),
        (["redirect_here", "good"], r"redirected to http://127\.0\.0\.1.*: must be https"),
    ],
)
def test_what_no_other_attempt_would_change_is_not_retried(get, server, behaviours, message):
    with pytest.raises(DownloadError, match=message):
        get(*behaviours)
    assert len(server.ranges) == 1


def test_stalled_server_is_left_after_the_timeout(get):
    with pytest.raises(DownloadError, match="stalled"):
        get("stall", attempts=2, timeout=0.1)


def test_second_address_serves_when_the_first_does_not(get, server, tmp_path):
    get("status404", "good", urls=[f"{server.url}/a", f"{server.url}/b"])
    assert (tmp_path / "f.gz").read_bytes() == CONTENT


def test_mirror_folder_comes_first(get, server, tmp_path):
    (tmp_path / "mirror" / "mnist").mkdir(parents=True)
    (tmp_path / "mirror" / "mnist" / "f.gz").write_bytes(CONTENT)
    source = get("good", mirror=str(tmp_path / "mirror"))
    assert source.endswith("mirror/mnist/f.gz")
    assert server.ranges == []


def test_mirror_prefix_is_extended_by_dataset_and_file(get, server, tmp_path):
    source = get("good", mirror=f"{server.url}/prefix/", urls=[])
    assert source == f"{server.url}/prefix/mnist/f.gz"


def test_altered_mirror_file_falls_back_to_public_address(get, server, tmp_path):
    (tmp_path / "mirror" / "mnist").mkdir(parents=True)
    (tmp_path / "mirror" / "mnist" / "f.gz").write_bytes(CONTENT[:-1] + b"!")
    get("good", mirror=str(tmp_path / "mirror"))
    assert (tmp_path / "f.gz").read_bytes() == CONTENT
    assert len(server.ranges) == 1


def test_final_error_is_one_line_with_everything_in_it(get, server, tmp_path):
    place = tmp_path / "data" / "raw" / "f.gz"
    with pytest.raises(DownloadError) as caught:
        get("status404", mirror=str(tmp_path / "nowhere"), final_path=place)
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "mnist/f.gz",
        f"{tmp_path}/nowhere/mnist/f.gz (No such file or directory)",
        f"{server.url}/f.gz (HTTP 404",
        SHA256,
        str(place),
    ):
        assert part in message
    assert not (tmp_path / "f.gz").exists()


def test_more_bytes_than_any_data_set_has_are_refused(get, server, monkeypatch):
    monkeypatch.setattr(download, "MAX_BYTES", 1000)
    with pytest.raises(DownloadError, match="more than 1000 bytes"):
        get("good")
    assert len(server.ranges) == 1


def test_unreachable_address_is_reported_in_one_line(get):
    with pytest.raises(DownloadError, match="refused"):
        get("good", urls=["http://127.0.0.1:9/f.gz"])


@pytest.mark.parametrize(
    "names",
    [
        {"file": "../f"},
        {"file": "a/b"},
        {"file": ".hidden"},
        {"file": ""},
        {"dataset": ".."},
        {"dataset": "a..b"},
        {"dataset": "/etc"},
    ],
)
def test_names_that_leave_the_folder_are_refused(get, names):
    with pytest.raises(ValueError, match="must be a plain name"):
        get("good", **names)


@pytest.mark.parametrize(
    "addresses",
    [
        {"urls": ["http://example.org/f"]},
        {"urls": ["ftp://example.org/f"]},
        {"urls": ["file:///etc/passwd"]},
        {"urls": ["f.gz"]},
        {"mirror": "http://example.org/data"},
    ],
)
def test_addresses_other_than_https_are_refused(get, addresses):
    with pytest.raises(ValueError, match="must be https"):
        get("good", **addresses)


def test_malformed_checksum_is_refused(get):
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        get("good", sha256="abc")
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        get("good", sha256="")
    with pytest.raises(ValueError, match="40 hexadecimal digits"):
        get("good", git_blob="abc")


def test_git_s_hash_of_the_content_serves_where_no_sha256_is_known(get, server, tmp_path):
    """SHA-1 of the content behind its kind and size, as `git hash-object` computes it."""
    blob = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
    with pytest.raises(DownloadError, match=f"wrong git blob {blob}.*expected git blob {'0' * 40}"):
        get("good", "good", "good", sha256="", git_blob="0" * 40)
    get("good", sha256="", git_blob=blob)
    assert (tmp_path / "f.gz").read_bytes() == CONTENT
    # Known for every repository: the file with nothing in it.
    (tmp_path / "empty").touch()
    assert download.git_blob_of(tmp_path / "empty") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
