use durable_workflow::{
    json, ActivityError, ActivityFailureKind, ActivityOptions, ActivityRetryPolicy, Error, Result, Worker,
};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, payloads, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "non_retryable_failure",
    title: "failures that no policy retries: by their own mark, by their type; caught and not caught",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("charge", |_, args| async move {
        let kind = args[0].as_str().unwrap_or_default();
        Err(ActivityError::new(kind, "the card was declined").non_retryable(kind == "Marked").into())
    });
    worker.register_workflow("non-retryable", |ctx, args| async move {
        let policy = ActivityRetryPolicy::new(5).non_retryable_error_type("Listed");
        let call = ctx.activity_with_options("charge", ActivityOptions::new().retry_policy(policy), json!([args[0]]));
        match call.await {
            Err(Error::ActivityFailed(failure)) if args[1] == json!("catch") => Ok(json!({
                "failed": failure.kind == ActivityFailureKind::Failed,
                "type": failure.exception_type, "message": failure.message, "attempt": failure.attempt_number,
                "non_retryable": failure.non_retryable, "activity": failure.activity_type,
            })),
            other => other,
        }
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    for kind in ["Marked", "Listed"] {
        let input = json!([kind, "catch"]);
        let handle = scenario.start("non-retryable", input.clone()).await?;
        let wanted = json!({
            "failed": true, "type": kind, "message": "the card was declined", "attempt": 1,
            "non_retryable": true, "activity": "charge",
        });
        ensure_eq!(scenario.result(&handle).await?, wanted);
        let events = scenario.replayed(&handle, input).await?;
        let failed = &["ActivityScheduled", "ActivityStarted", "ActivityFailed"];
        check_kinds(&events, &[START, failed, &["WorkflowCompleted"]])?;
        ensure_eq!(members(&events, "ActivityFailed", "non_retryable"), [json!(true)]);
    }
    uncaught(scenario).await?;
    worker.stop().await
}

async fn uncaught(scenario: &Scenario) -> Check {
    let input = json!(["Marked", "throw"]);
    let handle = scenario.start("non-retryable", input.clone()).await?;
    let outcome = match scenario.result(&handle).await {
        Err(Error::WorkflowFailed(outcome)) => outcome,
        other => return Err(format!("not failed: {other:?}").into()),
    };
    ensure_eq!(outcome.message.as_deref(), Some("activity failed (activity): the card was declined"));
    let events = scenario.replayed(&handle, input).await?;
    check_kinds(&events, &[START, &["ActivityScheduled", "ActivityStarted", "ActivityFailed", "WorkflowFailed"]])?;
    let failed = payloads(&events, "WorkflowFailed")[0];
    ensure_eq!(outcome.failure_id.as_deref(), failed["failure_id"].as_str());
    ensure_eq!(outcome.exception_type.as_deref(), failed["exception_type"].as_str());
    Ok(())
}
