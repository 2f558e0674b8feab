//! Which folders can be granted.

use std::path::Path;

use crate::grant::{Places, Power};

struct Ground {
    _keep: tempfile::TempDir,
    places: Places,
}

/// A user's home with `.hermes-host`, `work` and a file in it; the user is in `work`.
fn ground() -> Ground {
    let keep = tempfile::tempdir().unwrap();
    let user = keep.path().canonicalize().unwrap().join("me");
    std::fs::create_dir_all(user.join(".hermes-host/cache")).unwrap();
    std::fs::create_dir_all(user.join("work/sub")).unwrap();
    std::fs::write(user.join("work/note.txt"), "x").unwrap();
    let places =
        Places { cwd: user.join("work"), home: user.join(".hermes-host"), user_home: Some(user) };
    Ground { _keep: keep, places }
}

impl Ground {
    fn user(&self) -> &Path {
        self.places.cwd.parent().unwrap()
    }

    fn resolve(&self, path: &str) -> Result<String, String> {
        let power = Power::parse(&format!("fs:{path}:rw")).unwrap();
        let shown = self.user().display().to_string();
        match self.places.resolve(power) {
            Ok(power) => Ok(power.to_string().replace(&shown, "ME")),
            Err(what) => Err(what.replace(&shown, "ME")),
        }
    }
}

#[test]
fn a_relative_folder_becomes_absolute_and_loses_its_links() {
    let ground = ground();
    std::os::unix::fs::symlink("work", ground.user().join("link")).unwrap();
    for (path, expected) in [
        (".", "fs:ME/work:rw"),
        ("sub", "fs:ME/work/sub:rw"),
        ("sub/..", "fs:ME/work:rw"),
        ("../link/sub", "fs:ME/work/sub:rw"),
        ("~/work", "fs:ME/work:rw"),
    ] {
        assert_eq!(ground.resolve(path).as_deref(), Ok(expected), "{path}");
    }
}

#[test]
fn a_missing_folder_and_a_file_are_refused() {
    let ground = ground();
    assert_eq!(
        ground.resolve("gone").unwrap_err(),
        "cannot use the folder ME/work/gone: No such file or directory (os error 2)"
    );
    assert_eq!(
        ground.resolve("note.txt").unwrap_err(),
        "ME/work/note.txt is a file; grant the folder it is in: fs:ME/work:ro"
    );
}

#[test]
fn no_folder_may_overlap_the_home_in_either_direction_or_through_links() {
    let ground = ground();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(ground.user().join(target), ground.places.cwd.join(name))
            .unwrap();
    };
    link(".hermes-host", "in");
    link("", "around");
    link(".hermes-host/cache", "below");
    for (path, seen) in [
        ("~/.hermes-host", "ME/.hermes-host"),
        ("~/.hermes-host/cache", "ME/.hermes-host/cache"),
        ("..", "ME"),
        ("in", "ME/.hermes-host"),
        ("around", "ME"),
        ("below", "ME/.hermes-host/cache"),
        ("/", "/"),
    ] {
        assert_eq!(
            ground.resolve(path).unwrap_err(),
            format!(
                "{seen} overlaps the home folder of hermes-host, ME/.hermes-host; grant a folder \
                 beside it"
            ),
            "{path}"
        );
    }
}

#[test]
fn a_home_that_is_a_link_or_not_there_yet_is_kept_off_as_well() {
    let mut ground = ground();
    std::os::unix::fs::symlink("work/sub", ground.user().join("elsewhere")).unwrap();
    ground.places.home = ground.user().join("elsewhere");
    assert_eq!(
        ground.resolve(".").unwrap_err(),
        "ME/work overlaps the home folder of hermes-host, ME/work/sub; grant a folder beside it"
    );
    ground.places.home = ground.user().join("elsewhere/not/yet");
    assert_eq!(
        ground.resolve(".").unwrap_err(),
        "ME/work overlaps the home folder of hermes-host, ME/work/sub/not/yet; grant a folder \
         beside it"
    );
}

#[test]
fn a_folder_the_home_links_into_is_refused() {
    let ground = ground();
    let home = &ground.places.home;
    std::fs::write(ground.places.cwd.join("grants.toml"), "").unwrap();
    std::os::unix::fs::symlink(ground.places.cwd.join("grants.toml"), home.join("grants.toml"))
        .unwrap();
    assert_eq!(
        ground.resolve(".").unwrap_err(),
        "ME/work overlaps ME/work/grants.toml, where grants.toml of the home folder of \
         hermes-host leads; grant a folder beside it"
    );
    assert_eq!(ground.resolve("sub").as_deref(), Ok("fs:ME/work/sub:rw"));
    // People link their working copy of plugins; those are bound to their bytes.
    std::os::unix::fs::symlink(ground.places.cwd.join("sub"), home.join("plugins")).unwrap();
    assert_eq!(ground.resolve("sub").as_deref(), Ok("fs:ME/work/sub:rw"));
}

#[test]
fn kernel_folders_are_given_to_nobody() {
    assert_eq!(
        ground().resolve("/proc/self/task").unwrap_err().split_once(" is below ").unwrap().1,
        "/proc, which shows other processes' memory and environment; no plugin can have it"
    );
}
