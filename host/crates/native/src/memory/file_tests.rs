#![allow(clippy::unwrap_used)]
use std::convert::Infallible;

use super::*;

type Changed = Result<(String, ()), Infallible>;

fn append(text: &str, more: &str) -> Changed {
    Ok((format!("{text}{more}"), ()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_editor_that_saves_in_between_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("M.md");
    fs::write(&path, "a").unwrap();
    let mut saved = false;
    update(&path, |text| -> Changed {
        if !std::mem::replace(&mut saved, true) {
            fs::write(&path, "ab").unwrap();
        }
        append(text, "c")
    })
    .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "abc");
}

#[test]
fn a_file_that_never_rests_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("M.md");
    let mut count = 0;
    let error = update(&path, |text| {
        count += 1;
        fs::write(&path, count.to_string()).unwrap();
        append(text, "c")
    })
    .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("changes all the time; try again when its other writer is done")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), ATTEMPTS.to_string());
    assert_eq!(names(home.path()), ["M.md"], "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay_and_new_files_are_private() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = tempfile::tempdir().unwrap();
    let (real, link) = (home.path().join("dotfiles/M.md"), home.path().join("memories/M.md"));
    fs::create_dir(real.parent().unwrap()).unwrap();
    fs::write(&real, "a").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    update(&link, |text| append(text, "b")).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "ab");
    assert_eq!(mode(&real), 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(names(home.path().join("memories").as_path()), ["M.md"]);

    let new = home.path().join("other/N.md");
    update(&new, |text| append(text, "n")).unwrap();
    assert_eq!((mode(&new), mode(new.parent().unwrap())), (0o600, 0o700));

    fs::remove_file(&real).unwrap();
    let error = update(&link, |text| append(text, "b")).unwrap_err().to_string();
    assert!(error.contains("is a link to what is not there"), "{error}");
}

#[test]
fn what_is_not_a_text_file_is_named_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("M.md");
    fs::write(&path, b"a\xFF").unwrap();
    let error = update(&path, |text| append(text, "b")).unwrap_err().to_string();
    let shown = path.display();
    assert_eq!(
        error,
        format!(
            "cannot read {shown}: it is not UTF-8 text; convert it in an editor, nothing was changed"
        )
    );
    assert_eq!(fs::read(&path).unwrap(), b"a\xFF");
    assert_eq!(
        read(home.path()).unwrap_err(),
        format!("cannot read {}: it is not a file", home.path().display())
    );
}
