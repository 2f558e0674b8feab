#![allow(clippy::unwrap_used)]
use super::*;

fn search(arguments: serde_json::Value) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("a.txt", "one\ntwo\nthree\nfour\ntwo again\n"),
        ("b.md", "Two\n"),
        ("skipped.txt", "two\n"),
        (".gitignore", "skipped.txt\n"),
        ("crlf.win", "end\r\nlast\r\n"),
        ("binary.txt", "two\0"),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut arguments: SearchFiles = serde_json::from_value(arguments).unwrap();
    let root = folder.path().to_str().unwrap().to_owned();
    arguments.path = Some(root.clone());
    search_files(arguments)
        .map(|text| text.replace(&format!("{root}/"), ""))
        .map_err(|failure| failure.message)
}

#[test]
fn finds_lines_files_and_counts() {
    let json = |value| search(value).unwrap();
    assert_eq!(json(serde_json::json!({"pattern": "two"})), "a.txt:2:two\na.txt:5:two again\n");
    assert_eq!(json(serde_json::json!({"pattern": "^two$"})), "a.txt:2:two\n");
    assert_eq!(
        json(serde_json::json!({"pattern": "TWO", "ignore_case": true, "mode": "files"})),
        "a.txt\nb.md\n"
    );
    assert_eq!(
        json(serde_json::json!({"pattern": "t", "mode": "count", "glob": "*.txt"})),
        "a.txt: 3\n"
    );
    assert_eq!(
        json(serde_json::json!({"pattern": "two", "context": 1})),
        "a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt-4-four\na.txt:5:two again\n"
    );
    assert_eq!(
        json(serde_json::json!({"pattern": "two", "limit": 1})),
        "a.txt:2:two\n[there may be more; narrow it with path, glob or pattern, or raise limit (at most 1000)]\n"
    );
    assert_eq!(json(serde_json::json!({"pattern": "zzz"})), "[no match]\n");
    for pattern in ["end$", "^end$", "\\Aend\\z", "^last", "e.d"] {
        let wanted = if pattern == "^last" { "crlf.win:2:last\n" } else { "crlf.win:1:end\n" };
        assert_eq!(json(serde_json::json!({"pattern": pattern})), wanted, "{pattern}");
    }
    assert_eq!(json(serde_json::json!({"pattern": "one\\s+two"})), "[no match]\n");
}

#[test]
fn what_is_not_searched_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let large = std::fs::File::create(folder.path().join("large.log")).unwrap();
    large.set_len(MAX_FILE_BYTES + 1).unwrap();
    std::fs::write(folder.path().join("b"), "x\0").unwrap();
    let at = |name: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let arguments = serde_json::json!({"pattern": "x", "path": path});
        let answer = search_files(serde_json::from_value(arguments).unwrap()).unwrap();
        answer.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(at(""), "[no match]\n[not searched: large.log (8388609 bytes); 1 in all]\n");
    assert_eq!(at("b"), "[no match]\n[not searched: b (binary); 1 in all]\n");
}

#[test]
fn a_pattern_that_is_none_is_explained() {
    assert!(
        search(serde_json::json!({"pattern": "("}))
            .unwrap_err()
            .starts_with("the pattern is not usable: ")
    );
    let glob = search(serde_json::json!({"pattern": "a", "glob": "["})).unwrap_err();
    assert_eq!(glob, "glob \"[\" is not usable: unclosed character class; missing ']'");
}

/// A pipe that nobody writes to keeps whoever opens it waiting.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    std::fs::write(folder.path().join("text"), "x\n").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let root = folder.path().to_str().unwrap();
    let answer = |path: &str| {
        let arguments = serde_json::json!({"pattern": "x", "path": path});
        search_files(serde_json::from_value(arguments).unwrap())
            .map(|text| text.replace(root, ""))
            .map_err(|failure| failure.message.replace(root, ""))
    };
    assert_eq!(answer(root).unwrap(), "/text:1:x\n");
    let refused =
        "/pipe is neither a file nor a folder but a pipe, socket or device, and is not opened";
    assert_eq!(answer(pipe.to_str().unwrap()).unwrap_err(), refused);
    let read = crate::text_file::read(pipe.to_str().unwrap()).unwrap_err();
    assert_eq!(read.message.replace(root, ""), refused);
    let written = crate::text_file::write(pipe.to_str().unwrap(), "x").unwrap_err();
    assert_eq!(written.message.replace(root, ""), refused);
}
