use std::sync::Mutex;
use std::time::Duration;

use durable_workflow::{json, ActivityOptions, Error, Result, Worker, WorkflowCommandOptions};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, count, payloads, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "cancel_and_terminate",
    title: "cancel and terminate, seen by a running activity; its late result does not end the worker",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("work-until-told", |ctx, args| async move {
        while !ctx.heartbeat(json!({"at": "work"})).await?.should_stop() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        TOLD.lock().unwrap().push(args[0].as_str().unwrap_or_default().to_owned());
        Ok(json!("a result that comes too late"))
    });
    worker.register_activity("work-on", |_, _| async move {
        tokio::time::sleep(Duration::from_millis(800)).await;
        Err(Error::WorkerLoop("a failure that comes too late".into()))
    });
    worker.register_workflow("long-work", |ctx, args| async move {
        let options = ActivityOptions::new().heartbeat_timeout(Duration::from_secs(5));
        let told = ctx.activity_with_options("work-until-told", options, json!([args[0]]));
        let deaf = ctx.activity("work-on", json!([]));
        match args[1] == json!("deaf") {
            true => deaf.await,
            false => told.await,
        }
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    for command in ["cancel", "terminate"] {
        told(scenario, command).await?;
        deaf(scenario, command).await?;
    }
    tokio::time::sleep(Duration::from_secs(1)).await; // the deaf activities report
    worker.stop().await
}

async fn told(scenario: &Scenario, command: &str) -> Check {
    let handle = scenario.start("long-work", json!([command, "told"])).await?;
    scenario.history(&handle).until_count("ActivityHeartbeatRecorded", 2).await?;
    ends(scenario, &handle, command).await?;
    scenario.eventually("the activity was told", || TOLD.lock().unwrap().iter().any(|told| told == command)).await?;

    let events = scenario.replayed(&handle, json!([command, "told"])).await?;
    let beats = vec!["ActivityHeartbeatRecorded"; count(&events, "ActivityHeartbeatRecorded")];
    let (requested, closed) = names(command);
    let running = &["ActivityScheduled", "ActivityStarted"];
    check_kinds(&events, &[START, running, &beats, &[requested, "ActivityCancelled", closed]])?;
    ensure_eq!(payloads(&events, closed)[0]["reason"], json!("for the test"));
    Ok(())
}

/// An activity that does not ask reports to a run that is closed.
async fn deaf(scenario: &Scenario, command: &str) -> Check {
    let handle = scenario.start("long-work", json!([command, "deaf"])).await?;
    scenario.history(&handle).until_count("ActivityStarted", 1).await?;
    ends(scenario, &handle, command).await
}

async fn ends(scenario: &Scenario, handle: &durable_workflow::WorkflowHandle, command: &str) -> Check {
    let options = WorkflowCommandOptions::new().reason("for the test");
    match command {
        "cancel" => handle.cancel(options).await?,
        _ => handle.terminate(options).await?,
    };
    let outcome = match (command, scenario.result(handle).await) {
        ("cancel", Err(Error::WorkflowCancelled(outcome))) | ("terminate", Err(Error::WorkflowTerminated(outcome))) => {
            outcome
        }
        (_, other) => return Err(format!("after {command}: {other:?}").into()),
    };
    ensure_eq!(outcome.run_id, handle.run_id);
    let again = handle.cancel(WorkflowCommandOptions::new()).await;
    ensure!(
        matches!(&again, Err(Error::WorkflowCommandRejected(refused)) if refused.reason == "run_not_active"),
        "{again:?}"
    );
    Ok(())
}

fn names(command: &str) -> (&'static str, &'static str) {
    match command {
        "cancel" => ("CancelRequested", "WorkflowCancelled"),
        _ => ("TerminateRequested", "WorkflowTerminated"),
    }
}
