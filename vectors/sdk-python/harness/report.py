"""Writes what the SDK sent as the generated part of docs/compatibility.md."""

import re

from .wire import Wire

BEGIN = "<!-- written by vectors/sdk-python/run.sh --report: begin -->"
END = "<!-- written by vectors/sdk-python/run.sh --report: end -->"


def write(path: str, wire: Wire) -> None:
    """Replaces the part of the file between the two markers; sorted, so that equal traffic gives equal text."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    part = "\n".join([BEGIN, "", *_routes(wire), "", *_commands(wire), "", END])
    replaced, count = re.subn(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: part, text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"{path} has {count} parts to replace, expected one")
    with open(path, "w", encoding="utf-8") as file:
        file.write(replaced)


def _routes(wire: Wire) -> list[str]:
    lines = ["| route | version header | members of the body |", "|---|---|---|"]
    for name in sorted(wire.routes, key=lambda name: (name.split(" ")[1], name)):
        route = wire.routes[name]
        headers = ", ".join(f"`{header}`" for header in sorted(route.headers)) or "none"
        lines.append(f"| `{name}` | {headers} | {_list(route.body_keys)} |")
    return lines


def _commands(wire: Wire) -> list[str]:
    lines = ["| command | members beside `type` |", "|---|---|"]
    return lines + [f"| `{name}` | {_list(wire.commands[name])} |" for name in sorted(wire.commands)]


def _list(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "none"
