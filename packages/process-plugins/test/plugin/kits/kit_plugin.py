"""The plugin that kits.test.ts speaks with, over the Python kit."""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python"))
from berth_plugin import Tool, serve_plugin

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False}
SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}

print("noise before it is served")


def fails(arguments, call):
    raise RuntimeError("a secret text")


def noise(arguments, call):
    print("noise")
    sys.__stdout__.write("noise\n")
    sys.__stdout__.flush()
    os.write(1, b"noise\n")
    subprocess.run(["echo", "noise"], check=True)
    return "printed"


def waits(arguments, call):
    call.log("debug", "begun")
    call.cancelled.wait()
    return "late"


def never(arguments, call):
    call.log("debug", "begun")
    time.sleep(3600)


def nest(depth):
    return 0 if depth == 0 else [nest(depth - 1)]


def logs(arguments, call):
    call.log("warn", arguments["text"])
    return "logged"


def pre_invoke(hook, call):
    if hook.payload.get("fails") is True:
        raise RuntimeError("a secret text")
    if hook.payload.get("passes") is True:
        return None
    given = [hook.extensions, hook.credential]
    return {"continue_processing": False, "violation": {"payload": hook.payload, "context": hook.context, "given": given}}


serve_plugin(
    "kit",
    "1.2.3",
    instructions="For tests.",
    tools=[
        Tool("echo", "Gives back its text.", TEXT, lambda arguments, call: arguments["text"]),
        Tool("fails", "Fails.", NOTHING, fails),
        Tool("noise", "Prints.", NOTHING, noise, listed=False),
        Tool("waits", "Waits.", NOTHING, waits, listed=False),
        Tool("never", "Does not end.", NOTHING, never, listed=False),
        Tool("structured", "An object.", NOTHING, lambda _, call: {"b": "✓", "a": [{"d": 1, "c": None}]}, listed=False),
        Tool(
            "content",
            "As MCP has it.",
            NOTHING,
            lambda _, call: {"content": [], "isError": True, "_meta": {"example.com/x": 1}},
            listed=False,
        ),
        Tool("large", "Large.", SIZE, lambda arguments, call: "x" * arguments["size"], listed=False),
        Tool("deep", "Deep.", SIZE, lambda arguments, call: {"nest": nest(arguments["size"])}, listed=False),
        Tool("no_json", "No JSON.", NOTHING, lambda _, call: {"content": object()}, listed=False),
        Tool("logs", "Logs.", TEXT, logs),
    ],
    hooks={"tool_pre_invoke": pre_invoke, "agent_pre_invoke": lambda hook, call: None},
    health=lambda: {"status": "degraded", "detail": "as it should be"},
)
