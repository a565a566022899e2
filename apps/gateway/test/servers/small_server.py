"""A whole MCP server on the standard library: one tool, chatty on stderr."""
import json
import sys

TOOLS = [{"name": "upper", "description": "in capitals", "inputSchema": {"type": "object"}}]


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small-py", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        print("a line about IBAN DE02120300000000202051", file=sys.stderr)
        text = str(params.get("arguments", {}).get("text", "")).upper()
        return {"content": [{"type": "text", "text": text}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
