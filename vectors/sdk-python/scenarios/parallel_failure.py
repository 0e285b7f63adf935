"""one member of a parallel group fails long before the others end"""

import asyncio

from durable_workflow import ActivityFailed, NonRetryableError, activity, workflow

from harness.history import START, check_outcomes_once, check_types, types
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="pack")
async def pack(what, seconds):
    await asyncio.sleep(seconds)
    if what == "the glass":
        raise NonRetryableError("the glass broke")
    return what


@workflow.defn(name="parallel-failure")
class ParallelFailure:
    def run(self, ctx):
        try:
            yield [
                ctx.schedule_activity("pack", ["the books", 0.5]),
                ctx.schedule_activity("pack", ["the glass", 0]),
                ctx.schedule_activity("pack", ["the table", 1.5]),
            ]
        except ActivityFailed as failure:
            packed = yield ctx.schedule_activity("pack", ["the shards", 0])
            return [str(failure), packed]


PROGRAMS = {"default": Program([ParallelFailure], [pack])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("parallel-failure")
        assert await scenario.result(handle) == ["the glass broke", "the shards"]

    # This SDK takes up a group only when all its members have ended, so nothing may start before.
    events = await scenario.history(handle).read()
    check_types(events[:5], *START, *(3 * ("ActivityScheduled",)))
    check_types(events[-4:], "ActivityScheduled", "ActivityStarted", "ActivityCompleted", "WorkflowCompleted")
    check_outcomes_once(events)
    found = types(events)
    assert (found.count("ActivityScheduled"), found.count("ActivityCompleted"), found.count("ActivityFailed")) == (4, 3, 1)
