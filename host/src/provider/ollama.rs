//! Which models an Ollama on this machine has. It is asked only when nobody named a model, and
//! nothing beyond this machine is ever asked.

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::key::Lookup;
use super::known;
use super::wait::wait;

/// The name of its row in the table of known providers.
pub(crate) const NAME: &str = "ollama";

/// The variable in which Ollama itself looks for its address.
const ADDRESS: &str = "OLLAMA_HOST";

/// Longest wait for all questions together: a person waits, and a server on this machine that does
/// not answer at once is none.
const PATIENCE: Duration = Duration::from_secs(2);

/// Most models that are asked what they can do, the latest ones.
const ASKED: usize = 12;

/// What an Ollama has to offer.
#[derive(Debug, PartialEq)]
pub(crate) struct Offer {
    /// Its address, as a base URL.
    pub(crate) base_url: String,
    /// The first of its models that can call tools.
    pub(crate) model: Option<String>,
}

/// What the Ollama at `base_url` has to offer, or, without one, the one that runs where Ollama
/// usually does. Nothing where none answers.
pub(crate) fn offer(base_url: Option<&str>, lookup: Lookup<'_>) -> Option<Offer> {
    let base_url = base_url.map_or_else(|| address(lookup), |url| Some(url.to_owned()))?;
    let root = root(&base_url)?;
    let asked = wait(async {
        tokio::time::timeout(PATIENCE, capable(&root)).await.ok().and_then(Result::ok)
    });
    let model = asked.ok().flatten()?;
    Some(Offer { base_url, model })
}

/// Where an Ollama would run: `OLLAMA_HOST` if that is this machine, else the usual port.
fn address(lookup: Lookup<'_>) -> Option<String> {
    let Some(said) = lookup(ADDRESS).filter(|said| !said.trim().is_empty()) else {
        return known::named(NAME)?.base_url.clone();
    };
    let said = said.trim().trim_end_matches('/');
    let said = if said.contains("://") { said.to_owned() } else { format!("http://{said}") };
    let mut url = Url::parse(&said).ok()?;
    if !said.starts_with("https:") && url.port().is_none() {
        url.set_port(Some(11434)).ok()?;
    }
    if url.host_str() == Some("0.0.0.0") {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    url.set_path("/v1");
    Some(url.into())
}

/// The server's own root, if it is on this machine.
fn root(base_url: &str) -> Option<Url> {
    let mut url = Url::parse(base_url).ok()?;
    let here = match url.host()? {
        url::Host::Domain(name) => name == "localhost",
        url::Host::Ipv4(ip) => ip.is_loopback(),
        url::Host::Ipv6(ip) => ip.is_loopback(),
    };
    url.set_path("/");
    url.set_query(None);
    here.then_some(url)
}

/// The first model that says it can call tools, in the order they are listed: the latest first.
async fn capable(root: &Url) -> Result<Option<String>, String> {
    let at = |path: &str| root.join(path).map_err(|error| error.to_string());
    let listed = hermes_transport::ask_json(at("api/tags")?, None).await?;
    let models = listed["models"].as_array().ok_or("no list of models")?;
    for model in models.iter().take(ASKED).filter_map(|model| model["name"].as_str()) {
        let question = json!({"model": model});
        // One that cannot be described is passed over; the next may do.
        let about = hermes_transport::ask_json(at("api/show")?, Some(&question)).await;
        let about = about.unwrap_or(Value::Null);
        let can = |what: &str| {
            about["capabilities"].as_array().is_some_and(|all| all.iter().any(|one| one == what))
        };
        if can("tools") {
            return Ok(Some(model.to_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use axum::Json;
    use axum::routing::{get, post};

    use super::*;

    fn at(said: Option<&str>) -> Option<String> {
        address(&|name| (name == ADDRESS).then_some(said?.to_owned()))
    }

    #[test]
    fn its_address_is_read_as_it_reads_it_itself() {
        for (said, expected) in [
            (None, "http://127.0.0.1:11434/v1"),
            (Some(" "), "http://127.0.0.1:11434/v1"),
            (Some("0.0.0.0"), "http://127.0.0.1:11434/v1"),
            (Some("localhost:9999"), "http://localhost:9999/v1"),
            (Some("http://127.0.0.1:8080/"), "http://127.0.0.1:8080/v1"),
        ] {
            assert_eq!(at(said).as_deref(), Some(expected), "{said:?}");
        }
    }

    #[test]
    fn only_this_machine_is_asked() {
        for (url, here) in [
            ("http://localhost:1/v1", true),
            ("http://[::1]:1/v1", true),
            ("http://192.168.0.2:11434/v1", false),
            ("https://ollama.example/v1", false),
            ("http://localhost.example:11434/v1", false),
        ] {
            assert_eq!(root(url).is_some(), here, "{url}");
        }
    }

    /// An Ollama whose models can do this, and its base URL. Its runtime lives as long as the test.
    fn serve(models: &'static [(&'static str, &'static [&'static str])]) -> (String, impl Drop) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let names: Vec<Value> = models.iter().map(|(name, _)| json!({"name": name})).collect();
        let show = move |Json(asked): Json<Value>| async move {
            let found = models.iter().find(|(name, _)| asked["model"] == **name);
            Json(json!({"capabilities": found.map(|(_, can)| can)}))
        };
        let tags = json!({"models": names});
        let app = axum::Router::new()
            .route("/api/tags", get(move || async { Json(tags) }))
            .route("/api/show", post(show));
        runtime.spawn(async move { axum::serve(listener, app).await });
        (url, runtime)
    }

    #[test]
    fn the_first_model_that_can_call_tools_is_offered() {
        let nowhere: Lookup<'_> = &|_| None;
        let (url, _server) = serve(&[
            ("embed", &["embedding"]),
            ("old", &["completion"]),
            ("new", &["completion", "tools"]),
        ]);
        let offered = Offer { base_url: url.clone(), model: Some("new".into()) };
        assert_eq!(offer(Some(&url), nowhere), Some(offered));
        let (url, _server) = serve(&[("embed", &["embedding"])]);
        let offered = Offer { base_url: url.clone(), model: None };
        assert_eq!(offer(Some(&url), nowhere), Some(offered));
        assert_eq!(offer(Some("http://127.0.0.1:1/v1"), nowhere), None);
    }
}
