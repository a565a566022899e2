"""What one of Python's clients sees of the host: mode, then ["stdio", command, its arguments…] or ["http", address]. Prints the same as look-at-plugins.ts."""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def as_json(result):
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main():
    mode, aims, kind, first, *rest = sys.argv[1:]
    aims = json.loads(aims)
    server = StdioServerParameters(command=first, args=rest) if kind == "stdio" else streamable_http_client(first)
    async with Client(server, mode=mode) as client:
        listed = as_json(await client.list_tools())["tools"]

        async def call(name, arguments):
            try:
                return as_json(await client.call_tool(name, arguments))
            except Exception as error:
                return {"code": error.error.code}

        seen = {
            "modern": client.protocol_version == "2026-07-28",
            "tools": sorted(tool["name"] for tool in listed if "__" in tool["name"]),
            "plugins": {},
        }
        for plugin in aims["plugins"]:
            echo = await call(plugin + "__echo", {"text": "hello, wörld ✓"})
            wrong = await call(plugin + "__echo", {"text": 1})
            seen["plugins"][plugin] = {
                "echo": echo["content"],
                "wrong": {"isError": wrong["isError"], "content": wrong["content"]},
                "unknown": await call(plugin + "__no_such", {}),
                "secrets": (await call(plugin + "__escape_secrets", aims["secrets"]))["structuredContent"],
                "network": (await call(plugin + "__escape_network", aims["network"]))["structuredContent"],
            }
        print(json.dumps(seen))


asyncio.run(main())
