//! Where requests, grants and the host's policy meet. Nothing is ever added: what comes out is
//! within the request and within a grant, and empty where either is.

use std::collections::BTreeMap;
use std::path::Path;

use crate::grant::{Places, Power};
use crate::manifest::{FsPath, FsRequest, Request};
use crate::policy::{Effective, Folder, HookPowers};
use crate::powers;

/// What the host gives to no plugin, whoever asks and whoever grants.
#[derive(Debug, Clone, Default)]
pub struct HostPolicy {
    /// Environment variables that hold the host's own credentials. Those that start with
    /// `HERMES_HOST_` are always among them.
    pub reserved_env: Vec<String>,
}

impl HostPolicy {
    fn reserves(&self, variable: &str) -> bool {
        variable.to_ascii_uppercase().starts_with("HERMES_HOST_")
            || self.reserved_env.iter().any(|reserved| reserved == variable)
    }
}

/// What a granted power comes to, given what is requested: never more than either.
///
/// # Errors
/// Nothing: it was not requested, or the host gives it to nobody. The text says which.
pub fn narrow(
    request: &Request,
    power: &Power,
    policy: &HostPolicy,
    places: &Places,
) -> Result<Vec<Power>, String> {
    let met: Vec<Power> = match power {
        Power::Fs { path, writable } => {
            let covering = covering(request, path, places);
            let may_write = *writable && covering.iter().any(|request| request.writable);
            let met = Power::Fs { path: path.clone(), writable: may_write };
            if covering.is_empty() { Vec::new() } else { vec![met] }
        }
        Power::Http(granted) => {
            let requested = request.http.iter().flat_map(|request| &request.rules);
            requested.filter_map(|rule| rule.intersect(granted)).map(Power::Http).collect()
        }
        Power::Secret(name) => {
            let requested = request.secrets.iter().any(|secret| secret.name == *name);
            requested.then(|| power.clone()).into_iter().collect()
        }
        Power::Process(granted) => request
            .process
            .iter()
            .filter_map(|argv| argv.intersect(granted))
            .map(Power::Process)
            .collect(),
        Power::Env(variable) if policy.reserves(variable) => {
            return Err("holds a credential of the host, which no plugin can have".into());
        }
        Power::Env(variable) => {
            let requested = request.env.contains(variable);
            requested.then(|| power.clone()).into_iter().collect()
        }
        Power::Hook(granted) => {
            let met = powers::intersection(request.hook, *granted);
            (met != HookPowers::default()).then_some(Power::Hook(met)).into_iter().collect()
        }
    };
    if met.is_empty() { Err(not_requested(request)) } else { Ok(met) }
}

/// What a plugin may touch. Powers that come to nothing are left out.
pub fn effective(
    request: &Request,
    granted: &[Power],
    policy: &HostPolicy,
    places: &Places,
    environment: impl Fn(&str) -> Option<String>,
) -> Effective {
    let mut all = Effective {
        fs: Vec::new(),
        env: BTreeMap::new(),
        hook_powers: HookPowers::default(),
        state: request.state,
        http: Vec::new(),
        secrets: Vec::new(),
        process: Vec::new(),
    };
    let met = granted.iter().filter_map(|power| narrow(request, power, policy, places).ok());
    for power in met.flatten() {
        let text = power.to_string();
        match power {
            Power::Fs { path, writable } => match all.fs.iter_mut().find(|f| f.host_path == path) {
                Some(folder) => folder.writable |= writable,
                None => all.fs.push(Folder { host_path: path, guest_path: None, writable }),
            },
            Power::Http(_) => push_new(&mut all.http, text),
            Power::Secret(name) => {
                let granted = request.secrets.iter().filter(|rule| rule.name == name);
                for rule in granted {
                    if !all.secrets.contains(rule) {
                        all.secrets.push(rule.clone());
                    }
                }
            }
            Power::Process(argv) => push_new(&mut all.process, argv.to_argv()),
            Power::Env(variable) => {
                if let Some(value) = environment(&variable) {
                    all.env.insert(variable, value);
                }
            }
            Power::Hook(powers) => all.hook_powers = powers::union(all.hook_powers, powers),
        }
    }
    mount(request, &mut all.fs, places);
    all
}

/// Gives each mount point a manifest names to the first folder that its request covers.
fn mount(request: &Request, folders: &mut [Folder], places: &Places) {
    for asked in &request.fs {
        let free = |folder: &&mut Folder| {
            folder.guest_path.is_none() && covers(asked, &folder.host_path, places)
        };
        if let (Some(guest), Some(folder)) = (&asked.guest, folders.iter_mut().find(free)) {
            folder.guest_path = Some(guest.clone());
        }
    }
}

fn covering<'a>(request: &'a Request, path: &Path, places: &Places) -> Vec<&'a FsRequest> {
    request.fs.iter().filter(|asked| covers(asked, path, places)).collect()
}

fn covers(asked: &FsRequest, path: &Path, places: &Places) -> bool {
    match &asked.path {
        FsPath::UserChosen => true,
        // A request for a folder that is not there covers nothing that is.
        FsPath::Within(folder) => places
            .expand(Path::new(folder))
            .canonicalize()
            .is_ok_and(|folder| path.starts_with(folder)),
    }
}

fn not_requested(request: &Request) -> String {
    let lines = request.lines();
    if lines.is_empty() {
        return "the plugin asks for nothing in its manifest, and only what it asks for can be \
                granted"
            .into();
    }
    format!(
        "the plugin does not ask for it in its manifest, and only what it asks for can be \
         granted; it asks for {}",
        lines.join(", ")
    )
}

fn push_new(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}
