"""Uses what the sample server offers, with fastmcp's client. Arguments: node, the server program."""
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    seen: dict[str, object] = {}
    async with Client(StdioTransport(command=sys.argv[1], args=[sys.argv[2]])) as client:
        seen["tools"] = len(await client.list_tools())
        seen["echo"] = (await client.call_tool("echo", {"text": "grüße"})).content[0].text
        seen["prompt"] = (await client.get_prompt("greet", {"who": "Ada"})).messages[0].content.text
        seen["resource"] = (await client.read_resource("note:///by/ada"))[0].text
        try:
            await client.call_tool("secret", {})
        except Exception as error:  # noqa: BLE001: whatever this line calls it
            seen["secret"] = str(error)
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
