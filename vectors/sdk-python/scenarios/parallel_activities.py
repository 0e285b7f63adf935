"""parallel activities, flat and nested with timers: results in the order of the code"""

import asyncio

from durable_workflow import activity, workflow

from harness.history import START, check_outcomes_once, check_types, of_type, types
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="square")
async def square(number):
    await asyncio.sleep(0.05 * (number % 3))
    return number * number


@workflow.defn(name="parallel-flat")
class ParallelFlat:
    def run(self, ctx, count):
        squares = yield [ctx.schedule_activity("square", [number]) for number in range(count)]
        total = yield ctx.schedule_activity("square", [sum(squares)])
        return [squares, total]


@workflow.defn(name="parallel-nested")
class ParallelNested:
    def run(self, ctx):
        answer = yield [
            ctx.schedule_activity("square", [2]),
            [ctx.start_timer(1), ctx.schedule_activity("square", [3])],
            [ctx.schedule_activity("square", [4])],
        ]
        return answer


PROGRAMS = {"default": Program([ParallelFlat, ParallelNested], [square])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        flat = await scenario.start("parallel-flat", 12)
        nested = await scenario.start("parallel-nested")
        squares = [number * number for number in range(12)]
        assert await scenario.result(flat) == [squares, sum(squares) ** 2]
        assert await scenario.result(nested) == [4, [None, 9], [16]]

    events = await scenario.history(flat).read()
    check_types(events[:14], *START, *(12 * ("ActivityScheduled",)))
    check_types(events[-4:], "ActivityScheduled", "ActivityStarted", "ActivityCompleted", "WorkflowCompleted")
    assert types(events).count("ActivityCompleted") == 13
    for event in of_type(events, "ActivityCompleted")[:12]:
        assert event.payload["parallel_group_id"] == "parallel-activities:1:12", event.payload

    events = await scenario.history(nested).read()
    check_types(
        events[:6], *START, "ActivityScheduled", "TimerScheduled", "ActivityScheduled", "ActivityScheduled",
    )
    check_outcomes_once(events)
    fired = of_type(events, "TimerFired")[0].payload
    assert [level["parallel_group_id"] for level in fired["parallel_group_path"]] == [
        "parallel-calls:1:4", "parallel-calls:2:2",
    ], fired
