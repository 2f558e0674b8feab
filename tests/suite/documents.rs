//! Documents that would otherwise rot: every path they name exists, every invariant has its tests.

use crate::host::root;

/// What stands between backticks and looks like a path of this tree.
fn paths(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let roots = ["host/", "wit/", "sdk/", "plugins/", "tests/"];
    quoted
        .filter(|word| roots.iter().any(|root| word.starts_with(root)))
        .filter(|word| !word.contains(['*', ' ', '<', '…']) && !word.contains("NAME"))
        .map(|word| word.trim_end_matches('/').to_owned())
        .collect()
}

#[test]
fn every_path_in_the_documents_exists() {
    for document in ["README.md", "host/ARCHITECTURE.md"] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let paths = paths(&text);
        assert!(paths.len() >= 5, "{document} names {} paths", paths.len());
        for path in paths {
            assert!(root().join(&path).exists(), "{document} names {path}, which is not there");
        }
    }
}

#[test]
fn ci_runs_the_commands_of_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    for command in ["cargo run -- demo", "cargo test --workspace"] {
        assert!(readme.contains(command), "README.md lacks {command}");
        assert!(ci.contains(command), ".ci/run lacks {command}");
    }
}
