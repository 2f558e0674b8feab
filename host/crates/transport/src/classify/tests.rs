//! Answers as providers really word them, with the kind and the whole message they become.

#![allow(clippy::unwrap_used)]

use hermes_core::transport::ErrorKind::{
    self, Auth, BadRequest, Billing, Connection, ContentFilter, ContextOverflow, EmptyReply,
    MalformedReply, ModelNotFound, Overloaded, RateLimited, Timeout,
};

use super::*;

const KEY: &str = "sk-proj-AbCdEfGhIjKlMnOp0123";

fn answer(status: u16, content_type: &str) -> Answer {
    Answer {
        place: "api.x.com".into(),
        status,
        content_type: content_type.into(),
        headers: vec![("x-request-id".into(), KEY.into())],
        mask: Arc::new(Mask::new([KEY])),
        ..Answer::default()
    }
}

/// Status, body, the kind and the code it means.
type Row = (u16, &'static str, ErrorKind, Option<&'static str>);

const OPENAI: &[Row] = &[
    (
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-proj-********0123.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
        Auth,
        Some("invalid_api_key"),
    ),
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        Billing,
        Some("insufficient_quota"),
    ),
    (
        429,
        r#"{"error":{"message":"Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 6s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
        RateLimited,
        Some("rate_limit_exceeded"),
    ),
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ContextOverflow,
        Some("context_length_exceeded"),
    ),
    (
        400,
        r#"{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}"#,
        BadRequest,
        Some("invalid_value"),
    ),
    (
        400,
        r#"{"error":{"message":"Unknown parameter: 'messages[1].reasoning'.","type":"invalid_request_error","param":"messages[1].reasoning","code":"unknown_parameter"}}"#,
        BadRequest,
        Some("unknown_parameter"),
    ),
    (
        404,
        r#"{"error":{"message":"The model `gpt-z` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
        ModelNotFound,
        Some("model_not_found"),
    ),
    (
        500,
        r#"{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}"#,
        Overloaded,
        Some("server_error"),
    ),
    (
        400,
        r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}"#,
        ContentFilter,
        Some("content_filter"),
    ),
    (
        404,
        r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#,
        ModelNotFound,
        Some("DeploymentNotFound"),
    ),
];

const ANTHROPIC: &[Row] = &[
    (
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
        Overloaded,
        Some("overloaded_error"),
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ContextOverflow,
        Some("invalid_request_error"),
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
        Billing,
        Some("invalid_request_error"),
    ),
    (
        404,
        r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-z"}}"#,
        ModelNotFound,
        Some("not_found_error"),
    ),
    (
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ContextOverflow,
        Some("request_too_large"),
    ),
    (
        401,
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
        Auth,
        Some("authentication_error"),
    ),
    (
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit."}}"#,
        RateLimited,
        Some("rate_limit_error"),
    ),
    (
        500,
        r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
        Overloaded,
        Some("api_error"),
    ),
];

const OPENROUTER: &[Row] = &[
    (
        402,
        r#"{"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402}}"#,
        Billing,
        Some("402"),
    ),
    (
        402,
        r#"{"error":{"message":"Usage limit reached, resets at 12:00","code":402}}"#,
        RateLimited,
        Some("402"),
    ),
    (
        403,
        r#"{"error":{"message":"Input was flagged","code":403,"metadata":{"reasons":["violence"],"flagged_input":"x"}}}"#,
        ContentFilter,
        Some("403"),
    ),
    (
        403,
        r#"{"error":{"message":"Key limit exceeded (total limit)","code":403}}"#,
        Billing,
        Some("403"),
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
        ModelNotFound,
        Some("404"),
    ),
    (
        400,
        r#"{"error":{"message":"x/y is not a valid model ID","code":400}}"#,
        ModelNotFound,
        Some("400"),
    ),
    (
        429,
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"m is temporarily rate-limited upstream","provider_name":"P"}}}"#,
        RateLimited,
        Some("429"),
    ),
    (
        400,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}"}}}"#,
        ContextOverflow,
        Some("context_length_exceeded"),
    ),
    (401, r#"{"error":{"message":"No auth credentials found","code":401}}"#, Auth, Some("401")),
];

const OTHERS: &[Row] = &[
    // Ollama
    (
        404,
        r#"{"error":{"message":"model \"m\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
        ModelNotFound,
        Some("api_error"),
    ),
    (404, r#"{"error":"model 'm' not found"}"#, ModelNotFound, None),
    (
        503,
        r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#,
        Overloaded,
        None,
    ),
    // vLLM
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}"#,
        ContextOverflow,
        Some("BadRequestError"),
    ),
    (
        404,
        r#"{"object":"error","message":"The model `m` does not exist.","type":"NotFoundError","param":null,"code":404}"#,
        ModelNotFound,
        Some("NotFoundError"),
    ),
    (
        400,
        r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice","type":"BadRequestError","code":400}}"#,
        BadRequest,
        Some("BadRequestError"),
    ),
    (422, r#"{"detail":[{"loc":["body","model"],"msg":"field required"}]}"#, BadRequest, None),
    // llama.cpp
    (
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}"#,
        ContextOverflow,
        Some("exceed_context_size_error"),
    ),
    (
        503,
        r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
        Overloaded,
        Some("unavailable_error"),
    ),
    // Google
    (
        400,
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
        Auth,
        Some("INVALID_ARGUMENT"),
    ),
    (
        429,
        r#"[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]"#,
        RateLimited,
        Some("RESOURCE_EXHAUSTED"),
    ),
    // Zhipu, DeepSeek, Moonshot
    (
        400,
        r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
        ContextOverflow,
        Some("1261"),
    ),
    (
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
        Billing,
        Some("invalid_request_error"),
    ),
    (
        429,
        r#"{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}"#,
        Overloaded,
        Some("engine_overloaded_error"),
    ),
    // Proxies and CDNs
    (
        502,
        "<html><head><title>502</title></head><body>cloud edge error</body></html>",
        Overloaded,
        None,
    ),
    (504, "<html>Gateway Time-out</html>", Timeout, None),
    (524, "", Timeout, None),
    (403, "<html>Attention Required!</html>", Auth, None),
    (404, r#"{"detail":"Not Found"}"#, BadRequest, None),
    (405, "Method Not Allowed", BadRequest, None),
    (408, "", Timeout, None),
    (413, "<html>Request Entity Too Large</html>", ContextOverflow, None),
    (429, "", RateLimited, None),
    (418, "", BadRequest, None),
];

#[test]
fn every_answer_has_its_kind_and_code() {
    for (status, body, kind, code) in [OPENAI, ANTHROPIC, OPENROUTER, OTHERS].concat() {
        let error = answer(status, "application/json").refused(body.as_bytes());
        assert_eq!((error.kind, error.code.as_deref()), (kind, code), "{status} {body}");
        assert_eq!(error.status, Some(status));
        assert!(!error.delivered);
        assert!(error.message.starts_with(&format!("api.x.com answered {status}")), "{error}");
    }
}

#[test]
fn a_message_says_who_what_and_what_next() {
    let json = "application/json";
    let cases = [
        (
            answer(429, json).refused(OPENAI[2].1.as_bytes()).message,
            "api.x.com answered 429 (rate_limit_exceeded): Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 6s; wait, or use another model or provider",
        ),
        (
            answer(404, json).refused(br#"{"detail":"Not Found"}"#).message,
            "api.x.com answered 404: Not Found; check the base URL and the api mode",
        ),
        (
            answer(502, "text/html").refused(b"<html>\n <b>bad</b></html>").message,
            "api.x.com answered 502: text/html: <html> <b>bad</b></html>; try again later, or use another provider",
        ),
        (
            answer(503, "").refused(b"").message,
            "api.x.com answered 503: no content type and an empty body; try again later, or use another provider",
        ),
        (
            answer(200, "text/html; charset=utf-8").no_reply(b"<html>\x1b[31mhi</html>").message,
            "api.x.com answered 200 with text/html; charset=utf-8: <html> [31mhi</html>, which is no reply; check that the base URL is the API's",
        ),
        (
            answer(200, json).empty().message,
            "api.x.com answered 200 with application/json and an empty reply; try again, or check the model and the base URL",
        ),
        (
            answer(200, json).fault(&Fault::Cut).message,
            "the stream from api.x.com ended before the reply was complete; try again",
        ),
        (
            answer(200, json)
                .fault(&Fault::Malformed { reason: "it is not JSON".into(), text: "oops".into() })
                .message,
            "api.x.com sent something that is no reply (it is not JSON): oops; check that the base URL and the api mode fit the server",
        ),
    ];
    for (message, expected) in cases {
        assert_eq!(message, expected);
    }
    let redirect = Answer { location: Some("https://y.com/v1".into()), ..answer(301, "text/html") };
    let redirect = redirect.refused(b"moved");
    assert_eq!(redirect.kind, BadRequest);
    assert_eq!(
        redirect.message,
        "api.x.com answered 301, a redirect to https://y.com/v1; redirects are not followed, since they could carry the key elsewhere: set the base URL to the final address"
    );
}

#[test]
fn faults_have_kinds() {
    let kinds = [
        (Fault::Cut, Connection),
        (Fault::Empty, EmptyReply),
        (Fault::Malformed { reason: "r".into(), text: "t".into() }, MalformedReply),
    ];
    for (fault, kind) in kinds {
        let error = answer(200, "text/event-stream").fault(&fault);
        assert_eq!((error.kind, error.status), (kind, Some(200)), "{fault:?}");
    }
}

#[test]
fn b016_an_error_inside_a_success_is_classified_by_its_own_code() {
    let cases = [
        (r#"{"code":502,"message":"upstream worker limit reached"}"#, Overloaded, 502, Some("502")),
        (r#"{"code":"server_error","message":"boom"}"#, Overloaded, 200, Some("server_error")),
        (r#"{"code":429,"message":"slow"}"#, RateLimited, 429, Some("429")),
        (r#"{"code":401,"message":"no"}"#, Auth, 401, Some("401")),
        (r#"{"message":"Rate limit exceeded"}"#, RateLimited, 200, None),
        (r#"{"message":"maximum context length is 4096"}"#, ContextOverflow, 200, None),
        (
            r#"{"type":"invalid_request_error","message":"bad"}"#,
            BadRequest,
            200,
            Some("invalid_request_error"),
        ),
        (r#"{"type":"timeout","message":"late"}"#, Timeout, 200, Some("timeout")),
        (r#""upstream request timed out""#, Timeout, 200, None),
        ("not json", Overloaded, 200, None),
    ];
    for (json, kind, status, code) in cases {
        let error = answer(200, "text/event-stream").fault(&Fault::Reported(json.into()));
        let found = (error.kind, error.status, error.code.as_deref());
        assert_eq!(found, (kind, Some(status), code), "{json}");
        assert_eq!(error.body, json);
    }
    let error = answer(200, "").fault(&Fault::Reported(cases[0].0.into()));
    assert_eq!(
        error.message,
        "api.x.com reported an error 502: upstream worker limit reached; try again later, or use another provider"
    );
}

#[test]
fn b025_a_page_is_shown_only_up_to_the_cap() {
    let page = format!("<html>{}</html>", "é".repeat(5000));
    for error in [
        answer(502, "text/html").refused(page.as_bytes()),
        answer(200, "text/html").no_reply(page.as_bytes()),
    ] {
        assert!(error.message.contains("text/html"), "{error}");
        assert_eq!(error.message.matches('é').count(), SNIPPET_CHARS - "<html>".len(), "{error}");
        assert!(error.body.len() <= TransportError::BODY_BYTES);
    }
}

#[test]
fn no_credential_is_in_an_error() {
    let long = format!("{}{KEY}", "x".repeat(TransportError::BODY_BYTES - 6));
    let body =
        |text: &str| format!(r#"{{"error":{{"message":"bad key {text}","code":"c {text}"}}}}"#);
    for text in [KEY, &KEY[..12], &KEY[KEY.len() - 9..], &long] {
        let body = body(text);
        let faults = [
            Fault::Reported(body.clone()),
            Fault::Malformed { reason: "r".into(), text: body.clone() },
        ];
        let mut errors = vec![
            answer(401, "application/json").refused(body.as_bytes()),
            answer(200, "text/plain").no_reply(body.as_bytes()),
        ];
        errors.extend(faults.iter().map(|fault| answer(200, "").fault(fault)));
        for error in errors {
            let shown = format!("{} {} {error:?}", error.message, error.body);
            let leaked = KEY
                .as_bytes()
                .windows(8)
                .any(|piece| shown.contains(std::str::from_utf8(piece).unwrap()));
            assert!(!leaked, "{shown}");
            assert!(shown.contains("[masked]") || text == long, "{shown}");
        }
    }
}

#[test]
fn b057_a_wait_is_told_with_every_status_and_else_taken_from_what_is_used_up() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let asked = Answer { retry_after: seconds(2), ..answer(status, "") };
        assert_eq!(asked.refused(b"").retry_after, seconds(2), "{status}");
    }
    let headers = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "7s")];
    let limits = RateLimits::read(headers, std::time::UNIX_EPOCH);
    let paced = Answer { limits, ..answer(429, "") };
    assert_eq!(paced.refused(OPENAI[2].1.as_bytes()).retry_after, seconds(7));
    assert_eq!(Answer { limits, ..answer(500, "") }.refused(b"").retry_after, None);
    assert_eq!(answer(429, "").refused(OPENAI[2].1.as_bytes()).retry_after, seconds(6));
    let reported = answer(200, "").fault(&Fault::Reported(
        r#"{"code":429,"message":"Please retry in 34s.","status":"RESOURCE_EXHAUSTED"}"#.into(),
    ));
    assert_eq!((reported.kind, reported.retry_after), (RateLimited, seconds(34)));
}
