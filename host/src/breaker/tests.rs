//! One file, several processes: each breaker here stands for one.

#![allow(clippy::unwrap_used)]

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn blocked(folder: &Path, model: &str) -> bool {
    Breaker::new(folder.to_owned()).is_blocked(model)
}

#[test]
fn what_one_process_learns_another_knows_until_it_answers() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("cache");
    let one = Breaker::new(folder.clone());
    one.failed("a/m", MINUTE);
    assert!(one.is_blocked("a/m") && blocked(&folder, "a/m") && !blocked(&folder, "a/n"));
    let two = Breaker::new(folder.clone());
    two.answered("a/m");
    assert!(!two.is_blocked("a/m") && !blocked(&folder, "a/m"));
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["breaker.json", "breaker.lock"]);
}

#[test]
fn an_answer_writes_nothing_where_nothing_was_blocked() {
    let home = tempfile::tempdir().unwrap();
    Breaker::new(home.path().to_owned()).answered("a/m");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn what_exists_only_on_a_command_line_is_not_shared() {
    let home = tempfile::tempdir().unwrap();
    let one = Breaker::new(home.path().to_owned());
    one.failed("custom/m", MINUTE);
    assert!(one.is_blocked("custom/m") && !blocked(home.path(), "custom/m"));
    one.answered("custom/m");
    assert!(!one.is_blocked("custom/m"));
}

#[test]
fn no_file_can_break_it() {
    let far = now_ms() + 400 * 24 * 3600 * 1000;
    let huge = format!("{{\"a/m\":{},\"x\":\"{}\"}}", now_ms() + 60_000, "x".repeat(70_000));
    for content in [
        "",
        "{",
        "[1]",
        "null",
        "\u{0}\u{1}",
        "{\"a/m\":-5}",
        "{\"a/m\":\"soon\"}",
        &format!("{{\"a/m\":{far}}}"),
        "{\"a/m\":18446744073709551615}",
        "{\"a/m\":1}",
        &huge,
    ] {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("breaker.json"), content).unwrap();
        let breaker = Breaker::new(home.path().to_owned());
        let shown: String = content.chars().take(40).collect();
        assert!(!breaker.is_blocked("a/m"), "{shown}");
        breaker.failed("a/m", MINUTE);
        assert!(blocked(home.path(), "a/m"), "mended: {shown}");
    }
}

#[test]
fn where_nothing_can_be_written_a_process_remembers_for_itself() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    // A file stands where the folder should be, and a folder where the file should be.
    let under_a_file = Breaker::new(file);
    fs::create_dir(home.path().join("breaker.json")).unwrap();
    let over_a_folder = Breaker::new(home.path().to_owned());
    for breaker in [under_a_file, over_a_folder] {
        breaker.failed("a/m", MINUTE);
        assert!(breaker.is_blocked("a/m"));
        breaker.answered("a/m");
        assert!(!breaker.is_blocked("a/m"));
    }
}

#[test]
fn pauses_and_numbers_are_capped() {
    let home = tempfile::tempdir().unwrap();
    let breaker = Breaker::new(home.path().to_owned());
    breaker.failed("a/long", Duration::MAX);
    assert!(blocked(home.path(), "a/long"), "an hour at most, so it is believed");
    for n in 0..MODELS {
        breaker.failed(&format!("a/{n}"), MINUTE);
    }
    assert_eq!(read(&breaker.file(), now_ms()).len(), MODELS);
    assert!(blocked(home.path(), "a/long"), "what ends first goes first");
}

#[test]
fn racing_processes_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for process in 0..4 {
            let breaker = Breaker::new(home.path().to_owned());
            scope.spawn(move || {
                for n in 0..20 {
                    breaker.failed(&format!("{process}/{n}"), MINUTE);
                }
            });
        }
    });
    assert_eq!(read(&home.path().join("breaker.json"), now_ms()).len(), 80);
}
