#![allow(clippy::unwrap_used)]
use std::fs;
use std::sync::Arc;

use hermes_core::approver::Unattended;
use hermes_core::schema::Validator;
use hermes_core::tool::Body;
use proptest::prelude::*;

use super::*;

fn change(dir: &Path, arguments: &str) -> Result<String, String> {
    let parts = Memory::change(dir, arguments).map_err(|failure| failure.to_string())?;
    let Body::Text(text) = &parts[0].body else { return Err("bytes".into()) };
    Ok(text.clone())
}

fn add(dir: &Path, content: &str) {
    let arguments = serde_json::json!({"target": "memory", "action": "add", "content": content});
    change(dir, &arguments.to_string()).unwrap();
}

#[test]
fn changes_are_told_with_what_is_used() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("memories");
    assert_eq!(
        change(&dir, r#"{"target":"user","action":"add","content":"Prefers short answers."}"#),
        Ok("Added.\n[USER.md: 1 entry, 22 of 1375 characters, 1 %]".into())
    );
    assert_eq!(
        change(
            &dir,
            r#"{"target":"user","operations":[{"action":"replace","old_text":"short","content":"Prefers long answers."},{"action":"add","content":"Is called Ada."}]}"#
        ),
        Ok("Replaced the whole entry \"Prefers short answers.\".\nAdded.\n[USER.md: 2 entries, 38 of 1375 characters, 2 %]".into())
    );
    assert_eq!(
        fs::read_to_string(dir.join("USER.md")).unwrap(),
        "Prefers long answers.\n§\nIs called Ada."
    );
    assert_eq!(MemoryFile::Memory.read(&dir), Ok(Entries::default()));
}

#[test]
fn a_call_that_says_too_little_or_too_much_is_told_so() {
    let home = tempfile::tempdir().unwrap();
    let tell = |arguments: &str| change(home.path(), arguments).unwrap_err();
    assert_eq!(
        tell(r#"{"target":"user"}"#),
        "invalid-arguments: action is missing; it is add, replace or remove"
    );
    assert_eq!(
        tell(
            r#"{"target":"user","operations":[{"action":"add","content":"a"},{"action":"remove"}]}"#
        ),
        "invalid-arguments: operations[1]: old_text is missing; it is a piece of the entry that is meant"
    );
    assert_eq!(
        tell(
            r#"{"target":"user","action":"add","content":"a","operations":[{"action":"add","content":"a"}]}"#
        ),
        "invalid-arguments: give either operations or action with its texts, not both"
    );
    assert_eq!(
        tell(r#"{"target":"memory","action":"remove","old_text":"x"}"#),
        "not-found: no entry holds \"x\"; it is matched to the letter.\nThere are no entries."
    );
}

#[test]
fn b092_entries_that_others_added_survive() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("MEMORY.md");
    add(home.path(), "E1");
    fs::write(&path, fs::read_to_string(&path).unwrap() + "\n§\nE2").unwrap();
    change(
        home.path(),
        r#"{"target":"memory","action":"replace","old_text":"E1","content":"E1b"}"#,
    )
    .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "E1b\n§\nE2");
}

#[test]
fn b092_two_hosts_that_add_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    std::thread::scope(|scope| {
        for host in ["a", "b"] {
            scope.spawn(move || (0..50).for_each(|n| add(dir, &format!("{host}{n}"))));
        }
    });
    assert_eq!(MemoryFile::Memory.read(dir).unwrap().len(), 100);
    let names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["MEMORY.md"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Two writers, each removing and adding entries of its own, in every interleaving that the
    /// threads happen to take: what is left is what each of them left.
    #[test]
    fn two_writers_lose_nothing_of_each_other(plans in [plan(), plan()]) {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path();
        std::thread::scope(|scope| {
            for (writer, plan) in plans.iter().enumerate() {
                scope.spawn(move || for (entry, add) in plan { step(dir, writer, *entry, *add) });
            }
        });
        let mut expected = std::collections::BTreeSet::new();
        for (writer, plan) in plans.iter().enumerate() {
            for (entry, add) in plan {
                let name = format!("w{writer}e{entry}.");
                if *add { expected.insert(name); } else { expected.remove(&name); }
            }
        }
        let left = MemoryFile::Memory.read(dir).unwrap();
        let left: std::collections::BTreeSet<_> = left.iter().map(str::to_owned).collect();
        prop_assert_eq!(left, expected);
    }
}

/// Which of five entries to add (true) or remove.
fn plan() -> impl Strategy<Value = Vec<(u8, bool)>> {
    proptest::collection::vec((0..5u8, any::<bool>()), 0..12)
}

fn step(dir: &Path, writer: usize, entry: u8, add: bool) {
    let text = format!("w{writer}e{entry}.");
    let arguments = if add {
        serde_json::json!({"target": "memory", "action": "add", "content": text})
    } else {
        serde_json::json!({"target": "memory", "action": "remove", "old_text": text})
    };
    let outcome = change(dir, &arguments.to_string());
    assert!(!add || outcome.is_ok(), "{outcome:?}");
}

#[tokio::test]
async fn the_tool_changes_the_file_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let tool = Memory::new(home.path());
    let schema = serde_json::from_str(tool.spec().parameters.get()).unwrap();
    let arguments = r#"{"target":"memory","action":"add","content":"a"}"#;
    let parsed = serde_json::from_str(arguments).unwrap();
    assert_eq!(Validator::new(&schema).unwrap().check(&parsed), Ok(()));
    let invocation = ToolInvocation {
        call_id: "c1".into(),
        session_id: "s".into(),
        turn: 1,
        arguments: arguments.into(),
        cancel: Default::default(),
        deadline: None,
        progress: Arc::new(|_| {}),
        approver: Arc::new(Unattended),
    };
    let result = tool.call(invocation).await;
    assert_eq!(result.effect, Effect::Applied);
    assert_eq!(fs::read_to_string(home.path().join("MEMORY.md")).unwrap(), "a");
}
