//! A real server process: started, killed and started again at the same address.

use std::fs::OpenOptions;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};

use super::Check;
use crate::ensure;

/// One dwserver process. Its port and its database stay the same over restarts.
pub struct Server {
    pub port: u16,
    pub url: String,
    binary: PathBuf,
    directory: PathBuf,
    name: String,
    settings: Vec<(String, String)>,
    process: Option<Child>,
}

impl Server {
    /// A server with an SQLite file and a log in the directory, both of that name. `settings` are its DW_* variables,
    /// a DW_DATABASE_URL among them replaces the file.
    pub fn new(binary: &Path, directory: &Path, name: &str, settings: &[(String, String)]) -> Check<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Self {
            port,
            url: format!("http://127.0.0.1:{port}"),
            binary: binary.to_owned(),
            directory: directory.to_owned(),
            name: name.to_owned(),
            settings: settings.to_vec(),
            process: None,
        })
    }

    /// A second server of its own: another port, a new SQLite file, settings beside those of this one.
    pub fn another(&self, name: &str, settings: &[(&str, &str)]) -> Check<Self> {
        let mut all: Vec<_> = self.settings.iter().filter(|(key, _)| key != "DW_DATABASE_URL").cloned().collect();
        all.extend(settings.iter().map(|(key, value)| (key.to_string(), value.to_string())));
        Self::new(&self.binary, &self.directory, name, &all)
    }

    /// Returns when the server says that it is ready; fails when it ends or takes 20 s.
    pub async fn start(&mut self) -> Check {
        let path = self.directory.join(format!("{}.log", self.name));
        let log = OpenOptions::new().create(true).append(true).open(path)?;
        let mut command = Command::new(&self.binary);
        for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("DW_")) {
            command.env_remove(key);
        }
        let database = self.directory.join(format!("{}.db", self.name));
        command
            .arg("serve")
            .env("DW_DATABASE_URL", format!("sqlite://{}", database.display()))
            .envs(self.settings.iter().map(|(key, value)| (key, value)))
            .env("DW_LISTEN", format!("127.0.0.1:{}", self.port))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true);
        let process = self.process.insert(command.spawn()?);
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if let Some(status) = process.try_wait()? {
                return Err(format!("the server ended at its start: {status}").into());
            }
            if reqwest::get(format!("{}/api/ready", self.url)).await.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        Err("the server was not ready within 20 s".into())
    }

    /// SIGKILL: nothing is flushed, no request is finished.
    pub async fn kill(&mut self) -> Check {
        Ok(self.process.as_mut().ok_or("no server runs")?.kill().await?)
    }

    /// SIGTERM, and a clean end within 30 s.
    pub async fn stop(&mut self) -> Check {
        let mut process = self.process.take().ok_or("no server runs")?;
        let status = super::worker::terminate(&mut process).await?;
        ensure!(status.success(), "the server ended with {status} on SIGTERM");
        Ok(())
    }
}
