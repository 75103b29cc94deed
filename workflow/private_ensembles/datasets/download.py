"""Fetch one file with a known sha256: mirror first, then public addresses, never half a file.

Only the checksum makes a file trusted, so any address may serve it. Bytes are collected in a
`.part` file (mode 0600) beside the destination, which survives a kill and is continued with an
HTTP Range request; the destination appears by an atomic rename, complete and verified.
"""

import http.client
import ipaddress
import os
import re
import shutil
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from private_ensembles.jobs.provenance import sha256_of

CHUNK = 1 << 16
MAX_BYTES = 1 << 30  # far above any data set here; stops an address that never ends
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
RETRIED_STATUS = {408, 425, 429, 500, 502, 503, 504}


class DownloadError(OSError):
    """A file could not be had from any address; the message says all there is to say."""


class _Failure(Exception):
    """One attempt at one address failed; `again` says whether a further attempt may help."""

    def __init__(self, answer, again):
        super().__init__(answer)
        self.again = again


@dataclass(frozen=True)
class KnownFile:
    """A file of a data set that is trusted by its checksum alone.

    dataset, file: plain names, which are those of its folder and of itself in a mirror. sha256: 64
    hexadecimal digits. urls: its public addresses, in the order in which they are tried. Raises
    ValueError for a name or checksum that is not acceptable.
    """

    dataset: str
    file: str
    sha256: str
    urls: Sequence[str] = ()

    def __post_init__(self):
        for what in ("dataset", "file"):
            name = getattr(self, what)
            if not NAME.fullmatch(name) or ".." in name:
                raise ValueError(f"{what} = {name!r}: must be a plain name of {NAME.pattern}")
        if not re.fullmatch(r"[0-9a-f]{64}", str(self.sha256)):
            raise ValueError(f"sha256 of {self} = {self.sha256!r}: must be 64 hexadecimal digits")

    def __str__(self):
        return f"{self.dataset}/{self.file}"


@dataclass(frozen=True)
class Patience:
    """How long an address is tried: `attempts` times, waiting pause, 2 pause, 4 pause ... between.

    timeout: the longest silence, and the longest time for fewer than CHUNK bytes. timeout and pause
    are in seconds. sleep: waits so many seconds.
    """

    attempts: int = 3
    timeout: float = 30.0
    pause: float = 1.0
    sleep: Callable[[float], None] = time.sleep


def fetch(
    known: KnownFile,
    destination,
    mirror=None,
    *,
    place=None,
    patience=Patience(),
    log=lambda message: None,
):
    """Put the known file at `destination` and return the address it came from.

    Addresses, in order: `<mirror>/<dataset>/<file>` (a folder, or an https prefix), then the file's
    own. A wrong checksum is tried once more from the first byte, then reported.

    destination: path; its folder is made. place: the path to name in the error as the one to put
    the file at by hand, and beside which the `.part` file is kept (default: destination).

    Raises ValueError for an address that is not acceptable, DownloadError when no address gave the
    file, OSError if the disk refuses.
    """
    destination = Path(destination)
    place = Path(place or destination)
    part = place.with_name(f"{place.name}.part")
    addresses = _addresses(known, mirror)
    destination.parent.mkdir(parents=True, exist_ok=True)
    part.parent.mkdir(parents=True, exist_ok=True)

    # Killed between the last byte and the move.
    if part.exists() and sha256_of(part) == known.sha256:
        return _finish(part, destination, "the partial file, which was complete")
    answers = []
    for address in addresses:
        log(f"{known}: trying {address}")
        try:
            _from_address(address, part, known.sha256, patience, log)
        except _Failure as failure:
            answers.append(f"{address} ({failure})")
            log(f"{known}: {address}: {failure}")
            continue
        return _finish(part, destination, str(address))
    tried = "; ".join(answers) or "none given: set data_mirror or urls"
    raise DownloadError(
        f"could not fetch {known}; tried {tried}; expected sha256 {known.sha256}; "
        f"put the file by hand at {place}, or set data_mirror to a folder that holds {known}"
    )


def _finish(part, destination, address):
    """Move the verified bytes into place."""
    # They were private while unverified; the finished file is an ordinary one.
    part.chmod(0o666 & ~_umask())
    os.replace(part, destination)
    return address


def _addresses(known, mirror):
    """Checked addresses in the order in which they are tried: Path for folders, str for URLs."""
    addresses = []
    if mirror:
        mirror = str(mirror)
        if "://" in mirror:
            addresses.append(_checked(f"{mirror.rstrip('/')}/{known}", loopback=True))
        else:
            addresses.append(Path(mirror) / known.dataset / known.file)
    return addresses + [_checked(url, loopback=True) for url in known.urls or ()]


def _checked(url, loopback):
    """`url` if it is https, or plain http to this very machine (for tests); else ValueError."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if loopback and parts.scheme == "http" and _is_loopback(parts.hostname):
        return url
    raise ValueError(f"address {url!r}: must be https (plain http only on the loopback interface)")


def _is_loopback(host):
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to an address that could have been given in the first place."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        from_loopback = _is_loopback(urllib.parse.urlsplit(req.full_url).hostname)
        try:
            _checked(newurl, loopback=from_loopback)
        except ValueError as error:
            raise _Failure(f"redirected to an unacceptable {error}", again=False) from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _from_address(address, part, sha256, patience, log):
    """Fill `part` from one address with the right bytes, or raise _Failure with the last answer."""
    wrong = attempt = 0
    attempts = patience.attempts
    while True:
        attempt += 1
        try:
            if isinstance(address, Path):
                _copy(address, part)
            else:
                _transfer(address, part, patience.timeout)
            sha256_there = sha256_of(part)
            if sha256_there == sha256:
                return
            # Never continue wrong bytes: the next attempt, here or elsewhere, starts afresh.
            part.unlink()
            wrong += 1
            if wrong == 1:  # damage on the way heals, so one more attempt is always due
                attempts = max(attempts, attempt + 1)
            again = wrong == 1 and not isinstance(address, Path)
            raise _Failure(f"wrong sha256 {sha256_there}", again)
        except _Failure as failure:
            if not failure.again or attempt >= attempts:
                times = f" after {attempt} attempts" if attempt > 1 else ""
                raise _Failure(f"{failure}{times}", again=False) from None
            log(f"{address}: {failure}; trying again")
            patience.sleep(patience.pause * 2 ** (attempt - 1))


def _open_part(part, append):
    """`part` opened for writing, mode 0600; a symbolic link in its place is refused."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    return open(os.open(part, flags | getattr(os, "O_NOFOLLOW", 0), 0o600), "wb")


def _copy(source, part):
    """Copy a mirror's file; whatever is wrong with the source is the address' answer."""
    try:
        reader = open(source, "rb")  # noqa: SIM115 - closed below; only opening may fail here
    except OSError as error:
        raise _Failure(error.strerror or str(error), again=False) from None
    with reader, _open_part(part, append=False) as writer:
        shutil.copyfileobj(reader, writer, 1 << 20)


def _transfer(url, part, timeout):
    """One HTTP request that continues `part` where it ends, or starts it afresh."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "private-ensembles", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    handlers = [_SafeRedirects()]
    if _is_loopback(urllib.parse.urlsplit(url).hostname):
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    try:
        response = opener.open(urllib.request.Request(url, headers=headers), timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # what we have is not a beginning of this file
            part.unlink(missing_ok=True)
            raise _Failure("HTTP 416 (partial file dropped)", again=True) from None
        raise _Failure(
            f"HTTP {error.code} {error.reason}".strip(), again=error.code in RETRIED_STATUS
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise _network_failure(error, timeout) from None
    with response:
        length = response.headers.get("Content-Length", "")
        left = int(length) if length.isdigit() else None
        start = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        append = response.status == 206 and bool(start) and int(start.group(1)) == have
        if response.status == 206 and not append:
            part.unlink(missing_ok=True)
            raise _Failure("the server sent another range than the one asked for", again=True)
        with _open_part(part, append) as writer:
            _pump(response, writer, left, have if append else 0, timeout)


def _pump(response, writer, left, have, timeout):
    """Copy the body; a stall, a trickle, an early or a missing end is a failure to try again."""
    window, received = time.monotonic(), 0
    while True:
        try:
            chunk = response.read1(CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _network_failure(error, timeout) from None
        if not chunk:
            break
        writer.write(chunk)  # outside the try: a full disk is not the network's fault
        have += len(chunk)
        received += len(chunk)
        left = None if left is None else left - len(chunk)
        if have > MAX_BYTES:
            raise _Failure(f"more than {MAX_BYTES} bytes", again=False)
        if received >= CHUNK:
            window, received = time.monotonic(), 0
        elif left != 0 and time.monotonic() - window > timeout:
            raise _Failure(f"stalled: {received} bytes in {timeout:g} s", again=True)
    if left:
        raise _Failure(f"connection ended {left} bytes early", again=True)


def _network_failure(error, timeout):
    """The answer that a network exception amounts to."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return _Failure(f"stalled: no answer within {timeout:g} s", again=True)
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    # An unknown name, a bad certificate or a refused connection will not heal within seconds.
    unknown = isinstance(reason, socket.gaierror) and reason.errno != socket.EAI_AGAIN
    hopeless = unknown or isinstance(reason, ConnectionRefusedError | ssl.SSLCertVerificationError)
    return _Failure(" ".join(text.split()), again=not hopeless)


def _umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
