"""two workers on one queue, one killed: with an activity in hand, and with a workflow task in hand"""

import asyncio
import os
import time

from durable_workflow import activity, workflow

from harness.history import ACTIVITY, START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="announce")
async def announce(path):
    """The first to come writes its process id and never returns; the next one answers with its own."""
    if claim(path):
        await asyncio.sleep(600)
    return os.getpid()


@workflow.defn(name="activity-in-hand")
class ActivityInHand:
    def run(self, ctx, path):
        policy = workflow.ActivityRetryPolicy(max_attempts=3, backoff_seconds=[0])
        pid = yield ctx.schedule_activity("announce", [path], retry_policy=policy, heartbeat_timeout=2)
        return pid


@workflow.defn(name="task-in-hand")
class TaskInHand:
    def run(self, ctx, path):
        if claim(path):
            time.sleep(600)
        pid = yield ctx.schedule_activity("announce", [path])
        return pid


def claim(path) -> bool:
    try:
        with open(path, "x") as file:
            file.write(str(os.getpid()))
        return True
    except FileExistsError:
        return False


PROGRAMS = {"default": Program([ActivityInHand, TaskInHand], [announce])}


async def run(scenario: Scenario) -> None:
    workers = [scenario.worker_process("one"), scenario.worker_process("two")]
    with_activity = await kill_the_claimant(scenario, workers, "activity-in-hand")
    workers.append(scenario.worker_process("three"))
    with_task = await kill_the_claimant(scenario, workers, "task-in-hand")
    for worker in workers:
        await scenario.stop_process(worker)

    events = await scenario.history(with_activity).read()
    check_types(
        events, *START, "ActivityScheduled", "ActivityStarted", "ActivityRetryScheduled",
        "ActivityStarted", "ActivityCompleted", "WorkflowCompleted",
    )
    assert of_type(events, "ActivityRetryScheduled")[0].payload["timeout_kind"] == "heartbeat"
    check_types(await scenario.history(with_task).read(), *START, *ACTIVITY, "WorkflowCompleted")


async def kill_the_claimant(scenario: Scenario, workers: list, workflow_type: str):
    """Starts the workflow, kills the worker that took it, takes the result of another one."""
    path = os.path.join(scenario.work_dir, f"{scenario.queue}-{workflow_type}")
    handle = await scenario.start(workflow_type, path)
    for _ in range(200):
        if os.path.exists(path) and os.path.getsize(path) > 0:
            break
        await asyncio.sleep(0.05)
    with open(path) as file:
        killed = int(file.read())
    victim = next(worker for worker in workers if worker.pid == killed)
    workers.remove(victim)
    victim.kill()
    victim.wait()
    answered_by = await scenario.result(handle)
    assert answered_by in [worker.pid for worker in workers], (answered_by, killed)
    return handle
