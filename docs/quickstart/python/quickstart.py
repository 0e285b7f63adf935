"""One workflow, one activity, one worker: start the workflow and print its result."""

import asyncio
import os
import uuid

from durable_workflow import Client, Worker, activity, workflow

SERVER = os.environ.get("DURABLE_WORKFLOW_SERVER_URL", "http://127.0.0.1:8080")


@activity.defn(name="greet")
def greet(name):
    return f"Hello, {name}!"


@workflow.defn(name="greeting")
class Greeting:
    def run(self, ctx, name):
        greeting = yield ctx.schedule_activity("greet", [name])
        return greeting


async def main():
    async with Client(SERVER) as client:
        worker = Worker(client, task_queue="quickstart", workflows=[Greeting], activities=[greet])
        running = asyncio.create_task(worker.run())
        handle = await client.start_workflow(
            workflow_type="greeting",
            workflow_id=f"greeting-{uuid.uuid4()}",
            task_queue="quickstart",
            input=["world"],
        )
        print(await handle.result())
        await worker.stop()
        await running


asyncio.run(main())
