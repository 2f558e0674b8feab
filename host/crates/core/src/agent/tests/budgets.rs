//! What a turn may spend, and its last words when it is spent.

use std::time::Duration;

use super::rig::{Rig, rig_with, sketch};
use crate::agent::{Limits, TurnInput};
use crate::budget::{BudgetLimits, TreeBudget};
use crate::message::{FinishReason, Role};
use crate::result::EndKind;
use crate::store::Store;
use crate::testing::{Script, call, text};
use crate::transport::{Delta, ErrorKind, TransportError};
use crate::usage::Usage;

fn reads(n: u32) -> Script {
    call(&[("c", "read", &format!("{{\"path\":\"{n}\"}}"))])
}

fn limited(script: impl IntoIterator<Item = Script>, max_turns: u32, budget: BudgetLimits) -> Rig {
    let limits = Limits { max_turns, budget, ..Limits::default() };
    rig_with(script, |builder| builder.limits(limits))
}

/// A script of so many calls, then an answer.
fn calls(count: usize) -> impl Iterator<Item = Script> {
    let calls = (0..count).map(|n| call(&[(&format!("c{n}"), "read", "{}")]));
    calls.chain([text("done")])
}

#[tokio::test(start_paused = true)]
async fn agents_of_one_tree_share_a_budget_beside_their_own() {
    let tree = TreeBudget::new(5, BudgetLimits::default());
    let limits = Limits { max_turns: 4, ..Limits::default() };
    let member = |script: usize| {
        rig_with(calls(script), |it| it.tree_budget(tree.clone()).limits(limits.clone()))
    };
    let (parent, child, late) = (member(2), member(3), member(1));
    let result = parent.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!((result.end.kind, result.iterations.len()), (EndKind::Finished, 3));
    let result = child.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(result.end.kind, EndKind::BudgetSpent);
    assert_eq!(result.end.detail, "all 5 iterations of the tree of agents are used");
    assert_eq!(child.log().len(), 2);
    let result = late.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!((result.end.kind, result.api_calls), (EndKind::BudgetSpent, 0));
}

#[tokio::test(start_paused = true)]
async fn tokens_of_one_agent_are_gone_for_the_tree() {
    let limits = BudgetLimits { tokens: Some(60), ..BudgetLimits::default() };
    let tree = TreeBudget::new(100, limits);
    let parent = rig_with(calls(0), |it| it.tree_budget(tree.clone()));
    parent.agent.run_turn(TurnInput::user("a long word ".repeat(40))).await;
    let child = rig_with(calls(0), |it| it.tree_budget(tree.clone()));
    let result = child.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(result.end.detail, "the tree of agents has used its 60 tokens");
}

#[tokio::test(start_paused = true)]
async fn the_budget_ends_a_turn_by_name_after_one_last_word() {
    let script = [reads(1), reads(2), reads(3), text("I read three of nine."), text("never")];
    let rig = limited(script, 3, BudgetLimits::default());
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!((result.api_calls, result.end.kind), (4, EndKind::BudgetSpent));
    assert_eq!(result.end.detail, "all 3 iterations of the turn are used");
    assert_eq!(result.final_response.as_deref(), Some("I read three of nine."));
    assert!(result.is_consistent() && !result.completed && !result.failed);
    let requests = rig.model.requests();
    let last = requests.last().unwrap();
    assert!(last.tools.is_empty(), "no tool is on offer any more");
    assert!(last.messages.last().unwrap().content.text().contains("budget of this turn is spent"));
    let stored = rig.store.load(&result.session_id).await.unwrap();
    assert!(!sketch(&stored.messages).iter().any(|line| line.contains("budget of this turn")));
    assert_eq!(stored.messages.last().unwrap().role, Role::Assistant);
}

#[tokio::test(start_paused = true)]
async fn without_last_words_it_still_ends_as_spent() {
    let failure = TransportError::new(ErrorKind::Auth, "no key");
    for last in [Script::Fail(Vec::new(), failure), reads(9)] {
        let rig = limited([reads(1), last], 1, BudgetLimits::default());
        let result = rig.agent.run_turn(TurnInput::user("go")).await;
        assert_eq!((result.end.kind, rig.log().len()), (EndKind::BudgetSpent, 1));
        assert_eq!(result.final_response, None);
        let stored = rig.store.load(&result.session_id).await.unwrap();
        assert_eq!(stored.messages.last().unwrap().role, Role::Tool, "every call has its result");
    }
}

#[tokio::test(start_paused = true)]
async fn last_words_can_be_interrupted() {
    let rig = limited([reads(1), Script::Hang(Vec::new())], 1, BudgetLimits::default());
    let input = TurnInput::user("go");
    let cancel = input.cancel.clone();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(rig.agent.run_turn(input), stop);
    assert_eq!(result.end.kind, EndKind::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn b105_tokens_nobody_reported_are_estimated_and_spend_the_budget() {
    let long = "some words of an answer that goes on and on ".repeat(30);
    let script = (0..10).map(|n| {
        let Script::Reply(mut deltas) = reads(n) else { unreachable!("a reply") };
        deltas.insert(0, Delta::Text(long.clone()));
        Script::Reply(deltas)
    });
    let budget = BudgetLimits { tokens: Some(2000), ..BudgetLimits::default() };
    let rig = limited(script, 500, budget);
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(result.end.detail, "the turn has used its 2000 tokens");
    assert!((3..=5).contains(&result.api_calls), "{}", result.api_calls);
    assert!(result.usage.estimated && result.usage.total() >= 2000);
    let replies = result.messages.iter().filter(|message| message.role == Role::Assistant);
    assert!(replies.into_iter().all(|reply| reply.usage.is_some_and(|usage| usage.estimated)));
}

#[tokio::test(start_paused = true)]
async fn money_and_time_end_a_turn_too() {
    let paid = |n| {
        let Script::Reply(mut deltas) = reads(n) else { unreachable!("a reply") };
        deltas.push(Delta::Usage(Usage { input: 100_000, output: 1000, ..Usage::default() }));
        Script::Reply(deltas)
    };
    let budget = BudgetLimits { usd: Some(0.5), ..BudgetLimits::default() };
    let rig = limited((0..9).map(paid).chain([text("enough")]), 500, budget);
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    let cost = result.cost.unwrap();
    assert_eq!(result.end.detail, "the turn has cost its 0.5 US dollars");
    assert!((cost.usd - 0.63).abs() < 1e-9 && cost.estimated, "{cost:?}");

    let budget = BudgetLimits { wall: Some(Duration::from_secs(3600)), ..BudgetLimits::default() };
    let slow = |n: u32| call(&[(&*format!("s{n}"), "slow", &format!("{{\"path\":\"{n}\"}}"))]);
    let rig = limited((0..20).map(slow), 500, budget);
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(result.end.detail, "the turn has taken its 3600 s");
    assert_eq!(result.iterations[0].finish_reason, FinishReason::ToolCalls);
}
