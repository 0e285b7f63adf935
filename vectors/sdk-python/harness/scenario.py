"""What a scenario works with: a client, workers, histories, and the server, which it may kill."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from typing import Any

from durable_workflow import Client, Worker
from durable_workflow.client import WorkflowHandle

from .history import History
from .programs import Program
from .server import Server

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Scenario:
    """One run of one scenario. Queue, worker ids and workflow ids are its own, so that scenarios share a server."""

    def __init__(self, name: str, server: Server, sdk_url: str, work_dir: str) -> None:
        self.name = name
        self.server = server
        self.sdk_url = sdk_url
        self.work_dir = work_dir
        self.queue = f"{name}-{uuid.uuid4().hex[:8]}"
        self.client = Client(sdk_url)
        self._processes: list[subprocess.Popen] = []

    async def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        await self.client.aclose()

    @contextlib.asynccontextmanager
    async def worker(self, program: Program, **options: Any) -> AsyncIterator[Worker]:
        """A worker in this process, for as long as the block runs."""
        async with Client(self.sdk_url) as client:
            worker = Worker(
                client, task_queue=self.queue,
                workflows=program.workflows, activities=program.activities, **options,
            )
            running = asyncio.create_task(worker.run())
            try:
                yield worker
            finally:
                await worker.stop()
                await running

    def worker_process(self, worker_id: str, program: str = "default") -> subprocess.Popen:
        """A worker as an operating-system process, with the scenario's program of that name."""
        log_path = os.path.join(self.work_dir, f"{self.name}-{worker_id}.log")
        with open(log_path, "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "harness.worker_process",
                 self.sdk_url, self.queue, f"{self.queue}-{worker_id}", self.name, program],
                cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )
        self._processes.append(process)
        return process

    async def stop_process(self, process: subprocess.Popen) -> None:
        """SIGTERM, and a clean end within 20 s."""
        process.send_signal(signal.SIGTERM)
        status = await asyncio.to_thread(process.wait, 20)
        assert status == 0, f"a worker process ended with {status}"

    async def start(self, workflow_type: str, *arguments: Any, **options: Any) -> WorkflowHandle:
        """Starts a workflow on the scenario's queue."""
        return await self.client.start_workflow(
            workflow_type=workflow_type, task_queue=self.queue,
            workflow_id=options.pop("workflow_id", f"{self.queue}-{uuid.uuid4().hex[:8]}"),
            input=list(arguments), **options,
        )

    async def result(self, handle: WorkflowHandle, timeout: float = 40) -> Any:
        return await handle.result(poll_interval=0.1, timeout=timeout)

    def history(self, handle: WorkflowHandle, run_id: str | None = None) -> History:
        return History(self.server.url, handle.workflow_id, run_id or handle.run_id)
