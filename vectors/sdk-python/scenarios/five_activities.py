"""five activities in a row, each given the result of the one before"""

from durable_workflow import activity, workflow

from harness.history import ACTIVITY, START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="append")
def append(letters, letter):
    return letters + letter


@workflow.defn(name="five-activities")
class FiveActivities:
    def run(self, ctx, letters):
        for letter in "ABCDE":
            letters = yield ctx.schedule_activity("append", [letters, letter])
        return letters


PROGRAMS = {"default": Program([FiveActivities], [append])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("five-activities", "0")
        assert await scenario.result(handle) == "0ABCDE"

    events = await scenario.history(handle).read()
    check_types(events, *START, *(5 * ACTIVITY), "WorkflowCompleted")
    authored = [event.payload["sequence"] for event in of_type(events, "ActivityCompleted")]
    assert authored == [1, 2, 3, 4, 5], authored
