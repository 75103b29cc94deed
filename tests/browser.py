"""A headless Chromium, spoken to over the DevTools protocol through a pair of pipes.

No package is needed: messages are JSON that ends with a zero byte, on file descriptors 3 and 4.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
_DEADLINE = 60.0  # seconds for one answer

# Contrast of every visible text with what is behind it, by WCAG 2.1's formula.
CONTRAST = """
(() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const c = numbers(getComputedStyle(element).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let worst = [99, ""], count = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    count += 1;
    if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 120)];
  }
  return [...worst, count];
})()
"""


class Page:
    """One open page: `complaints` collects errors of the console, of scripts and of loading."""

    def __init__(self, read: int, write: int, address: str):
        self._read, self._write, self._buffer = read, write, b""
        self._number, self._session = 0, None
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.requests: list[str] = []
        self._loaded = False
        self.call("Page.navigate", url=address)
        deadline = time.monotonic() + _DEADLINE
        while not self._loaded:
            self._receive(deadline)

    def call(self, method: str, **parameters) -> dict:
        """Send one command and return its result; RuntimeError where the browser refuses."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        deadline = time.monotonic() + _DEADLINE
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def evaluate(self, expression: str):
        """Return the value of a JavaScript expression; RuntimeError where it throws."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 800) -> None:
        """Give the page another size, in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def emulate(self, scheme: str) -> None:
        """Prefer a colour scheme: light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def worst_contrast(self) -> list:
        """Return the least contrast of a visible text, its element, and the number of texts."""
        return self.evaluate(CONTRAST)

    def reload_without_script(self) -> None:
        """Load the page once more as a browser does that runs no script."""
        self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.reload()

    def reload(self) -> None:
        """Load the page once more, at the address that it has now."""
        self._loaded = False
        self.call("Page.reload")
        deadline = time.monotonic() + _DEADLINE
        while not self._loaded:
            self._receive(deadline)

    def print_to_pdf(self) -> bytes:
        """Return the page printed on A4, across where the page asks for it."""
        done = self.call("Page.printToPDF", preferCSSPageSize=True)
        return base64.b64decode(done["data"])

    def press(self, key: str, code: int) -> None:
        """Press and release a key on whatever has the focus."""
        text = {"Enter": "\r"}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def _receive(self, deadline: float) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser did not answer")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, event: dict) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(event["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
            self.complaints.append(str(event["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(event["entry"]["text"])


@contextlib.contextmanager
def open_page(path: Path, profile: Path) -> Iterator[Page]:
    """Open a local file in a browser of its own; profile: an empty folder for its data."""
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    # Where Chromium looks for them; from numbers far off, so that neither overwrites the other.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (command_read, answer_write)]

    def connect() -> None:
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    process = subprocess.Popen(
        [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(3, 4),
        preexec_fn=connect,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (command_read, answer_write, *ends):
        os.close(end)
    try:
        yield Page(answer_read, command_write, path.resolve().as_uri())
    finally:
        os.close(command_write)  # Chromium ends when nobody speaks to it any more
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answer_read)
