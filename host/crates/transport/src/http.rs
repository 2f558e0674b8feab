//! The one HTTP sender of all api modes: clients, connections, deadlines.
//!
//! Left out on purpose: cookies, redirects, compression, caching and retries. (The library itself
//! sends again only what a server has provably not accepted, such as a request that met a
//! connection the server had closed in the meantime.)

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hermes_core::transport::{ErrorKind, TransportError};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Client, NoProxy, Proxy, Response, redirect};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use url::{Host, Url};

use crate::classify::{self, Answer};
use crate::credentials::{Chosen, Ring};
use crate::limits::RateLimits;
use crate::mode::Mode;
use crate::secret::{Mask, Secret};
use crate::settings::{ProxyChoice, Settings, SettingsError, Timeouts};

/// Most bytes read of a refusal's body: every error object fits, and a page is cut.
const REFUSAL_BYTES: usize = 64 * 1024;

/// Longest wait any deadline is computed with, so that a timeout of "forever" cannot overflow.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Headers the connection itself writes.
const RESERVED: [&str; 5] =
    ["host", "content-length", "transfer-encoding", "connection", "content-type"];

/// Sends requests to one address.
#[derive(Debug)]
pub(crate) struct Sender {
    url: Url,
    place: String,
    authorise: fn(&Secret) -> Vec<(&'static str, Secret)>,
    api_key_header: bool,
    headers: HeaderMap,
    ring: Ring,
    limits: Mutex<Option<RateLimits>>,
    timeouts: Timeouts,
    proxies: Vec<Proxy>,
    tls: bool,
    client: OnceCell<Client>,
}

/// When a call has waited too long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// When the whole call must be over.
    pub(crate) deadline: Instant,
    /// Its limits.
    pub(crate) timeouts: Timeouts,
}

impl Clock {
    fn start(timeouts: Timeouts) -> Self {
        Self { deadline: Instant::now() + timeouts.total.min(FOREVER), timeouts }
    }

    /// When waiting that begins now and lasts at most `limit` is over.
    pub(crate) fn until(&self, limit: Duration) -> Instant {
        self.deadline.min(Instant::now() + limit.min(FOREVER))
    }

    /// The error for waiting in vain for `place`.
    pub(crate) fn expired(&self, place: &str) -> TransportError {
        let Timeouts { stall, total, .. } = self.timeouts;
        let message = if Instant::now() >= self.deadline {
            format!(
                "the call to {place} took longer than {total:?}; try again or raise total_timeout_s"
            )
        } else {
            format!("{place} sent nothing for {stall:?}; try again or raise stall_timeout_s")
        };
        TransportError::new(ErrorKind::Timeout, message)
    }
}

impl Sender {
    /// A sender for `mode` at `url`. Connects to nothing and loads no certificates yet.
    pub(crate) fn new(mode: &Mode, url: Url, settings: &Settings) -> Result<Self, SettingsError> {
        let local = is_local(&url);
        let proxies = if local { Vec::new() } else { proxies(&settings.proxy)? };
        let proxied = [&settings.proxy.http, &settings.proxy.https];
        let tls_proxy = !local
            && proxied.into_iter().flatten().any(|proxy| proxy.expose().starts_with("https:"));
        Ok(Self {
            place: place(&url),
            authorise: mode.authorise,
            api_key_header: settings.quirks.api_key_header,
            headers: headers(mode, settings)?,
            ring: Ring::new(&settings.credentials, mask(&url, settings)),
            limits: Mutex::default(),
            timeouts: settings.timeouts,
            tls: url.scheme() == "https" || tls_proxy,
            proxies,
            client: OnceCell::new(),
            url,
        })
    }

    /// Sends `body`, for this model, and waits for the answer's head. A status that is no success is an error,
    /// classified with its body.
    pub(crate) async fn post(
        &self,
        body: Vec<u8>,
        model: &str,
        stream: bool,
    ) -> Result<(Response, Answer, Clock), TransportError> {
        let clock = Clock::start(self.timeouts.for_model(model));
        let accept =
            if stream { "text/event-stream, application/json" } else { "application/json" };
        let key = self.ring.choose().await?;
        let number = key.as_ref().map(|key| key.number);
        let failed = |error| TransportError { credential: number, ..error };
        let mut headers = self.headers.clone();
        if let Some(key) = &key {
            self.authorise(key, &mut headers).map_err(failed)?;
        }
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static(accept));
        let client = self.client().await?;
        let sent = client.post(self.url.clone()).headers(headers).body(body).send();
        let response = tokio::time::timeout_at(clock.until(clock.timeouts.stall), sent)
            .await
            .map_err(|_| clock.expired(&self.place))?
            .map_err(|error| self.unsent(&error))?;
        let answer = Answer {
            place: self.place.clone(),
            status: response.status().as_u16(),
            mask: self.ring.mask(),
            credential: number,
            ..classify::kept(response.headers(), SystemTime::now())
        };
        if let Some(limits) = answer.limits {
            *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = Some(limits);
        }
        if response.status().is_success() {
            number.into_iter().for_each(|number| self.ring.worked(number));
            return Ok((response, answer, clock));
        }
        let body = refusal(response, &clock).await;
        Err(answer.refused(&body))
    }

    /// The pace the provider allowed last.
    pub(crate) fn rate_limits(&self) -> Option<RateLimits> {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another key after `refused`.
    pub(crate) async fn renew_credential(&self, refused: &TransportError) -> bool {
        self.ring.renew(refused).await
    }

    /// Adds the headers that carry `key`, except where the settings have their own.
    fn authorise(&self, key: &Chosen, headers: &mut HeaderMap) -> Result<(), TransportError> {
        let secret = &key.secret;
        let carriers = if self.api_key_header && !secret.is_token() {
            vec![("api-key", secret.clone())]
        } else {
            (self.authorise)(secret)
        };
        for (name, value) in carriers {
            let value = hidden(&value).ok_or_else(|| {
                TransportError::new(ErrorKind::Auth, SettingsError::Key.to_string())
            })?;
            headers.entry(name).or_insert(value);
        }
        Ok(())
    }

    /// The client, built at the first use. Without TLS that takes about 0.1 ms; with it, reading
    /// and parsing the system's certificates takes 3 ms when they are in the file cache and some
    /// 25 ms when not, so it happens off the thread that drives the conversation.
    async fn client(&self) -> Result<&Client, TransportError> {
        let build = || async {
            let builder = self.builder();
            if !self.tls {
                return builder.tls_certs_only(std::iter::empty()).build();
            }
            match tokio::task::spawn_blocking(|| builder.build()).await {
                Ok(client) => client,
                Err(_stopped) => self.builder().build(),
            }
        };
        self.client.get_or_try_init(build).await.map_err(|error| {
            let cause = root_cause(&error);
            let message =
                format!("no HTTP client could be made: {cause}; check the system's certificates");
            TransportError::new(ErrorKind::Internal, self.ring.mask().text(&message))
        })
    }

    fn builder(&self) -> reqwest::ClientBuilder {
        let builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .tcp_keepalive(Duration::from_secs(15))
            .connect_timeout(self.timeouts.connect.min(FOREVER));
        self.proxies.iter().cloned().fold(builder, reqwest::ClientBuilder::proxy)
    }

    /// The error for a request that got no answer.
    fn unsent(&self, error: &reqwest::Error) -> TransportError {
        let (place, connect) = (&self.place, self.timeouts.connect);
        let cause = root_cause(error);
        let (kind, message) = if error.is_timeout() {
            let text = format!(
                "no connection to {place} within {connect:?}; check the base URL and the network"
            );
            (ErrorKind::Timeout, text)
        } else if error.is_connect() {
            let text = format!(
                "could not connect to {place}: {cause}; check that the server runs and the base URL is right"
            );
            (ErrorKind::Connection, text)
        } else {
            let text = format!(
                "the connection to {place} broke before an answer came: {cause}; try again"
            );
            (ErrorKind::Connection, text)
        };
        TransportError::new(kind, self.ring.mask().text(&message))
    }
}

/// The body of a refusal, as much of it as is worth reading. One that does not come is empty.
async fn refusal(mut response: Response, clock: &Clock) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < REFUSAL_BYTES {
        let next = tokio::time::timeout_at(clock.until(clock.timeouts.stall), response.chunk());
        match next.await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    body.truncate(REFUSAL_BYTES);
    body
}

/// The innermost cause, which is the one that says something: `Connection refused (os error 111)`.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Host and port, for messages: a path or query may hold a key.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

fn proxies(choice: &ProxyChoice) -> Result<Vec<Proxy>, SettingsError> {
    let direct = choice.no_proxy.as_deref().and_then(NoProxy::from_string);
    let mut proxies = Vec::new();
    for (scheme, address) in [("http", &choice.http), ("https", &choice.https)] {
        let Some(address) = address.as_ref().map(Secret::expose) else { continue };
        let refused = |_| SettingsError::Proxy { scheme };
        let with_scheme = match address.contains("://") {
            true => address.to_owned(),
            false => format!("http://{address}"),
        };
        let address = Url::parse(&with_scheme).map_err(|_| SettingsError::Proxy { scheme })?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(SettingsError::Proxy { scheme });
        }
        let proxy = match scheme {
            "http" => Proxy::http(address.as_str()).map_err(refused)?,
            _ => Proxy::https(address.as_str()).map_err(refused)?,
        };
        proxies.push(proxy.no_proxy(direct.clone()));
    }
    Ok(proxies)
}

/// All headers but `Accept` and those with a key. Those of the settings replace ours.
fn headers(mode: &Mode, settings: &Settings) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let agent = concat!("hermes-host/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    for (name, value) in mode.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    for (_, value) in settings.credentials.keys().iter().flat_map(mode.authorise) {
        hidden(&value).ok_or(SettingsError::Key)?;
    }
    for (name, value) in &settings.headers {
        let refused = |reason| SettingsError::Header { name: name.clone(), reason };
        let header = HeaderName::try_from(name.as_str())
            .map_err(|_| refused("its name is not made of letters, digits and -_"))?;
        if RESERVED.contains(&header.as_str()) {
            return Err(refused("it is written by the connection itself"));
        }
        let value = hidden(value)
            .ok_or_else(|| refused("its value holds characters no header can carry"))?;
        headers.insert(header, value);
    }
    Ok(headers)
}

fn hidden(value: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.expose()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A mask for everything of ours but the keys that a provider or an error could repeat.
fn mask(url: &Url, settings: &Settings) -> Mask {
    let telling =
        |name: &str| ["key", "token", "secret", "sig"].iter().any(|part| name.contains(part));
    let queried: Vec<String> = url
        .query_pairs()
        .filter(|(name, _)| telling(&name.to_ascii_lowercase()))
        .map(|(_, value)| value.into_owned())
        .collect();
    let proxied: Vec<String> = [&settings.proxy.http, &settings.proxy.https]
        .into_iter()
        .flatten()
        .filter_map(|proxy| Some(Url::parse(proxy.expose()).ok()?.password()?.to_owned()))
        .collect();
    let extra = settings.headers.iter().map(|(_, value)| value.expose());
    let others = queried.iter().chain(&proxied).map(String::as_str);
    Mask::new(extra.chain(others))
}
