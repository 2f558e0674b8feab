//! Before the first call of a turn that may change a folder, what the folder holds is kept.

use std::path::Path;

use super::prepare::Prepared;
use super::turn::Turn;
use crate::checkpoint::Before;
use crate::event::EventKind;

impl Turn<'_> {
    /// Keeps the folders `prepared` may change that have not been kept in this turn.
    pub(super) async fn keep_folders(&self, prepared: &Prepared) {
        let (Some(traits), Some(checkpoints)) = (prepared.traits(), &self.agent.checkpoints) else {
            return;
        };
        if traits.read_only {
            return;
        }
        for folder in traits.writable_folders.iter().filter(|folder| self.is_first(folder)) {
            let before = Before {
                session_id: self.session_id.to_string(),
                turn: self.number,
                tool: prepared.call.name.clone(),
            };
            if let Err(problem) = checkpoints.keep(folder, &before).await {
                let folder = folder.display();
                let message = format!(
                    "no checkpoint of {folder}, so this turn cannot be rolled back there: {problem}"
                );
                self.emitter.emit(EventKind::Status { message });
            }
        }
    }

    fn is_first(&self, folder: &Path) -> bool {
        let kept = self.kept_folders.lock();
        kept.unwrap_or_else(std::sync::PoisonError::into_inner).insert(folder.to_owned())
    }
}
