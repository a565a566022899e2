"""
Runs every feature with each way in which one of Python's clients connects, and prints {way: {feature: "ok" | "cannot: …" | a failure}}.
Arguments: mcp or fastmcp, node, the server's program, the address of the same server over HTTP, its token.
"""
import asyncio
import json
import sys
import traceback
import warnings

from collections.abc import Awaitable

from extras import EXTRAS, Way
from feature import Cannot
from features import FEATURES
from subjects import MODERN, connect_fastmcp, connect_mcp, connect_session

warnings.simplefilter("ignore")  # of what the newest revision deprecates
WAYS = {
    "mcp": [("Client", connect_mcp, mode) for mode in ("legacy", "auto", MODERN)]
    + [("ClientSession", connect_session, mode) for mode in ("legacy", MODERN)],
    "fastmcp": [("Client", connect_fastmcp, mode) for mode in ("legacy", "auto", MODERN)],
}


async def outcome(run: Awaitable[None]) -> str:
    try:
        await asyncio.wait_for(run, 15)
    except Cannot as reason:
        return f"cannot: {reason}"
    except Exception:  # noqa: BLE001: the test shows it
        return traceback.format_exc(limit=-3)
    return "ok"


async def seen_by(way: Way) -> dict[str, str]:
    seen = {name: await outcome(run(way.subject)) for name, run in FEATURES.items()}
    return seen | {name: await outcome(run(way)) for name, run in EXTRAS.items()}


async def main() -> None:
    line, node, program, address, token = sys.argv[1:]
    seen: dict[str, dict[str, str]] = {}
    for client, connect, mode in WAYS[line]:
        for where in (["stdio", node, program, "stdio"], ["http", address, token]):
            async with connect(where, mode) as subject:
                seen[f"{client}, {mode}, {where[0]}"] = await seen_by(Way(connect, mode, where, subject))
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
