//! Opening files of every kind: good ones fast, bad ones with a clear answer and untouched.

use std::fs;
use std::path::Path;

use rusqlite::TransactionBehavior;

use super::*;

/// What opening `path` says, as it is told to a person.
fn refusal(path: &Path) -> String {
    let error = SqliteStore::open(path).unwrap_err().to_string();
    error.replace(path.to_str().unwrap(), "FILE")
}

#[tokio::test]
async fn a_new_store_makes_its_folder_and_a_file_in_wal_mode_with_our_mark() {
    let home = Home::new();
    let path = home.folder.path().join("a/b/state.db");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.path(), path);
    assert_eq!(listed(&store, 10).await, []);
    assert_eq!(store.latest_session_id().await.unwrap(), None);
    let conn = Connection::open(&path).unwrap();
    let pragma = |name: &str| -> String {
        conn.query_row(&format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}"), [], |row| {
            row.get(0)
        })
        .unwrap()
    };
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("application_id"), 0x4865_726D.to_string());
    assert_eq!(pragma("user_version"), "2");
}

#[cfg(unix)]
#[tokio::test]
async fn only_this_user_may_read_what_is_stored() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let folder = home.folder.path().join("made");
    let store = SqliteStore::open(folder.join("state.db")).unwrap();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["secret"])).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap()).collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let modes: Vec<_> =
        files.iter().map(|f| (f.file_name().into_string().unwrap(), mode(&f.path()))).collect();
    let expected = ["state.db", "state.db-shm", "state.db-wal"].map(|name| (name.into(), 0o600));
    assert_eq!(modes, expected);
}

#[tokio::test]
async fn what_was_stored_is_there_after_reopening() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["one", "two"])).await;
    drop(store);
    assert_eq!(texts(&home.open().load(&session).await.unwrap()), ["one", "two"]);
    // The log is gone into the file, so that copying the file alone copies everything.
    assert!(!home.folder.path().join("state.db-wal").exists());
}

#[test]
fn the_log_is_begun_before_the_first_append() {
    let home = Home::new();
    let log = home.folder.path().join("state.db-wal");
    for _ in 0..2 {
        let store = home.open();
        assert!(fs::metadata(&log).unwrap().len() > 0);
        drop(store);
        assert!(!log.exists());
    }
    // Another program may be writing just now; then opening does not wait for it.
    let mut other = home.sql();
    let lock = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let store = home.open();
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    drop((store, lock));
}

#[test]
fn odd_names_are_only_names() {
    let home = Home::new();
    for name in [":memory:", "file:state.db?mode=memory", "ünï 世 %20#.db"] {
        let path = home.folder.path().join(name);
        drop(SqliteStore::open(&path).unwrap());
        assert!(path.is_file(), "{name}");
    }
}

#[test]
fn an_empty_file_becomes_a_store() {
    let home = Home::new();
    fs::write(home.file(), "").unwrap();
    drop(home.open());
    assert_eq!(home.rows("SELECT user_version FROM pragma_user_version"), ["2"]);
}

#[test]
fn b086_a_file_that_is_no_database_is_refused_and_stays() {
    let home = Home::new();
    for length in [10, 100, 5000] {
        let noise: Vec<u8> = (0..length).map(|n: u32| (n * 37 % 251) as u8).collect();
        fs::write(home.file(), &noise).unwrap();
        assert_eq!(
            refusal(&home.file()),
            "FILE: not a SQLite database; it was not touched. Move it aside or choose another \
             folder, then try again (file is not a database)",
            "{length} bytes"
        );
        assert_eq!(fs::read(home.file()).unwrap(), noise);
    }
}

#[tokio::test]
async fn b086_a_file_cut_in_half_is_refused_and_stays() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["x".repeat(100_000).as_str()])).await;
    drop(store);
    let whole = fs::read(home.file()).unwrap();
    let half = &whole[..whole.len() / 2];
    fs::write(home.file(), half).unwrap();
    assert_eq!(
        refusal(&home.file()),
        "FILE: the database is damaged; it was not repaired or overwritten. Move it aside \
         together with its -wal and -shm files and start again with a new one; the command \
         `.recover` of the sqlite3 shell may save what is in it (database disk image is malformed)"
    );
    assert_eq!(fs::read(home.file()).unwrap(), half);
}

#[tokio::test]
async fn b086_damage_found_later_is_told_the_same_way() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    drop(store);
    let page = home.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'");
    let page: usize = page[0].parse().unwrap();
    let mut bytes = fs::read(home.file()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xAA);
    fs::write(home.file(), bytes).unwrap();
    let store = home.open();
    let told = |error: hermes_core::store::StoreError| error.to_string();
    let error = told(store.load(&session).await.unwrap_err());
    assert!(error.contains("state.db: the database is damaged; it was not repaired"), "{error}");
    let error =
        told(store.append(&session, &said(&["more"]), Durability::Process).await.unwrap_err());
    assert!(error.contains("state.db: the database is damaged; it was not repaired"), "{error}");
}

#[test]
fn b086_a_newer_schema_is_refused_and_stays() {
    let home = Home::new();
    drop(home.open());
    for version in [3, 9999, -1] {
        home.sql().pragma_update(None, "user_version", version).unwrap();
        assert_eq!(
            refusal(&home.file()),
            format!(
                "FILE: written by another version of this program (schema {version}, this one \
                 knows up to 2); it was not touched. Update this program or choose another folder"
            )
        );
        assert_eq!(
            home.rows("SELECT user_version FROM pragma_user_version"),
            [version.to_string()]
        );
    }
}

#[test]
fn another_programs_database_is_refused_and_stays() {
    let home = Home::new();
    let refused = |id: i32| {
        format!(
            "FILE: a SQLite database of another program (application id {id}); it was not \
             touched. Choose another folder, then try again"
        )
    };
    home.sql().execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    assert_eq!(refusal(&home.file()), refused(0));
    home.sql().execute_batch("PRAGMA application_id = 7; PRAGMA user_version = 1").unwrap();
    assert_eq!(refusal(&home.file()), refused(7));
    assert_eq!(home.rows("SELECT name FROM sqlite_schema"), ["notes"]);
    assert_eq!(home.rows("SELECT journal_mode FROM pragma_journal_mode"), ["delete"]);
}

#[test]
fn b086_a_folder_in_place_of_the_file_is_refused() {
    let home = Home::new();
    fs::create_dir(home.file()).unwrap();
    assert_eq!(
        refusal(&home.file()),
        "FILE: this is a folder, and a file is needed. Move it aside, then try again"
    );
}

#[test]
fn a_file_in_place_of_the_folder_is_refused() {
    let home = Home::new();
    let file = home.folder.path().join("not-a-folder");
    fs::write(&file, "").unwrap();
    let error = refusal(&file.join("state.db"));
    assert!(error.starts_with("FILE: cannot make "), "{error}");
    assert!(
        error.ends_with("Check that this user may write there, or choose another folder"),
        "{error}"
    );
}

/// Root may write anywhere, so what is about permissions is tried as somebody else: by a copy of
/// this very program, told to run the one test again.
#[cfg(unix)]
fn as_anyone_but_root(test: &str, body: impl FnOnce()) {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let folder = TempDir::new().unwrap();
    let probe = folder.path().join("probe");
    fs::write(&probe, "").unwrap();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&probe).is_err() {
        return body();
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    const NOBODY: u32 = 65534;
    let output = std::process::Command::new(copy)
        .args([test, "--exact"])
        .current_dir("/")
        .gid(NOBODY)
        .uid(NOBODY)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("1 passed"), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[test]
fn b086_a_read_only_file_is_refused_and_stays() {
    as_anyone_but_root("opening::b086_a_read_only_file_is_refused_and_stays", || {
        let home = Home::new();
        drop(home.open());
        let before = fs::read(home.file()).unwrap();
        chmod(&home.file(), 0o444);
        assert_eq!(
            refusal(&home.file()),
            "FILE: the file is read-only. Give this user write permission on the file and its \
             folder, then try again"
        );
        assert_eq!(fs::read(home.file()).unwrap(), before);
    });
}

#[cfg(unix)]
#[test]
fn b086_an_unwritable_folder_is_refused() {
    as_anyone_but_root("opening::b086_an_unwritable_folder_is_refused", || {
        let home = Home::new();
        chmod(home.folder.path(), 0o555);
        let error = refusal(&home.file());
        assert_eq!(
            error,
            "FILE: cannot make FILE: Permission denied (os error 13). Check that this user may \
             write there, or choose another folder"
        );
        chmod(home.folder.path(), 0o755);
        drop(home.open());
        chmod(home.folder.path(), 0o555);
        let error = refusal(&home.file());
        assert_eq!(
            error,
            "FILE: cannot be written. Give this user write permission on the file and its folder \
             (attempt to write a readonly database)"
        );
        chmod(home.folder.path(), 0o755);
    });
}
