use durable_workflow::{json, Result, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "five_activities",
    title: "five activities, each with the result of the one before",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("double", |_, args| async move { Ok(json!(args[0].as_i64().unwrap_or(0) * 2)) });
    worker.register_workflow("five-activities", |ctx, mut number| async move {
        for _ in 0..5 {
            number = ctx.activity("double", json!([number[0]])).await.map(|answer| json!([answer]))?;
        }
        Ok(number[0].clone())
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("five-activities", json!([3])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!(96));
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([3])).await?;
    check_kinds(&events, &[START, ACTIVITY, ACTIVITY, ACTIVITY, ACTIVITY, ACTIVITY, &["WorkflowCompleted"]])?;
    let steps: Vec<_> = (1..=5).map(|step| json!(step)).collect();
    ensure_eq!(members(&events, "ActivityScheduled", "sequence"), steps);
    ensure_eq!(members(&events, "ActivityCompleted", "sequence"), steps);
    Ok(())
}
