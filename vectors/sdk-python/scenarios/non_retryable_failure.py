"""a non-retryable failure: caught in the workflow, and left to fail it"""

from durable_workflow import ActivityFailed, NonRetryableError, WorkflowFailed, activity, workflow

from harness.history import START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


class CardDeclined(NonRetryableError):
    """No further attempt can help."""


@activity.defn(name="charge")
def charge(how):
    if how == "by class":
        raise CardDeclined("the card was declined")
    raise LookupError("no such account")


@workflow.defn(name="non-retryable")
class NonRetryable:
    def run(self, ctx, how, catch):
        policy = workflow.ActivityRetryPolicy(max_attempts=5, non_retryable_error_types=["LookupError"])
        try:
            yield ctx.schedule_activity("charge", [how], retry_policy=policy)
        except ActivityFailed as failure:
            if not catch:
                raise
            return [failure.exception_type, str(failure), failure.non_retryable]


PROGRAMS = {"default": Program([NonRetryable], [charge])}
FAILED_ONCE = (*START, "ActivityScheduled", "ActivityStarted", "ActivityFailed")


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        by_class = await scenario.start("non-retryable", "by class", True)
        assert await scenario.result(by_class) == ["CardDeclined", "the card was declined", True]
        by_type = await scenario.start("non-retryable", "by type", True)
        assert (await scenario.result(by_type))[:2] == ["LookupError", "no such account"]

        uncaught = await scenario.start("non-retryable", "by class", False)
        try:
            raise AssertionError(f"the workflow did not fail: {await scenario.result(uncaught)}")
        except WorkflowFailed as failure:
            assert "the card was declined" in str(failure), failure

    for handle in (by_class, by_type):
        check_types(await scenario.history(handle).read(), *FAILED_ONCE, "WorkflowCompleted")
    events = await scenario.history(uncaught).read()
    check_types(events, *FAILED_ONCE, "WorkflowFailed")
    assert of_type(events, "ActivityFailed")[0].payload["non_retryable"] is True
    assert of_type(events, "WorkflowFailed")[0].payload["exception_type"] == "CardDeclined"
