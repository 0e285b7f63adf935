"""A worker as a process of its own: python -m harness.worker_process SERVER QUEUE WORKER_ID SCENARIO PROGRAM."""

import asyncio
import importlib
import signal
import sys

from durable_workflow import Client, Worker


async def main(server_url: str, queue: str, worker_id: str, scenario: str, program_name: str) -> None:
    program = importlib.import_module(f"scenarios.{scenario}").PROGRAMS[program_name]
    async with Client(server_url) as client:
        worker = Worker(
            client, task_queue=queue, worker_id=worker_id,
            workflows=program.workflows, activities=program.activities,
        )
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, lambda: loop.create_task(worker.stop()))
        await worker.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
