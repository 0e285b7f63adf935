//! A relay between SDK and server that changes nothing and notes what the SDK sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::Check;

/// What was sent to one route, over a whole run.
#[derive(Default)]
pub struct Route {
    pub headers: BTreeSet<String>,
    pub members: BTreeSet<String>,
    pub statuses: BTreeMap<u16, usize>,
}

/// Everything that was sent.
#[derive(Default)]
pub struct Notes {
    pub routes: BTreeMap<String, Route>,
    pub commands: BTreeMap<String, BTreeSet<String>>,
}

/// Relays bytes from a port of its own to the server's, one upstream connection for each of the SDK's. A side that
/// closes closes the other one too, so a killed server looks killed to the SDK, and a killed worker to the server.
pub struct Wire {
    pub url: String,
    pub notes: Arc<Mutex<Notes>>,
}

impl Wire {
    pub async fn open(server_port: u16) -> Check<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let notes = Arc::new(Mutex::new(Notes::default()));
        let kept = notes.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, server_port, notes.clone()));
            }
        });
        Ok(Self { url, notes: kept })
    }
}

async fn relay(client: TcpStream, server_port: u16, notes: Arc<Mutex<Notes>>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)).await else {
        return; // no server: the SDK sees a connection that is closed at once
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((client_in, client_out), (server_in, server_out)) = (client.into_split(), server.into_split());
    let pending = Arc::new(Mutex::new(VecDeque::new()));
    let (asked, answered) = (pending.clone(), notes.clone());
    let requests = pump(client_in, server_out, move |head, body| {
        let mut notes = notes.lock().unwrap();
        asked.lock().unwrap().push_back(notes.request(head, body));
    });
    let answers = pump(server_in, client_out, move |head, _| {
        let status = head.lines().next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        if let (Some(route), Some(status)) = (pending.lock().unwrap().pop_front(), status) {
            let mut notes = answered.lock().unwrap();
            *notes.routes.entry(route).or_default().statuses.entry(status).or_default() += 1;
        }
    });
    tokio::select! { () = requests => {}, () = answers => {} }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut note: impl FnMut(&str, &[u8])) {
    let (mut chunk, mut kept) = (vec![0; 65536], Vec::new());
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..length]);
        while let Some((head, body, taken)) = message(&kept) {
            note(&head, &body);
            kept.drain(..taken);
        }
        if to.write_all(&chunk[..length]).await.is_err() {
            return;
        }
    }
}

/// The first message of one direction of an HTTP/1.1 connection: head, body, and how many bytes it took.
fn message(data: &[u8]) -> Option<(String, Vec<u8>, usize)> {
    let end = data.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&data[..end]).into_owned();
    let field = |name: &str| {
        let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    if field("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        let (body, taken) = chunked(&data[end..])?;
        return Some((head, body, end + taken));
    }
    let length = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    Some((head, data.get(end..end + length)?.to_vec(), end + length))
}

fn chunked(data: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let line = data[at..].windows(2).position(|bytes| bytes == b"\r\n")?;
        let size = std::str::from_utf8(&data[at..at + line]).ok()?.split(';').next()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        at += line + 2;
        body.extend_from_slice(data.get(at..at + size + 2)?.get(..size)?);
        at += size + 2;
        if size == 0 {
            return Some((body, at));
        }
    }
}

impl Notes {
    /// Notes a request and returns the name of its route.
    fn request(&mut self, head: &str, body: &[u8]) -> String {
        let mut lines = head.lines();
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let name = format!("{method} {}", route(target));
        let noted = self.routes.entry(name.clone()).or_default();
        for (key, value) in lines.filter_map(|line| line.split_once(':')) {
            let version = ["x-durable-workflow-protocol-version", "x-durable-workflow-control-plane-version"];
            if version.contains(&key.to_lowercase().as_str()) {
                noted.headers.insert(format!("{}: {}", title(key), value.trim()));
            }
        }
        if let Ok(Value::Object(members)) = serde_json::from_slice(body) {
            noted.members.extend(members.keys().cloned());
            for command in members.get("commands").and_then(Value::as_array).into_iter().flatten() {
                let kind = command["type"].as_str().unwrap_or_default().to_owned();
                let keys = command.as_object().into_iter().flat_map(|command| command.keys());
                self.commands.entry(kind).or_default().extend(keys.filter(|key| *key != "type").cloned());
            }
        }
        name
    }
}

/// A target without its query, ids replaced by their names.
fn route(target: &str) -> String {
    let path = target.split('?').next().unwrap_or_default();
    let mut before = "";
    let parts = path.split('/').map(|part| {
        let named = match before {
            "workflow-tasks" | "activity-tasks" | "query-tasks" if part != "poll" => "{taskId}",
            "registrations" => "{workerId}",
            "workflows" => "{workflowId}",
            "runs" => "{runId}",
            "signal" => "{signalName}",
            _ => part,
        };
        before = part;
        named
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A header name as it is usually written; the SDK sends it in lower case.
fn title(name: &str) -> String {
    let parts = name.split('-').map(|part| match part.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + &rest.to_lowercase(),
        None => String::new(),
    });
    parts.collect::<Vec<_>>().join("-")
}
