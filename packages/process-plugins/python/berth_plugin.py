"""Serves a plugin of Berth, protocol 1 (PROTOCOL.md of @berth/process-plugins). Copy this one file into your plugin; it needs
Python 3.10 or later and nothing else.

    from berth_plugin import Tool, serve_plugin

    def greet(arguments, call):
        return "hello, " + arguments["name"]

    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    serve_plugin("greeter", "1.0.0", tools=[Tool("greet", "Greets somebody.", schema, greet)])

It does what the protocol asks of every plugin: framing, states, the gate of MCP, one request after the other, cancellation, and
the end of the process. What is printed goes to stderr: standard output belongs to the protocol.
"""

import collections
import json
import os
import re
import sys
import threading
import traceback

__all__ = ["Call", "Hook", "Tool", "serve_plugin"]

MCP_VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
MAX_DEPTH = 128
# Of a message both ways, before the host said another limit, and the most that it may say.
DEFAULT_MESSAGE_BYTES = 4 * 2**20
LARGEST_MESSAGE_BYTES = 64 * 2**20
MAX_LOG_BYTES = 8192
# Requests that wait before nothing more is read, and their bytes.
MAX_WAITING = 256
MAX_WAITING_BYTES = 16 * 2**20
# From the end of input to the end of this process: less than the 2 s after which a host sends SIGTERM.
END_GRACE_SECONDS = 1.0

PARSE_ERROR = {"code": -32700, "message": "Parse error"}
INVALID_REQUEST = {"code": -32600, "message": "Invalid Request"}
INTERNAL_ERROR = {"code": -32603, "message": "Internal error"}
NOT_RUNNING = {"code": -31001, "message": "not running"}


class Tool:
    """A tool of the MCP half.

    `call(arguments, call)` answers a str (one block of text), a dict with "content" (the result as MCP has it), or any other dict:
    structured content, with the same as JSON in a block of text. What it raises is an answer with isError, without its text; the
    text goes to the log. Of the schema, "required", "additionalProperties": False and the "type" of each property are checked.
    A tool that is not `listed` can be called all the same.
    """

    def __init__(self, name, description, input_schema, call, listed=True):
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", name):
            raise ValueError("%r cannot be the name of a tool" % (name,))
        if not isinstance(input_schema, dict) or input_schema.get("type") != "object":
            raise ValueError("the input schema of %s is not one of type object" % name)
        self.name, self.description, self.input_schema = name, description, input_schema
        self.call, self.listed = call, listed


class Call:
    """What a tool or a hook may use while it works."""

    def __init__(self, log, data_folder):
        # Set when the host gave the call up, or stops the plugin: whatever is answered then is not used.
        self.cancelled = threading.Event()
        # log(level, message): a line for the operator. Level is debug, info, warn or error.
        self.log = log
        # The folder that this plugin may write; it stays from one start to the next.
        self.data_folder = data_folder


class Hook:
    """What a hook is asked, as CPEX has it. It answers the result as a dict; None is {"continue_processing": True}."""

    def __init__(self, params):
        self.payload, self.context = params["payload"], params["context"]
        self.extensions, self.credential = params.get("extensions"), params.get("credential")


def serve_plugin(name, version, tools=None, hooks=None, instructions=None, start=None, health=None, stop=None):
    """Serves until the host ends it; does not return. Name and version are those of plugin.json. `hooks` are functions of (hook, call)
    by their names; `start(call)` runs before the first call, `stop()` after the last; `health()` answers {"status": "ok"} or "degraded".
    Without `tools` the plugin has no MCP half: say "mcp": false in plugin.json then."""
    names = [tool.name for tool in tools or ()]
    if len(set(names)) != len(names):
        raise ValueError("two tools have one name")
    wire = _Wire()
    ave = _Ave(name, version, tools, hooks, start, health, stop)
    mcp = None if tools is None else _Mcp(name, version, tools, instructions)
    _Server(wire, ave, mcp).run()


class _Fault(Exception):
    """An error that is answered. Its message goes to the host: it holds nothing of another exception."""

    def __init__(self, code, message, **more):
        super().__init__(message)
        self.error = {"code": code, "message": message, **more}


def _invalid_params(message):
    return _Fault(-32602, message)


def _method_not_found(method):
    return _Fault(-32601, "Method not found", data=method)


# The wire: lines in, lines out.


class _Wire:
    """The two descriptors of the protocol. Nothing else can reach them: what prints finds stderr in place of 1, and what reads finds an end in place of 0."""

    def __init__(self):
        self.input, self.output = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdout.flush()  # what was printed before goes to stderr too
        sys.stdout = sys.stderr
        self.max_message_bytes = DEFAULT_MESSAGE_BYTES
        self._lock = threading.Lock()

    def lines(self):
        """Lines without their line feed; None for one over the limit, which is passed over in constant memory."""
        held, over = bytearray(), False
        while chunk := self._read():
            *ends, rest = chunk.split(b"\n")
            for part in ends:
                over = over or len(held) + len(part) > self.max_message_bytes
                yield None if over else bytes(held + part)
                held, over = bytearray(), False
            over = over or len(held) + len(rest) > self.max_message_bytes
            held = bytearray() if over else held + rest

    def _read(self):
        try:
            return os.read(self.input, 65536)
        except OSError:
            return b""  # nothing more will come

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"), allow_nan=False)
        line = text.encode("ascii")
        if len(line) > self.max_message_bytes or _depth(message) > MAX_DEPTH:
            raise ValueError("it is over the limits of a message (%d bytes, %d levels)" % (self.max_message_bytes, MAX_DEPTH))
        with self._lock:
            rest = memoryview(line + b"\n")
            try:
                while rest:
                    rest = rest[os.write(self.output, rest) :]
            except BrokenPipeError:
                os._exit(0)  # the host has gone: nobody is left to answer

    def answer(self, id, outcome):
        try:
            self.send({"id": id, **outcome})
        except (TypeError, ValueError, RecursionError) as error:
            self.log("error", "an answer is no JSON: %s" % error)
            self.send({"id": id, "error": INTERNAL_ERROR})

    def log(self, level, message):
        text = str(message).encode("utf-8", "replace")[:MAX_LOG_BYTES].decode("utf-8", "ignore")
        self.send({"method": "ave/instance/log", "params": {"level": level, "message": text}})


def _depth(value):
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        value, depth = waiting.pop()
        if not isinstance(value, (dict, list, tuple)):
            continue
        deepest = max(deepest, depth)
        waiting += [(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value)]
    return deepest


def _no_constant(name):
    raise ValueError("%s is not JSON" % name)


def _read_line(line):
    """The message; None for a blank line. Raises _Fault."""
    try:
        text = line.decode("utf-8")
        if not text.strip(" \t\r"):
            return None
        message = json.loads(text, parse_constant=_no_constant)
        deep = _depth(message) > MAX_DEPTH
    except (AttributeError, ValueError, RecursionError):
        deep = True
    if deep:
        raise _Fault(PARSE_ERROR["code"], PARSE_ERROR["message"])
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise _Fault(INVALID_REQUEST["code"], INVALID_REQUEST["message"])
    if "id" in message and (isinstance(message["id"], bool) or not isinstance(message["id"], (str, int))):
        raise _Fault(INVALID_REQUEST["code"], INVALID_REQUEST["message"])
    return message


# Turns: one request after the other.


class _Turn:
    def __init__(self, message, size):
        self.id, self.method, self.params, self.size = message["id"], message["method"], message.get("params"), size
        self.is_call = not self.method.startswith("ave/instance/")  # MCP or a hook: what may be given up
        self.call = None
        self.taken_away = False


class _Turns:
    """Requests that wait. health and stop come before requests of MCP that wait, and before nothing else."""

    def __init__(self):
        self._waiting, self._bytes = collections.deque(), 0
        self._changed = threading.Condition()

    def push(self, turn):
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MAX_WAITING and self._bytes < MAX_WAITING_BYTES)
            place = len(self._waiting)
            if turn.method in ("ave/instance/health", "ave/instance/stop"):
                while place > 0 and not self._waiting[place - 1].method.startswith("ave/"):
                    place -= 1
            self._waiting.insert(place, turn)
            self._bytes += turn.size
            self._changed.notify_all()

    def take(self):
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            turn = self._waiting.popleft()
            self._bytes -= turn.size
            self._changed.notify_all()
            return turn

    def remove(self, id):
        with self._changed:
            for turn in [turn for turn in self._waiting if turn.is_call and _same_id(turn.id, id)]:
                self._waiting.remove(turn)
                self._bytes -= turn.size
            self._changed.notify_all()


def _same_id(one, other):
    return type(one) is type(other) and one == other


class _Server:
    """Reads in a thread of its own, so that a cancellation is seen while a tool works; tools work in the main thread."""

    def __init__(self, wire, ave, mcp):
        self._wire, self._ave, self._mcp = wire, ave, mcp
        self._turns, self._current, self._lock = _Turns(), None, threading.Lock()
        self._data_folder = os.environ.get("PLUGIN_DATA", os.getcwd())

    def run(self):
        threading.Thread(target=self._read, daemon=True).start()
        self._work()
        threading.Event().wait()  # taken away from a call that did not end: another thread goes on, and ends the process

    def _read(self):
        for line in self._wire.lines():
            try:
                message = _read_line(line)
            except _Fault as fault:
                self._wire.send({"id": None, "error": fault.error})
                continue
            if message is None:
                continue
            if "id" not in message:
                self._notified(message)
                continue
            if message["method"] == "ave/instance/stop" and self._ave.state == "running":
                self._take_away_in_time(message.get("params"))
            self._turns.push(_Turn(message, len(line)))
        # Also when the host died: what was asked before is answered, but not waited for.
        timer = threading.Timer(END_GRACE_SECONDS, os._exit, [0])
        timer.daemon = True
        timer.start()
        self._turns.push(_Turn({"id": 0, "method": ""}, 0))

    def _notified(self, message):
        params = message.get("params")
        if message["method"] != "notifications/cancelled" or not isinstance(params, dict):
            return
        self._turns.remove(params.get("requestId"))
        with self._lock:
            turn = self._current
            if turn is not None and turn.is_call and _same_id(turn.id, params.get("requestId")):
                turn.call.cancelled.set()

    def _take_away_in_time(self, params):
        """A call that is under way has half of the time that the host waits for the answer of stop."""
        deadline = params.get("deadlineMs") if isinstance(params, dict) else None
        if not isinstance(deadline, int) or not 0 <= deadline <= 3_600_000:
            return
        timer = threading.Timer(deadline / 2000, self._take_away)
        timer.daemon = True
        timer.start()

    def _take_away(self):
        with self._lock:
            turn, self._current = self._current, None
            if turn is None or not turn.is_call:
                self._current = turn
                return
            turn.taken_away = True
        turn.call.cancelled.set()
        self._wire.answer(turn.id, {"error": NOT_RUNNING})
        self._work()

    def _work(self):
        while True:
            turn = self._turns.take()
            if turn.method == "":
                sys.stderr.flush()
                os._exit(0)
            turn.call = Call(self._wire.log, self._data_folder)
            with self._lock:
                self._current = turn
            outcome = self._outcome(turn)
            with self._lock:
                if turn.taken_away:
                    return
                self._current = None
            if not turn.call.cancelled.is_set():
                self._wire.answer(turn.id, outcome)
            if self._ave.state == "destroyed":
                sys.stderr.flush()
                os._exit(0)

    def _outcome(self, turn):
        try:
            if turn.method.startswith("ave/"):
                result = self._ave.answer(turn.method, turn.params, turn.call)
                self._wire.max_message_bytes = self._ave.max_message_bytes
                return {"result": result}
            if self._ave.state != "running":
                return {"error": NOT_RUNNING}
            if self._mcp is None:
                raise _method_not_found(turn.method)
            return {"result": self._mcp.answer(turn.method, turn.params, turn.call)}
        except _Fault as fault:
            return {"error": fault.error}
        except Exception:
            turn.call.log("error", "%s: %s" % (turn.method, traceback.format_exc()))
            return {"error": INTERNAL_ERROR}


# The ave/ half: the life of the instance, and hooks.

_TYPES = {
    "string": ("a", lambda value: isinstance(value, str)),
    "number": ("a", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
    "integer": ("an", lambda value: _is_integer(value)),
    "boolean": ("a", lambda value: isinstance(value, bool)),
    "object": ("an", lambda value: isinstance(value, dict)),
    "array": ("an", lambda value: isinstance(value, list)),
}


def _is_integer(value):
    return value.is_integer() if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)


def _need(params, **members):
    for name, type in members.items():
        article, test = _TYPES[type]
        if not test(params.get(name)):
            raise _invalid_params("params.%s is missing or not %s %s" % (name, article, type))


class _Ave:
    def __init__(self, name, version, tools, hooks, start, health, stop):
        self.state, self.max_message_bytes = "spawned", DEFAULT_MESSAGE_BYTES
        self._plugin = {"name": name, "version": version}
        self._mcp, self._hooks = tools is not None, hooks
        self._on_start, self._on_health, self._on_stop = start, health, stop
        self._steps = {
            "ave/instance/create": (("spawned",), self._create),
            "ave/instance/start": (("created",), self._start),
            "ave/instance/health": (("created", "running", "stopped"), self._health),
            "ave/instance/stop": (("running",), self._stop),
            "ave/instance/destroy": (("stopped",), self._destroy),
        }

    def answer(self, method, params, call):
        params = params if isinstance(params, dict) else {}
        if method == "ave/hook/invoke":
            return self._invoke_hook(params, call)
        if method not in self._steps:
            raise _method_not_found(method)
        states, step = self._steps[method]
        if self.state not in states:
            raise _Fault(-31002, "bad state", data={"state": self.state})
        return step(params, call)

    def _create(self, params, call):
        _need(params, protocol="integer")
        if params["protocol"] != 1:
            raise _Fault(-31003, "Unsupported protocol", data={"supported": [1]})
        _need(params, instanceId="string", host="object", plugin="object", dataDir="string", limits="object")
        said = params["limits"].get("maxMessageBytes")
        if isinstance(said, int) and said > 0:
            self.max_message_bytes = min(said, LARGEST_MESSAGE_BYTES)
        self.state = "created"
        capabilities = {"mcp": self._mcp, "health": True}
        if self._hooks is not None:
            capabilities["hooks"] = sorted(self._hooks)
        return {"protocol": 1, "plugin": self._plugin, "capabilities": capabilities}

    def _start(self, params, call):
        if self._on_start is not None:
            self._on_start(call)
        self.state = "running"
        return {"status": "running"}

    def _health(self, params, call):
        return {"status": "ok"} if self._on_health is None else self._on_health()

    def _stop(self, params, call):
        _need(params, deadlineMs="integer")
        self.state = "stopping"
        try:
            if self._on_stop is not None:
                self._on_stop()
        finally:
            self.state = "stopped"
        return {}

    def _destroy(self, params, call):
        self.state = "destroyed"
        return {}

    def _invoke_hook(self, params, call):
        if self.state != "running":
            raise _Fault(NOT_RUNNING["code"], NOT_RUNNING["message"])
        _need(params, hook_type="string", payload="object", context="object")
        hook = (self._hooks or {}).get(params["hook_type"])
        if hook is None:
            raise _invalid_params("Unknown hook: %s" % params["hook_type"])
        result = hook(Hook(params), call)
        return {"continue_processing": True} if result is None else result


# The MCP half: tools only, without a session.


def _gate(method, params):
    """In front of everything of MCP (PROTOCOL.md § 5). Raises _Fault."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict):
        keys = "%s and %s" % (VERSION_KEY, CAPABILITIES_KEY)
        raise _invalid_params("params._meta is missing or not an object: it needs " + keys)
    version = meta.get(VERSION_KEY)
    if not isinstance(version, str):
        raise _invalid_params('params._meta["%s"] is missing or not a string' % VERSION_KEY)
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise _invalid_params('params._meta["%s"] is missing or not an object' % CAPABILITIES_KEY)
    if version == MCP_VERSION and method != "initialize":
        return
    asked = params.get("protocolVersion") if version == MCP_VERSION else version
    requested = asked if isinstance(asked, str) else version
    data = {"supported": [MCP_VERSION], "requested": requested}
    raise _Fault(-32022, "Unsupported protocol version", data=data)


class _Mcp:
    def __init__(self, name, version, tools, instructions):
        self._info = {"io.modelcontextprotocol/serverInfo": {"name": name, "version": version}}
        self._tools = {tool.name: tool for tool in tools}
        self._shown = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools if tool.listed
        ]
        hints = {"ttlMs": 0, "cacheScope": "public"}
        self._listed = {**hints, "tools": self._shown}
        self._discovered = {**hints, "supportedVersions": [MCP_VERSION], "capabilities": {"tools": {"listChanged": False}}}
        if instructions is not None:
            self._discovered["instructions"] = instructions

    def answer(self, method, params, call):
        _gate(method, params)
        if method == "server/discover":
            result = self._discovered
        elif method == "tools/list":
            if params.get("cursor") is not None:
                raise _invalid_params("Unknown cursor")
            result = self._listed
        elif method == "tools/call":
            result = self._call_tool(params, call)
        else:
            raise _method_not_found(method)
        return {"resultType": "complete", **result, "_meta": {**self._info, **(result.get("_meta") or {})}}

    def _call_tool(self, params, call):
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str):
            raise _invalid_params("params.name is missing or not a string")
        if not isinstance(arguments, dict):
            raise _invalid_params("params.arguments is not an object")
        tool = self._tools.get(name)
        if tool is None:
            raise _invalid_params("Unknown tool: " + name)
        fault = _input_fault(tool.input_schema, arguments)
        if fault is not None:
            return _failed("Invalid arguments: " + fault)
        try:
            return _result_of(tool.call(arguments, call))
        except Exception:
            # To the operator, never to the caller: the text of an exception may hold paths, or what somebody else asked.
            call.log("error", "tool %s: %s" % (name, traceback.format_exc()))
            return _failed("Tool failed: " + name)


def _failed(text):
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _result_of(answer):
    if isinstance(answer, str):
        return {"content": [{"type": "text", "text": answer}], "isError": False}
    if not isinstance(answer, dict):
        raise TypeError("a tool answers a str or a dict, not %s" % type(answer).__name__)
    if "content" in answer:
        return {"isError": False, **answer}
    text = json.dumps(answer, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": answer, "isError": False}


def _input_fault(schema, arguments):
    """The first fault: required, then the type of each property, then what "additionalProperties": False forbids."""
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in arguments:
            return "%s is missing" % name
    for name, property in properties.items():
        known = _TYPES.get(property.get("type")) if isinstance(property, dict) and isinstance(property.get("type"), str) else None
        if known is not None and name in arguments and not known[1](arguments[name]):
            return "%s is not %s %s" % (name, known[0], property["type"])
    if schema.get("additionalProperties") is not False:
        return None
    return next(("%s is not known" % name for name in arguments if name not in properties), None)
