//! From codes, statuses and words to an [`ErrorKind`].

use hermes_core::transport::ErrorKind;
use hermes_core::transport::ErrorKind::{
    Auth, BadRequest, Billing, ContentFilter, ContextOverflow, ModelNotFound, Overloaded,
    RateLimited, Timeout,
};

/// Codes that mean one thing whatever the status, in lower case and without separators.
const CODES: &[(ErrorKind, &[&str])] = &[
    (
        Auth,
        &[
            "invalidapikey",
            "authenticationerror",
            "invalidauthentication",
            "permissionerror",
            "permissiondenied",
            "permissiondeniederror",
            "unauthenticated",
            "unauthorized",
            "accountdeactivated",
            "invalidtoken",
            "expiredtoken",
            "accessdenied",
            "missingapikey",
        ],
    ),
    (
        Billing,
        &[
            "insufficientquota",
            "billinghardlimitreached",
            "billingnotactive",
            "billingerror",
            "insufficientbalance",
            "insufficientcredits",
            "paymentrequired",
            "creditsexhausted",
        ],
    ),
    (
        RateLimited,
        &[
            "ratelimitexceeded",
            "ratelimiterror",
            "toomanyrequests",
            "resourceexhausted",
            "throttled",
            "throttlingexception",
            "throttling",
            "ratelimitreached",
        ],
    ),
    (
        Overloaded,
        &["overloadederror", "engineoverloaded", "slowdown", "modeloverloaded", "overloaded"],
    ),
    (
        ContextOverflow,
        &[
            "contextlengthexceeded",
            "exceedcontextsizeerror",
            "contextwindowexceeded",
            "requesttoolarge",
            "prompttoolong",
            "inputtoolong",
            "maxcontextlengthexceeded",
        ],
    ),
    (
        ModelNotFound,
        &[
            "modelnotfound",
            "deploymentnotfound",
            "unknownmodel",
            "modelnotavailable",
            "invalidmodel",
        ],
    ),
    (
        ContentFilter,
        &[
            "contentfilter",
            "contentpolicyviolation",
            "responsibleaipolicyviolation",
            "moderationblocked",
            "datainspectionfailed",
            "contentblocked",
        ],
    ),
];

/// Codes too general to overrule a status; they count where there is none.
const GENERAL_CODES: &[(ErrorKind, &[&str])] = &[
    (
        Overloaded,
        &[
            "servererror",
            "internalerror",
            "internalservererror",
            "apierror",
            "serviceunavailable",
            "unavailable",
            "internal",
        ],
    ),
    (Timeout, &["timeout", "timeouterror", "deadlineexceeded", "requesttimeout"]),
    (
        BadRequest,
        &[
            "invalidrequesterror",
            "invalidargument",
            "badrequesterror",
            "invalidrequest",
            "badrequest",
        ],
    ),
];

/// A request of more tokens than the pace allows in a whole minute is told like one that came too
/// early (OpenAI with 429, Groq with 413), but waiting never helps.
const NEVER_PASSES: &[&str] = &[
    "please reduce your message size",
    "the input or output tokens must be reduced in order to run",
];

const OVERFLOW: &[&str] = &[
    "context length",
    "context window",
    "maximum context",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many input tokens",
    "maximum prompt length",
    "input token count",
    "reduce the length of the messages",
    "prompt exceeds max length",
    "exceeds the model's context",
    "exceed context limit",
    "longer than the model's",
    "input length and `max_tokens` exceed",
    "上下文长度",
    "超过最大长度",
];
const BILLING: &[&str] = &[
    "credit balance",
    "insufficient balance",
    "insufficient credit",
    "insufficient funds",
    "insufficient quota",
    "check your plan and billing",
    "billing hard limit",
    "payment required",
    "out of credits",
    "requires more credits",
    "can only afford",
    "spending limit",
    "key limit exceeded",
];
const MODEL: &[&str] = &[
    "model not found",
    "no such model",
    "does not exist or you do not have access",
    "unknown model",
    "is not a valid model",
    "invalid model",
    "no endpoints found",
    "not found, try pulling it",
    "model does not exist",
    "is not found for api version",
    "unsupported model",
    "not supported model",
    "model is not supported",
];
const FILTER: &[&str] = &[
    "content management policy",
    "content policy",
    "usage policies",
    "content_filter",
    "flagged by",
    "requires moderation",
    "was flagged",
    "safety system",
];
const KEY: &[&str] = &[
    "api key not valid",
    "invalid api key",
    "incorrect api key",
    "api key expired",
    "no auth credentials",
    "api key not found",
    "missing api key",
];
const OVERLOAD: &[&str] =
    &["overloaded", "at capacity", "server is busy", "no capacity", "too busy"];
const RATE: &[&str] =
    &["rate limit", "too many requests", "rate-limit", "requests per minute", "quota exceeded"];
const TRANSIENT: &[&str] =
    &["try again", "resets at", "reset at", "resets in", "retry after", "per minute"];
const TIME: &[&str] = &["timed out", "timeout"];

/// The kind of an error with this `status` and provider `code`, whose `text` is the provider's
/// sentence or the whole body. Every error has one.
pub(crate) fn of(status: Option<u16>, code: Option<&str>, text: &str) -> ErrorKind {
    let code = code.map(squeezed);
    let text = text.to_lowercase();
    if NEVER_PASSES.iter().any(|phrase| text.contains(phrase)) {
        return ContextOverflow;
    }
    if let Some(kind) = code.as_deref().and_then(|code| listed(CODES, code)) {
        return kind;
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let request = |otherwise| by_words(&says).unwrap_or(otherwise);
    match status {
        None | Some(..400) => {
            let general = code.as_deref().and_then(|code| listed(GENERAL_CODES, code));
            let passing = passing_words(&says);
            by_words(&says).or(passing).or(general).unwrap_or(Overloaded)
        }
        Some(401) => Auth,
        Some(402) if says(TRANSIENT) && !says(BILLING) => RateLimited,
        Some(402) => Billing,
        Some(403) if says(BILLING) => Billing,
        Some(403) if says(FILTER) => ContentFilter,
        Some(403) => Auth,
        Some(404) if says(BILLING) => Billing,
        // `{"error":"model 'x' not found"}`, `model: x`, but not every page that was not found.
        Some(404) if says(MODEL) || text.contains("model") => ModelNotFound,
        Some(408) => Timeout,
        Some(413) => ContextOverflow,
        Some(429) if says(BILLING) => Billing,
        Some(429) if says(OVERLOAD) => Overloaded,
        Some(429) => RateLimited,
        Some(400..500) => request(BadRequest),
        Some(504 | 524) => Timeout,
        Some(_) if says(OVERFLOW) => ContextOverflow,
        Some(_) => Overloaded,
    }
}

/// What the user can do about it.
pub(crate) fn advice(kind: ErrorKind, status: Option<u16>) -> &'static str {
    match (kind, status) {
        (Auth, _) => "check the key and what it is allowed to use",
        (Billing, _) => "check the account's balance and plan",
        (RateLimited, _) => "wait, or use another model or provider",
        (Overloaded | Timeout, _) => "try again later, or use another provider",
        (ContextOverflow, _) => "shorten the conversation or use a model with a larger window",
        (ModelNotFound, _) => "check the model's name",
        (ContentFilter, _) => "rephrase the request or use another model",
        (_, Some(404 | 405)) => "check the base URL and the api mode",
        _ => "check the model's parameters and the api mode",
    }
}

fn listed(table: &[(ErrorKind, &[&str])], code: &str) -> Option<ErrorKind> {
    table.iter().find(|(_, codes)| codes.contains(&code)).map(|(kind, _)| *kind)
}

/// A code in lower case without separators: `Rate_Limit-Exceeded` is `ratelimitexceeded`.
fn squeezed(code: &str) -> String {
    code.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What words say about a request that will not pass as it is.
fn by_words(says: &impl Fn(&[&str]) -> bool) -> Option<ErrorKind> {
    let table = [
        (ContextOverflow, OVERFLOW),
        (Billing, BILLING),
        (Auth, KEY),
        (ModelNotFound, MODEL),
        (ContentFilter, FILTER),
    ];
    table.into_iter().find(|(_, phrases)| says(phrases)).map(|(kind, _)| kind)
}

/// What words say about a provider that may serve the same request later.
fn passing_words(says: &impl Fn(&[&str]) -> bool) -> Option<ErrorKind> {
    let table = [(RateLimited, RATE), (Overloaded, OVERLOAD), (Timeout, TIME)];
    table.into_iter().find(|(_, phrases)| says(phrases)).map(|(kind, _)| kind)
}
