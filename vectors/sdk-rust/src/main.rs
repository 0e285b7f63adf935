//! Runs programs of the published Rust SDK against a real server process. `run.sh` starts it.
//!
//! `worker SERVER QUEUE WORKER_ID SCENARIO VARIANT` makes it a worker process instead.

// Programs return the error of the SDK as it is.
#![allow(clippy::result_large_err)]

mod harness;
mod scenarios;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::scenario::Scenario;
use harness::server::Server;
use harness::wire::Wire;
use harness::{report, worker, Check};
use scenarios::{Entry, ALL};
use tokio::sync::Mutex;

const PATIENCE: Duration = Duration::from_secs(120);

/// Leases short enough that one lost with its worker or server comes back while the scenario waits, and no longer
/// drain than the end of a run needs.
const SETTINGS: &[(&str, &str)] =
    &[("DW_WORKFLOW_TASK_TIMEOUT", "5s"), ("DW_SHUTDOWN_TIMEOUT", "2s"), ("DW_LOG_LEVEL", "debug")];

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("worker") => worker::main(&arguments[1..]).await.map(|()| true),
        _ => suite(&arguments).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// The scenarios to play and the file to report into.
fn parse(arguments: &[String]) -> Check<(Vec<&'static Entry>, Option<PathBuf>)> {
    let (mut chosen, mut file) = (Vec::new(), None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--report" => file = Some(PathBuf::from(rest.next().ok_or("--report needs a file")?)),
            name => chosen.push(Entry::named(name).ok_or_else(|| usage(name))?),
        }
    }
    ensure!(file.is_none() || chosen.is_empty(), "a report tells of all scenarios: name none with --report");
    if chosen.is_empty() {
        chosen.extend(ALL);
    }
    Ok((chosen, file))
}

fn usage(name: &str) -> String {
    let names: Vec<_> = ALL.iter().map(|entry| entry.name).collect();
    format!(
        "{name}: no such scenario. run.sh [--report FILE] [SCENARIO ...], all when none is named:\n{}",
        names.join(" ")
    )
}

async fn suite(arguments: &[String]) -> Check<bool> {
    let (chosen, file) = parse(arguments)?;
    let binary = PathBuf::from(std::env::var("DW_SDK_SERVER_BINARY").map_err(|_| "run this through run.sh")?);
    let directory = PathBuf::from(std::env::var("DW_SDK_WORK_DIR").map_err(|_| "run this through run.sh")?);
    let mut settings: Vec<_> = SETTINGS.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    if let Ok(url) = std::env::var("DW_SDK_DATABASE_URL") {
        settings.push(("DW_DATABASE_URL".to_owned(), url));
    }
    let mut server = Server::new(&binary, &directory, "server", &settings)?;
    server.start().await?;
    let wire = Wire::open(server.port).await?;
    let server = Arc::new(Mutex::new(server));
    let mut failed = play(&chosen, &server, &wire.url, &directory).await;
    if let Err(error) = server.lock().await.stop().await {
        failed += 1;
        println!("FAIL  {error}");
    }
    if let (Some(file), 0) = (file, failed) {
        report::write(&file, &wire.notes.lock().unwrap())?;
    }
    if failed > 0 {
        println!("logs and database: {}", directory.display());
    }
    println!("{} passed, {failed} failed", chosen.len().saturating_sub(failed));
    Ok(failed == 0)
}

/// Plays one scenario after the other; how many failed.
async fn play(chosen: &[&'static Entry], server: &Arc<Mutex<Server>>, url: &str, directory: &Path) -> usize {
    let mut failed = 0;
    for entry in chosen {
        let began = Instant::now();
        let played = tokio::time::timeout(PATIENCE, async {
            let scenario = Scenario::new(entry, server.clone(), url, directory).await?;
            (entry.run)(&scenario).await
        });
        let error = match played.await {
            Ok(result) => result.err(),
            Err(_) => Some(format!("not done within {PATIENCE:?}").into()),
        };
        let (mark, took) = (if error.is_some() { "FAIL" } else { "ok  " }, began.elapsed().as_secs_f32());
        println!("{mark}  {:<22} {took:5.1} s  {}", entry.name, entry.title);
        if let Some(error) = error {
            failed += 1;
            println!("      {}", harness::shortened(&error));
        }
    }
    failed
}
