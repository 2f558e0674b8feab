#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;

fn file(text: &str) -> TextFile {
    TextFile { text: text.into(), bom: false, lossy: false }
}

fn why(text: &str, old: &str) -> String {
    edit(&file(text), old, "new", false).unwrap_err().message
}

#[test]
fn one_exact_match_is_replaced() {
    assert_eq!(edit(&file("a\nb\nc\n"), "b", "B", false), Ok(("a\nB\nc\n".into(), vec![2])));
    assert_eq!(edit(&file("x\nx\n"), "x", "y", true), Ok(("y\ny\n".into(), vec![1, 2])));
}

#[test]
fn line_ends_of_the_file_are_kept() {
    assert_eq!(
        edit(&file("a\r\nb\r\n"), "a\nb", "x\ny", false),
        Ok(("x\r\ny\r\n".into(), vec![1]))
    );
}

#[test]
fn mixed_line_ends_stay_mixed() {
    let text = "a\r\nb\nc\r\nd\r\n";
    assert_eq!(
        edit(&file(text), "b\nc", "B\nC", false),
        Ok(("a\r\nB\nC\r\nd\r\n".into(), vec![2]))
    );
    assert_eq!(
        edit(&file(text), "c\nd", "C\nD", false),
        Ok(("a\r\nb\nC\r\nD\r\n".into(), vec![3]))
    );
    assert_eq!(
        why(text, "a\nb\nc"),
        "old_string is there at line 1 but for line ends: the file mixes both kinds, or lacks the last; replace its lines \
         one by one"
    );
    assert_eq!(edit(&file("a\nb\n"), "a\r\nb", "x\r\ny", false), Ok(("x\ny\n".into(), vec![1])));
    assert!(
        edit(&file("a\nb\n"), "a\nb", "a\r\nb", false)
            .unwrap_err()
            .message
            .contains("line ends only")
    );
}

#[test]
fn long_files_and_lines_are_explained_quickly() {
    let text = format!("{}\n{}", "x".repeat(2_000_000), "some line of text\n".repeat(50_000));
    assert_eq!(
        why(&text, "some lime of text"),
        "old_string does not occur. The nearest is line 2: \"some line of text\"; old_string has \"some lime of \
         text\". Read the file again and copy it exactly"
    );
    let like = "like\n".repeat(100_000);
    assert_eq!(
        why(&like, &format!("{}other", &like[..100_000])),
        "old_string does not occur. It comes closest at line 1. Line 20001 of the file is \"like\", old_string has \"other\". \
         Read the file again and copy it exactly"
    );
}

#[test]
fn part_of_a_line_and_pasted_numbers_are_recognised() {
    assert_eq!(
        why("if a {\n\tb();\n}\n", "{\n    b();\n"),
        "old_string is there at line 1 but for blanks or indentation. Line 2 of the file is \"\\tb();\", old_string has \
         \"    b();\""
    );
    assert_eq!(
        why("one\ntwo\n", "1\tone\n2\ttwo"),
        "old_string does not occur: its lines begin with the line numbers read_file shows; leave the numbers and the tab \
         out"
    );
    assert_eq!(why("", "x"), "old_string does not occur: the file is empty; use write_file");
}

#[test]
fn it_says_exactly_why_an_edit_does_not_apply() {
    assert_eq!(
        why("x", ""),
        "old_string is empty; give the text to replace, or use write_file for a whole file"
    );
    assert_eq!(
        why("new", "new"),
        "old_string and new_string are the same; there is nothing to change"
    );
    assert_eq!(
        why("a\nb\na\n", "a"),
        "old_string occurs 2 times, at lines 1, 3; add lines around it to make it unique, or set replace_all"
    );
    assert_eq!(
        why("fn a() {\n\tlet x = 1;\n}\n", "fn a() {\n    let x = 1;"),
        "old_string is there at line 1 but for blanks or indentation. Line 2 of the file is \"\\tlet x = 1;\", old_string \
         has \"    let x = 1;\""
    );
    assert_eq!(
        why("say “hi”\n", "say \"hi\""),
        "old_string is there at line 1 but for look-alike characters. Line 1 of the file is \"say “hi”\", old_string has \
         \"say \\\"hi\\\"\" (character 5: U+201C in the file, U+0022 wanted)"
    );
    assert_eq!(
        why("Total\n", "total"),
        "old_string is there at line 1 but for upper and lower case. Line 1 of the file is \"Total\", old_string has \"total\""
    );
    assert_eq!(
        why("let total = 1;\n", "let totals = 2;"),
        "old_string does not occur. The nearest is line 1: \"let total = 1;\"; old_string has \"let totals = 2;\". Read the \
         file again and copy it exactly"
    );
    assert_eq!(
        why("abc\n", "zzzzzz"),
        "old_string does not occur, and nothing like it; read the file again"
    );
}

#[test]
fn the_line_that_differs_is_told_wherever_it_stands() {
    let text = "fn b() {\n}\nfn a() {\n  one();\n  two();\n}\n";
    assert_eq!(
        why(text, "fn a() {\n  one();\n  three();\n}"),
        "old_string does not occur. It comes closest at line 3. Line 5 of the file is \"  two();\", old_string has \"  \
         three();\". Read the file again and copy it exactly"
    );
    assert_eq!(
        why("a\nb\n", "a\nb\nc"),
        "old_string does not occur. It comes closest at line 1. The file ends before line 3, old_string has \"c\". Read the \
         file again and copy it exactly"
    );
    assert_eq!(
        why("let раss = 1;\n", "let pass = 1;"),
        "old_string does not occur. The nearest is line 1: \"let раss = 1;\"; old_string has \"let pass = 1;\" (character 5: \
         U+0440 in the file, U+0070 wanted). Read the file again and copy it exactly"
    );
}

#[test]
fn a_match_that_begins_within_another_is_not_unique() {
    assert_eq!(
        why("x\n}\n}\n}\n", "}\n}\n"),
        "old_string occurs twice from line 2 on, the second time beginning within the first; add lines around it to make it \
         unique"
    );
    assert_eq!(edit(&file("ééé"), "éé", "e", true), Ok(("eé".into(), vec![1])));
}

#[test]
fn the_tool_changes_the_file_and_keeps_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::fs::write(&path, "\u{feff}one two\n").unwrap();
    let path_text = path.to_str().unwrap().to_owned();
    let arguments = EditFile {
        path: path_text.clone(),
        old_string: "two".into(),
        new_string: "three".into(),
        replace_all: false,
    };
    assert_eq!(edit_file(arguments).unwrap(), format!("edited {path_text} at line 1"));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "\u{feff}one three\n");
}

proptest! {
    #[test]
    fn an_edit_can_be_taken_back(before in "[a-c\n]{0,20}", old in "[x-z]{1,5}", new in "[u-w]{1,5}", after in "[a-c\n]{0,20}") {
        let text = format!("{before}{old}{after}");
        let (edited, _) = edit(&file(&text), &old, &new, false).unwrap();
        let (back, _) = edit(&file(&edited), &new, &old, false).unwrap();
        prop_assert_eq!(back, text);
    }

    #[test]
    fn any_strings_are_survived(text in "(.|\r\n|\n|\t| ){0,30}", old in "(.|\n| ){0,8}", new in ".*") {
        let _ = edit(&file(&text), &old, &new, true);
    }
}
