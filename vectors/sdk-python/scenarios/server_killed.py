"""the server killed with SIGKILL in the middle of runs and started again"""

import asyncio

from durable_workflow import activity, workflow

from harness.history import START, check_outcomes_once, types
from harness.programs import Program
from harness.scenario import Scenario

RUNS = 8
STEPS = 5


@activity.defn(name="step")
async def step(number):
    await asyncio.sleep(0.15)
    return number + 1


@workflow.defn(name="server-killed")
class Steps:
    def run(self, ctx):
        # A result that is reported to a dead server is lost with it; the attempt's own timeout brings the next one.
        policy = workflow.ActivityRetryPolicy(max_attempts=10, backoff_seconds=[0])
        number = 0
        for _ in range(STEPS):
            number = yield ctx.schedule_activity("step", [number], retry_policy=policy, start_to_close_timeout=3)
        yield ctx.sleep(1)
        return number


PROGRAMS = {"default": Program([Steps], [step])}


async def run(scenario: Scenario) -> None:
    process = scenario.worker_process("worker")
    handles = [await scenario.start("server-killed") for _ in range(RUNS)]
    for completed in (1, 3):
        await scenario.history(handles[-1]).until_count("ActivityCompleted", completed)
        scenario.server.kill()
        scenario.server.start()
    results = [await scenario.result(handle) for handle in handles]
    assert results == RUNS * [STEPS], results
    await scenario.stop_process(process)

    for handle in handles:
        events = await scenario.history(handle).read()
        check_outcomes_once(events)
        # Attempts may have been lost with the server; every step has one beginning and one end, in order.
        kept = [kind for kind in types(events) if kind not in ("ActivityStarted", "ActivityRetryScheduled")]
        assert kept == [
            *START, *(STEPS * ["ActivityScheduled", "ActivityCompleted"]),
            "TimerScheduled", "TimerFired", "WorkflowCompleted",
        ], types(events)
        assert types(events).count("ActivityStarted") == STEPS + types(events).count("ActivityRetryScheduled")
