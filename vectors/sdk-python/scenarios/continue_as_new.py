"""continue-as-new twice: three runs, one chain, the last one's result"""

from durable_workflow import activity, workflow

from harness.history import ACTIVITY, START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="add")
def add(total, number):
    return total + number


@workflow.defn(name="chain")
class Chain:
    def run(self, ctx, total, left):
        total = yield ctx.schedule_activity("add", [total, left])
        if left > 1:
            yield ctx.continue_as_new(total, left - 1)
        return total


PROGRAMS = {"default": Program([Chain], [add])}


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        first = await scenario.start("chain", 0, 3)
        # A handle without a run follows the chain; the handle of the start is bound to the first run.
        whole = scenario.client.get_workflow_handle(first.workflow_id)
        await scenario.history(first).until_count("WorkflowContinuedAsNew")
        assert await scenario.result(whole) == 6

    runs = (await scenario.client.list_workflow_runs(first.workflow_id)).runs
    assert [run.run_number for run in runs] == [1, 2, 3], runs
    assert [run.status for run in runs] == ["completed"] * 3, runs
    histories = [await scenario.history(first, run.run_id).read() for run in runs]
    check_types(histories[0], *START, *ACTIVITY, "WorkflowContinuedAsNew")
    check_types(histories[1], "WorkflowStarted", *ACTIVITY, "WorkflowContinuedAsNew")
    check_types(histories[2], "WorkflowStarted", *ACTIVITY, "WorkflowCompleted")
    for events, successor in zip(histories, runs[1:], strict=False):
        continued = of_type(events, "WorkflowContinuedAsNew")[0].payload
        assert continued["continued_to_run_id"] == successor.run_id, continued
