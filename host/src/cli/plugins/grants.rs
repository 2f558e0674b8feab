//! `plugins approve`, `grant` and `revoke`.

use std::io::IsTerminal;

use hermes_plugin::registry::{LoadError, Registry};

use super::super::RunArgs;
use crate::UsageError;
use crate::render::{Out, printable};

/// Shows what approving agrees to, asks where a person can be asked, and approves.
pub(super) fn approve(
    registry: &Registry,
    name: &str,
    args: &RunArgs,
    out: &Out,
) -> Result<(), UsageError> {
    let review = registry.review(name).map_err(refused)?;
    if !review.new && review.changes.is_empty() {
        out.line(&format!("{name} is as it was approved."));
        return Ok(());
    }
    let heading = if review.new { "was never seen before" } else { "changed" };
    out.line(&format!("{name} {heading}."));
    for line in &review.changes {
        out.line(&format!("  {}", printable(line)));
    }
    for request in &review.requests {
        out.line(&format!("  asks for {}", printable(request)));
    }
    for power in &review.kept {
        out.line(&format!("  keeps {power}"));
    }
    for power in &review.dropped {
        out.line(&format!("  loses {power}"));
    }
    if !args.yes && std::io::stdin().is_terminal() && !agreed(out) {
        return Err(UsageError::new(format!("{name} was not approved")));
    }
    registry.approve(&review).map_err(refused)?;
    out.line(&format!("{name} is approved as it is now."));
    Ok(())
}

fn agreed(out: &Out) -> bool {
    out.write("Approve? [y/N]: ");
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .is_ok_and(|_| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Grants a power for good.
pub(super) fn grant(registry: &Registry, text: &str, out: &Out) -> Result<(), UsageError> {
    let met = registry.grant(text).map_err(refused)?;
    for power in met {
        out.line(&format!("granted {power}"));
    }
    Ok(())
}

/// Takes a power away.
pub(super) fn revoke(registry: &Registry, text: &str, out: &Out) -> Result<(), UsageError> {
    if !registry.revoke(text).map_err(refused)? {
        return Err(UsageError::new(format!(
            "{text} was not granted; hermes-host plugins inspect shows what is"
        )));
    }
    out.line(&format!("revoked {text}"));
    Ok(())
}

fn refused(error: LoadError) -> UsageError {
    UsageError::new(error.to_string())
}
