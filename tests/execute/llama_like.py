"""A small HTTP server with llama-server's flags and endpoints, to be verified and qualified; its tokens are words.

    llama-like --host H --port P --model FILE [--threads N] [--ctx-size N] [--parallel N] …

Defects, in the environment variable LLAMA_LIKE, blank separated: `burst` sends a whole answer at once, `forgets` keeps
no cache, `deaf` goes on generating when its client is gone, `mixes` gives every conversation the cache and the words of
the last one, `small` refuses prompts of more than 100 tokens, `cuts` evaluates only the end of a long prompt, `silent`
has neither /slots nor /tokenize, `dumb` has no /completion, `sick` says it is not healthy.
"""  # fmt: skip

import json
import mmap
import os
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FLAGS = {name.removeprefix("--"): value for name, value in zip(sys.argv[1::2], sys.argv[2::2], strict=True)}
DEFECTS = os.environ.get("LLAMA_LIKE", "").split()
SLOTS, CONTEXT = int(FLAGS.get("parallel", "1")), int(FLAGS.get("ctx-size", "512"))
SHARE = CONTEXT // SLOTS
THREADS = FLAGS.get("threads", "1")
TOKEN_S = 0.02 / int(THREADS) ** 2
"""A second thread takes three quarters of the time away, so that there is something to find, also on a busy machine."""
HOLD = "hold"
"""While a file of this name lies beside the model, servers with as many threads as stand in it answer no prompt."""
LOCK = threading.Condition()
CACHES: list[list[str]] = [[] for _ in range(SLOTS)]
BUSY = [False] * SLOTS
MAPPED = []


def tokens_of(text: str) -> list[str]:
    return ["<s>", *text.split()]


def common(one: list[str], other: list[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def taken(tokens: list[str]) -> int:
    """The free slot whose cache is most alike, waited for."""
    with LOCK:
        while all(BUSY):
            LOCK.wait()
        free = [at for at in range(SLOTS) if not BUSY[at]]
        best = max(free, key=lambda at: common(CACHES[at], tokens))
        BUSY[best] = True
        return best


def is_held() -> bool:
    with suppress(FileNotFoundError):
        return THREADS in Path(FLAGS["model"]).with_name(HOLD).read_text().split()
    return False


def given_back(slot: int) -> None:
    with LOCK:
        BUSY[slot] = False
        LOCK.notify()


class Engine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        facts = {
            "/health": {"status": "sick" if "sick" in DEFECTS else "ok"},
            "/props": {
                "total_slots": SLOTS,
                "build_info": "llama-like",
                "default_generation_settings": {"n_ctx": SHARE},
                "model_path": FLAGS.get("model", ""),
            },
            "/slots": [{"id": at, "n_ctx": SHARE, "is_processing": BUSY[at]} for at in range(SLOTS)],
        }
        if "silent" in DEFECTS:
            del facts["/slots"]
        self._answer(200 if self.path in facts else 404, facts.get(self.path, {}))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize" and "silent" not in DEFECTS:
            self._answer(200, {"tokens": list(range(len(tokens_of(asked["content"]))))})
        elif self.path == "/completion" and "dumb" not in DEFECTS:
            self._complete(asked)
        else:
            self._answer(404, {})

    def _complete(self, asked: dict[str, object]) -> None:
        while is_held():
            time.sleep(0.02)
        tokens = tokens_of(str(asked["prompt"]))
        if len(tokens) >= (100 if "small" in DEFECTS else SHARE):
            self._answer(400, {"error": {"message": "the prompt is longer than the context"}})
            return
        slot = taken(tokens)
        try:
            last = self._generate(asked, tokens, slot)
        except OSError:
            last = b""
        given_back(slot)  # before its last word: who was answered may ask again at once
        self.close_connection = True
        with suppress(OSError):
            self.wfile.write(last)

    def _generate(self, asked: dict[str, object], tokens: list[str], slot: int) -> bytes:
        """What is still to be sent when the slot is free."""
        known = max(CACHES, key=len) if "mixes" in DEFECTS else CACHES[slot]
        cached = len(known) - 1 if "mixes" in DEFECTS and known else common(known, tokens[:-1])
        cached = 0 if "forgets" in DEFECTS else cached
        evaluated = max(1, len(tokens) - cached)
        if "cuts" in DEFECTS:
            evaluated = min(evaluated, 50)
        words = (known if "mixes" in DEFECTS and known else tokens)[-5:]
        count = int(str(asked["n_predict"]))
        said = [f" {words[at % len(words)]}" for at in range(count)]
        CACHES[slot] = tokens + [word.strip() for word in said[:-1]]
        final = {
            "content": "", "stop": True,
            "timings": {"cache_n": cached, "prompt_n": evaluated, "predicted_n": count, "prompt_ms": 1.0, "predicted_ms": 1.0},
        }  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        if not asked.get("stream"):
            time.sleep(TOKEN_S * count)
            return json.dumps(final | {"content": "".join(said)}).encode()
        return self._stream(said) + b"data: " + json.dumps(final).encode() + b"\n\n"

    def _stream(self, said: list[str]) -> bytes:
        kept = b""
        for word in said:
            time.sleep(TOKEN_S)
            kept += b"data: " + json.dumps({"content": word, "stop": False}).encode() + b"\n\n"
            if "burst" in DEFECTS:
                continue
            try:
                self.wfile.write(kept)
            except OSError:
                if "deaf" not in DEFECTS:
                    raise
            kept = b""
        return kept

    def _answer(self, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Nothing is logged."""


if "model" in FLAGS:
    with Path(FLAGS["model"]).open("rb") as file:
        MAPPED.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
ThreadingHTTPServer((FLAGS.get("host", "127.0.0.1"), int(FLAGS["port"])), Engine).serve_forever()
