"""A relay between SDK and server that changes nothing and notes what the SDK sent."""

import asyncio
import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_ROUTES = (
    (re.compile(r"(/worker/(?:workflow|activity|query)-tasks/)(?!poll$)[^/]+"), r"\1{taskId}"),
    (re.compile(r"(/worker/registrations/)[^/]+"), r"\1{workerId}"),
    (re.compile(r"(/api/workflows/)[^/]+"), r"\1{workflowId}"),
    (re.compile(r"(/runs/)[^/]+"), r"\1{runId}"),
    (re.compile(r"(/signal/)[^/]+"), r"\1{signalName}"),
)
_NOTED_HEADERS = ("x-durable-workflow-protocol-version", "x-durable-workflow-control-plane-version")


@dataclass
class Route:
    """What was sent to one route, over a whole run of the suite."""

    count: int = 0
    headers: Counter = field(default_factory=Counter)
    body_keys: set[str] = field(default_factory=set)
    statuses: Counter = field(default_factory=Counter)


class Wire:
    """Relays bytes from a port of its own to the server's, one upstream connection for each of the SDK's.

    A side that closes closes the other one too, so the server sees a dead worker's poll end as it would
    without the relay, and a killed server looks killed to the SDK.
    """

    def __init__(self, server_port: int) -> None:
        self.routes: dict[str, Route] = {}
        self.commands: dict[str, set[str]] = {}
        self._server_port = server_port
        self._loop = asyncio.new_event_loop()
        ready: asyncio.Future[int] = self._loop.create_future()
        threading.Thread(target=self._serve, args=(ready,), daemon=True).start()
        self.url = f"http://127.0.0.1:{asyncio.run_coroutine_threadsafe(_await(ready), self._loop).result(10)}"

    def _serve(self, ready: "asyncio.Future[int]") -> None:
        async def listen() -> None:
            listener = await asyncio.start_server(self._relay, "127.0.0.1", 0)
            ready.set_result(listener.sockets[0].getsockname()[1])

        self._loop.create_task(listen())
        self._loop.run_forever()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            writer.close()
            return
        pending: list[str] = []
        requests = _Messages(lambda head, body: self._note_request(pending, head, body))
        answers = _Messages(lambda head, _: self._note_answer(pending, head))
        await asyncio.wait(
            [asyncio.create_task(_pump(reader, upstream[1], requests)),
             asyncio.create_task(_pump(upstream[0], writer, answers))],
            return_when=asyncio.FIRST_COMPLETED,
        )
        for side in (writer, upstream[1]):
            side.close()

    def _note_request(self, pending: list[str], head: list[str], body: bytes) -> None:
        method, target, _ = head[0].split(" ", 2)
        path = target.split("?", 1)[0]
        for pattern, replacement in _ROUTES:
            path = pattern.sub(replacement, path)
        name = f"{method} {path}"
        pending.append(name)
        route = self.routes.setdefault(name, Route())
        route.count += 1
        for line in head[1:]:
            key, _, value = line.partition(":")
            if key.strip().lower() in _NOTED_HEADERS:
                route.headers[f"{key.strip()}: {value.strip()}"] += 1
        if body:
            content = json.loads(body)
            route.body_keys |= set(content)
            self._note_commands(content.get("commands") or [])

    def _note_commands(self, commands: list[dict[str, Any]]) -> None:
        for command in commands:
            self.commands.setdefault(command["type"], set()).update(set(command) - {"type"})

    def _note_answer(self, pending: list[str], head: list[str]) -> None:
        if pending:
            self.routes[pending.pop(0)].statuses[int(head[0].split(" ", 2)[1])] += 1


async def _await(value: "asyncio.Future[int]") -> int:
    return await value


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, messages: "_Messages") -> None:
    try:
        while chunk := await reader.read(65536):
            messages.feed(chunk)
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        return


class _Messages:
    """Cuts one direction of an HTTP/1.1 connection into messages, for looking only."""

    def __init__(self, on_message: Any) -> None:
        self._on_message = on_message
        self._buffer = b""

    def feed(self, chunk: bytes) -> None:
        self._buffer += chunk
        while self._take():
            pass

    def _take(self) -> bool:
        head, separator, rest = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return False
        lines = head.decode("latin-1").split("\r\n")
        fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        if fields.get("transfer-encoding", "").lower() == "chunked":
            body, rest, whole = _chunked(rest)
        else:
            length = int(fields.get("content-length", "0"))
            body, whole = rest[:length], len(rest) >= length
            rest = rest[length:]
        if not whole:
            return False
        self._buffer = rest
        self._on_message(lines, body)
        return True


def _chunked(data: bytes) -> tuple[bytes, bytes, bool]:
    body = b""
    while True:
        line, separator, rest = data.partition(b"\r\n")
        if not separator:
            return b"", b"", False
        size = int(line.split(b";")[0], 16)
        if len(rest) < size + 2:
            return b"", b"", False
        body += rest[:size]
        data = rest[size + 2:]
        if size == 0:
            return body, data, True
