"""A download server on this machine that stalls, truncates, or serves what it should not."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """A loopback HTTP server that answers request i by behaviour i (the last one repeats)."""

    def __init__(self):
        self.behaviours, self.ranges, self.release = ["good"], [], threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, request):
        wanted = request.headers.get("Range")
        behaviour = self.behaviours[min(len(self.ranges), len(self.behaviours) - 1)]
        self.ranges.append(wanted)
        start = int(wanted[6:-1]) if wanted and behaviour != "no_ranges" else 0
        if behaviour.startswith("status"):
            return request.send_error(int(behaviour[6:]))
        if behaviour.startswith("redirect"):
            request.send_response(302)
            here = behaviour == "redirect_here"
            request.send_header("Location", self.url if here else "ftp://example.org/x")
            request.send_header("Content-Length", "0")
            return request.end_headers()
        body = CONTENT[start:]
        if behaviour == "wrong":
            body = bytes(len(body))
        if start >= len(CONTENT):
            return request.send_error(416)
        request.send_response(206 if start else 200)
        if start:
            shown = start + 7 if behaviour == "other_range" else start
            request.send_header("Content-Range", f"bytes {shown}-{len(CONTENT) - 1}/{len(CONTENT)}")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if behaviour == "truncate":
            body = body[: len(body) // 2]
        try:
            if behaviour == "stall":
                request.wfile.write(body[:1000])
                request.wfile.flush()
                self.release.wait(10)
            else:
                request.wfile.write(body)
        except OSError:
            pass
        request.close_connection = True

    def close(self):
        self.release.set()
        self.http.shutdown()
        self.http.server_close()
