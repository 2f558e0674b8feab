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
    let why = |text: &str, diff: &str| applied(text, diff).unwrap_err();
    assert_eq!(
        why("a\nb\nx\n", diff),
        "hunk 1 does not fit: line 3 of the file is \"x\", the patch has \"c\". Read the file again"
    );
    assert_eq!(
        why("x\nb\n", diff),
        "hunk 1 does not fit: the patch has \"c\", but line 3 is past the end, the file has 2 lines. Read the file again"
    );
    assert_eq!(
        why("q\nr\ns\nb\n\tc\n", diff),
        "hunk 1 does not fit line 2 as it says, and comes closest at line 4: line 5 of the file is \"\\tc\", the patch has \
         \"c\". Read the file again"
    );
    assert_eq!(
        why("q\nq\nb\nc\nb\nc\n", diff),
        "hunk 1 does not stand at line 2 as it says, but fits at lines 3, 5; correct the line number or add context"
    );
    assert_eq!(
        why("", diff),
        "hunk 1 does not fit: the patch has \"b\", but line 2 is past the end, the file has 0 lines. Read the file again"
    );
}

#[test]
fn hunks_go_from_top_to_bottom() {
    let twice = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n";
    assert_eq!(
        applied("a\nb\nc\n", &twice.repeat(2)).unwrap_err(),
        "hunk 2 fits only at line 1, before the end of the hunk above it; hunks go from top to bottom and do not overlap"
    );
    assert_eq!(
        applied("a\nb\nc\n", &format!("{twice}@@ -1,0 +1 @@\n+x\n")).unwrap_err(),
        "hunk 2 adds lines after line 1, before the end of the hunk above it; hunks go from top to bottom and do not overlap"
    );
    assert_eq!(
        applied("a\n", "@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-\n+c\n").unwrap_err(),
        "hunk 2 does not fit: line 1 of the file is \"a\", the patch has \"\". Read the file again"
    );
    assert_eq!(
        applied("a\n", "@@ -7,0 +7 @@\n+x\n").unwrap_err(),
        "hunk 1 adds lines after line 7, but the file has 1 line; correct the line number or add context"
    );
}

#[test]
fn the_last_line_end_is_neither_lost_nor_invented() {
    let mark = "\\ No newline at end of file\n";
    assert_eq!(
        applied("a\nb\n", &format!("@@ -1 +1 @@\n-a\n+A\n{mark}")).unwrap_err(),
        "hunk 1 says that the file ends behind \"A\", but line 2, \"b\", follows; leave the line with the backslash out"
    );
    for (text, diff, wanted) in [
        ("a\nb", " a\n-b\n+c\n".to_owned(), "a\nc"),
        ("a\nb", " a\n b\n+c\n".to_owned(), "a\nb\nc"),
        ("a\r\nb", "-a\n+x\n b\n".to_owned(), "x\r\nb"),
        ("a\r\nb", " a\n-b\n+c\n".to_owned(), "a\r\nc"),
        ("a\nb", format!(" a\n-b\n{mark}+c\n"), "a\nc\n"),
        ("a\nb\n", format!(" a\n-b\n+c\n{mark}"), "a\nc"),
    ] {
        let diff = format!("@@ -1,2 +1,2 @@\n{diff}");
        assert_eq!(applied(text, &diff).as_deref(), Ok(wanted), "{text:?} {diff}");
    }
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
    assert_eq!(said, format!("patched {root}/a: 1 hunk\ncreated {root}/sub/new"));
    assert_eq!((read("a").as_deref(), read("sub/new").as_deref()), (Some("ONE\n"), Some("new\n")));

    let again = call(folder.path(), "--- /dev/null\n+++ {}/a\n@@ -0,0 +1 @@\n+x\n").unwrap_err();
    assert_eq!(again.message, format!("{root}/a: the patch creates it, but it is there already"));
    call(folder.path(), "--- {}/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n").unwrap();
    assert_eq!(read("b"), None);
}

#[test]
fn a_byte_order_mark_may_be_part_of_the_patch() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let put = |before: &str, diff: &str| {
        std::fs::write(&file, before).unwrap();
        let path = Some(file.to_str().unwrap().to_owned());
        patch(Patch { path, patch: format!("@@ -1 +1 @@\n{diff}") }).map_err(|it| it.message)?;
        Ok::<_, String>(std::fs::read_to_string(&file).unwrap())
    };
    let mark = "\u{feff}";
    for (before, diff, after) in [
        (format!("{mark}a\n"), "-a\n+b\n".to_owned(), format!("{mark}b\n")),
        (format!("{mark}a\n"), format!("-{mark}a\n+{mark}b\n"), format!("{mark}b\n")),
        (format!("{mark}a\n"), format!("-{mark}a\n+a\n"), "a\n".to_owned()),
        ("a\n".to_owned(), format!("-a\n+{mark}a\n"), format!("{mark}a\n")),
    ] {
        assert_eq!(put(&before, &diff), Ok(after), "{diff:?}");
    }
    assert_eq!(
        put("a\r\n", "-a\n+a\n").map_err(|why| why.replace(file.to_str().unwrap(), "a")),
        Err("a: the patch changes nothing in it; line ends stay as they are in the file".to_owned())
    );
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

/// Lines of which many are alike, so that hunks could stand at several places.
const TEXT: &str = "([a-d]{0,2}\n){0,40}[a-d]{0,2}";

proptest! {
    /// What another program's diff says about two texts makes one into the other, whatever the line
    /// ends of the file and however much context there is.
    #[test]
    fn a_diff_of_two_texts_applies(old in TEXT, new in TEXT, context in 0usize..4) {
        prop_assume!(old != new);
        let diff = similar::TextDiff::from_lines(&old, &new);
        let diff = diff.unified_diff().context_radius(context).header("x", "x").to_string();
        prop_assert_eq!(applied(&old, &diff).map_err(TestCaseError::fail)?, new.clone());
        if old.contains('\n') {
            let returned = |text: &str| text.replace('\n', "\r\n");
            prop_assert_eq!(applied(&returned(&old), &diff).map_err(TestCaseError::fail)?, returned(&new));
        }
    }

    /// Lines put in front of a file move its hunks, and what is not touched stays.
    #[test]
    fn a_diff_applies_further_down_or_says_why(old in TEXT, new in TEXT, above in "(z\n){1,5}") {
        prop_assume!(old != new);
        let diff = similar::TextDiff::from_lines(&old, &new).unified_diff().header("x", "x").to_string();
        match applied(&format!("{above}{old}"), &diff) {
            Ok(text) => prop_assert!(text.starts_with(&above) || diff.contains("@@ -0,0")),
            Err(why) => prop_assert!(why.starts_with("hunk "), "{}", why),
        }
    }

    #[test]
    fn any_text_is_survived(text in "(.|a\n|\n){0,9}", diff in "(---|\\+\\+\\+|@@ -1,2 \\+1 @@|[ +-]a|[ +-]|a|\\\\)(\n(@@ -2,2 \\+1 @@|[ +-]a|[ +-]|\\\\)){0,20}") {
        let _ = applied(&text, &diff);
    }
}

#[test]
fn long_files_of_like_lines_are_explained_quickly() {
    let text = "like\n".repeat(200_000);
    let diff = format!("@@ -1,2 +1,2 @@\n{}-other\n+x\n", " like\n".repeat(20_000));
    assert_eq!(
        applied(&text, &diff).unwrap_err(),
        "hunk 1 does not fit: line 20001 of the file is \"like\", the patch has \"other\". Read the file again"
    );
}
