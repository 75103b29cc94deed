"""Fetch one file with a known checksum: mirror first, then public addresses, never half a file.

Only the checksum makes a file trusted, so any address may serve it. Bytes are collected in a
`.part` file (mode 0600) beside the destination, which survives a kill and is continued with an
HTTP Range request; the destination appears by an atomic rename, complete and verified.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import requests
import tenacity
import urllib3

from private_ensembles.base.provenance import sha256_of

CHUNK = 1 << 16
MAX_BYTES = 1 << 30  # far above any data set here; stops an address that never ends
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
RETRIED_STATUS = {408, 425, 429, 500, 502, 503, 504}
# Public addresses are accepted, and for tests this very machine.
ACCEPTED = re.compile(r"https://[^/]|http://(localhost|127\.0\.0\.1)[:/]")


class DownloadError(OSError):
    """A file could not be had from any address; the message names each of them."""


class _Failure(Exception):
    """An address failed, and another attempt would not help."""


class _TransientFailure(_Failure):
    """An attempt failed, and another one may succeed."""


@dataclass(frozen=True)
class KnownFile:
    """A file of a data set that is trusted by its checksum alone.

    Attributes:
        dataset: A plain name, that of the file's folder in a mirror.
        file: A plain name, that of the file in a mirror.
        sha256: 64 hexadecimal digits, or empty if only git's hash is known.
        urls: The file's public addresses, in the order in which they are tried.
        git_blob: 40 hexadecimal digits, as git names the content in a repository (SHA-1, so that it
            tells an accident, and whoever cannot make two files of one hash).

    Raises:
        ValueError: A name or the checksum is not acceptable.
    """

    dataset: str
    file: str
    sha256: str = ""
    urls: Sequence[str] = ()
    git_blob: str = ""

    def __post_init__(self):
        for field in ("dataset", "file"):
            name = getattr(self, field)
            if not NAME.fullmatch(name) or ".." in name:
                raise ValueError(f"{field} = {name!r}: must be a plain name of {NAME.pattern}")
        if self.git_blob and not re.fullmatch(r"[0-9a-f]{40}", str(self.git_blob)):
            raise ValueError(
                f"git_blob of {self} = {self.git_blob!r}: must be 40 hexadecimal digits"
            )
        if not self.git_blob and not re.fullmatch(r"[0-9a-f]{64}", str(self.sha256)):
            raise ValueError(f"sha256 of {self} = {self.sha256!r}: must be 64 hexadecimal digits")

    @property
    def checksum(self) -> str:
        """The kind of checksum that decides, and the checksum."""
        return f"sha256 {self.sha256}" if self.sha256 else f"git blob {self.git_blob}"

    def checksum_of(self, path) -> str:
        """Return the checksum of a file, of the same kind as its own."""
        return f"sha256 {sha256_of(path)}" if self.sha256 else f"git blob {git_blob_of(path)}"

    def __str__(self):
        return f"{self.dataset}/{self.file}"


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long an address is tried.

    Attributes:
        attempts: The number of attempts.
        timeout: The longest silence, in seconds.
        pause: The first wait between two attempts, in seconds; each further wait is twice as long.
        sleep: A function that waits so many seconds.
    """

    attempts: int = 3
    timeout: float = 30.0
    pause: float = 1.0
    sleep: Callable[[float], None] = time.sleep


def git_blob_of(path) -> str:
    """Return the hash by which git names a file's content, as `git hash-object` prints it."""

    def start():
        return hashlib.sha1(f"blob {os.path.getsize(path)}\0".encode(), usedforsecurity=False)

    with open(path, "rb") as file:
        return hashlib.file_digest(file, start).hexdigest()


def fetch(
    known: KnownFile,
    destination,
    mirror=None,
    *,
    final_path=None,
    retry_policy=RetryPolicy(),
    log=lambda message: None,
):
    """Put the known file at `destination` and return the address it came from.

    The first address is `<mirror>/<dataset>/<file>`, then come the file's own. After a wrong
    checksum the next attempt starts with the first byte.

    Args:
        known: The file.
        destination: The path of the file; its folder is made.
        mirror: A folder or an https prefix.
        final_path: The path at which the error says to put the file by hand, and beside which the
            `.part` file is kept; `destination` by default.
        retry_policy: How often and how long each address is tried.
        log: Called with a message for each attempt.

    Raises:
        ValueError: An address is not acceptable.
        DownloadError: No address gave the file.
        OSError: The disk refuses.
    """
    destination = Path(destination)
    final_path = Path(final_path or destination)
    part = final_path.with_name(f"{final_path.name}.part")
    addresses = _list_addresses(known, mirror)
    destination.parent.mkdir(parents=True, exist_ok=True)
    part.parent.mkdir(parents=True, exist_ok=True)

    # An earlier try may have been killed between the last byte and the move.
    if part.exists() and known.checksum_of(part) == known.checksum:
        return _finish(part, destination, "the partial file, which was complete")
    failures = []
    for address in addresses:
        log(f"{known}: trying {address}")
        try:
            if isinstance(address, Path):
                _copy(address, part)
                _verify(part, known)
            else:
                _download(address, part, known, retry_policy, log)
        except _Failure as failure:
            failures.append(f"{address} ({failure})")
            log(f"{known}: {address}: {failure}")
            continue
        return _finish(part, destination, str(address))
    tried = "; ".join(failures) or "none given: set data_mirror or urls"
    raise DownloadError(
        f"could not fetch {known}; tried {tried}; expected {known.checksum}; "
        f"put the file by hand at {final_path}, or set data_mirror to a folder that holds {known}"
    )


def _list_addresses(known, mirror):
    """Return checked addresses in the order in which they are tried.

    Folders are Paths and URLs are texts.
    """
    urls = list(known.urls or ())
    folders = []
    if mirror and "://" in str(mirror):
        urls.insert(0, f"{str(mirror).rstrip('/')}/{known}")
    elif mirror:
        folders = [Path(mirror) / known.dataset / known.file]
    for url in urls:
        if not ACCEPTED.match(url):
            raise ValueError(
                f"address {url!r}: must be https (plain http only on this machine, 127.0.0.1)"
            )
    return folders + urls


def _copy(source, part):
    """Copy a mirror's file; whatever is wrong with the source is a failure of the address."""
    try:
        reader = open(source, "rb")  # noqa: SIM115 - closed below; only opening may fail here
    except OSError as error:
        raise _Failure(error.strerror or str(error)) from None
    with reader, _open_part(part, append=False) as writer:
        shutil.copyfileobj(reader, writer, CHUNK)


def _download(url, part, known, retry_policy, log):
    """Fill `part` with the right bytes from a URL, in several attempts."""

    def log_retry(attempt):
        log(f"{url}: {attempt.outcome.exception()}; trying again")

    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(_TransientFailure),
        stop=tenacity.stop_after_attempt(retry_policy.attempts),
        wait=tenacity.wait_exponential(multiplier=retry_policy.pause),
        sleep=retry_policy.sleep,
        before_sleep=log_retry,
        reraise=True,
    )
    for attempt in attempts:
        with attempt:
            _transfer(url, part, retry_policy.timeout)
            _verify(part, known)


def _verify(part, known):
    """Raise _TransientFailure for other bytes, because another attempt may bring the right ones."""
    if (actual := known.checksum_of(part)) != known.checksum:
        part.unlink()  # never continued: the next attempt, here or elsewhere, starts afresh
        raise _TransientFailure(f"wrong {actual}")


def _transfer(url, part, timeout):
    """Make one HTTP request that continues `part` where it ends, or starts it afresh."""
    n_received = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "private-ensembles", "Accept-Encoding": "identity"}
    if n_received:
        headers["Range"] = f"bytes={n_received}-"
    session = requests.Session()
    if not url.startswith("https://"):
        session.trust_env = False  # no proxy stands between this machine and itself
    try:
        session.hooks["response"].append(_check_redirect)
        with session, session.get(url, headers=headers, stream=True, timeout=timeout) as response:
            _receive(response, part, n_received)
    except requests.HTTPError as error:
        kind = _TransientFailure if error.response.status_code in RETRIED_STATUS else _Failure
        raise kind(f"HTTP {error.response.status_code} {error.response.reason}") from None
    except (requests.Timeout, urllib3.exceptions.ReadTimeoutError):
        raise _TransientFailure(f"stalled: no answer within {timeout:g} s") from None
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise _TransientFailure(" ".join(str(error).split())) from None


def _check_redirect(response, **_):
    """Let requests follow a redirect to https only."""
    target = urljoin(response.url, response.headers.get("Location", ""))
    if response.is_redirect and not target.startswith("https://"):
        raise _Failure(f"redirected to {target}: must be https")


def _receive(response, part, n_received):
    """Append a response to the `n_received` bytes of `part` if it continues them, else replace."""
    content_range = response.headers.get("Content-Range", "")
    resumed = response.status_code == 206 and content_range.startswith(f"bytes {n_received}-")
    if response.status_code == 416 or (response.status_code == 206 and not resumed):
        part.unlink(missing_ok=True)
        raise _TransientFailure("the server does not continue the partial file, which is dropped")
    response.raise_for_status()
    received = n_received if resumed else 0
    with _open_part(part, append=resumed) as writer:
        while chunk := response.raw.read1(CHUNK):
            writer.write(chunk)
            received += len(chunk)
            if received > MAX_BYTES:
                raise _Failure(f"more than {MAX_BYTES} bytes")


def _open_part(part, *, append):
    """Open `part` for writing, mode 0600; a symbolic link in its place is refused."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    return open(os.open(part, flags | getattr(os, "O_NOFOLLOW", 0), 0o600), "wb")


def _finish(part, destination, address):
    """Move the verified bytes into place."""
    # The bytes were private while unverified; the finished file is an ordinary one.
    mask = os.umask(0o077)
    os.umask(mask)
    part.chmod(0o666 & ~mask)
    os.replace(part, destination)
    return address
