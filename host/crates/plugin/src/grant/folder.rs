//! From the folder a user named to the one that is meant: absolute, without links, there, and
//! nowhere near the host's own home, whose files decide what plugins may do.

use std::path::{Path, PathBuf};

use crate::grant::Power;

/// The places grants are resolved against.
#[derive(Debug, Clone)]
pub struct Places {
    /// The working directory.
    pub cwd: PathBuf,
    /// The host's home folder (`~/.hermes-host`); it need not exist yet.
    pub home: PathBuf,
    /// The user's home directory, for `~/`.
    pub user_home: Option<PathBuf>,
}

/// Folders whose files are windows into the kernel and into other processes: this process's own
/// environment, with its keys, is a file below the first.
const KERNEL_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Places {
    /// A power with its folder, if it has one, resolved.
    ///
    /// # Errors
    /// Says which folder is missing, is no folder, or may be granted to nobody.
    pub fn resolve(&self, power: Power) -> Result<Power, String> {
        let Power::Fs { path, writable } = power else { return Ok(power) };
        let written = self.cwd.join(self.expand(&path));
        let missing = |error| format!("cannot use the folder {}: {error}", written.display());
        let path = written.canonicalize().map_err(missing)?;
        if !path.is_dir() {
            let parent = path.parent().unwrap_or(&path).display().to_string();
            return Err(format!(
                "{} is a file; grant the folder it is in: fs:{parent}:ro",
                path.display()
            ));
        }
        if path.to_str().is_none_or(|text| text.contains(char::is_control)) {
            return Err(format!("the path {} is not plain text", path.display()));
        }
        if let Some(kernel) = KERNEL_FOLDERS.iter().find(|kernel| path.starts_with(kernel)) {
            return Err(format!(
                "{} is below {kernel}, which shows other processes' memory and environment; no \
                 plugin can have it",
                path.display()
            ));
        }
        self.keep_off_home(&path)?;
        Ok(Power::Fs { path, writable })
    }

    /// A path with `~/` in front replaced.
    pub(crate) fn expand(&self, path: &Path) -> PathBuf {
        match (&self.user_home, path.strip_prefix("~")) {
            (Some(user_home), Ok(rest)) => user_home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// Refuses a folder that holds the home, lies in it, or holds a file the home links to:
    /// whoever can write there could grant themselves anything, and whoever can read there knows
    /// the key of the compiled-code cache.
    fn keep_off_home(&self, path: &Path) -> Result<(), String> {
        let home = real_path(&self.cwd.join(&self.home));
        if path.starts_with(&home) || home.starts_with(path) {
            return Err(format!(
                "{} overlaps the home folder of hermes-host, {}; grant a folder beside it",
                path.display(),
                home.display()
            ));
        }
        for (name, target) in links_out_of(&home) {
            if path.starts_with(&target) || target.starts_with(path) {
                return Err(format!(
                    "{} overlaps {}, where {name} of the home folder of hermes-host leads; grant \
                     a folder beside it",
                    path.display(),
                    target.display()
                ));
            }
        }
        Ok(())
    }
}

/// The path without links, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            // The rest of the path does not exist, so it holds no links.
            return match path.strip_prefix(ancestor) {
                Ok(rest) if rest.as_os_str().is_empty() => real,
                Ok(rest) => real.join(rest),
                Err(_) => real,
            };
        }
    }
    path.to_owned()
}

/// Entries of the home that are links, with where they lead. `plugins` may lead anywhere: what
/// lies there is bound to its bytes, and people link their working copies.
fn links_out_of(home: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = home.read_dir() else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .filter(|entry| entry.file_name() != "plugins")
        .filter_map(|entry| {
            let target = entry.path().canonicalize().ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), target))
        })
        .collect()
}
