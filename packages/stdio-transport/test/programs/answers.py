"""A JSON-RPC server on lines; the method says how the answer is written. Unbuffered, by os.write."""
import json
import os
import sys


def put(data):
    while data:
        data = data[os.write(1, data) :]


def answer(number, text):
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {"text": text}}, ensure_ascii=False).encode() + b"\n"


for line in sys.stdin.buffer:
    request = json.loads(line)
    number, method, params = request.get("id"), request["method"], request.get("params", {})
    if method == "echo":
        put(answer(number, params.get("text", "")))
    elif method == "large":
        put(answer(number, "x" * params["size"]))
    elif method == "bytewise":
        for byte in answer(number, params["text"]):
            put(bytes([byte]))
    elif method == "noisy":
        put(b"Listening on stdio...\n\xff\xfe\n\n" + answer(number, "after noise"))
    elif method == "endless":
        for _ in range(params["size"] // 65536):
            put(b"x" * 65536)
        put(b"\n" + answer(number, "after it"))
    elif method == "die":
        os._exit(5)
    elif method == "silent":
        pass
