//! Agreeing: looking at how a plugin changed, approving that, granting and revoking for good.

use crate::grant::{Approval, Grant, GrantError, GrantsFile, Power, narrow};
use crate::registry::prepared::Prepared;
use crate::registry::{LoadError, Registry, consent};

/// What approving a plugin would agree to. It is approved as it was looked at: if its bytes change
/// meanwhile, they are not what was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The plugin's name.
    pub name: String,
    /// Whether it was never seen before.
    pub new: bool,
    /// How it differs from what was approved, one difference a line; empty if it does not.
    pub changes: Vec<String>,
    /// What it asks for.
    pub requests: Vec<String>,
    /// Stored grants that approving makes hold again.
    pub kept: Vec<Power>,
    /// Stored grants it does not ask for any more; approving removes them.
    pub dropped: Vec<Power>,
    now: Approval,
}

impl Registry {
    /// Looks at a plugin the way approving it would.
    ///
    /// # Errors
    /// There is no such plugin, or it is refused.
    pub fn review(&self, name: &str) -> Result<Review, LoadError> {
        let plugin = self.prepare(name)?;
        let request = plugin.request();
        let (policy, places) = (&self.options.policy, &self.options.places);
        let (kept, dropped) = self
            .file
            .powers_by_name(name)
            .cloned()
            .partition(|power| narrow(&request, power, policy, places).is_ok());
        Ok(Review {
            name: name.to_owned(),
            new: plugin.new,
            changes: plugin.change.map(|change| change.lines).unwrap_or_default(),
            requests: plugin.now.requests.clone(),
            kept,
            dropped,
            now: plugin.now,
        })
    }

    /// Agrees to a plugin as it was looked at.
    ///
    /// # Errors
    /// The file of grants cannot be written.
    pub fn approve(&self, review: &Review) -> Result<(), LoadError> {
        GrantsFile::approve(&self.options.places.home, &review.now, &review.dropped)?;
        Ok(())
    }

    /// Gives a plugin a power for good, and says what it comes to.
    ///
    /// # Errors
    /// It cannot be read or resolved, the plugin does not ask for it, or the plugin changed since
    /// it was approved.
    pub fn grant(&self, text: &str) -> Result<Vec<Power>, LoadError> {
        let grant = self.resolve(text)?;
        let plugin = self.prepare(&grant.plugin)?;
        consent::check(&plugin, &grant, &self.options)?;
        let (policy, places) = (&self.options.policy, &self.options.places);
        let met = narrow(&plugin.request(), &grant.power, policy, places).unwrap_or_default();
        GrantsFile::grant(&places.home, &plugin.now, &grant.power)?;
        Ok(met)
    }

    /// Takes a power away for good; whether it was there. The plugin need not be there any more,
    /// nor the folder.
    ///
    /// # Errors
    /// It cannot be read, or the file of grants cannot be written.
    pub fn revoke(&self, text: &str) -> Result<bool, LoadError> {
        let grant = Grant::parse(text)?;
        let places = &self.options.places;
        let power = places.resolve(grant.power.clone()).unwrap_or(grant.power.clone());
        let resolved = Grant { power, ..grant.clone() };
        // As it was written first: a folder may have become a link since.
        let written = GrantsFile::revoke(&places.home, &grant)?;
        Ok(GrantsFile::revoke(&places.home, &resolved)? || written)
    }

    fn resolve(&self, text: &str) -> Result<Grant, GrantError> {
        let grant = Grant::parse(text)?;
        let power = self.options.places.resolve(grant.power);
        let power = power.map_err(|what| GrantError(format!("grant {text}: {what}")))?;
        Ok(Grant { power, ..grant })
    }

    /// One plugin, looked at apart from the others.
    fn prepare(&self, name: &str) -> Result<Prepared, GrantError> {
        let Some(candidate) = self.found.candidates.iter().find(|one| one.name == name) else {
            let refused = self.found.refused.iter().find(|one| one.name == name);
            return Err(GrantError(match refused {
                Some(broken) => format!("plugin \"{name}\" is refused: {}", broken.reason),
                None => consent::unknown(name, &self.names()),
            }));
        };
        let prepared = Prepared::new(candidate.clone(), &self.options, &self.file);
        prepared
            .map_err(|(_, reason)| GrantError(format!("plugin \"{name}\" is refused: {reason}")))
    }
}
