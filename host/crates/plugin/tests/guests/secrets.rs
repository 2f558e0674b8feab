//! Secrets and a guest: it is given something that stands for one, and nothing it says or is shown
//! holds the value.

use std::sync::{Arc, LazyLock};

use hermes_core::failure::code;
use hermes_core::tool::ToolResult;
use hermes_plugin::Plugin;
use hermes_plugin::policy::Effective;
use hermes_plugin::secret::{BLOT, Inject, Secret, SecretError, SecretRule, SecretSource};
use serde_json::{Map, json};

use super::rig::{call, failure, guest, limits, sandbox_with, text};

const VALUE: &str = "the-canary/in+the mine";

/// One secret that has a value, and one that cannot be read.
struct Shelf;

impl SecretSource for Shelf {
    fn place(&self) -> &'static str {
        "test"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        match name {
            "HOSTILE_TOKEN" => Ok(Secret::parse(VALUE).ok()),
            "BROKEN" => Err(SecretError("the shelf is broken. Mend it".into())),
            _ => Ok(None),
        }
    }

    fn names(&self) -> Result<Vec<String>, SecretError> {
        Ok(vec!["HOSTILE_TOKEN".into()])
    }
}

fn plugin(granted: &[&str]) -> Arc<Plugin> {
    static CACHE: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
    let rule = |name: &&str| SecretRule {
        name: (*name).into(),
        audience: url::Url::parse("https://api.example").unwrap().origin(),
        inject: Inject::Placeholder,
        body: false,
        hint: Some("any eight letters".into()),
    };
    let secrets = granted.iter().map(rule).collect();
    let sandbox = sandbox_with(CACHE.path(), Arc::new(Shelf));
    let inspected = sandbox.inspect(&guest("hostile")).unwrap();
    let effective = Effective { secrets, ..Effective::default() };
    Plugin::new(&sandbox, "hostile", inspected, effective, limits(), Map::new())
}

async fn secret(plugin: &Arc<Plugin>, name: &str) -> ToolResult {
    call(plugin, "secret", json!({"name": name})).await
}

#[tokio::test]
async fn a_granted_secret_is_a_placeholder_that_differs_from_call_to_call() {
    let plugin = plugin(&["HOSTILE_TOKEN"]);
    let first = text(secret(&plugin, "HOSTILE_TOKEN").await).unwrap();
    let second = text(secret(&plugin, "HOSTILE_TOKEN").await).unwrap();
    let shape = "exists true same true hmx_placeholder_";
    assert!(first.starts_with(shape) && second.starts_with(shape), "{first} {second}");
    assert_eq!(first.len(), shape.len() + 32);
    assert_ne!(first, second);
}

#[tokio::test]
async fn what_is_not_granted_is_denied_and_what_has_no_value_is_asked_for() {
    let plugin = plugin(&["EMPTY", "BROKEN"]);
    for (name, code, message) in [
        (
            "HOSTILE_TOKEN",
            code::DENIED,
            "denied: secret \"HOSTILE_TOKEN\" is not in the secret grants of plugin \"hostile\". Not \
             retryable. To allow it: hermes-host plugins grant hostile secret:HOSTILE_TOKEN",
        ),
        (
            "EMPTY",
            code::AUTH_REQUIRED,
            "the secret \"EMPTY\" has no value (any eight letters). To give it one: hermes-host \
             secrets set EMPTY",
        ),
        ("BROKEN", code::UNAVAILABLE, "the shelf is broken. Mend it"),
    ] {
        let failure = failure(secret(&plugin, name).await);
        assert_eq!((&*failure.code, &*failure.message), (code, message));
    }
}

#[tokio::test]
async fn b133_no_result_and_no_failure_holds_the_value() {
    let plugin = plugin(&["HOSTILE_TOKEN"]);
    for form in [VALUE.to_owned(), VALUE.replace('/', "%2F"), VALUE.replace(' ', "+")] {
        let said = json!({"text": format!("a {form} b")});
        let echoed = text(call(&plugin, "echo", said.clone()).await).unwrap();
        assert_eq!(echoed, format!("a {BLOT} b"));
        let failed = failure(call(&plugin, "fail", said).await);
        assert_eq!(failed.message, format!("a {BLOT} b"));
        assert_eq!(failed.attributes["why"], format!("a {BLOT} b"));
    }
    // Whoever was not granted it may say what it likes: it has it from elsewhere.
    let other = self::plugin(&[]);
    assert_eq!(text(call(&other, "echo", json!({"text": VALUE})).await).unwrap(), VALUE);
}
