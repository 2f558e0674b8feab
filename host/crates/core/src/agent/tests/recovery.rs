//! What is done about a model call that failed for good.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use proptest::prelude::*;

use super::rig::{Rig, rig_of, rig_on, route, sketch};
use crate::agent::TurnInput;
use crate::event::{Event, EventKind};
use crate::message::{ContentPart, ImageUrl, Message};
use crate::result::EndKind;
use crate::router::ModelRouter;
use crate::store::Store;
use crate::testing::{Script, ScriptedTransport, call, text};
use crate::transport::{
    DeltaStream, ErrorKind, ModelRequest, Remedy, Sampling, Transport, TransportError,
};

fn fails(kind: ErrorKind) -> Script {
    Script::Fail(Vec::new(), TransportError::new(kind, format!("{kind} happened")))
}

fn wants(kind: ErrorKind, remedy: Remedy) -> Script {
    let error = TransportError::new(kind, "another way, please");
    Script::Fail(Vec::new(), TransportError { remedy: Some(remedy), ..error })
}

/// Models `p0`, `p1`, … with these scripts, each the fallback of the one before.
fn chain<const N: usize>(scripts: [Vec<Script>; N]) -> (Rig, [Arc<ScriptedTransport>; N]) {
    let models = scripts.map(|script| Arc::new(ScriptedTransport::new(script)));
    let mut routes: Vec<_> = (0..N)
        .map(|n| route(&format!("p{n}"), models[n].clone() as Arc<dyn Transport>, None))
        .collect();
    let primary = routes.remove(0);
    let rig = rig_of(ModelRouter::new(primary).with_fallbacks(routes), |builder| builder);
    (rig, models)
}

fn asked<const N: usize>(models: &[Arc<ScriptedTransport>; N]) -> [usize; N] {
    std::array::from_fn(|n| models[n].requests().len())
}

#[tokio::test(start_paused = true)]
async fn b059_the_chain_goes_on_whatever_a_fallback_says() {
    let broken = || vec![fails(ErrorKind::Overloaded); 3];
    let (rig, models) = chain([broken(), vec![fails(ErrorKind::Auth)], vec![text("here")]]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(result.final_response.as_deref(), Some("here"));
    assert_eq!(asked(&models), [3, 1, 1]);
    assert_eq!((&*result.provider, result.api_calls), ("p2", 5));
    let fallbacks = rig.event_types().iter().filter(|kind| *kind == "fallback").count();
    assert_eq!(fallbacks, 2);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_stays_for_the_turn_and_the_primary_comes_back_after_its_cool_down() {
    let primary = vec![fails(ErrorKind::Auth), text("primary again")];
    let fallback = vec![call(&[("c", "read", "{}")]), text("one"), text("two")];
    let (rig, models) = chain([primary, fallback]);
    let one = rig.agent.run_turn(TurnInput::user("a")).await;
    assert_eq!((one.final_response.as_deref(), asked(&models)), (Some("one"), [1, 2]));
    let two = rig.agent.run_turn(TurnInput::user("b")).await;
    assert_eq!((two.final_response.as_deref(), asked(&models)), (Some("two"), [1, 3]));
    tokio::time::advance(Duration::from_secs(61)).await;
    let three = rig.agent.run_turn(TurnInput::user("c")).await;
    assert_eq!(three.final_response.as_deref(), Some("primary again"));
    assert_eq!((&*three.provider, asked(&models)), ("p0", [2, 3]));
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_is_told_when_no_model_is_left() {
    let (rig, models) =
        chain([vec![fails(ErrorKind::Billing)], vec![fails(ErrorKind::ModelNotFound)]]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    let error = result.error.clone().unwrap();
    assert_eq!((error.kind, error.provider.as_deref()), (ErrorKind::ModelNotFound, Some("p1")));
    assert_eq!(asked(&models), [1, 1]);
    // Both are to be left alone now, so the primary is asked all the same.
    rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(asked(&models)[0], 2);
}

#[tokio::test(start_paused = true)]
async fn b057_a_model_that_wants_a_day_is_not_waited_for_while_another_could_answer() {
    let mut busy = TransportError::new(ErrorKind::RateLimited, "tomorrow");
    busy.retry_after = Some(Duration::from_secs(86_400));
    let (rig, models) = chain([vec![Script::Fail(Vec::new(), busy)], vec![text("now")]]);
    let before = tokio::time::Instant::now();
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.final_response.as_deref(), asked(&models)), (Some("now"), [1, 1]));
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_one_content_filter_refuses_the_next_model_is_asked() {
    let refuses = || vec![fails(ErrorKind::ContentFilter)];
    let (rig, models) = chain([refuses(), vec![text("fine"), text("never")]]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.final_response.as_deref(), asked(&models)), (Some("fine"), [1, 1]));
    // It says nothing about the next turn.
    assert_eq!(rig.agent.run_turn(TurnInput::user("hi")).await.provider, "p0");
    let (rig, models) = chain([refuses(), refuses()]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::ContentFilter);
    assert_eq!(asked(&models), [1, 1]);
}

/// What the person reads of status lines.
fn status(rig: &Rig) -> Vec<String> {
    let events = rig.events.lock().unwrap();
    let line = |event: &Event| match &event.kind {
        EventKind::Status { message } => Some(message.clone()),
        _ => None,
    };
    events.iter().filter_map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn noise_of_retries_is_told_once_and_only_if_the_turn_fails() {
    let busy = || fails(ErrorKind::Overloaded);
    let remedy = || wants(ErrorKind::BadRequest, Remedy::WithoutStream);
    let (rig, _) =
        chain([vec![busy(), busy(), call(&[("c", "read", "{}")]), busy(), text("fine")]]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(result.final_response.as_deref(), Some("fine"));
    assert_eq!(status(&rig), [""; 0]);

    let (rig, _) = chain([vec![remedy(), busy(), busy(), fails(ErrorKind::Auth)]]);
    rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(
        status(&rig),
        ["tried before: another way, please (asked in another form then); overloaded happened \
          (attempt 1 of 3); overloaded happened (attempt 2 of 3)"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_wait_is_told_at_once() {
    let mut busy = TransportError::new(ErrorKind::RateLimited, "slow down");
    busy.retry_after = Some(Duration::from_secs(90));
    let (rig, _) = chain([vec![Script::Fail(Vec::new(), busy), text("fine")]]);
    rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(status(&rig), ["slow down; trying again in 90 s"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_begins_with_a_fallback_says_so() {
    let (rig, _) = chain([vec![fails(ErrorKind::Auth)], vec![text("one"), text("two")]]);
    rig.agent.run_turn(TurnInput::user("a")).await;
    rig.events.lock().unwrap().clear();
    rig.agent.run_turn(TurnInput::user("b")).await;
    assert_eq!(rig.event_types()[..2], ["turn_started", "fallback"]);
}

#[tokio::test(start_paused = true)]
async fn an_image_the_model_does_not_take_is_told_in_words_where_another_model_can() {
    let refuses = || wants(ErrorKind::BadRequest, Remedy::WithoutImages);
    let main = vec![refuses(), text("a cat"), refuses(), text("still a cat")];
    let main = Arc::new(ScriptedTransport::new(main));
    let seer = Arc::new(ScriptedTransport::new([text("A cat on a mat.")]));
    let router = ModelRouter::new(route("p0", main.clone(), None))
        .with_auxiliary("vision", vec![route("seer", seer.clone(), None)]);
    let rig = rig_of(router, |builder| builder);
    let image = ContentPart::ImageUrl { image_url: ImageUrl { url: "https://i/cat".into() } };
    let said = vec![ContentPart::Text { text: "what is it?".into() }, image];
    let result = rig.agent.run_turn(TurnInput::user(said)).await;
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("a cat"), 3));
    rig.agent.run_turn(TurnInput::user("sure?")).await;
    let told = |at: usize| main.requests()[at].messages[0].content.text();
    for at in [1, 3] {
        let expected = "what is it?\n[an image, as another model describes it:\nA cat on a mat.]";
        assert_eq!(told(at), expected);
    }
    assert_eq!(seer.requests().len(), 1, "it is asked once about an image");
    assert_eq!(seer.requests()[0].messages[0].content.0.len(), 2, "the question and the image");
}

#[tokio::test(start_paused = true)]
async fn b072_a_smaller_max_tokens_is_asked_for_at_once_and_remembered() {
    let remedy = Remedy::MaxTokens(Some(32_768));
    let script =
        vec![wants(ErrorKind::BadRequest, remedy), call(&[("c", "read", "{}")]), text("done")];
    let transport = Arc::new(ScriptedTransport::new(script));
    let mut primary = route("p0", transport.clone(), None);
    primary.sampling = Sampling { max_tokens: Some(64_000), ..Sampling::default() };
    let rig = rig_of(ModelRouter::new(primary), |builder| builder);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(result.final_response.as_deref(), Some("done"));
    let requests = transport.requests();
    let most: Vec<_> = requests.iter().map(|request| request.sampling.max_tokens).collect();
    assert_eq!(most, [Some(64_000), Some(32_768), Some(32_768)]);
    assert_eq!(requests[0].messages, requests[1].messages, "nothing is compressed");
    assert!(!rig.event_types().contains(&"compressed".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn b072_a_limit_is_lowered_again_and_known_in_the_next_turn() {
    let lower = |most| wants(ErrorKind::BadRequest, Remedy::MaxTokens(Some(most)));
    let (rig, models) = chain([vec![lower(60_000), lower(40_000), text("a"), text("b")]]);
    let result = rig.agent.run_turn(TurnInput::user("1")).await;
    assert_eq!(result.final_response.as_deref(), Some("a"));
    rig.agent.run_turn(TurnInput::user("2")).await;
    let most: Vec<_> = models[0].requests().iter().map(|r| r.sampling.max_tokens).collect();
    assert_eq!(most, [None, Some(60_000), Some(40_000), Some(40_000)]);
}

#[tokio::test(start_paused = true)]
async fn a_blocked_primary_is_asked_when_its_fallbacks_fail() {
    let primary = vec![fails(ErrorKind::Billing), text("paid again")];
    let (rig, models) = chain([primary, vec![text("one"), fails(ErrorKind::Auth)]]);
    rig.agent.run_turn(TurnInput::user("a")).await;
    let result = rig.agent.run_turn(TurnInput::user("b")).await;
    assert_eq!(result.final_response.as_deref(), Some("paid again"));
    assert_eq!(asked(&models), [2, 2]);
}

#[tokio::test(start_paused = true)]
async fn an_odd_reply_does_not_block_a_model_for_the_next_turn() {
    let mut odd = vec![fails(ErrorKind::MalformedReply); 3];
    odd.push(text("well again"));
    let (rig, models) = chain([odd, vec![text("one")]]);
    rig.agent.run_turn(TurnInput::user("a")).await;
    let result = rig.agent.run_turn(TurnInput::user("b")).await;
    assert_eq!((result.final_response.as_deref(), asked(&models)), (Some("well again"), [4, 1]));
}

#[tokio::test(start_paused = true)]
async fn b038_an_image_nobody_takes_becomes_a_note_and_the_turn_goes_on() {
    let script = vec![wants(ErrorKind::BadRequest, Remedy::WithoutImages), text("I see no image")];
    let (rig, models) = chain([script]);
    let image = ImageUrl { url: "data:image/png;base64,AAAA".into() };
    let parts =
        vec![ContentPart::Text { text: "look".into() }, ContentPart::ImageUrl { image_url: image }];
    let result = rig.agent.run_turn(TurnInput::user(parts)).await;
    assert_eq!(result.end.kind, EndKind::Finished);
    let sent = models[0].requests()[1].messages[0].content.text();
    assert_eq!(sent, "look\n[an image stood here; the provider does not accept it]");
}

#[tokio::test(start_paused = true)]
async fn b064_streaming_is_given_up_for_a_turn_and_not_for_the_session() {
    let script = vec![wants(ErrorKind::BadRequest, Remedy::WithoutStream), text("a"), text("b")];
    let (rig, models) = chain([script]);
    rig.agent.run_turn(TurnInput::user("1")).await;
    rig.agent.run_turn(TurnInput::user("2")).await;
    let streamed: Vec<_> = models[0].requests().iter().map(|request| request.stream).collect();
    assert_eq!(streamed, [true, false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_remedy_that_did_not_help_is_not_tried_again() {
    let twice = || wants(ErrorKind::BadRequest, Remedy::WithoutReplay);
    let (rig, models) = chain([vec![twice(), twice(), text("never")]]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.end.kind, asked(&models)), (EndKind::Failed, [2]));
}

/// A model that takes only its third credential.
struct Locked {
    renewed: AtomicU32,
    inner: ScriptedTransport,
}

#[async_trait]
impl Transport for Locked {
    fn api_mode(&self) -> &str {
        "scripted"
    }
    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        if self.renewed.load(Ordering::Relaxed) < 2 {
            return Err(TransportError::new(ErrorKind::Auth, "wrong key"));
        }
        self.inner.send(request).await
    }
    async fn renew_credential(&self, refused: &TransportError) -> bool {
        assert_eq!(refused.kind, ErrorKind::Auth);
        self.renewed.fetch_add(1, Ordering::Relaxed) < 2
    }
}

#[tokio::test(start_paused = true)]
async fn another_credential_is_tried_before_another_model() {
    let inner = ScriptedTransport::new([text("open")]);
    let rig = rig_on(Arc::new(Locked { renewed: 0.into(), inner }), None, |builder| builder);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("open"), 3));
}

fn any_script() -> impl Strategy<Value = Script> {
    let kinds = [
        ErrorKind::Auth,
        ErrorKind::Billing,
        ErrorKind::RateLimited,
        ErrorKind::Overloaded,
        ErrorKind::BadRequest,
        ErrorKind::ContextOverflow,
        ErrorKind::ContentFilter,
        ErrorKind::EmptyReply,
    ];
    let remedies = [
        None,
        Some(Remedy::WithoutStream),
        Some(Remedy::WithoutImages),
        Some(Remedy::MaxTokens(None)),
        Some(Remedy::WithoutParameter("top_k".into())),
    ];
    prop_oneof![
        (prop::sample::select(kinds.to_vec()), prop::sample::select(remedies.to_vec())).prop_map(
            |(kind, remedy)| {
                let error = TransportError::new(kind, "no");
                Script::Fail(Vec::new(), TransportError { remedy, ..error })
            }
        ),
        Just(text("fine")),
        "[a-z]{8}".prop_map(|id| call(&[(&*id, "read", "{}")])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_recovery_path_is_bounded(
        primary in prop::collection::vec(any_script(), 0..60),
        fallback in prop::collection::vec(any_script(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (rig, models) = chain([primary, fallback]);
            let result = rig.agent.run_turn(TurnInput::user("hi")).await;
            prop_assert!(result.is_consistent());
            let iterations = result.iterations.len() + 1;
            let sent: usize = asked(&models).iter().sum();
            prop_assert!(sent <= iterations * 30, "{sent} requests in {iterations} iterations");
            let stored = rig.store.load(&result.session_id).await.unwrap();
            let open = stored.messages.iter().flat_map(|m: &Arc<Message>| &m.tool_calls).count();
            let results = stored.messages.iter().filter(|m| m.tool_call_id.is_some()).count();
            prop_assert_eq!(open, results, "{:?}", sketch(&stored.messages));
            Ok(())
        })?;
    }
}
