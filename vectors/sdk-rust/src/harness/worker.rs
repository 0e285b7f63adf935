//! Workers: in this process, or as processes of their own where one has to be killed.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use durable_workflow::{Client, Worker};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Check;
use crate::ensure;
use crate::scenarios::Entry;

/// A worker of the SDK as the scenarios use it. Its poll is short, because the SDK ends a poll before it stops.
pub fn new(client: Client, queue: &str, worker_id: &str) -> Worker {
    Worker::new(client, queue).worker_id(worker_id).poll_timeout(Duration::from_secs(1))
}

/// A worker in this process.
pub struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<durable_workflow::Result<()>>,
}

impl Running {
    pub fn start(worker: Worker) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let result = worker.run_until(async { stopped.await.unwrap_or(()) }).await;
            if let Err(error) = &result {
                eprintln!("      a worker ended: {}", super::shortened(error));
            }
            result
        });
        Self { stop: Some(stop), task }
    }

    /// Stops the worker; fails when it ended, or ends, with an error.
    pub async fn stop(mut self) -> Check {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(()); // nobody listens where it ended before, and then the task has the error
        }
        Ok((&mut self.task).await??)
    }

    /// The error with which the worker ended.
    pub async fn ended(mut self) -> Check<durable_workflow::Error> {
        let result = tokio::time::timeout(Duration::from_secs(20), &mut self.task).await??;
        result.err().ok_or("the worker ended without an error".into())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A worker as a process: this program again, with the scenario's program of that variant.
pub fn process(
    url: &str,
    queue: &str,
    worker_id: &str,
    scenario: &str,
    variant: &str,
    log: std::fs::File,
) -> Check<Child> {
    Ok(Command::new(std::env::current_exe()?)
        .args(["worker", url, queue, worker_id, scenario, variant])
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true)
        .spawn()?)
}

/// The main function of such a process: runs until SIGTERM.
pub async fn main(arguments: &[String]) -> Check {
    let [url, queue, worker_id, scenario, variant] = arguments else {
        return Err("worker SERVER QUEUE WORKER_ID SCENARIO VARIANT".into());
    };
    let entry = Entry::named(scenario).ok_or(format!("no scenario {scenario}"))?;
    let mut asked = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    // Polls outlive a server that is away; a worker that could not report or register ends, and is made again.
    loop {
        let worker = new(Client::new(url)?, queue, worker_id).recover_transient_outages(true);
        let worker = (entry.program)(worker, variant)?;
        let mut stopped = false;
        let ended = worker.run_until(async { stopped = asked.recv().await.is_some() }).await;
        match ended {
            Err(error) if !stopped => eprintln!("the worker ended: {}", super::shortened(&error)),
            other => return Ok(other?),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// SIGTERM, and an end within 30 s.
pub async fn terminate(process: &mut Child) -> Check<ExitStatus> {
    let id = process.id().ok_or("the process has ended already")?;
    let sent = Command::new("kill").args(["-TERM", &id.to_string()]).status().await?;
    ensure!(sent.success(), "no SIGTERM for {id}");
    Ok(tokio::time::timeout(Duration::from_secs(30), process.wait()).await??)
}
