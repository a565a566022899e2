"""Python's official MCP client drives a session at the address in argv, in the mode in argv, and prints what it saw."""
import asyncio
import json
import sys
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(address: str, mode: str) -> None:
    async with Client(streamable_http_client(address), mode=mode) as client:

        async def call(name: str, **arguments: Any) -> Any:
            return (await client.call_tool(name, arguments)).structured_content

        started = await call("start_python_session", session_id="python")
        await call("execute_python_code", command="x = 6", session_id="python")
        value = await call("execute_python_code", command="x * 7", session_id="python")
        listed = await call("list_python_sessions")
        stopped = await call("stop_python_session", session_id="python")
        tools = [tool.name for tool in (await client.list_tools()).tools]
    seen = {"started": started["status"], "value": value["result"], "listed": len(listed["result"])}
    print(json.dumps({**seen, "stopped": stopped["status"], "tools": len(tools)}))


asyncio.run(main(*sys.argv[1:]))
