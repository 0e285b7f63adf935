"""an activity that stops its heartbeats: timed out, retried or failed, its late result refused"""

import asyncio

from durable_workflow import ActivityFailed, activity, workflow

from harness.history import START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario

SILENT_SECONDS = 2.5


@activity.defn(name="fall-silent")
async def fall_silent():
    attempt = activity.context().info.attempt_number
    await activity.context().heartbeat()
    if attempt == 1:
        await asyncio.sleep(SILENT_SECONDS)
    return f"attempt {attempt}"


@workflow.defn(name="heartbeat-timeout")
class HeartbeatTimeout:
    def run(self, ctx, attempts):
        policy = workflow.ActivityRetryPolicy(max_attempts=attempts, backoff_seconds=[0])
        try:
            answer = yield ctx.schedule_activity("fall-silent", [], retry_policy=policy, heartbeat_timeout=1)
        except ActivityFailed as failure:
            return f"failed: {failure.failure_category}"
        # Outlive the silent attempt, so that its late result meets an open run.
        yield ctx.sleep(2)
        return answer


PROGRAMS = {"default": Program([HeartbeatTimeout], [fall_silent])}
ATTEMPT = ("ActivityStarted", "ActivityHeartbeatRecorded")


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        retried = await scenario.start("heartbeat-timeout", 2)
        failed = await scenario.start("heartbeat-timeout", 1)
        assert await scenario.result(failed) == "failed: timeout"
        # The silent attempts of both runs have reported before this one ends: to an open and to a closed run.
        assert await scenario.result(retried) == "attempt 2"

    events = await scenario.history(retried).read()
    check_types(
        events, *START, "ActivityScheduled", *ATTEMPT, "ActivityRetryScheduled", *ATTEMPT, "ActivityCompleted",
        "TimerScheduled", "TimerFired", "WorkflowCompleted",
    )
    assert of_type(events, "ActivityRetryScheduled")[0].payload["timeout_kind"] == "heartbeat"

    events = await scenario.history(failed).read()
    check_types(events, *START, "ActivityScheduled", *ATTEMPT, "ActivityTimedOut", "WorkflowCompleted")
    assert of_type(events, "ActivityTimedOut")[0].payload["timeout_kind"] == "heartbeat"
