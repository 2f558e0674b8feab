#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::apply::apply;
use super::*;

fn text_file(text: &str) -> TextFile {
    TextFile { text: text.into(), bom: false, lossy: false }
}

fn applied(text: &str, diff: &str) -> Result<String, String> {
    let files = parse(diff)?;
    apply(&text_file(text), &files[0].hunks).map(|applied| applied.text)
}

#[test]
fn a_hunk_applies_as_stated_or_at_the_only_other_place() {
    let diff = "@@ -2,2 +2,3 @@\n b\n-c\n+C\n+D\n";
    assert_eq!(applied("a\nb\nc\nd\n", diff).unwrap(), "a\nb\nC\nD\nd\n");
    assert_eq!(applied("x\ny\na\nb\nc\n", diff).unwrap(), "x\ny\na\nb\nC\nD\n");
    assert_eq!(applied("a\r\nb\r\nc\r\n", diff).unwrap(), "a\r\nb\r\nC\r\nD\r\n");
}

#[test]
fn what_does_not_fit_is_told_exactly() {
    let diff = "@@ -2,2 +2,2 @@\n b\n-c\n+C\n";
    assert_eq!(
        applied("a\nb\nx\n", diff).unwrap_err(),
        "hunk 1 does not fit: the patch has \"c\", line 3 of the file has \"x\". Its lines do not stand together at exactly \
         one other place either; read the file again"
    );
    assert!(
        applied("x\nb\n", diff)
            .unwrap_err()
            .contains("line 3 of the file is past the end, the file has 2 lines")
    );
    assert!(applied("q\nq\nb\nc\nb\nc\n", diff).is_err(), "two other places are no place");
}

#[test]
fn what_is_no_diff_is_told_with_its_line() {
    for (diff, wanted) in [
        ("hello", "there is no hunk in the patch; it must be a unified diff with @@ lines"),
        ("--- a\n@@ -1 +1 @@\n", "line 2 of the patch: a --- line must be followed by a +++ line"),
        ("@@ nonsense @@\n", "line 1 of the patch: a hunk must begin like @@ -12,7 +12,8 @@"),
        ("--- a/x\n+++ b/x\n", "the patch names x but has no hunk for it"),
        (
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\nc\n",
            "line 5 of the patch: a line of a hunk must begin with a blank, - or +",
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            "line 3 of the patch: \"rename from x\" cannot be done here; only text changes",
        ),
        (
            "diff --git a/x b/x\nnew file mode 100644\nindex 000..e69\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n",
            "line 1 of the patch: this file has no --- and +++ lines with hunks; an empty file is made with write_file",
        ),
    ] {
        assert_eq!(parse(diff).unwrap_err(), wanted);
    }
}

#[test]
fn a_header_that_counts_wrong_does_no_harm() {
    assert_eq!(applied("a\nb\n", "@@ -1,9 +1,1 @@\n a\n-b\n+B\n+C\n\n").unwrap(), "a\nB\nC\n");
}

#[test]
fn a_mailed_patch_ends_at_its_signature() {
    let mail = "Subject: x\n---\n a | 2 +-\n\ndiff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@ fn\n \
                a\n-b\n+B\n-- \n2.40.0\n\n";
    assert_eq!(applied("a\nb\n", mail).unwrap(), "a\nB\n");
    assert_eq!(applied("a\n-- \nb\n", "@@ -1,3 +1,2 @@\n a\n--- \n b\n").unwrap(), "a\nb\n");
}

#[test]
fn sections_that_get_in_each_others_way_are_refused() {
    let message = |diff: &str| patch(Patch { path: None, patch: diff.into() }).unwrap_err().message;
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(
        message(&format!("--- a/x\n+++ b/x\n{hunk}--- a/./x\n+++ b/./x\n{hunk}")),
        "the patch has ./x twice; put all its hunks below one pair of --- and +++ lines"
    );
    assert_eq!(
        message(&format!("--- a/x\n+++ b/y\n{hunk}")),
        "the patch has x before and y after; files are not renamed here: give path, or name one file on both sides"
    );
}

fn call(folder: &std::path::Path, diff: &str) -> Result<String, Failure> {
    let diff = diff.replace("{}", folder.to_str().unwrap());
    patch(Patch { path: None, patch: diff })
}

#[test]
fn several_files_are_changed_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
    std::fs::write(folder.path().join("a"), "one\n").unwrap();
    std::fs::write(folder.path().join("b"), "two\n").unwrap();
    let good = "--- {}/a\n+++ {}/a\n@@ -1 +1 @@\n-one\n+ONE\n--- /dev/null\n+++ {}/sub/new\n@@ -0,0 +1 @@\n+new\n";
    let bad = format!("{good}--- {{}}/b\n+++ {{}}/b\n@@ -1 +1 @@\n-nothing\n+x\n");
    call(folder.path(), &bad).unwrap_err();
    assert_eq!((read("a").as_deref(), read("sub/new")), (Some("one\n"), None));

    let said = call(folder.path(), good).unwrap();
    let root = folder.path().display();
    assert_eq!(said, format!("patched {root}/a: 1 hunks\ncreated {root}/sub/new"));
    assert_eq!((read("a").as_deref(), read("sub/new").as_deref()), (Some("ONE\n"), Some("new\n")));

    let again = call(folder.path(), "--- /dev/null\n+++ {}/a\n@@ -0,0 +1 @@\n+x\n").unwrap_err();
    assert_eq!(again.message, format!("{root}/a: the patch creates it, but it is there already"));
    call(folder.path(), "--- {}/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n").unwrap();
    assert_eq!(read("b"), None);
}

#[test]
fn a_path_given_apart_needs_no_headers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, "one").unwrap();
    let diff =
        "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+ONE\n\\ No newline at end of file\n";
    let path = Some(file.to_str().unwrap().to_owned());
    patch(Patch { path, patch: diff.into() }).unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "ONE");
}

proptest! {
    /// What another program's diff says about two texts makes one into the other.
    #[test]
    fn a_diff_of_two_texts_applies(old in "([a-d]{0,2}\n){0,12}[a-d]{0,2}", new in "([a-d]{0,2}\n){0,12}[a-d]{0,2}") {
        prop_assume!(old != new);
        let diff = similar::TextDiff::from_lines(&old, &new).unified_diff().header("x", "x").to_string();
        prop_assert_eq!(applied(&old, &diff).map_err(TestCaseError::fail)?, new);
    }

    #[test]
    fn any_text_is_survived(text in ".*", diff in "(---|\\+\\+\\+|@@ -1,2 \\+1 @@| |a|\n){0,20}") {
        let _ = applied(&text, &diff);
    }
}
