"""A small HTTP server with vLLM's words, endpoints and streams, in the place of `vllm`; its tokens are words.

    vllm serve MODEL --host H --port P [--max-num-seqs N] [--enable-prompt-tokens-details]

It streams as vllm/entrypoints/openai/completion/serving.py does, keeps a prefix cache that `cache_salt` keeps apart, and
answers /completion with 404.
"""  # fmt: skip

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = sys.argv[1:]
SEEN: set[tuple[str, str]] = set()


def flag(name: str, default: str = "") -> str:
    return WORDS[WORDS.index(name) + 1] if name in WORDS else default


class Engine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(200, b"")
        elif self.path == "/v1/models":
            self._answer(
                200, json.dumps({"object": "list", "data": [{"id": WORDS[1], "owned_by": "vllm"}]}).encode()
            )
        else:
            self._answer(404, b'{"detail":"Not Found"}')

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/completions":
            self._answer(404, b'{"detail":"Not Found"}')
            return
        known = (asked.get("cache_salt", ""), asked["prompt"])
        tokens = len(asked["prompt"].split())
        cached = tokens - 1 if known in SEEN else 0
        SEEN.add(known)
        usage = {
            "prompt_tokens": tokens,
            "total_tokens": tokens + asked["max_tokens"],
            "completion_tokens": asked["max_tokens"],
        }
        if "--enable-prompt-tokens-details" in WORDS:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(asked["max_tokens"]):
            last = number == asked["max_tokens"] - 1
            choice = {
                "index": 0,
                "text": " tide",
                "logprobs": None,
                "finish_reason": "length" if last else None,
            }
            self._event({"id": "cmpl-1", "object": "text_completion", "model": WORDS[1], "choices": [choice]})
        if (asked.get("stream_options") or {}).get("include_usage"):
            self._event(
                {
                    "id": "cmpl-1",
                    "object": "text_completion",
                    "model": WORDS[1],
                    "choices": [],
                    "usage": usage,
                }
            )
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, data: object) -> None:
        self._chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _chunk(self, raw: bytes) -> None:
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Nothing is logged."""


ThreadingHTTPServer((flag("--host", "127.0.0.1"), int(flag("--port"))), Engine).serve_forever()
