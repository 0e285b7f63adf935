"""the quickstart of the README, as it stands"""

import asyncio
import os
import sys

from harness.history import ACTIVITY, START, History, check_types
from harness.scenario import ROOT, Scenario

PROGRAM = os.path.join(ROOT, "..", "..", "docs", "quickstart", "python", "quickstart.py")


async def run(scenario: Scenario) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, PROGRAM,
        env=os.environ | {"DURABLE_WORKFLOW_SERVER_URL": scenario.sdk_url},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )
    printed, errors = await asyncio.wait_for(process.communicate(), 40)
    assert process.returncode == 0, errors.decode()
    assert printed.decode() == "Hello, world!\n", printed

    newest_first = (await scenario.client.list_workflows()).executions
    execution = next(run for run in newest_first if run.workflow_type == "greeting")
    assert execution.status == "completed", execution
    events = await History(scenario.server.url, execution.workflow_id, execution.run_id).read()
    check_types(events, *START, *ACTIVITY, "WorkflowCompleted")
