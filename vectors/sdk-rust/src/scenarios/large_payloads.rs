use durable_workflow::{json, ActivityError, Error, Result, Worker};

use super::Entry;
use crate::harness::history::{count, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "large_payloads",
    title: "an input and a result of a megabyte, a failure with a long message",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity(
        "double",
        |_, args| async move { Ok(json!(args[0].as_str().unwrap_or_default().repeat(2))) },
    );
    worker.register_activity("refuse", |_, args| async move {
        Err(ActivityError::new("Long", args[0].as_str().unwrap_or_default()).into())
    });
    worker.register_workflow("large", |ctx, args| async move {
        let activity = args[0].as_str().unwrap_or_default().to_owned();
        match ctx.activity(activity, json!([args[1]])).await {
            Ok(text) => Ok(json!(text.as_str().map(str::len))),
            Err(Error::ActivityFailed(failure)) => Ok(json!([failure.failure_category, failure.message.len()])),
            Err(other) => Err(other),
        }
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let mut results = Vec::new();
    let inputs = [json!(["double", "ü".repeat(300_000)]), json!(["refuse", "why ".repeat(50_000)])];
    for input in &inputs {
        let handle = scenario.start("large", input.clone()).await?;
        results.push(scenario.result(&handle).await?);
        let events = scenario.replayed(&handle, input.clone()).await?;
        ensure!(events.len() == START.len() + 4 && count(&events, "WorkflowCompleted") == 1, "{} events", events.len());
    }
    worker.stop().await?;
    ensure_eq!(results[0], json!(1_200_000));
    // The SDK cuts a message to what it has room for.
    ensure!(results[1][0] == json!("activity") && results[1][1].as_u64() > Some(60_000), "{}", results[1]);
    Ok(())
}
