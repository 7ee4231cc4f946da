"""A small HTTP server in the place of an engine: healthy at once, with slots, props and a prefix cache.

    python tests/execute/engine.py [--port] PORT [[--mode] MODE…]

Modes: `while:FILE` is not ready while that file is there, `grow` takes memory, `heir` starts a grandchild in a session of its
own, `deaf` ignores TERM, `forgets` has no prefix cache, `scant` keeps one token of it, `crash` ends with 7 when it is asked the first time, `shares`
lets others listen on its port, too, `sick` is never healthy.
"""  # fmt: skip

import json
import os
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORDS = [word for word in sys.argv[1:] if word not in ("--port", "--mode")]
PORT, MODES = int(WORDS[0]), WORDS[1:]
LOADING = [Path(word.removeprefix("while:")) for word in MODES if word.startswith("while:")]
SEEN: set[str] = set()


class Engine(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        loading = any(file.exists() for file in LOADING)
        facts = {
            "/health": {"status": "ok"},
            "/slots": [{"id": 0, "n_ctx": 512}, {"id": 1, "n_ctx": 512}],
            "/props": {"total_slots": 2, "build_info": "tiny"},
        }
        self._answer(
            503 if loading or "sick" in MODES else 200 if self.path in facts else 404,
            facts.get(self.path, {}),
        )

    def do_POST(self) -> None:
        if "crash" in MODES:
            print("it was asked too much", file=sys.stderr, flush=True)
            os._exit(7)
        prompt = str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"])
        cached = len(prompt.split()) - 1 if prompt in SEEN and "forgets" not in MODES else 0
        cached = min(cached, 1) if "scant" in MODES else cached
        SEEN.add(prompt)
        self._answer(
            200,
            {
                "content": "yes",
                "timings": {"cache_n": cached, "prompt_n": len(prompt.split()) - cached, "predicted_n": 1},
            },
        )

    def _answer(self, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Nothing is logged."""


if "deaf" in MODES:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "heir" in MODES:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
if "grow" in MODES:
    HELD = b"x" * (300 << 20)
ThreadingHTTPServer.allow_reuse_port = "shares" in MODES
ThreadingHTTPServer(("127.0.0.1", PORT), Engine).serve_forever()
