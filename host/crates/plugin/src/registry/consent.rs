//! From what the user agreed to, now or before, to the powers a plugin has in this process.

use crate::document::nearest;
use crate::grant::{Grant, GrantError, GrantsFile, HostPolicy, Places, Power, narrow};
use crate::registry::options::LoadOptions;
use crate::registry::prepared::Prepared;

/// What a plugin was granted, and what its user should know about it.
#[derive(Debug, Default)]
pub(super) struct Consent {
    /// Grants in force: those of this process first, in their order.
    pub(super) powers: Vec<Power>,
    pub(super) warnings: Vec<String>,
}

/// The grants of this process, read and resolved.
///
/// # Errors
/// One cannot be read, its folder is missing or forbidden, or its plugin is none of `names`.
pub(super) fn asked(options: &LoadOptions, names: &[&str]) -> Result<Vec<Grant>, GrantError> {
    let mut grants = Vec::new();
    for text in &options.grants {
        let grant = Grant::parse(text)?;
        if !names.contains(&grant.plugin.as_str()) {
            return Err(GrantError(format!("--grant {text}: {}", unknown(&grant.plugin, names))));
        }
        let power = options
            .places
            .resolve(grant.power)
            .map_err(|what| GrantError(format!("--grant {text}: {what}")))?;
        grants.push(Grant { power, ..grant });
    }
    Ok(grants)
}

/// There is no plugin of that name.
pub(super) fn unknown(name: &str, names: &[&str]) -> String {
    let hint = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if names.is_empty() => {
            "no plugins were found; name their folder with --plugins".into()
        }
        None => format!("there are {}", names.join(", ")),
    };
    format!("there is no plugin \"{name}\"; {hint}")
}

impl Consent {
    /// What a plugin may do.
    ///
    /// # Errors
    /// A grant of this process cannot be given to it.
    pub(super) fn of(
        plugin: &Prepared,
        asked: &[Grant],
        file: &GrantsFile,
        options: &LoadOptions,
    ) -> Result<Self, GrantError> {
        let mut consent = Self::default();
        let own: Vec<&Grant> = asked.iter().filter(|grant| grant.plugin == plugin.name()).collect();
        for grant in own {
            check(plugin, grant, options)?;
            consent.powers.push(grant.power.clone());
        }
        let stored: Vec<&Power> = match options.dev {
            true => file.powers_by_name(plugin.name()).collect(),
            false => file.powers(&plugin.now).collect(),
        };
        let (policy, places) = (&options.policy, &options.places);
        for power in stored {
            match still_holds(plugin, power, policy, places) {
                Ok(()) => consent.powers.push(power.clone()),
                Err(what) => {
                    consent.warnings.push(format!("grant {power} is not in force: {what}"))
                }
            }
        }
        if let (Some(change), false) = (&plugin.change, options.dev) {
            consent.warnings.push(format!(
                "changed since it was approved, so it has no stored grants; see hermes-host \
                 plugins approve {}: {}",
                plugin.name(),
                change.lines.join("; ")
            ));
        }
        Ok(consent)
    }
}

/// Whether a grant can be given to a plugin as it is now.
pub(super) fn check(
    plugin: &Prepared,
    grant: &Grant,
    options: &LoadOptions,
) -> Result<(), GrantError> {
    let request = plugin.request();
    narrow(&request, &grant.power, &options.policy, &options.places)
        .map_err(|what| GrantError(format!("grant {grant}: {what}")))?;
    match &plugin.change {
        Some(change) if !options.dev => Err(GrantError(format!(
            "grant {grant}: the plugin changed since it was approved; look at the changes and \
             agree to them with hermes-host plugins approve {}\n  {}",
            plugin.name(),
            change.lines.join("\n  ")
        ))),
        _ => Ok(()),
    }
}

/// A stored grant may have outlived its folder, or its request.
fn still_holds(
    plugin: &Prepared,
    power: &Power,
    policy: &HostPolicy,
    places: &Places,
) -> Result<(), String> {
    let now = places.resolve(power.clone())?;
    if let (Power::Fs { path: now, .. }, Power::Fs { path, .. }) = (&now, power)
        && now != path
    {
        return Err(format!(
            "{} is a link now, to {}; grant that folder if you mean it",
            path.display(),
            now.display()
        ));
    }
    narrow(&plugin.request(), power, policy, places).map(|_| ())
}
