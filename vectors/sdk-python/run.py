"""Runs the scenarios, each with unchanged programs of the published SDK, against one real server process."""

import argparse
import asyncio
import importlib
import logging
import os
import pkgutil
import shutil
import sys
import time
import traceback

import scenarios
from harness import report
from harness.scenario import ROOT, Scenario
from harness.server import Server
from harness.wire import Wire

CACHE = os.path.abspath(os.path.join(ROOT, "..", "..", ".cache", "sdk-python"))
SECONDS_PER_SCENARIO = 90

#: Leases short enough that one lost with its worker or server comes back while the scenario waits, and no
#: longer drain than the end of a run needs.
SETTINGS = {"DW_WORKFLOW_TASK_TIMEOUT": "5s", "DW_SHUTDOWN_TIMEOUT": "2s", "DW_LOG_LEVEL": "debug"}


def main() -> int:
    options = parse_arguments()
    work_dir = os.path.join(CACHE, "work")
    shutil.rmtree(work_dir, ignore_errors=True)
    os.makedirs(work_dir)
    # The SDK's own log, errors of activities that are meant to fail included.
    logging.basicConfig(filename=os.path.join(work_dir, "sdk.log"), level=logging.INFO,
                        format="%(asctime)s %(levelname)s %(name)s %(message)s")

    database_url = os.environ.get("DW_SDK_DATABASE_URL") or f"sqlite://{work_dir}/server.db"
    server = Server(options.server_binary, database_url, os.path.join(work_dir, "server.log"), SETTINGS)
    server.start()
    try:
        wire = Wire(server.port)
        failed = asyncio.run(play(options.scenarios, server, wire, work_dir))
    finally:
        status = server.stop()
    if status != 0:
        failed += 1
        print(f"FAIL  the server ended with {status} on SIGTERM")
    if options.report and not failed:
        report.write(options.report, wire)
    if failed:
        print(f"logs and database: {work_dir}")
    print(f"{len(options.scenarios) + (status != 0) - failed} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    names = [module.name for module in pkgutil.iter_modules(scenarios.__path__)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"all when none is given: {', '.join(names)}")
    parser.add_argument("--server-binary", default=os.environ.get("DW_SDK_SERVER_BINARY"),
                        help="the server to run (DW_SDK_SERVER_BINARY)")
    parser.add_argument("--report", metavar="FILE", help="write what the SDK sent into this file, after a run without failures")
    options = parser.parse_args()
    if not options.server_binary:
        parser.error("no server binary: run this through run.sh, or set DW_SDK_SERVER_BINARY")
    if unknown := set(options.scenarios) - set(names):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    options.scenarios = options.scenarios or names
    return options


async def play(names: list[str], server: Server, wire: Wire, work_dir: str) -> int:
    """Plays one scenario after the other; how many failed."""
    failed = 0
    for name in names:
        module = importlib.import_module(f"scenarios.{name}")
        scenario = Scenario(name, server, wire.url, work_dir)
        began = time.monotonic()
        error = None
        try:
            await asyncio.wait_for(module.run(scenario), SECONDS_PER_SCENARIO)
        except Exception as raised:  # the boundary between scenarios: each failure is reported and counted
            error = raised
        finally:
            await scenario.close()
        took = time.monotonic() - began
        print(f"{'FAIL' if error else 'ok  '}  {name:<24} {took:5.1f} s  {module.__doc__}", flush=True)
        if error:
            failed += 1
            print("".join(traceback.format_exception(error)), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
