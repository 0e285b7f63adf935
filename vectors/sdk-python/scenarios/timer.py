"""a durable timer of two seconds, and one of zero"""

from datetime import datetime

from durable_workflow import workflow

from harness.history import START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@workflow.defn(name="timer")
class Timer:
    def run(self, ctx):
        yield ctx.sleep(2)
        yield ctx.sleep(0)
        return "rested"


PROGRAMS = {"default": Program([Timer])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("timer")
        assert await scenario.result(handle) == "rested"

    events = await scenario.history(handle).read()
    check_types(events, *START, *(2 * ("TimerScheduled", "TimerFired")), "WorkflowCompleted")
    scheduled, fired = of_type(events, "TimerScheduled")[0], of_type(events, "TimerFired")[0]
    assert scheduled.payload["timer_id"] == fired.payload["timer_id"]
    slept = (datetime.fromisoformat(fired.timestamp) - datetime.fromisoformat(scheduled.timestamp)).total_seconds()
    assert 2 <= slept < 3, f"a timer of 2 s fired after {slept} s"
