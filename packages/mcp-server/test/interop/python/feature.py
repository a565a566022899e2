"""What a feature of the matrix is, and what all of them use."""
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import MCPError
from subjects import Subject


class Cannot(Exception):
    """The client has no interface for it; checked where it is raised."""


Feature = Callable[[Subject], Awaitable[None]]
FEATURES: dict[str, Feature] = {}


def feature(name: str) -> Callable[[Feature], Feature]:
    def add(run: Feature) -> Feature:
        FEATURES[name] = run
        return run

    return add


def same(actual: Any, expected: Any) -> None:
    """Fails unless all of `expected` is in `actual`; objects may hold more."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{actual!r} is no object"
        for key, value in expected.items():
            assert key in actual, f"{key} is not in {actual!r}"
            same(actual[key], value)
    elif isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected), f"{actual!r} is not {expected!r}"
        for one, other in zip(actual, expected, strict=True):
            same(one, other)
    else:
        assert actual == expected, f"{actual!r} is not {expected!r}"


def text_of(result: Any) -> str:
    return result["content"][0]["text"]


async def refused(call: Awaitable[Any], *codes: int) -> None:
    try:
        await call
    except MCPError as error:
        assert not codes or error.error.code in codes, error
        return
    raise AssertionError("it was not refused")


async def walk(subject: Subject, kind: str) -> tuple[list[Any], int]:
    items, cursor = await subject.page(kind, None)
    pages = 1
    while cursor is not None:
        more, cursor = await subject.page(kind, cursor)
        items.extend(more)
        pages += 1
    return items, pages
