"""As features/questions.ts, by the same names."""
import json
from typing import Any

from answers import CHOSEN, ROOTS, TEXT_SAMPLE, TOOL_SAMPLE
from feature import Cannot, feature, refused, same, text_of
from subjects import Subject

ADA = {"action": "accept", "content": {"name": "Ada"}}


DEFAULTS = {"name": "Ada", "count": 3, "ratio": 0.5, "sure": True, "size": "large"}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "elicitation: accept": ("accept", {"a": ADA}),
    "elicitation: decline": ("decline", {"a": {"action": "decline"}}),
    "elicitation: cancel": ("cancel", {"a": {"action": "cancel"}}),
    "elicitation: enums": ("enums", {"a": {"action": "accept", "content": CHOSEN}}),
    "elicitation: url": ("url", {"a": {"action": "accept"}}),
    "sampling": ("sampling", {"a": TEXT_SAMPLE}),
    "sampling with tools": ("sampling with tools", {"a": TOOL_SAMPLE}),
    "roots": ("roots", {"a": {"roots": ROOTS}}),
    "several questions at once": ("several", {"a": ADA, "b": TEXT_SAMPLE, "c": {"roots": ROOTS}}),
    "one question after another": ("twice", {"a": ADA, "b": {"action": "decline"}}),
}


def asking(name: str, what: str, answers: dict[str, Any]) -> None:
    @feature(name)
    async def _(subject: Subject) -> None:
        same(json.loads(text_of(await subject.call("asks", {"what": what}))), answers)


for name, (what, answers) in QUESTIONS.items():
    asking(name, what, answers)


@feature("elicitation: defaults")
async def _(subject: Subject) -> None:
    answers = json.loads(text_of(await subject.call("asks", {"what": "defaults"})))
    if answers["a"] == {"action": "accept", "content": {}}:
        raise Cannot("it hands the form to its caller and fills in nothing")
    same(answers, {"a": {"action": "accept", "content": DEFAULTS}})


@feature("elicitation: an answer that the form refuses")
async def _(subject: Subject) -> None:
    await refused(subject.call("asks", {"what": "wrong"}))
    assert text_of(await subject.call("echo", {"text": "goes on"})) == "goes on"


@feature("questions in the course of prompts and resources")
async def _(subject: Subject) -> None:
    message = (await subject.prompt("asking"))["messages"][0]
    assert json.loads(message["content"]["text"]) == ADA
    assert json.loads((await subject.read("note:///asking"))[0]["text"]) == ADA
