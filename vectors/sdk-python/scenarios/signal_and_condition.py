"""signals and condition waits: reopened until true, timed out, and in time"""

from durable_workflow import workflow

from harness.history import START, check_types, of_type
from harness.programs import Program
from harness.scenario import Scenario


@workflow.defn(name="collect")
class Collect:
    """Waits for as many items as asked, then for one more that must come within the timeout."""

    def __init__(self):
        self.items = []

    @workflow.signal("item")
    def on_item(self, name, price=0):
        self.items.append([name, price])

    def run(self, ctx, wanted, timeout):
        yield ctx.wait_condition(lambda: len(self.items) >= wanted, key="enough")
        in_time = yield ctx.wait_condition(lambda: len(self.items) > wanted, key="one more", timeout=timeout)
        return [self.items, in_time]


PROGRAMS = {"default": Program([Collect])}
APPLIED = ("SignalReceived", "MessageCursorAdvanced", "ConditionWaitSatisfied")
OPENED = ("ConditionWaitOpened",)
TIMED = ("ConditionWaitOpened", "TimerScheduled")


async def run(scenario: Scenario) -> None:
    async with scenario.worker(PROGRAMS["default"]):
        late = await scenario.start("collect", 2, 1)
        await signal_when_open(scenario, late, 1, ["pear", 3])
        await signal_when_open(scenario, late, 2, ["fig"])
        assert await scenario.result(late) == [[["pear", 3], ["fig", 0]], False]

        in_time = await scenario.start("collect", 1, 30)
        await signal_when_open(scenario, in_time, 1, ["pear"])
        await signal_when_open(scenario, in_time, 2, ["fig", 2])
        assert await scenario.result(in_time) == [[["pear", 0], ["fig", 2]], True]

    # Without a worker nothing waits yet: these two come before the first task is served.
    early = await scenario.start("collect", 1, 1)
    await early.signal("item", ["plum"])
    await early.signal("item", ["date"])
    async with scenario.worker(PROGRAMS["default"]):
        assert await scenario.result(early) == [[["plum", 0], ["date", 0]], True]

    check_types(
        await scenario.history(late).read(), *START, *OPENED, *APPLIED, *OPENED, *APPLIED,
        *TIMED, "TimerFired", "WorkflowCompleted",
    )
    events = await scenario.history(in_time).read()
    check_types(events, *START, *OPENED, *APPLIED, *TIMED, *APPLIED, "TimerCancelled", "WorkflowCompleted")
    waits = [event.payload["condition_key"] for event in of_type(events, "ConditionWaitOpened")]
    assert waits == ["enough", "one more"], waits
    # Conditions that hold when the code first comes to them open no wait, and nothing applies the signals.
    check_types(
        await scenario.history(early).read(), *START, *(2 * ("SignalReceived",)),
        *(2 * ("SignalRejected",)), "WorkflowCompleted",
    )


async def signal_when_open(scenario: Scenario, handle, opened: int, arguments: list) -> None:
    """Signals once the run has opened that many waits, so that the history has one order."""
    await scenario.history(handle).until_count("ConditionWaitOpened", opened)
    await handle.signal("item", arguments)
