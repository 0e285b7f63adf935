"""an activity that fails twice, is retried with backoff, and then succeeds"""

from datetime import datetime

from durable_workflow import activity, workflow

from harness.history import START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario

BACKOFF = [1, 2]


@activity.defn(name="third-time-lucky")
def third_time_lucky():
    attempt = activity.context().info.attempt_number
    if attempt < 3:
        raise ConnectionError(f"attempt {attempt} found nobody")
    return f"attempt {attempt}"


@workflow.defn(name="activity-retry")
class ActivityRetry:
    def run(self, ctx):
        policy = workflow.ActivityRetryPolicy(max_attempts=4, backoff_seconds=BACKOFF)
        answer = yield ctx.schedule_activity("third-time-lucky", [], retry_policy=policy)
        return answer


PROGRAMS = {"default": Program([ActivityRetry], [third_time_lucky])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        handle = await scenario.start("activity-retry")
        assert await scenario.result(handle) == "attempt 3"

    events = await scenario.history(handle).read()
    check_types(
        events, *START, "ActivityScheduled",
        "ActivityStarted", "ActivityRetryScheduled",
        "ActivityStarted", "ActivityRetryScheduled",
        "ActivityStarted", "ActivityCompleted", "WorkflowCompleted",
    )
    attempts = of_type(events, "ActivityStarted")
    retries = of_type(events, "ActivityRetryScheduled")
    assert [event.payload["attempt_number"] for event in attempts] == [1, 2, 3]
    assert [event.payload["retry_backoff_seconds"] for event in retries] == BACKOFF
    assert retries[0].payload["exception_type"] == "ConnectionError", retries[0].payload
    for retry, attempt, backoff in zip(retries, attempts[1:], BACKOFF, strict=True):
        waited = (datetime.fromisoformat(attempt.timestamp) - datetime.fromisoformat(retry.timestamp)).total_seconds()
        assert backoff <= waited < backoff + 2, f"waited {waited} s for a backoff of {backoff} s"
