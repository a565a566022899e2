"""Python's official MCP client against the server named in argv: prints its tools and one answer as JSON."""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode: str, tool: str, arguments: str, command: str, *args: str) -> None:
    server = StdioServerParameters(command=command, args=list(args))
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        answer = await client.call_tool(tool, json.loads(arguments))
        print(
            json.dumps(
                {
                    "tools": [entry.name for entry in tools.tools],
                    "text": [block.text for block in answer.content if block.type == "text"],
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
