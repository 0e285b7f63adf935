"""a second start of the same id, and a run that passes its deadline"""

from durable_workflow import WorkflowAlreadyStarted, workflow
from durable_workflow.errors import WorkflowTimedOut

from harness.history import START, check_types
from harness.programs import Program
from harness.scenario import Scenario


@workflow.defn(name="wait-for-go")
class WaitForGo:
    def __init__(self):
        self.go = False

    @workflow.signal("go")
    def on_go(self):
        self.go = True

    def run(self, ctx):
        yield ctx.wait_condition(lambda: self.go, key="go")
        return "gone"


PROGRAMS = {"default": Program([WaitForGo])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        first = await scenario.start("wait-for-go", workflow_id=f"{scenario.queue}-once")
        await scenario.history(first).until_count("ConditionWaitOpened")
        await refused(scenario)
        same = await scenario.start("wait-for-go", workflow_id=first.workflow_id, duplicate_policy="use-existing")
        assert same.run_id == first.run_id, (same.run_id, first.run_id)
        await same.signal("go")
        assert await scenario.result(first) == "gone"
        await refused(scenario)

        late = await scenario.start("wait-for-go", run_timeout_seconds=3, execution_timeout_seconds=10)
        try:
            raise AssertionError(f"the run completed: {await scenario.result(late)}")
        except WorkflowTimedOut:
            pass

    check_types(
        await scenario.history(first).read(), *START, "ConditionWaitOpened",
        "SignalReceived", "MessageCursorAdvanced", "ConditionWaitSatisfied", "WorkflowCompleted",
    )
    check_types(await scenario.history(late).read(), *START, "ConditionWaitOpened", "WorkflowTimedOut")


async def refused(scenario: Scenario) -> None:
    try:
        await scenario.start("wait-for-go", workflow_id=f"{scenario.queue}-once")
    except WorkflowAlreadyStarted:
        return
    raise AssertionError("a second start of the same id was accepted")
