//! Secrets in `secrets.toml` in the home folder: a line `NAME = "value"` each. The file is refused
//! while others than its owner can read it. Changes are made under a lock, into a new file that is
//! renamed over the old one, so that processes neither lose each other's nor see half of one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hermes_plugin::secret::{Secret, SecretError, SecretSource};

use crate::home::Home;

/// Largest file read, in bytes: some hundreds of secrets.
const MAX_BYTES: u64 = 1 << 20;

/// What the file opens with.
const HEADER: &str = "\
# Secrets that plugins may use and never see. `hermes-host secrets set` and `remove` write this file
# anew; nobody but its owner may read it.
";

/// The file of a home.
pub(crate) struct SecretsFile(PathBuf);

impl SecretsFile {
    /// The file of a home, which need not exist.
    pub(crate) fn of(home: &Home) -> Self {
        Self(home.secrets())
    }

    /// Keeps a secret in place of what it was. Contract: the name is legal and the folder is there.
    ///
    /// # Errors
    /// The file cannot be used, and nothing is changed.
    pub(crate) fn set(&self, name: &str, secret: &Secret) -> Result<(), SecretError> {
        self.edit(|secrets| {
            secrets.insert(name.to_owned(), secret.expose().to_owned());
        })
    }

    /// Forgets a secret; whether it was there.
    ///
    /// # Errors
    /// The file cannot be used, and nothing is changed.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, SecretError> {
        let mut found = false;
        self.edit(|secrets| found = secrets.remove(name).is_some())?;
        Ok(found)
    }

    fn edit(&self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<(), SecretError> {
        let failed = |error| self.complain(&format!("cannot be written: {error}"));
        // The lock has a file of its own, since the other one is replaced. It is let go on drop.
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.0.with_extension("lock"))
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let before = self.read()?;
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(());
        }
        replace(&self.0, &after).map_err(failed)
    }

    fn read(&self) -> Result<BTreeMap<String, String>, SecretError> {
        let file = match File::open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.complain(&format!("cannot be read: {error}"))),
        };
        let unreadable = |error: io::Error| self.complain(&format!("cannot be read: {error}"));
        let meta = file.metadata().map_err(unreadable)?;
        if let Some(mode) = readable_by_others(&meta) {
            return Err(self.complain(&format!(
                "can be read by others (mode {mode:o}). Run: chmod 600 {}",
                self.0.display()
            )));
        }
        if meta.len() > MAX_BYTES {
            return Err(self.complain("is over 1 MiB, which no secrets need"));
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(unreadable)?;
        // What the parser itself says would show the line, and with it the value.
        toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let line = 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
            self.complain(&format!("line {line}: must be NAME = \"value\", with each name once"))
        })
    }

    fn complain(&self, what: &str) -> SecretError {
        SecretError(format!("the file of secrets {} {what}", self.0.display()))
    }
}

impl SecretSource for SecretsFile {
    fn place(&self) -> &'static str {
        "file"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let Some(value) = self.read()?.remove(name) else { return Ok(None) };
        let secret =
            Secret::parse(&value).map_err(|what| self.complain(&format!("{name}: {what}")));
        secret.map(Some)
    }

    fn names(&self) -> Result<Vec<String>, SecretError> {
        Ok(self.read()?.into_keys().collect())
    }
}

/// Writes the whole file, readable by its owner only, in place of another.
fn replace(path: &Path, secrets: &BTreeMap<String, String>) -> io::Result<()> {
    let text = toml::to_string(secrets).map_err(io::Error::other)?;
    // A link stays a link: the file it leads to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // Temporary files are made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(target.parent().unwrap_or(Path::new(".")))?;
    file.write_all(format!("{HEADER}{text}").as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}

/// The mode of a file that others than its owner can read or change.
#[cfg(unix)]
fn readable_by_others(meta: &std::fs::Metadata) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Modes say nothing here: what others can read is decided by the folder.
#[cfg(not(unix))]
fn readable_by_others(_meta: &std::fs::Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn home() -> (tempfile::TempDir, SecretsFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = SecretsFile::of(&Home::at(folder.path()));
        (folder, file)
    }

    fn secret(text: &str) -> Secret {
        Secret::parse(text).unwrap()
    }

    #[test]
    fn what_is_set_comes_back_until_it_is_removed() {
        let (_folder, file) = home();
        assert_eq!(file.get("A"), Ok(None));
        file.set("A", &secret("first \"quoted\" value")).unwrap();
        file.set("B", &secret("second-value")).unwrap();
        file.set("A", &secret("third-value")).unwrap();
        assert_eq!(file.get("A"), Ok(Some(secret("third-value"))));
        assert_eq!(file.names(), Ok(vec!["A".to_owned(), "B".to_owned()]));
        assert_eq!((file.remove("A"), file.remove("A")), (Ok(true), Ok(false)));
        assert_eq!(file.names(), Ok(vec!["B".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it_and_otherwise_it_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, file) = home();
        file.set("A", &secret("first-value")).unwrap();
        assert_eq!(std::fs::metadata(&file.0).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&file.0, std::fs::Permissions::from_mode(0o640)).unwrap();
        let path = file.0.display();
        let expected = SecretError(format!(
            "the file of secrets {path} can be read by others (mode 640). Run: chmod 600 {path}"
        ));
        assert_eq!(file.get("A"), Err(expected.clone()));
        assert_eq!(file.set("B", &secret("second-value")), Err(expected.clone()));
        assert_eq!(file.names(), Err(expected));
    }

    #[test]
    fn a_complaint_about_the_file_shows_no_value() {
        let (_folder, file) = home();
        file.set("A", &secret("first-value")).unwrap();
        let text = std::fs::read_to_string(&file.0).unwrap();
        for broken in ["B = hunter2-hunter2", "B = 12345678901", "A = \"hunter2-hunter2\""] {
            std::fs::write(&file.0, format!("{text}{broken}\n")).unwrap();
            let problem = file.get("A").unwrap_err().to_string();
            assert!(
                problem.ends_with("line 4: must be NAME = \"value\", with each name once"),
                "{problem}"
            );
        }
    }

    #[test]
    fn processes_that_write_at_once_lose_nothing() {
        let (_folder, file) = home();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let file = &file;
                scope
                    .spawn(move || file.set(&format!("S{n}"), &secret("some-value-here")).unwrap());
            }
        });
        assert_eq!(file.names().unwrap().len(), 8);
    }
}
