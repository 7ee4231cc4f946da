"""A client of one request, in a file of its own so that it starts fast.

python tests/execute/asker.py PORT
"""

import http.client
import json
import sys


def ask(port: int) -> str:
    """One completion."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.request("POST", "/completion", json.dumps({"prompt": "Say yes to it.", "n_predict": 8}))
        return str(json.loads(connection.getresponse().read())["content"])
    finally:
        connection.close()


def answers(port: int) -> bool:
    """Whether something is healthy there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    print(ask(int(sys.argv[1])), end="")
