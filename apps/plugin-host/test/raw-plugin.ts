/** The text of a plugin in Python over the bare protocol, for what no kit would do. \`tools\` and \`call\` are of its own code, and so is what it puts into METHODS. */
export function rawPlugin(name: string, code: string): string {
  return `#!/usr/bin/python3 -B
import json, os, sys
def raw(text): os.write(1, text.encode() + b"\\n")
def say(message): raw(json.dumps({"jsonrpc": "2.0", **message}))
def answer(request, result): say({"id": request["id"], "result": result})
def complete(request, text, **more): answer(request, {"resultType": "complete", "content": [{"type": "text", "text": text}], **more})
lines = iter(sys.stdin.readline, "")
METHODS = {}
${code}
for line in lines:
    request = json.loads(line)
    method = request["method"]
    if method == "ave/instance/create":
        answer(request, {"protocol": 1, "plugin": {"name": ${JSON.stringify(name)}, "version": "1.0.0"}, "capabilities": {"mcp": True, "health": False}})
    elif method == "ave/instance/start": answer(request, {"status": "running"})
    elif method in METHODS: METHODS[method](request)
    elif method == "tools/list": tools(request)
    elif method == "tools/call": call(request, request["params"]["name"], request["params"])
    elif method == "ave/instance/destroy":
        answer(request, {})
        sys.exit(0)
    elif "id" in request: answer(request, {})
`;
}
