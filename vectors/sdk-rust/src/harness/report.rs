//! Writes what the SDK sent as the generated part of docs/compatibility.md.

use std::collections::BTreeSet;
use std::path::Path;

use super::wire::Notes;
use super::Check;

const BEGIN: &str = "<!-- written by vectors/sdk-rust/run.sh --report: begin -->";
const END: &str = "<!-- written by vectors/sdk-rust/run.sh --report: end -->";

/// Replaces the part of the file between the two markers; sorted, so that equal traffic gives equal text.
pub fn write(path: &Path, notes: &Notes) -> Check {
    let text = std::fs::read_to_string(path)?;
    let (before, rest) = text.split_once(BEGIN).ok_or("the file has no begin marker")?;
    let (_, after) = rest.split_once(END).ok_or("the file has no end marker")?;
    std::fs::write(path, format!("{before}{BEGIN}\n\n{}\n{}\n{END}{after}", routes(notes), commands(notes)))?;
    Ok(())
}

fn routes(notes: &Notes) -> String {
    let mut text = String::from("| route | version header | members of the body |\n|---|---|---|\n");
    let mut names: Vec<_> = notes.routes.iter().collect();
    names.sort_by_key(|(name, _)| name.split_once(' ').map(|(method, path)| (path, method)));
    for (name, route) in names {
        text += &format!("| `{name}` | {} | {} |\n", list(&route.headers), list(&route.members));
    }
    text
}

fn commands(notes: &Notes) -> String {
    let mut text = String::from("| command | members beside `type` |\n|---|---|\n");
    for (name, members) in &notes.commands {
        text += &format!("| `{name}` | {} |\n", list(members));
    }
    text
}

fn list(names: &BTreeSet<String>) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
