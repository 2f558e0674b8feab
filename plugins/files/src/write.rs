//! `write_file`.

use hermes_plugin_sdk::prelude::*;

use crate::text_file;

/// Arguments of `write_file`.
#[arguments]
pub(crate) struct WriteFile {
    /// The file.
    path: String,
    /// The whole new content.
    content: String,
}

/// Writes a whole file as UTF-8, replacing what was in it; folders above it are made, permissions
/// stay. To change part of a file, use edit_file.
#[tool(destructive, idempotent, path_arguments = ["path"])]
pub(crate) fn write_file(arguments: WriteFile) -> Result<String, Failure> {
    let WriteFile { path, content } = arguments;
    let before = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
    text_file::write(&path, &content)?;
    let (bytes, lines) = (content.len(), content.lines().count());
    Ok(match before {
        Some(before) => {
            format!("overwrote {path}: {bytes} bytes, {lines} lines (was {} bytes)", before.len())
        }
        None => format!("created {path}: {bytes} bytes, {lines} lines"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn write(path: &std::path::Path, content: &str) -> Result<String, Failure> {
        let path = path.to_str().unwrap().to_owned();
        write_file(WriteFile { path, content: content.into() })
    }

    #[test]
    fn says_whether_the_file_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/new.txt");
        let said = write(&path, "one\ntwo\n").unwrap();
        assert_eq!(said, format!("created {}: 8 bytes, 2 lines", path.display()));
        let said = write(&path, "x").unwrap();
        assert_eq!(said, format!("overwrote {}: 1 bytes, 1 lines (was 8 bytes)", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
        let failure = write(folder.path(), "x").unwrap_err();
        assert_eq!(
            failure.message,
            format!("{} is a folder; name a file in it", folder.path().display())
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_existing_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.sh");
        std::fs::write(&path, "a").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        write(&path, "b").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    }
}
