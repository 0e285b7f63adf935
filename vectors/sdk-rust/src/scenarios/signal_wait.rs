use durable_workflow::{json, Result, Value, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, APPLIED, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "signal_wait",
    title: "signals before and after their wait opens, in a burst, with no, one and several arguments",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

const OPENED: &[&str] = &["SignalWaitOpened"];
const RECEIVED: &[&str] = &["SignalReceived"];

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    // Returns all arguments of as many signals as asked. All but the last are replayed when it returns.
    worker.register_workflow("signals", |ctx, args| async move {
        let mut received = Vec::new();
        for _ in 0..args[0].as_u64().unwrap_or(0) {
            received.push(ctx.wait_signal("go").await?);
        }
        Ok(json!(received))
    });
    worker.declare_workflow_signals("signals", &["go", "never"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    early(scenario).await?;
    let worker = scenario.worker()?;
    arguments(scenario).await?;
    burst(scenario).await?;
    worker.stop().await
}

/// Both signals come before any worker does: the waits take them over as they open.
async fn early(scenario: &Scenario) -> Check {
    let handle = scenario.start("signals", json!([2])).await?;
    handle.signal("go", json!(["first"])).await?;
    handle.signal("go", json!(["second", 2])).await?;
    let worker = scenario.worker()?;
    ensure_eq!(scenario.result(&handle).await?, json!([["first"], ["second", 2]]));
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([2])).await?;
    let applied: &[&[&str]] = &[START, RECEIVED, RECEIVED, OPENED, APPLIED, OPENED, APPLIED, &["WorkflowCompleted"]];
    check_kinds(&events, applied)?;
    let ids = members(&events, "SignalReceived", "signal_wait_id");
    ensure_eq!(members(&events, "SignalWaitOpened", "signal_wait_id"), ids);
    ensure_eq!(members(&events, "SignalApplied", "signal_wait_id"), ids);
    Ok(())
}

/// What a wait returned live, it returns in every replay.
async fn arguments(scenario: &Scenario) -> Check {
    let sent = [
        json!([]),
        json!(["one"]),
        json!([1, 2]),
        json!([["a", "list"]]),
        json!([null]),
        json!([{"a": "map"}]),
        json!([[]]),
        json!([true]),
        json!(["last"]),
    ];
    let count = sent.len();
    let handle = scenario.start("signals", json!([count])).await?;
    for (index, input) in sent.iter().enumerate() {
        scenario.history(&handle).until_count("SignalWaitOpened", index + 1).await?;
        handle.signal("go", input).await?;
    }
    ensure_eq!(scenario.result(&handle).await?, json!(sent));

    let events = scenario.replayed(&handle, json!([count])).await?;
    let one = [OPENED, RECEIVED, APPLIED].concat();
    check_kinds(&events, &[START, &one.repeat(count), &["WorkflowCompleted"]])
}

/// Signals as fast as they can be sent: none is lost, and they come in order.
async fn burst(scenario: &Scenario) -> Check {
    let handle = scenario.start("signals", json!([20])).await?;
    let sent: Vec<Value> = (0..20).map(|number| json!([number])).collect();
    for input in &sent {
        handle.signal("go", input).await?;
    }
    ensure_eq!(scenario.result(&handle).await?, json!(sent));

    let events = scenario.replayed(&handle, json!([20])).await?;
    let received = members(&events, "SignalReceived", "signal_id");
    ensure_eq!(members(&events, "SignalApplied", "signal_id"), received);
    Ok(())
}
