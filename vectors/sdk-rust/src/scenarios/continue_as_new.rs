use durable_workflow::{json, ContinueAsNewOptions, Result, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, payloads, ACTIVITY, APPLIED, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "continue_as_new",
    title: "three runs of one workflow id; a signal that no run took is carried along",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("add", |_, args| async move {
        Ok(json!(args[0].as_i64().unwrap_or(0) + args[1].as_i64().unwrap_or(0)))
    });
    worker.register_workflow("continue", |ctx, args| async move {
        let (round, total) = (args[0].as_i64().unwrap_or(0), args[1].as_i64().unwrap_or(0));
        let total = ctx.activity("add", json!([total, round])).await?;
        match round {
            1 => ctx.continue_as_new(json!([2, total])),
            2 => ctx.continue_as_new_with_options(
                ContinueAsNewOptions::new().workflow_type("continue-end"),
                json!([3, total]),
            ),
            _ => Ok(total),
        }
    });
    worker.register_workflow("continue-end", |ctx, args| async move {
        let said = ctx.wait_signal("say").await?;
        Ok(json!([args, said]))
    });
    for workflow in ["continue", "continue-end"] {
        worker.declare_workflow_signals(workflow, &["say"])?;
    }
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let handle = scenario.start("continue", json!([1, 0])).await?;
    handle.signal("say", json!(["hello"])).await?;
    let worker = scenario.worker()?;
    ensure_eq!(scenario.result(&handle).await?, json!([[3, 3], ["hello"]]));
    worker.stop().await?;

    let mut at = handle.clone();
    let mut start: Vec<&str> = [START, &["SignalReceived"]].concat();
    // No replay of these: the SDK's offline replay does not know its own continue-as-new when it meets it again.
    for _ in 0..2 {
        let events = scenario.history(&at).read().await?;
        check_kinds(&events, &[&start, ACTIVITY, &["WorkflowContinuedAsNew"]])?;
        let next =
            payloads(&events, "WorkflowContinuedAsNew")[0]["continued_to_run_id"].as_str().ok_or("no next run")?;
        ensure_eq!(at.describe_selected_run().await?.closed_reason.as_deref(), Some("continued"));
        at.run_id = Some(next.to_owned());
        start = vec!["WorkflowStarted", "SignalReceived"];
    }
    at.workflow_type = "continue-end".to_owned();
    let events = scenario.replayed(&at, json!([3, 3])).await?;
    check_kinds(&events, &[&start, &["SignalWaitOpened"], APPLIED, &["WorkflowCompleted"]])?;
    ensure_eq!(members(&events, "WorkflowStarted", "workflow_type"), [json!("continue-end")]);
    Ok(())
}
