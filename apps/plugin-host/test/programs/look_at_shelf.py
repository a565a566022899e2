"""What one of Python's clients sees of a plugin's prompts and resources: mode, addresses, then ["stdio", command, its arguments…] or ["http", address]. Prints the same as look-at-shelf.ts."""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PromptReference, ResourceTemplateReference


def as_json(result):
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def code_of(asking):
    try:
        return as_json(await asking)
    except Exception as error:
        return error.error.code


async def main():
    mode, addresses, kind, first, *rest = sys.argv[1:]
    server = StdioServerParameters(command=first, args=rest) if kind == "stdio" else streamable_http_client(first)
    async with Client(server, mode=mode) as client:
        has = as_json(client.server_capabilities)
        greet = PromptReference(type="ref/prompt", name="shelf__greet")
        every = ResourceTemplateReference(type="ref/resource", uri="shelf://all/{title}")
        seen = {
            "capabilities": [has.get("prompts"), has.get("resources"), has.get("completions")],
            "prompts": as_json(await client.list_prompts())["prompts"],
            "greeting": as_json(await client.get_prompt("shelf__greet", {"who": "Ada"}))["messages"],
            "review": as_json(await client.get_prompt("shelf__review"))["messages"],
            "refused": [
                await code_of(client.get_prompt("shelf__greet")),
                await code_of(client.get_prompt("shelf__none")),
                await code_of(client.read_resource("shelf://all/none")),
            ],
            "resources": as_json(await client.list_resources())["resources"],
            "templates": as_json(await client.list_resource_templates())["resourceTemplates"],
            "read": [as_json(await client.read_resource(uri))["contents"][0] for uri in json.loads(addresses)],
            "completed": [
                as_json(await client.complete(greet, {"name": "who", "value": "A"}))["completion"],
                as_json(await client.complete(every, {"name": "title", "value": "A"}))["completion"],
            ],
        }
        print(json.dumps(seen))


asyncio.run(main())
