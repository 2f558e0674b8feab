//! Text files as they lie on disk: their line ends and byte-order mark are part of them and stay as
//! they are.

use std::fs;
use std::path::Path;

use hermes_plugin_sdk::prelude::*;

use crate::granted;
use crate::path::{failed, missing};
use crate::replace::replace;

/// Largest file that is read: more is no text a model works on.
const MAX_BYTES: u64 = 32 << 20;

/// Bytes looked at to tell binary files: as git does.
pub(crate) const BINARY_PROBE: usize = 8000;

/// The byte-order mark of UTF-8.
pub(crate) const BOM: &str = "\u{feff}";

/// A text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    /// Its text, without a byte-order mark.
    pub(crate) text: String,
    /// Whether a byte-order mark stands in front.
    pub(crate) bom: bool,
    /// Whether some bytes were no UTF-8 and are shown as the replacement character.
    pub(crate) lossy: bool,
}

/// Reads a text file.
///
/// # Errors
/// It is not there, is no file, is too large, or is no text.
pub(crate) fn read(path: &str) -> Result<TextFile, Failure> {
    granted::check(path)?;
    let meta = fs::metadata(path).map_err(|error| failed("read", path, &error))?;
    if meta.is_dir() {
        return Err(Failure::invalid_arguments(format!(
            "{path} is a folder; list it with list_files"
        )));
    }
    if !meta.is_file() {
        return Err(no_file(path));
    }
    if meta.len() > MAX_BYTES {
        let (size, most) = (meta.len(), MAX_BYTES >> 20);
        return Err(Failure::too_large(format!(
            "{path} has {size} bytes; files up to {most} MiB can be read"
        )));
    }
    let bytes = fs::read(path).map_err(|error| failed("read", path, &error))?;
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Failure::invalid_arguments(format!(
            "{path} is UTF-16 text; only UTF-8 can be read and changed here"
        )));
    }
    if is_binary(&bytes) {
        return Err(Failure::invalid_arguments(format!(
            "{path} is a binary file of {} bytes and cannot be used as text",
            bytes.len()
        )));
    }
    Ok(decode(bytes))
}

/// Reads a text file that will be written again, so every byte must be understood.
///
/// # Errors
/// As [`read`], or it is not UTF-8.
pub(crate) fn read_to_change(path: &str) -> Result<TextFile, Failure> {
    let file = read(path)?;
    if file.lossy {
        return Err(Failure::invalid_arguments(format!(
            "{path} is not UTF-8, and changing it here would damage it"
        )));
    }
    Ok(file)
}

/// The failure of a path that leads to a pipe, a socket or a device: opening one may wait for ever.
pub(crate) fn no_file(path: &str) -> Failure {
    Failure::invalid_arguments(format!(
        "{path} is neither a file nor a folder but a pipe, socket or device, and is not opened"
    ))
}

/// Whether bytes are no text.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(BINARY_PROBE)].contains(&0)
}

fn decode(bytes: Vec<u8>) -> TextFile {
    let (text, lossy) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    match text.strip_prefix(BOM) {
        Some(rest) => TextFile { text: rest.to_owned(), bom: true, lossy },
        None => TextFile { text, bom: false, lossy },
    }
}

impl TextFile {
    /// Whether its lines end in CR LF.
    pub(crate) fn is_crlf(&self) -> bool {
        self.text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'))
    }

    /// Its bytes with another text.
    pub(crate) fn with_text(&self, text: &str) -> String {
        if self.bom { format!("{BOM}{text}") } else { text.to_owned() }
    }
}

/// Writes a file, with the folders above it. A file that exists keeps its permissions and links.
///
/// # Errors
/// The path leads to something else than a file, or may not be written.
pub(crate) fn write(path: &str, content: &str) -> Result<(), Failure> {
    granted::check(path)?;
    let meta = fs::metadata(path).ok();
    if meta.as_ref().is_some_and(fs::Metadata::is_dir) || path.ends_with('/') {
        return Err(Failure::invalid_arguments(format!("{path} is a folder; name a file in it")));
    }
    if meta.is_some_and(|meta| !meta.is_file()) {
        return Err(no_file(path));
    }
    let parent = Path::new(path).parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        fs::create_dir_all(parent).map_err(|error| no_folder(path, parent, &error))?;
    }
    replace(Path::new(path), content.as_bytes()).map_err(|error| failed("write", path, &error))
}

/// Why the folder of a file cannot be made; often because one of those above it is a file.
fn no_folder(path: &str, parent: &Path, error: &std::io::Error) -> Failure {
    match parent.ancestors().find(|above| above.is_file()) {
        Some(file) => Failure::invalid_arguments(format!(
            "cannot write {path}: {} is a file, not a folder",
            file.display()
        )),
        None => failed("make the folder of", path, error),
    }
}

/// Removes a file.
///
/// # Errors
/// It is not there or may not be removed.
pub(crate) fn remove(path: &str) -> Result<(), Failure> {
    granted::check(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(missing(path)),
        removed => removed.map_err(|error| failed("remove", path, &error)),
    }
}
