"""a side effect: run once, read from history ever after"""

import uuid

from durable_workflow import activity, workflow

from harness.history import ACTIVITY, START, check_types
from harness.programs import Program
from harness.scenario import Scenario

_drawn: list[str] = []


def draw() -> str:
    _drawn.append(str(uuid.uuid4()))
    return _drawn[-1]


@activity.defn(name="echo")
def echo(value):
    return value


@workflow.defn(name="side-effect")
class SideEffect:
    def run(self, ctx):
        token = yield ctx.side_effect(draw)
        echoed = yield ctx.schedule_activity("echo", [token])
        return [token, echoed]


PROGRAMS = {"default": Program([SideEffect], [echo])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("side-effect")
        result = await scenario.result(handle)
    assert result == [_drawn[0], _drawn[0]], result
    assert len(_drawn) == 1, f"the side effect ran {len(_drawn)} times"
    check_types(await scenario.history(handle).read(), *START, "SideEffectRecorded", *ACTIVITY, "WorkflowCompleted")
