"""a server with role tokens: one for the worker, one for the operator, none is refused"""

import asyncio

from durable_workflow import Client, Worker, activity, workflow
from durable_workflow.errors import Unauthorized

from harness.history import ACTIVITY, START, History, check_types
from harness.programs import Program
from harness.scenario import Scenario

TOKENS = {"DW_WORKER_TOKEN": "for-the-worker", "DW_OPERATOR_TOKEN": "for-the-operator"}


@activity.defn(name="whisper")
def whisper(word):
    return word.lower()


@workflow.defn(name="role-tokens")
class RoleTokens:
    def run(self, ctx, word):
        answer = yield ctx.schedule_activity("whisper", [word])
        return answer


PROGRAMS = {"default": Program([RoleTokens], [whisper])}


async def run(scenario: Scenario) -> None:
    server = scenario.server.another(scenario.queue, TOKENS)
    server.start()
    try:
        await play(server.url, scenario.queue)
    finally:
        status = server.stop()
    assert status == 0, f"the server ended with {status}"


async def play(url: str, queue: str) -> None:
    async with Client(url) as nobody:
        try:
            raise AssertionError(await nobody.list_workflows())
        except Unauthorized:
            pass

    async with Client(url, control_token="for-the-operator", worker_token="for-the-worker") as client:
        program = PROGRAMS["default"]
        worker = Worker(client, task_queue=queue, workflows=program.workflows, activities=program.activities)
        running = asyncio.create_task(worker.run())
        handle = await client.start_workflow(
            workflow_type="role-tokens", task_queue=queue, workflow_id=f"{queue}-1", input=["SECRET"],
        )
        assert await handle.result(poll_interval=0.1) == "secret"
        await worker.stop()
        await running

    events = await History(url, handle.workflow_id, handle.run_id, token="for-the-operator").read()
    check_types(events, *START, *ACTIVITY, "WorkflowCompleted")
