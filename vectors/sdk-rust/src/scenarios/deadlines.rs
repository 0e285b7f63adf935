use std::time::Duration;

use durable_workflow::{json, Error, Result, Worker, WorkflowStartOptions};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "deadlines",
    title: "runs that pass a deadline: while waiting, and while a worker holds their task",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_workflow("deadline", |ctx, args| async move {
        if args[0] == json!("hold") {
            std::thread::sleep(Duration::from_millis(2500));
        }
        ctx.wait_signal("never").await?;
        Ok(json!("not in time"))
    });
    worker.declare_workflow_signals("deadline", &["never"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let run_timeout = WorkflowStartOptions::new().run_timeout_seconds(1).execution_timeout_seconds(20);
    let execution_timeout = WorkflowStartOptions::new().run_timeout_seconds(1).execution_timeout_seconds(1);
    for (how, options, kind) in [("wait", run_timeout, "run_timeout"), ("hold", execution_timeout, "execution_timeout")]
    {
        let id = format!("{}-{how}", scenario.queue);
        let handle = scenario
            .client
            .start_workflow_with_options("deadline", &scenario.queue, &id, options, json!([how]))
            .await?;
        let outcome = match scenario.result(&handle).await {
            Err(Error::WorkflowTimedOut(outcome)) => outcome,
            other => return Err(format!("not timed out: {other:?}").into()),
        };
        ensure!(
            outcome.run_id == handle.run_id && outcome.failure_category.as_deref() == Some("timeout"),
            "{outcome:?}"
        );
        // No replay of the held one: what its worker had to say is not in its history.
        let (events, open): (_, &[&str]) = match how {
            "wait" => (scenario.replayed(&handle, json!([how])).await?, &["SignalWaitOpened"]),
            _ => (scenario.history(&handle).read().await?, &[]),
        };
        check_kinds(&events, &[START, open, &["WorkflowTimedOut"]])?;
        ensure_eq!(members(&events, "WorkflowTimedOut", "timeout_kind"), [json!(kind)]);
    }
    tokio::time::sleep(Duration::from_secs(2)).await; // the held task is reported
    worker.stop().await
}
