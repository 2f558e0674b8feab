//! What one plugin may do: the powers and limits the sandbox enforces. Pure data; how they come
//! about (request ∩ grant ∩ host policy) is decided where grants are.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use hermes_core::keep::StateQuota;

use crate::secret::SecretRule;

/// The powers of one plugin. The default is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Folders it sees; the first is its `.`.
    pub fs: Vec<Folder>,
    /// Its environment: granted variables with this process's values, and nothing else.
    pub env: BTreeMap<String, String>,
    /// What its hooks may do beyond objecting.
    pub hook_powers: HookPowers,
    /// How much it may keep.
    pub state: StateQuota,
    /// URL patterns it may fetch. Recorded; the import is a typed denial in this version.
    pub http: Vec<String>,
    /// Secrets it may use, and who may receive each.
    pub secrets: Vec<SecretRule>,
    /// Commands it may run. Recorded; the import is a typed denial in this version.
    pub process: Vec<String>,
}

impl Default for Effective {
    fn default() -> Self {
        Self {
            fs: Vec::new(),
            env: BTreeMap::new(),
            hook_powers: HookPowers::default(),
            state: StateQuota { max_bytes: 1 << 20, max_keys: 1000 },
            http: Vec::new(),
            secrets: Vec::new(),
            process: Vec::new(),
        }
    }
}

/// A granted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Canonical path on the host; also where the guest sees it.
    pub host_path: PathBuf,
    /// Another place where the guest sees it, as its manifest asks.
    pub guest_path: Option<String>,
    /// Whether it may change what is in it.
    pub writable: bool,
}

/// What a hook may do beyond objecting, asking, noting and withholding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HookPowers {
    /// Sees arguments and results uncut.
    pub full: bool,
    /// May change arguments.
    pub rewrite: bool,
    /// May change results.
    pub replace: bool,
}

/// What one call may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// All linear memories together, in bytes.
    pub memory_bytes: usize,
    /// Time of one call, host calls included.
    pub wall: Duration,
    /// Bytes of a result the model may see whole.
    pub result_bytes: usize,
    /// HTTP requests of one call.
    pub http_calls: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 << 20,
            wall: Duration::from_secs(30),
            result_bytes: 1 << 20,
            http_calls: 20,
        }
    }
}
