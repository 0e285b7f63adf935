use durable_workflow::{json, Result, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "history_pages",
    title: "a history longer than the SDK's page of 500 events, replayed to its end",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

const NOTES: u64 = 320;

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("count", |_, args| async move { Ok(args[0].clone()) });
    worker.register_workflow("history-pages", |ctx, _| async move {
        let mut total = 0;
        for _ in 0..3 {
            for number in 0..NOTES {
                total += ctx.side_effect(|| number)?;
            }
            total = ctx.activity("count", json!([total])).await?.as_u64().unwrap_or(0);
        }
        Ok(json!([total, ctx.history_budget()?.event_count]))
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("history-pages", json!([])).await?;
    let result = scenario.result(&handle).await?;
    worker.stop().await?;

    // The SDK's replay takes the budget from the history it is given, and that one is longer by its last event.
    let events = scenario.history(&handle).read().await?;
    let step = [&["SideEffectRecorded"; NOTES as usize], ACTIVITY].concat();
    check_kinds(&events, &[START, &step, &step, &step, &["WorkflowCompleted"]])?;
    ensure_eq!(result, json!([3 * NOTES * (NOTES - 1) / 2, events.len() - 1]));
    Ok(())
}
