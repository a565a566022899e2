"""A small MCP server on the standard library alone: keeps notes in memory."""
import json
import sys

NOTES: list[str] = []

TOOLS = [
    {
        "name": "add_note",
        "description": "Adds a note.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
    {
        "name": "list_notes",
        "description": "Lists every note.",
        "inputSchema": {"type": "object", "additionalProperties": False},
        "annotations": {"readOnlyHint": True},
    },
]


def call(name: str, arguments: dict) -> dict:
    if name == "add_note":
        NOTES.append(arguments["text"])
        return {"content": [{"type": "text", "text": f"{len(NOTES)} notes"}]}
    if name == "list_notes":
        return {"content": [{"type": "text", "text": "\n".join(NOTES)}]}
    return {"content": [{"type": "text", "text": f"unknown tool {name}"}], "isError": True}


def answer(method: str, params: dict) -> dict | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": f"no method {message['method']}"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
