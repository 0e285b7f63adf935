//! What a scenario works with: a client, workers, histories, and the server, which it may kill.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use durable_workflow::testing::{WorkflowEnvironment, WorkflowHistory};
use durable_workflow::{Client, Error, Uuid, Worker, WorkflowHandle, WorkflowResultOptions};
use serde_json::{json, Value};
use tokio::process::Child;
use tokio::sync::Mutex;

use super::history::{Event, History};
use super::server::Server;
use super::worker::{self, Running};
use super::Check;
use crate::ensure;
use crate::scenarios::Entry;

/// One run of one scenario. Queue, worker ids and workflow ids are its own, so that scenarios share a server.
pub struct Scenario {
    pub entry: &'static Entry,
    pub server: Arc<Mutex<Server>>,
    pub server_url: String,
    pub sdk_url: String,
    pub directory: PathBuf,
    pub queue: String,
    pub client: Client,
}

impl Scenario {
    pub async fn new(
        entry: &'static Entry,
        server: Arc<Mutex<Server>>,
        sdk_url: &str,
        directory: &Path,
    ) -> Check<Self> {
        let server_url = server.lock().await.url.clone();
        Ok(Self {
            entry,
            server,
            server_url,
            sdk_url: sdk_url.to_owned(),
            directory: directory.to_owned(),
            queue: format!("{}-{}", entry.name, &Uuid::new_v4().simple().to_string()[..8]),
            client: Client::new(sdk_url)?,
        })
    }

    /// A worker with the scenario's program, not started. Its id is new: a worker id belongs to one process.
    pub fn program(&self, variant: &str) -> Check<Worker> {
        let id = format!("{}-{}", self.queue, Uuid::new_v4().simple());
        let worker = worker::new(Client::new(&self.sdk_url)?, &self.queue, &id);
        Ok((self.entry.program)(worker, variant)?)
    }

    /// A worker in this process.
    pub fn worker(&self) -> Check<Running> {
        Ok(Running::start(self.program("default")?))
    }

    /// A worker as an operating-system process.
    pub fn process(&self, name: &str, variant: &str) -> Check<Child> {
        let path = self.directory.join(format!("{}-{name}.log", self.entry.name));
        let log = OpenOptions::new().create(true).append(true).open(path)?;
        let worker_id = format!("{}-{name}", self.queue);
        worker::process(&self.sdk_url, &self.queue, &worker_id, self.entry.name, variant, log)
    }

    /// Starts a workflow on the scenario's queue.
    pub async fn start(&self, workflow_type: &str, input: Value) -> Check<WorkflowHandle> {
        let id = format!("{}-{}", self.queue, &Uuid::new_v4().simple().to_string()[..8]);
        Ok(self.client.start_workflow(workflow_type, &self.queue, &id, input).await?)
    }

    /// The result of the handle's chain of runs.
    pub async fn result(&self, handle: &WorkflowHandle) -> Result<Value, Error> {
        let options =
            WorkflowResultOptions { poll_interval: Duration::from_millis(50), timeout: Duration::from_secs(40) };
        handle.result(options).await
    }

    /// The history of the run that a handle names.
    pub fn history(&self, handle: &WorkflowHandle) -> History {
        self.history_of(&handle.workflow_id, handle.run_id.as_deref().unwrap_or_default())
    }

    pub fn history_of(&self, workflow_id: &str, run_id: &str) -> History {
        History::new(&self.server_url, workflow_id, run_id, None)
    }

    /// The whole history of a run, after the SDK's own replay has gone through it without a divergence.
    pub async fn replayed(&self, handle: &WorkflowHandle, input: Value) -> Check<Vec<Event>> {
        self.replayed_by("default", handle, input).await
    }

    pub async fn replayed_by(&self, variant: &str, handle: &WorkflowHandle, input: Value) -> Check<Vec<Event>> {
        let history = self.history(handle);
        let document = json!({
            "workflow_id": handle.workflow_id, "run_id": handle.run_id, "events": history.documents().await?,
        });
        let recorded = WorkflowHistory::from_history(&handle.workflow_type, input, document)?.task_queue(&self.queue);
        WorkflowEnvironment::from_worker(self.program(variant)?).replay(&recorded)?;
        history.read().await
    }

    /// Waits until something in this process is so; for what no history tells.
    pub async fn eventually(&self, what: &str, mut done: impl FnMut() -> bool) -> Check {
        let began = Instant::now();
        while !done() {
            ensure!(began.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }
}
