"""a version marker that holds a run to its old branch over a worker restart with new code"""

from durable_workflow import activity, workflow

from harness.history import ACTIVITY, START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@activity.defn(name="price")
def price(currency):
    return f"10 {currency}"


@workflow.defn(name="versioned")
class Before:
    def run(self, ctx):
        yield ctx.get_version("currency", 1, 1)
        answer = yield ctx.schedule_activity("price", ["EUR"])
        return answer


@workflow.defn(name="versioned")
class After:
    def run(self, ctx):
        version = yield ctx.get_version("currency", 1, 2)
        answer = yield ctx.schedule_activity("price", ["EUR" if version == 1 else "USD"])
        rounded = yield ctx.patched("rounding")
        return [answer, version, rounded]


# The old worker serves no activity: its run is still open when the new code takes over.
PROGRAMS = {"before": Program([Before]), "after": Program([After], [price])}


async def run(scenario: Scenario) -> None:
    before = scenario.worker_process("before", "before")
    old = await scenario.start("versioned")
    await scenario.history(old).until_count("ActivityScheduled")
    before.kill()

    after = scenario.worker_process("after", "after")
    assert await scenario.result(old) == ["10 EUR", 1, True]
    new = await scenario.start("versioned")
    assert await scenario.result(new) == ["10 USD", 2, True]
    await scenario.stop_process(after)

    for handle, version in ((old, 1), (new, 2)):
        events = await scenario.history(handle).read()
        check_types(
            events, *START, "VersionMarkerRecorded", *ACTIVITY, "VersionMarkerRecorded", "WorkflowCompleted",
        )
        marker = of_type(events, "VersionMarkerRecorded")[0].payload
        assert (marker["change_id"], marker["version"]) == ("currency", version), marker
