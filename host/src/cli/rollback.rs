//! `rollback`: the folders around the working directory as they were before the last turns that
//! changed them. It can itself be rolled back.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{DateTime, Local};
use clap::Args;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Output, RunArgs, exit};
use crate::UsageError;
use crate::checkpoint::{Cause, Checkpoint, FolderCheckpoints, Restored};
use crate::config::Config;
use crate::home::Home;
use crate::render::{Out, printable};

/// How far back.
#[derive(Debug, Clone, Args)]
pub(crate) struct RollbackArgs {
    /// How many turns that changed something to go back; a rollback counts as one, so `rollback 1`
    /// after it undoes it
    #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    turns: u16,
    /// Only show what there is to go back to, with the N of each
    #[arg(long, conflicts_with = "turns")]
    list: bool,
    /// The folder, instead of the working directory
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Runs `rollback`.
pub(super) fn main(
    command: &RollbackArgs,
    args: &RunArgs,
    home: &Home,
) -> Result<ExitCode, UsageError> {
    let out = Out::new(CancellationToken::new());
    let place = command.folder.clone().unwrap_or(PathBuf::from("."));
    let place = std::path::absolute(&place)
        .map(|place| place.canonicalize().unwrap_or(place))
        .map_err(|error| UsageError::new(format!("cannot find {}: {error}", place.display())))?;
    let config = Config::load(&home.config())?.checkpoints;
    let Some(checkpoints) = FolderCheckpoints::new(home, &config)? else {
        return Err(UsageError::new(
            "checkpoints are switched off under [checkpoints] in config.toml",
        ));
    };
    let points = points(checkpoints.about(&place)?);
    if command.list {
        list(&points, args.output, &out);
    } else {
        let turns = usize::from(command.turns);
        restore(&checkpoints, &points, turns, &place, args.output, &out)?;
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

/// Checkpoints of one turn, or of one rollback.
type Point = Vec<Checkpoint>;

/// Puts together what belongs to one turn, the newest first.
fn points(all: Vec<Checkpoint>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for checkpoint in all {
        match points.last_mut() {
            Some(point) if point[0].point() == checkpoint.point() => point.push(checkpoint),
            _ => points.push(vec![checkpoint]),
        }
    }
    points
}

fn list(points: &[Point], output: Output, out: &Out) {
    if output != Output::Text {
        let lines: Vec<Value> =
            points.iter().zip(1..).map(|(point, n)| described(point, n)).collect();
        return out.json(&lines);
    }
    if points.is_empty() {
        out.note("no turn has changed anything here, as far as is kept");
    }
    for (point, n) in points.iter().zip(1..) {
        for checkpoint in point {
            let folder = printable(&checkpoint.folder.display().to_string());
            let (when, files) = (taken(checkpoint).format("%Y-%m-%d %H:%M:%S"), checkpoint.len());
            out.line(&format!(
                "{n:>3}  {when}  before {}  {folder} ({files} files)",
                why(checkpoint)
            ));
        }
    }
}

fn why(checkpoint: &Checkpoint) -> String {
    match &checkpoint.cause {
        Cause::Turn { session_id, turn, tool } => {
            printable(&format!("{tool} in turn {turn} of session {session_id}"))
        }
        Cause::Rollback => "a rollback".into(),
    }
}

fn taken(checkpoint: &Checkpoint) -> DateTime<Local> {
    let seconds = checkpoint.taken_ns / 1_000_000_000;
    DateTime::from_timestamp(seconds, 0).unwrap_or_default().with_timezone(&Local)
}

fn described(point: &Point, n: usize) -> Value {
    let folders: Vec<Value> = point
        .iter()
        .map(|checkpoint| json!({"folder": checkpoint.folder, "files": checkpoint.len()}))
        .collect();
    let cause = serde_json::to_value(&point[0].cause).unwrap_or_default();
    json!({"n": n, "taken": taken(&point[0]).to_rfc3339(), "before": cause, "folders": folders})
}

/// Goes back `turns` points: each folder to the oldest of its checkpoints among them.
fn restore(
    checkpoints: &FolderCheckpoints,
    points: &[Point],
    turns: usize,
    place: &Path,
    output: Output,
    out: &Out,
) -> Result<(), UsageError> {
    if turns > points.len() {
        let (place, there) = (place.display(), points.len());
        return Err(UsageError::new(match there {
            0 => format!(
                "nothing is kept of {place}: no turn has changed it, or it has been too long; \
                 name another folder with --folder"
            ),
            _ => format!(
                "only {there} steps back are kept of {place}; hermes-host rollback --list shows them"
            ),
        }));
    }
    let mut oldest: Vec<&Checkpoint> = Vec::new();
    for checkpoint in points[..turns].iter().flatten() {
        oldest.retain(|known| known.folder != checkpoint.folder);
        oldest.push(checkpoint);
    }
    let mut told = Vec::new();
    for checkpoint in oldest {
        let restored = checkpoints.restore(checkpoint)?;
        if output == Output::Text {
            tell(checkpoint, &restored, out);
        }
        let Restored { back, removed, left } = restored;
        told.push(
            json!({"folder": checkpoint.folder, "back": back, "removed": removed, "left": left}),
        );
    }
    if output == Output::Text {
        out.note("hermes-host rollback undoes this");
    } else {
        out.json(&told);
    }
    Ok(())
}

fn tell(checkpoint: &Checkpoint, restored: &Restored, out: &Out) {
    let Restored { back, removed, left } = restored;
    let line = |what: &str, path: &PathBuf| {
        let path = checkpoint.folder.join(path).display().to_string();
        out.line(&format!("{what} {}", printable(&path)));
    };
    back.iter().for_each(|path| line("restored", path));
    removed.iter().for_each(|path| line("removed ", path));
    for path in left {
        let path = checkpoint.folder.join(path).display().to_string();
        out.note(&format!("{} was too large to keep and is left as it is", printable(&path)));
    }
    if back.is_empty() && removed.is_empty() {
        out.line(&format!("{} is as it was", printable(&checkpoint.folder.display().to_string())));
    }
}
