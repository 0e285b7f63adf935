use durable_workflow::{Result, Worker, WorkflowResultOptions};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "quickstart",
    title: "one workflow, one activity, typed arguments and results",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

#[derive(Debug, Deserialize, Serialize)]
struct Guest {
    name: String,
    visits: u32,
}

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_typed_activity("greet", |_, guest: Guest| async move {
        Ok(format!("Hello, {}, for the {}th time!", guest.name, guest.visits))
    });
    worker.register_typed_workflow("quickstart", |ctx, guest: Guest| async move {
        ctx.activity_typed::<_, String>("greet", guest).await
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let guest = json!({"name": "Ada", "visits": 4});
    let handle = scenario.start("quickstart", guest.clone()).await?;
    let greeting: String = handle.result_typed(WorkflowResultOptions::default()).await?;
    ensure_eq!(greeting, "Hello, Ada, for the 4th time!");
    let description = handle.describe().await?;
    ensure_eq!(description.status.as_deref(), Some("completed"));
    ensure_eq!(description.closed_reason.as_deref(), Some("completed"));
    ensure_eq!(description.output, Some(json!(greeting)));
    worker.stop().await?;

    let events = scenario.replayed(&handle, guest).await?;
    check_kinds(&events, &[START, ACTIVITY, &["WorkflowCompleted"]])
}
