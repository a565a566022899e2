"""What Python's clients answer to the interop server, and what they were told. As answers.ts."""
import asyncio
import dataclasses

import mcp_types as types

CHOSEN = {"size": "small", "colour": "g", "sizes": ["small", "large"], "colours": ["r"]}
ROOTS = [{"uri": "file:///work", "name": "work"}]
TEXT_SAMPLE = {
    "role": "assistant",
    "model": "model-1",
    "stopReason": "endTurn",
    "content": {"type": "text", "text": "hello"},
}
TOOL_SAMPLE = {
    "role": "assistant",
    "model": "model-1",
    "stopReason": "toolUse",
    "content": [{"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}],
}
BY_MESSAGE: dict[str, dict[str, object]] = {
    "Accept, please": {"action": "accept", "content": {"name": "Ada"}},
    "Decline, please": {"action": "decline"},
    "Defaults, please": {"action": "accept", "content": {}},
    "Choose, please": {"action": "accept", "content": CHOSEN},
    "Answer wrongly, please": {"action": "accept", "content": {"count": "many"}},
    "Go, please": {"action": "accept"},
}
SAMPLING = types.SamplingCapability(tools=types.SamplingToolsCapability())


class Heard:
    """Notifications that a client was told of, in order."""

    def __init__(self) -> None:
        self._all: list[tuple[str, object]] = []
        self._told = asyncio.Condition()

    async def tell(self, what: str, value: object) -> None:
        async with self._told:
            self._all.append((what, value))
            self._told.notify_all()

    def of(self, what: str) -> list[object]:
        return [value for kind, value in self._all if kind == what]

    async def until(self, what: str, count: int) -> list[object]:
        async def enough() -> list[object]:
            async with self._told:
                await self._told.wait_for(lambda: len(self.of(what)) >= count)
            return self.of(what)

        return await asyncio.wait_for(enough(), 10)

    async def on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        await self.tell("log", params.model_dump(by_alias=True, mode="json"))

    async def on_message(self, message: object) -> None:
        match message:
            case types.ToolListChangedNotification():
                await self.tell("tools changed", None)
            case types.PromptListChangedNotification():
                await self.tell("prompts changed", None)
            case types.ResourceListChangedNotification():
                await self.tell("resources changed", None)
            case types.ResourceUpdatedNotification():
                await self.tell("updated", str(message.params.uri))


def answer(message: str) -> types.ElicitResult:
    return types.ElicitResult.model_validate(BY_MESSAGE.get(message, {"action": "cancel"}))


def sample(params: types.CreateMessageRequestParams) -> types.CreateMessageResult | types.CreateMessageResultWithTools:
    if params.tools:
        return types.CreateMessageResultWithTools.model_validate(TOOL_SAMPLE)
    return types.CreateMessageResult.model_validate(TEXT_SAMPLE)


async def on_elicitation(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    return answer(params.message)


async def on_sampling(context: object, params: types.CreateMessageRequestParams) -> object:
    return sample(params)


async def on_roots(context: object) -> types.ListRootsResult:
    return types.ListRootsResult.model_validate({"roots": ROOTS})


async def on_fastmcp_elicitation(message: str, response_type: object, params: object, context: object) -> object:
    if message == "Defaults, please":
        return dataclasses.asdict(response_type())  # fastmcp makes a class of the form, with its defaults
    return answer(message)


async def on_fastmcp_sampling(messages: object, params: types.CreateMessageRequestParams, context: object) -> object:
    return sample(params)
