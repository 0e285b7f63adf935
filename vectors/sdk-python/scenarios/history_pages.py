"""a history longer than the SDK's page of 500 events, replayed to its end"""

from durable_workflow import activity, workflow

from harness.history import START, check_contiguous, types
from harness.programs import Program
from harness.scenario import Scenario

NOTES = 320


@activity.defn(name="count")
def count(number):
    return number


@workflow.defn(name="history-pages")
class HistoryPages:
    def run(self, ctx):
        total = 0
        for _ in range(3):
            for number in range(NOTES):
                total += yield ctx.side_effect(lambda number=number: number)
            total = yield ctx.schedule_activity("count", [total])
        return total


PROGRAMS = {"default": Program([HistoryPages], [count])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("history-pages")
        assert await scenario.result(handle) == 3 * sum(range(NOTES))

    events = await scenario.history(handle).read(page_size=100)
    check_contiguous(events)
    step = NOTES * ["SideEffectRecorded"] + ["ActivityScheduled", "ActivityStarted", "ActivityCompleted"]
    assert types(events) == [*START, *step, *step, *step, "WorkflowCompleted"]
