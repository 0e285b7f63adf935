use std::time::{Duration, Instant};

use durable_workflow::{json, wait_condition, Result, Worker, WorkflowHandle};

use super::Entry;
use crate::harness::history::{check_kinds, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "condition_wait",
    title: "conditions reopened until true, timed out and in time; reopening does not prolong a timeout",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

const OPENED: &[&str] = &["ConditionWaitOpened"];
const TIMED: &[&str] = &["ConditionWaitOpened", "TimerScheduled"];
const SIGNALLED: &[&str] = &["SignalReceived", "MessageCursorAdvanced", "ConditionWaitSatisfied"];

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    // Waits for as many items as asked, then for one more that must come within the timeout.
    worker.register_workflow("collect", |ctx, args| async move {
        let wanted = args[0].as_u64().unwrap_or(0) as usize;
        let timeout = Duration::from_secs(args[1].as_u64().unwrap_or(0));
        let seen = ctx.clone();
        wait_condition!(ctx, "enough", move || Ok(seen.signals("item")?.len() >= wanted)).await?;
        let seen = ctx.clone();
        let more = wait_condition!(ctx, "one more", timeout: timeout, move || {
            Ok(seen.signals("item")?.iter().skip(wanted).any(|item| item[0] != json!("no")))
        });
        Ok(json!([ctx.signals("item")?.len(), more.await?]))
    });
    worker.declare_workflow_signals("collect", &["item"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    reopened(scenario).await?;
    in_time(scenario).await?;
    prolonged(scenario).await?;
    worker.stop().await?;
    early(scenario).await
}

/// Three signals leave the first condition false; the second one times out.
async fn reopened(scenario: &Scenario) -> Check {
    let handle = scenario.start("collect", json!([4, 1])).await?;
    for opened in 1..=4 {
        signal_when_open(scenario, &handle, opened, "pear").await?;
    }
    ensure_eq!(scenario.result(&handle).await?, json!([4, "timed_out"]));

    let events = scenario.replayed(&handle, json!([4, 1])).await?;
    let again = [OPENED, SIGNALLED].concat().repeat(4);
    check_kinds(&events, &[START, &again, TIMED, &["TimerFired", "WorkflowCompleted"]])?;
    let [first, second] = ["rust:condition-wait:0", "rust:condition-wait:1"].map(|id| json!(id));
    let occurrences = [vec![first; 4], vec![second]].concat();
    ensure_eq!(members(&events, "ConditionWaitOpened", "condition_wait_occurrence_id"), occurrences);
    ensure_eq!(members(&events, "ConditionWaitSatisfied", "condition_wait_occurrence_id"), occurrences[..4]);
    ensure_eq!(members(&events, "TimerFired", "condition_wait_occurrence_id"), occurrences[4..]);
    Ok(())
}

async fn in_time(scenario: &Scenario) -> Check {
    let handle = scenario.start("collect", json!([1, 30])).await?;
    signal_when_open(scenario, &handle, 1, "pear").await?;
    signal_when_open(scenario, &handle, 2, "no").await?;
    signal_when_open(scenario, &handle, 3, "fig").await?;
    ensure_eq!(scenario.result(&handle).await?, json!([3, "satisfied"]));

    let events = scenario.replayed(&handle, json!([1, 30])).await?;
    let timed = [TIMED, SIGNALLED, &["TimerCancelled"]].concat();
    check_kinds(&events, &[START, OPENED, SIGNALLED, &timed, &timed, &["WorkflowCompleted"]])
}

/// The wait is reopened a second before its timeout ends, and still times out when it should have.
async fn prolonged(scenario: &Scenario) -> Check {
    let handle = scenario.start("collect", json!([1, 3])).await?;
    signal_when_open(scenario, &handle, 1, "pear").await?;
    scenario.history(&handle).until_count("ConditionWaitOpened", 2).await?;
    let opened = Instant::now();
    tokio::time::sleep(Duration::from_secs(2)).await;
    handle.signal("item", json!(["no"])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!([2, "timed_out"]));
    let took = opened.elapsed();
    ensure!((2500..4500).contains(&took.as_millis()), "a timeout of 3 s took {took:?}");

    let events = scenario.replayed(&handle, json!([1, 3])).await?;
    let timed = [TIMED, SIGNALLED, &["TimerCancelled"], TIMED, &["TimerFired"]].concat();
    check_kinds(&events, &[START, OPENED, SIGNALLED, &timed, &["WorkflowCompleted"]])?;
    ensure_eq!(members(&events, "TimerScheduled", "delay_seconds"), [json!(3), json!(3)]);
    Ok(())
}

/// Conditions that hold when the code first comes to them open no wait, and nothing applies the signals.
async fn early(scenario: &Scenario) -> Check {
    let handle = scenario.start("collect", json!([1, 1])).await?;
    handle.signal("item", json!(["plum"])).await?;
    handle.signal("item", json!(["date"])).await?;
    let worker = scenario.worker()?;
    ensure_eq!(scenario.result(&handle).await?, json!([2, "satisfied"]));
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([1, 1])).await?;
    let (received, rejected) = (&["SignalReceived"; 2], &["SignalRejected"; 2]);
    check_kinds(&events, &[START, received, rejected, &["WorkflowCompleted"]])
}

/// Signals once the run has opened that many waits, so that the history has one order.
async fn signal_when_open(scenario: &Scenario, handle: &WorkflowHandle, opened: usize, item: &str) -> Check {
    scenario.history(handle).until_count("ConditionWaitOpened", opened).await?;
    handle.signal("item", json!([item])).await?;
    Ok(())
}
