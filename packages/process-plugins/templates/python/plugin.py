"""A plugin of Berth. What it does is here; berth_plugin.py speaks with the host."""

from berth_plugin import Tool, serve_plugin


def greet(arguments, call):
    return "hello, " + arguments["name"]


GREETING = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}

serve_plugin("my-plugin", "1.0.0", tools=[Tool("greet", "Greets somebody.", GREETING, greet)])
