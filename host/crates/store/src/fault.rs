//! What can go wrong between a port and SQLite, and how it is told to a person.
//!
//! Inside the crate an error does not know the file it happened in; [`Fault::at`] adds that, and
//! what to do, at the edge.

use std::path::Path;

use hermes_core::store::StoreError;
use rusqlite::ErrorCode;

/// An error before its file is known.
#[derive(Debug)]
pub(crate) enum Fault {
    /// No session of that id.
    NoSession(String),
    /// A turn is running in the session; the text is complete.
    InUse(String),
    /// Refused by us; the text is complete but for the path.
    Refused(String),
    /// Refused by SQLite.
    Sql(rusqlite::Error),
}

/// What everything below the ports returns.
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    /// Whether another connection holds a lock, so that waiting helps.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql(error) if is_busy(error))
    }

    /// The error as the core knows it, for the store in the file `path`.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        let path = path.display();
        match self {
            Self::NoSession(id) => StoreError::NoSession(id),
            Self::InUse(text) => StoreError::InUse(text),
            Self::Refused(text) => StoreError::Broken(format!("{path}: {text}")),
            Self::Sql(error) => StoreError::Broken(format!("{path}: {}", explain(&error))),
        }
    }
}

/// Whether another connection holds a lock.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

/// What happened and what to do next.
fn explain(error: &rusqlite::Error) -> String {
    let advice = match error.sqlite_error_code() {
        Some(code) => advice(code),
        None => return format!("SQLite refused a statement: {error}"),
    };
    format!("{advice} ({error})")
}

fn advice(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotADatabase => {
            "not a SQLite database; it was not touched. Move it aside or choose another folder, \
             then try again"
        }
        ErrorCode::DatabaseCorrupt => {
            "the database is damaged; it was not repaired or overwritten. Move it aside together \
             with its -wal and -shm files and start again with a new one; the command `.recover` \
             of the sqlite3 shell may save what is in it"
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            "cannot be written. Give this user write permission on the file and its folder"
        }
        ErrorCode::CannotOpen => {
            "cannot be opened. Check that its folder exists and that this user may write there"
        }
        ErrorCode::DiskFull => "the disk is full. Free some space and try again",
        ErrorCode::SystemIoFailure => "the disk could not be read or written. Check the disk",
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => {
            "another program has held a lock on it for too long. End that program or wait for it, \
             then try again"
        }
        _ => "SQLite refused a statement",
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn told(code: i32) -> String {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some("detail".into()));
        Fault::from(error).at(Path::new("/home/state.db")).to_string()
    }

    #[test]
    fn an_error_names_the_file_and_what_to_do() {
        assert_eq!(
            told(ffi::SQLITE_FULL),
            "/home/state.db: the disk is full. Free some space and try again (detail)"
        );
        assert_eq!(
            told(ffi::SQLITE_READONLY),
            "/home/state.db: cannot be written. Give this user write permission on the file and \
             its folder (detail)"
        );
        assert_eq!(
            told(ffi::SQLITE_IOERR_FSYNC),
            "/home/state.db: the disk could not be read or written. Check the disk (detail)"
        );
        assert_eq!(
            told(ffi::SQLITE_MISMATCH),
            "/home/state.db: SQLite refused a statement (detail)"
        );
    }

    #[test]
    fn only_a_lock_is_worth_waiting_for() {
        let busy = |code| {
            Fault::Sql(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).is_busy()
        };
        assert!(busy(ffi::SQLITE_BUSY));
        assert!(busy(ffi::SQLITE_BUSY_SNAPSHOT));
        assert!(!busy(ffi::SQLITE_FULL));
        assert!(!Fault::Refused("no".into()).is_busy());
    }
}
