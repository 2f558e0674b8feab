//! Live consent: a guest that needs a power nobody granted waits while the person is asked.

use hermes_core::approver::Question;

use crate::guest::Guest;

impl Guest {
    /// Asks the person about `text`, such as `run "git push"`, and gives whether they agreed. Where
    /// nobody can be asked, they did not.
    #[allow(dead_code, reason = "the imports that ask come next")]
    pub(crate) async fn ask_person(&self, text: String) -> bool {
        let Some(person) = &self.scope.person else { return false };
        let question = Question {
            call_id: person.call_id.clone(),
            tool: person.tool.clone(),
            asked_by: self.scope.identity.name.clone(),
            text,
            arguments: person.arguments.clone(),
        };
        tokio::select! {
            answer = person.approver.ask(&question) => answer.allows(),
            () = self.scope.cancel.cancelled() => false,
        }
    }
}
