"""activity heartbeats that keep an attempt alive past its heartbeat timeout"""

import asyncio

from durable_workflow import activity, workflow

from harness.history import START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="report-progress")
async def report_progress(steps):
    for step in range(1, steps + 1):
        await asyncio.sleep(0.9)
        await activity.context().heartbeat({"step": step})
    return steps


@workflow.defn(name="activity-heartbeat")
class ActivityHeartbeat:
    def run(self, ctx, steps):
        done = yield ctx.schedule_activity("report-progress", [steps], heartbeat_timeout=2)
        return done


PROGRAMS = {"default": Program([ActivityHeartbeat], [report_progress])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("activity-heartbeat", 4)
        assert await scenario.result(handle) == 4

    events = await scenario.history(handle).read()
    check_types(
        events, *START, "ActivityScheduled", "ActivityStarted",
        *(4 * ("ActivityHeartbeatRecorded",)), "ActivityCompleted", "WorkflowCompleted",
    )
    progress = [event.payload["progress"] for event in of_type(events, "ActivityHeartbeatRecorded")]
    assert [report["details"]["step"] for report in progress] == [1, 2, 3, 4], progress
