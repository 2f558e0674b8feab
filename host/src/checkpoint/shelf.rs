//! Where checkpoints lie: lists in `folders/`, contents in `contents/`. One process at a time takes,
//! restores or clears away; each file is written whole before it gets its name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::attributes::{mode, stamp};
use super::list::{Cause, Checkpoint, Entry, VERSION};
use super::scan::scan;
use super::{Limits, failed};

/// A file that changed this shortly before a checkpoint may change again without another time
/// stamp, so it is read again for the next one.
const FRESH_NS: i64 = 2_000_000_000;

/// All checkpoints of a home.
pub(super) struct Shelf {
    root: PathBuf,
    pub(super) home: PathBuf,
    pub(super) limits: Limits,
}

impl Shelf {
    pub(super) fn new(root: PathBuf, home: PathBuf, limits: Limits) -> Self {
        let home = home.canonicalize().unwrap_or(home);
        Self { root, home, limits }
    }

    /// Keeps what is in `folder` now.
    pub(super) fn keep(&self, folder: &Path, cause: Cause) -> Result<Checkpoint, String> {
        let _lock = self.lock()?;
        self.keep_locked(folder, cause)
    }

    pub(super) fn keep_locked(&self, folder: &Path, cause: Cause) -> Result<Checkpoint, String> {
        let folder = folder.canonicalize().map_err(|error| failed("find", folder, &error))?;
        if folder.parent().is_none() {
            return Err("the root of the file system is not kept".into());
        }
        let mut all = self.checkpoints()?;
        let known = all.iter().find(|checkpoint| checkpoint.folder == folder);
        let taken_ns = now_ns();
        let mut entries = BTreeMap::new();
        for (path, metadata) in scan(&folder, &self.home, self.limits.files)? {
            let before = known.and_then(|known| Some((known.taken_ns, known.entries.get(&path)?)));
            if let Some(entry) = self.entry(&folder.join(&path), &metadata, before)? {
                entries.insert(path, entry);
            }
        }
        let checkpoint = Checkpoint { v: VERSION, folder, taken_ns, cause, entries };
        self.write_list(&checkpoint)?;
        all.insert(0, checkpoint.clone());
        self.clear_away(&all)?;
        Ok(checkpoint)
    }

    /// One thing in a folder; nothing if it has gone meanwhile.
    fn entry(
        &self,
        path: &Path,
        metadata: &fs::Metadata,
        before: Option<(i64, &Entry)>,
    ) -> Result<Option<Entry>, String> {
        if metadata.is_symlink() {
            return Ok(fs::read_link(path).ok().map(|target| Entry::Link { target }));
        }
        let (now, mode) = (stamp(metadata), mode(metadata));
        if let Some((taken_ns, Entry::File { stamp, content: Some(content), .. })) = before
            && *stamp == now
            && now.changed_ns < taken_ns - FRESH_NS
        {
            return Ok(Some(Entry::File { stamp: now, mode, content: Some(content.clone()) }));
        }
        if now.size > self.limits.file_bytes {
            return Ok(Some(Entry::File { stamp: now, mode, content: None }));
        }
        match self.keep_content(path) {
            Ok(content) => Ok(Some(Entry::File { stamp: now, mode, content })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            // What this user may not read, a plugin that runs as this user has not written.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                Ok(Some(Entry::File { stamp: now, mode, content: None }))
            }
            Err(error) => Err(failed("keep", path, &error)),
        }
    }

    /// Keeps the content of a file and gives its digest; nothing if it grew too large meanwhile.
    fn keep_content(&self, path: &Path) -> std::io::Result<Option<String>> {
        let most = self.limits.file_bytes;
        let mut bytes = Vec::new();
        File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
            return Ok(None);
        }
        let digest = digest(&bytes);
        let place = self.content(&digest);
        if !place.exists() {
            write_whole(&place, &bytes)?;
        }
        Ok(Some(digest))
    }

    /// A kept content, checked.
    pub(super) fn read_content(&self, digest_of: &str) -> Result<Vec<u8>, String> {
        let place = self.content(digest_of);
        let bytes = fs::read(&place).map_err(|error| failed("read", &place, &error))?;
        if digest(&bytes) != digest_of {
            return Err(format!("{} is damaged", place.display()));
        }
        Ok(bytes)
    }

    /// All checkpoints, the newest first.
    pub(super) fn checkpoints(&self) -> Result<Vec<Checkpoint>, String> {
        let folders = self.root.join("folders");
        let files = match fs::read_dir(&folders) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("read", &folders, &error)),
        };
        let paths = files.filter_map(|file| file.ok().map(|file| file.path()));
        let lists = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
        let mut all: Vec<Checkpoint> = lists.filter_map(|path| read_list(&path)).collect();
        all.sort_by_key(|checkpoint| std::cmp::Reverse(checkpoint.taken_ns));
        Ok(all)
    }

    /// Removes what is over the limits, the oldest first, and contents nothing needs any more.
    fn clear_away(&self, all: &[Checkpoint]) -> Result<(), String> {
        let mut of_folder: HashMap<&Path, usize> = HashMap::new();
        let mut needed: HashSet<&str> = HashSet::new();
        let mut bytes = 0;
        let mut dropped = false;
        for (at, checkpoint) in all.iter().enumerate() {
            let count = of_folder.entry(&checkpoint.folder).or_default();
            *count += 1;
            let new = checkpoint.contents().filter(|content| !needed.contains(content.as_str()));
            let new: HashSet<&str> = new.map(String::as_str).collect();
            let size = |content: &&str| self.content(content).metadata().map_or(0, |it| it.len());
            let more: u64 = new.iter().map(size).sum();
            let over = bytes + more > self.limits.total_bytes;
            // The newest stays whatever its size: it is the one that is about to be needed.
            if at > 0 && (over || *count > self.limits.checkpoints) {
                dropped = true;
                let list = self.list(checkpoint);
                fs::remove_file(&list).map_err(|error| failed("remove", &list, &error))?;
                continue;
            }
            bytes += more;
            needed.extend(new);
        }
        if dropped { self.remove_contents_but(&needed) } else { Ok(()) }
    }

    fn remove_contents_but(&self, needed: &HashSet<&str>) -> Result<(), String> {
        let contents = self.root.join("contents");
        let shelves = fs::read_dir(&contents).map_err(|error| failed("read", &contents, &error))?;
        for shelf in shelves.filter_map(Result::ok) {
            let Ok(files) = fs::read_dir(shelf.path()) else { continue };
            for file in files.filter_map(Result::ok) {
                if !file.file_name().to_str().is_some_and(|name| needed.contains(name)) {
                    let _ = fs::remove_file(file.path());
                }
            }
        }
        Ok(())
    }

    fn write_list(&self, checkpoint: &Checkpoint) -> Result<(), String> {
        let place = self.list(checkpoint);
        let text = serde_json::to_vec(checkpoint).map_err(|error| error.to_string())?;
        write_whole(&place, &text).map_err(|error| failed("write", &place, &error))
    }

    fn list(&self, checkpoint: &Checkpoint) -> PathBuf {
        let folder = digest(checkpoint.folder.as_os_str().as_encoded_bytes());
        self.root.join("folders").join(format!("{}-{}.json", &folder[..16], checkpoint.taken_ns))
    }

    fn content(&self, digest: &str) -> PathBuf {
        self.root.join("contents").join(digest.get(..2).unwrap_or("__")).join(digest)
    }

    /// Keeps other processes out until it is dropped.
    pub(super) fn lock(&self) -> Result<File, String> {
        let make = || -> std::io::Result<File> {
            private_folder(&self.root)?;
            let lock = File::create(self.root.join("lock"))?;
            lock.lock()?;
            Ok(lock)
        };
        make().map_err(|error| failed("use", &self.root, &error))
    }
}

fn read_list(path: &Path) -> Option<Checkpoint> {
    let read = fs::read(path).map_err(|error| error.to_string());
    let parsed = read.and_then(|bytes| {
        serde_json::from_slice::<Checkpoint>(&bytes).map_err(|error| error.to_string())
    });
    match parsed {
        Ok(checkpoint) if checkpoint.v == VERSION => Some(checkpoint),
        Ok(_) => None,
        Err(error) => {
            tracing::warn!("the checkpoint {} cannot be read: {error}", path.display());
            None
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file that is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
