//! Notices at the end of requests.

use std::sync::Arc;

use super::rig::{rig, rig_with, sketch};
use crate::agent::{Limits, TurnInput};
use crate::notice::{BudgetNotice, ContextNotice, Pressure, PromptNotice};
use crate::testing::{Script, call, text};

/// Says something different about every request.
struct Counts;

impl PromptNotice for Counts {
    fn notice(&self, pressure: &Pressure) -> Option<String> {
        let Pressure { iterations, context_tokens, .. } = pressure;
        Some(format!("iteration {iterations}, {context_tokens} tokens"))
    }
}

fn script(iterations: usize) -> impl Iterator<Item = Script> {
    let calls = (1..iterations).map(|n| call(&[(&format!("c{n}"), "read", "{}")]));
    calls.chain([text("done")])
}

/// What each request begins with, without the notice: system, tools and messages.
fn prefixes(rig: &super::rig::Rig) -> Vec<(Arc<str>, Vec<String>)> {
    let shown = |request: &crate::transport::ModelRequest| {
        let mut messages = sketch(&request.messages);
        if let Some(last) = messages.last_mut() {
            let own = last.split("[a notice").next().unwrap_or_default().trim_end().to_owned();
            *last = own;
        }
        messages.retain(|message| message != "user:");
        (Arc::clone(&request.system), messages)
    };
    rig.model.requests().iter().map(shown).collect()
}

#[tokio::test(start_paused = true)]
async fn notices_go_last_and_leave_the_prefix_as_it_was() {
    let rig = rig_with(script(50), |it| it.notice(Arc::new(Counts)).notice(Arc::new(BudgetNotice)));
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("done"), 50));
    for request in rig.model.requests() {
        let last = request.messages.last().unwrap().content.text();
        assert!(last.contains("[A notice of the program you run in, not of the user: iteration"));
    }
    let prefixes = prefixes(&rig);
    for pair in prefixes.windows(2) {
        assert_eq!(pair[0].0, pair[1].0);
        assert_eq!(pair[0].1[..], pair[1].1[..pair[0].1.len()]);
    }
    let stored = crate::store::Store::load(&*rig.store, &result.session_id).await.unwrap();
    assert!(!sketch(&stored.messages).iter().any(|message| message.contains("a notice")));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_said_by_default_and_by_those_there_are_only_under_pressure() {
    let said = |rig: &super::rig::Rig| {
        let requests = rig.model.requests();
        let about = |text: String| text.contains("A notice of the program");
        requests
            .iter()
            .map(|it| about(it.messages.last().unwrap().content.text()))
            .collect::<Vec<_>>()
    };
    let rig_default = rig(script(5));
    rig_default.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(said(&rig_default), [false; 5]);

    let limits = Limits { max_turns: 5, ..Limits::default() };
    let rig = rig_with(script(5), |it| {
        it.limits(limits).notice(Arc::new(BudgetNotice)).notice(Arc::new(ContextNotice))
    });
    rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(said(&rig), [false, false, false, true, true], "from 70 % on");
}
