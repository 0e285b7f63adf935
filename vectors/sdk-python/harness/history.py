"""Histories as the control plane serves them, and what scenarios demand of them."""

import asyncio
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    sequence: int
    type: str
    timestamp: str
    payload: dict[str, Any]


def _get(url: str, token: str | None) -> dict[str, Any]:
    request = urllib.request.Request(url, headers={"X-Durable-Workflow-Control-Plane-Version": "2"})
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class History:
    """Reads the history of one run over HTTP, without the SDK."""

    def __init__(self, server_url: str, workflow_id: str, run_id: str, token: str | None = None) -> None:
        workflow, run = (urllib.parse.quote(part, safe="") for part in (workflow_id, run_id))
        self._url = f"{server_url}/api/workflows/{workflow}/runs/{run}/history"
        self._token = token

    async def read(self, page_size: int = 7) -> list[Event]:
        """All events, from the first, in pages small enough that there are several."""
        events: list[Event] = []
        token: str | None = None
        while True:
            page = await self._page(page_size=page_size, next_page_token=token)
            events += _events(page)
            token = page["next_page_token"]
            if token is None:
                check_contiguous(events)
                return events

    async def until(self, done: Callable[[list[Event]], bool], seconds: float = 20) -> list[Event]:
        """Follows the run until its events satisfy `done`; the server holds each request until there is news."""
        deadline = time.monotonic() + seconds
        events: list[Event] = []
        token: str | None = None
        while not done(events):
            if time.monotonic() > deadline:
                raise AssertionError(f"not reached within {seconds} s; the history is {types(events)}")
            page = await self._page(page_size=1000, next_page_token=token, wait_new_event=1)
            events += _events(page)
            if page["next_page_token"] is None and not done(events):
                raise AssertionError(f"the run ended without it; the history is {types(events)}")
            token = page["next_page_token"]
        return events

    async def until_count(self, event_type: str, count: int = 1, seconds: float = 20) -> list[Event]:
        return await self.until(lambda events: types(events).count(event_type) >= count, seconds)

    async def _page(self, **query: Any) -> dict[str, Any]:
        given = {key: value for key, value in query.items() if value is not None}
        return await asyncio.to_thread(_get, f"{self._url}?{urllib.parse.urlencode(given)}", self._token)


def _events(page: dict[str, Any]) -> list[Event]:
    return [Event(e["sequence"], e["event_type"], e["timestamp"], e["payload"]) for e in page["events"]]


def types(events: Iterable[Event]) -> list[str]:
    return [event.type for event in events]


def of_type(events: Iterable[Event], event_type: str) -> list[Event]:
    return [event for event in events if event.type == event_type]


def check_contiguous(events: list[Event]) -> None:
    """Sequences start at 1 and have neither gaps nor repeats."""
    found = [event.sequence for event in events]
    assert found == list(range(1, len(events) + 1)), f"event sequences are {found}"


def check_types(events: list[Event], *expected: str) -> None:
    """The event types, all of them and in order."""
    assert types(events) == list(expected), f"\n  expected {list(expected)}\n  found    {types(events)}"


def check_outcomes_once(events: list[Event]) -> None:
    """No step has two outcomes."""
    outcomes = [
        event.payload["sequence"] for event in events
        if event.type in ("ActivityCompleted", "ActivityFailed", "ActivityTimedOut", "ActivityCancelled", "TimerFired")
    ]
    assert len(outcomes) == len(set(outcomes)), f"a step has two outcomes: {outcomes}"


#: How every root run begins, and what one activity adds when nothing goes wrong.
START = ("StartAccepted", "WorkflowStarted")
ACTIVITY = ("ActivityScheduled", "ActivityStarted", "ActivityCompleted")
