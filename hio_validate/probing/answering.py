"""Answers HTTP on loopback until its standard input ends: the other side of the round trip.

Run as a process of its own; it prints its port. A parent that is gone, however it ended, ends it.
"""

from __future__ import annotations

import http.server
import signal
import sys
import threading

BODY = b'{"content":"token","stop":false,"index":0,"tokens_predicted":1}\n'
"""An answer as small as the event of one token."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    """Head and body leave together: two small segments would wait for each other's acknowledgement."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)
        self.wfile.flush()

    def log_message(self, format: str, *words: object) -> None:
        """Nothing is logged: writing a line costs as much as answering."""


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to us, too; our parent ends us
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
