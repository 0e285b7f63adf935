use std::time::Duration;

use durable_workflow::{json, Client, Error, Result, Worker, WorkflowResultOptions};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, History, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::server::Server;
use crate::harness::worker::Running;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "role_tokens",
    title: "a server with role tokens: one for the worker, one for the operator, none is refused",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("whisper", |_, args| async move {
        Ok(json!(args[0].as_str().unwrap_or_default().to_lowercase()))
    });
    worker.register_workflow("role-tokens", |ctx, args| async move { ctx.activity("whisper", args).await });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let tokens = [("DW_WORKER_TOKEN", "for-the-worker"), ("DW_OPERATOR_TOKEN", "for-the-operator")];
    let mut server = scenario.server.lock().await.another(&scenario.queue, &tokens)?;
    server.start().await?;
    play(scenario, &server).await?;
    server.stop().await
}

async fn play(scenario: &Scenario, server: &Server) -> Check {
    let nobody = Client::new(&server.url)?.describe_workflow("anything").await;
    ensure!(matches!(&nobody, Err(Error::Http { status, .. }) if status.as_u16() == 401), "{nobody:?}");

    let tokens = |name: &str| Some(format!("for-the-{name}"));
    let client =
        Client::builder(&server.url).control_token(tokens("operator")).worker_token(tokens("worker")).build()?;
    let worker = program(Worker::new(client.clone(), &scenario.queue).poll_timeout(Duration::from_secs(1)), "default")?;
    let worker = Running::start(worker);
    let handle = client.start_workflow("role-tokens", &scenario.queue, &scenario.queue, json!(["SECRET"])).await?;
    ensure_eq!(handle.result(WorkflowResultOptions::default()).await?, json!("secret"));
    worker.stop().await?;

    // The operator's token is none for a worker.
    let client = Client::builder(&server.url).worker_token(tokens("operator")).build()?;
    let refused = Running::start(program(Worker::new(client, &scenario.queue), "default")?).ended().await?;
    let Error::WorkerShutdown { primary, .. } = &refused else {
        return Err(format!("not refused: {refused:?}").into());
    };
    ensure!(matches!(**primary, Error::Http { status, .. } if status.as_u16() == 403), "{refused:?}");

    let run_id = handle.run_id.as_deref().unwrap_or_default();
    let history = History::new(&server.url, &handle.workflow_id, run_id, Some("for-the-operator"));
    check_kinds(&history.read().await?, &[START, ACTIVITY, &["WorkflowCompleted"]])
}
