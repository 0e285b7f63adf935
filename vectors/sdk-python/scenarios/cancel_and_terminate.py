"""cancel and terminate, both seen by a running activity through its heartbeat"""

import asyncio

from durable_workflow import WorkflowCancelled, WorkflowTerminated, activity, workflow
from durable_workflow.errors import ActivityCancelled

from harness.history import START, check_types, of_type, types
from harness.programs import Program
from harness.scenario import Scenario

_told: list[str] = []


@activity.defn(name="work-until-told")
async def work_until_told(label):
    try:
        while True:
            await activity.context().heartbeat({"label": label})
            await asyncio.sleep(0.2)
    except ActivityCancelled:
        _told.append(label)
        raise


@workflow.defn(name="cancel-and-terminate")
class LongWork:
    def run(self, ctx, label):
        yield ctx.schedule_activity("work-until-told", [label], heartbeat_timeout=5)


PROGRAMS = {"default": Program([LongWork], [work_until_told])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        await ends(scenario, "cancel", WorkflowCancelled, "CancelRequested", "WorkflowCancelled")
        await ends(scenario, "terminate", WorkflowTerminated, "TerminateRequested", "WorkflowTerminated")


async def ends(scenario: Scenario, command: str, error: type, requested: str, closed: str) -> None:
    handle = await scenario.start("cancel-and-terminate", command)
    await scenario.history(handle).until_count("ActivityHeartbeatRecorded", 2)
    await getattr(handle, command)(reason=f"{command} for the test")
    try:
        raise AssertionError(f"the run completed: {await scenario.result(handle)}")
    except error as ended:
        assert str(ended) == f"{command} for the test", ended
    for _ in range(50):
        if command in _told:
            break
        await asyncio.sleep(0.1)
    assert command in _told, f"the activity was not told of {command}"

    events = await scenario.history(handle).read()
    heartbeats = types(events).count("ActivityHeartbeatRecorded")
    check_types(
        events, *START, "ActivityScheduled", "ActivityStarted", *(heartbeats * ("ActivityHeartbeatRecorded",)),
        requested, "ActivityCancelled", closed,
    )
    assert of_type(events, closed)[0].payload["reason"] == f"{command} for the test"
