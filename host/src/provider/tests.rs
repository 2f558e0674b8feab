//! Which key goes where, and who is asked: input and whole outcome. The environment is a table.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::chain::{Models, models};
use super::choice::ModelChoice;
use super::key::Role;
use super::route;
use super::spec::Spec;
use crate::config::Config;

/// An environment in which every variable holds a key that tells the variable's name.
fn holding(names: &'static [&'static str]) -> impl Fn(&str) -> Option<String> {
    move |name| names.contains(&name).then(|| format!("key in {name}"))
}

fn config(text: &str) -> Config {
    toml::from_str(text).unwrap()
}

fn choice(provider: Option<&str>, base_url: Option<&str>) -> ModelChoice {
    let own = |value: Option<&str>| value.map(str::to_owned);
    ModelChoice {
        provider: own(provider),
        base_url: own(base_url),
        model: Some("m".into()),
        ..ModelChoice::default()
    }
}

/// The variable whose key goes to the provider, and where it goes.
fn sent(
    provider: Option<&str>,
    base_url: Option<&str>,
    text: &str,
    role: Role,
    set: &'static [&'static str],
) -> Result<(String, Option<String>), String> {
    let spec = Spec::new(provider, &choice(provider, base_url), &config(text), role);
    let spec = spec.map_err(|error| error.to_string())?;
    let lookup = holding(set);
    let credentials = route::credentials(&spec, &lookup).map_err(|error| error.to_string())?;
    let settings = route::settings(&spec, credentials, &lookup);
    let key = settings.credentials.keys().first();
    let key = key.map(|key| key.expose().trim_start_matches("key in ").to_owned());
    Ok((settings.base_url, key))
}

const EVERYTHING: &[&str] = &[
    "HERMES_HOST_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GROQ_API_KEY",
    "WORK_KEY",
    "OPENROUTER_API_KEY",
];

#[test]
fn a_key_goes_where_it_belongs() {
    use Role::{Other, Primary};
    let work = "[providers.work]\nbase_url = \"https://llm.example/v1\"";
    let keyed = "[providers.work]\nbase_url = \"https://llm.example/v1\"\nkey_env = \"WORK_KEY\"";
    let moved = "[providers.groq]\nbase_url = \"https://proxy.example/v1\"";
    let generic: &[&str] = &["HERMES_HOST_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    let usual: &[&str] = &["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    let groq = "https://api.groq.com/openai/v1";
    let example = "https://llm.example/v1";
    let ollama = "http://127.0.0.1:11434/v1";
    for (provider, url, text, role, set, expected) in [
        // The provider's own variable comes first, then the generic one, then the mode's usual one.
        (Some("groq"), None, "", Primary, EVERYTHING, (groq, Some("GROQ_API_KEY"))),
        (Some("groq"), None, "", Other, EVERYTHING, (groq, Some("GROQ_API_KEY"))),
        (Some("groq"), None, "", Primary, generic, (groq, Some("HERMES_HOST_API_KEY"))),
        (Some("work"), None, keyed, Primary, EVERYTHING, (example, Some("WORK_KEY"))),
        (Some("work"), None, keyed, Other, EVERYTHING, (example, Some("WORK_KEY"))),
        (Some("work"), None, work, Primary, generic, (example, Some("HERMES_HOST_API_KEY"))),
        (Some("work"), None, work, Primary, usual, (example, Some("OPENAI_API_KEY"))),
        // What is no primary gets nothing that is not its own.
        (Some("work"), None, work, Other, EVERYTHING, (example, None)),
        (Some("ollama"), None, "", Other, EVERYTHING, (ollama, None)),
        // A local server never gets the key of a vendor.
        (Some("ollama"), None, "", Primary, usual, (ollama, None)),
        // An address on the command line takes the usual keys: the user named the host.
        (None, Some(example), "", Primary, usual, (example, Some("OPENAI_API_KEY"))),
        (
            None,
            Some("https://llm.example/anthropic"),
            "",
            Primary,
            usual,
            ("https://llm.example/anthropic", Some("ANTHROPIC_API_KEY")),
        ),
        (None, Some(groq), "", Primary, EVERYTHING, (groq, Some("GROQ_API_KEY"))),
        // Whoever moves a known provider moves its own key with it.
        (
            Some("groq"),
            None,
            moved,
            Other,
            EVERYTHING,
            ("https://proxy.example/v1", Some("GROQ_API_KEY")),
        ),
        (Some("groq"), Some(example), "", Primary, EVERYTHING, (example, Some("GROQ_API_KEY"))),
    ] {
        let (base_url, key) = expected;
        assert_eq!(
            sent(provider, url, text, role, set),
            Ok((base_url.to_owned(), key.map(str::to_owned))),
            "{provider:?} at {url:?} with {text:?} as {role:?}"
        );
    }
}

#[test]
fn a_missing_key_is_named_with_the_variables_that_may_hold_it() {
    let missing = |provider, text, role| sent(Some(provider), None, text, role, &[]).unwrap_err();
    assert_eq!(
        missing("gemini", "", Role::Other),
        "the key of provider \"gemini\" is missing: set GEMINI_API_KEY or GOOGLE_API_KEY"
    );
    assert_eq!(
        missing("openai", "", Role::Primary),
        "the key of provider \"openai\" is missing: set OPENAI_API_KEY or HERMES_HOST_API_KEY"
    );
    let several = "[providers.work]\nbase_url = \"https://x.example\"\nkey_env = [\"A\", \"B\"]";
    assert_eq!(
        missing("work", several, Role::Other),
        "the key of provider \"work\" is missing: set A or B"
    );
    assert_eq!(
        missing("azure", "", Role::Primary),
        "provider \"azure\" has no base_url; add one such as \
         https://RESOURCE.openai.azure.com/openai/v1 under [providers.azure] or say --base-url"
    );
    assert!(
        missing("grok2", "", Role::Primary)
            .starts_with("no provider is named \"grok2\"; did you mean \"groq\"? (configured: none; known: anthropic,")
    );
}

#[test]
fn several_keys_of_one_provider_are_all_at_hand_in_order() {
    let text = "[providers.work]\nbase_url = \"https://x.example\"\n\
                key_env = [\"WORK_KEY\", \"ABSENT\", \"GROQ_API_KEY\"]";
    let said = choice(Some("work"), None);
    let spec = Spec::new(Some("work"), &said, &config(text), Role::Other).unwrap();
    let credentials = route::credentials(&spec, &holding(EVERYTHING)).unwrap();
    let keys: Vec<&str> = credentials.keys().iter().map(|key| key.expose()).collect();
    assert_eq!(keys, ["key in WORK_KEY", "key in GROQ_API_KEY"]);
}

#[test]
fn a_key_command_is_run_when_its_key_is_needed_and_not_before() {
    let text = "[providers.work]\nbase_url = \"https://x.example\"\nkey_command = [\"false\"]";
    let said = choice(Some("work"), None);
    let models = models(&said, &config(text), &holding(EVERYTHING)).map_err(|e| e.to_string());
    assert!(models.is_ok_and(|models| asked(&models) == ["work/m"] && models.notices.is_empty()));
}

fn asked(models: &Models) -> Vec<String> {
    models.router.main().map(|route| format!("{}/{}", route.provider, route.model)).collect()
}

fn outcome(
    said: &ModelChoice,
    text: &str,
    set: &'static [&'static str],
) -> Result<(Vec<String>, Vec<String>), String> {
    let models = models(said, &config(text), &holding(set)).map_err(|error| error.to_string())?;
    Ok((asked(&models), models.notices))
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_key_in_the_environment_is_enough_and_it_is_said_which() {
    let nothing = ModelChoice::default();
    for (set, asked, notice) in [
        (&["GROQ_API_KEY", "XAI_API_KEY"][..], "groq/openai/gpt-oss-120b", "GROQ_API_KEY"),
        (&["GOOGLE_API_KEY"], "gemini/gemini-3.8-flash", "GOOGLE_API_KEY"),
    ] {
        let told = format!("asking {asked} with the key in {notice}");
        assert_eq!(outcome(&nothing, "", set), Ok((owned(&[asked]), vec![told])));
    }
}

#[test]
fn b059_a_provider_without_a_key_is_passed_over_and_the_chain_goes_on() {
    let text = "provider = \"xai\"\nfallback_providers = [\"mistral\", \"backup\", \"groq\"]\n\
                [providers.backup]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"b\"";
    let nothing = ModelChoice::default();
    let mistral = "fallback \"mistral\" is passed over: the key of provider \"mistral\" is \
                   missing: set MISTRAL_API_KEY";
    let groq = "fallback \"groq\" is passed over: the key of provider \"groq\" is missing: set \
                GROQ_API_KEY";
    assert_eq!(
        outcome(&nothing, text, &["XAI_API_KEY", "GROQ_API_KEY"]),
        Ok((owned(&["xai/grok-4.7", "backup/b", "groq/openai/gpt-oss-120b"]), owned(&[mistral])))
    );
    let first = "the key of provider \"xai\" is missing: set XAI_API_KEY or HERMES_HOST_API_KEY; \
                 beginning with backup/b";
    assert_eq!(
        outcome(&nothing, text, &[]),
        Ok((owned(&["backup/b"]), owned(&[mistral, groq, first])))
    );
}

#[test]
fn the_primary_is_whom_the_user_means() {
    let two = "[providers.a]\nbase_url = \"http://127.0.0.1:1\"\nmodel = \"a\"\n\
               [providers.b]\nbase_url = \"http://127.0.0.1:2\"\nmodel = \"b\"";
    let asked = |said: ModelChoice, text: &str| outcome(&said, text, &[]).map(|(asked, _)| asked);
    let said = |provider: Option<&str>, base_url: Option<&str>| choice(provider, base_url);
    let nothing = ModelChoice::default;
    let with = |line: &str| format!("{line}\n{two}");
    for (chosen, text, expected) in [
        (nothing(), with("provider = \"b\""), Ok(owned(&["b/b"]))),
        // What has other work is not taken for the primary.
        (nothing(), with("fallback_providers = [\"b\"]"), Ok(owned(&["a/a", "b/b"]))),
        (said(Some("a"), None), with("provider = \"b\""), Ok(owned(&["a/m"]))),
        // An address replaces the primary alone.
        (
            said(None, Some("http://127.0.0.1:3")),
            with("provider = \"a\"\nfallback_providers = [\"b\"]"),
            Ok(owned(&["custom/m", "b/b"])),
        ),
        (said(Some("kimi"), Some("http://127.0.0.1:3")), String::new(), Ok(owned(&["moonshot/m"]))),
        (said(Some("new"), Some("http://127.0.0.1:3")), String::new(), Ok(owned(&["new/m"]))),
        // Nobody is asked twice.
        (nothing(), with("provider = \"a\"\nfallback_providers = [\"a\"]"), Ok(owned(&["a/a"]))),
    ] {
        assert_eq!(asked(chosen, &text), expected, "{text}");
    }
}

#[test]
fn side_tasks_have_providers_of_their_own() {
    let text = "provider = \"a\"\n[providers.a]\nbase_url = \"http://127.0.0.1:1\"\nmodel = \"a\"\n\
                [auxiliary.title]\nprovider = [\"groq\", \"ollama\"]\nmodel = \"small\"\n\
                [providers.ollama]\nmodel = \"o\"\n\
                [auxiliary.compression]\nmodel = \"cheap\"";
    let models =
        models(&ModelChoice::default(), &config(text), &holding(&["GROQ_API_KEY"])).unwrap();
    let of = |task: &str| -> Vec<String> {
        let routes = models.router.auxiliary(task);
        routes.map(|route| format!("{}/{}", route.provider, route.model)).collect()
    };
    assert_eq!(of("title"), ["groq/small", "ollama/o", "a/a"]);
    assert_eq!(of("compression"), ["a/cheap", "a/a"]);
    assert_eq!(of("vision"), ["a/a"]);
}

proptest! {
    /// Whatever is configured and set: a key of a known provider reaches that provider's hosts, or
    /// what the user called by its name; the generic ones reach the primary; a configured one
    /// reaches the provider it is configured for.
    #[test]
    fn no_key_goes_to_a_host_it_was_not_meant_for(
        named in proptest::option::of(prop::sample::select(vec![
            "openai", "anthropic", "groq", "openrouter", "ollama", "work",
        ])),
        address in proptest::option::of(prop::sample::select(vec![
            "https://api.openai.com/v1", "https://api.groq.com/openai/v1", "http://127.0.0.1:9",
            "https://elsewhere.example/anthropic", "https://openrouter.ai/api/v1",
            "http://api.groq.com/v1",
        ])),
        configured in proptest::option::of(prop::sample::select(vec![
            "https://api.anthropic.com", "https://elsewhere.example/v1", "http://localhost:1",
        ])),
        keyed in any::<bool>(),
        primary in any::<bool>(),
    ) {
        let role = if primary { Role::Primary } else { Role::Other };
        let name = named.unwrap_or("work");
        let mut text = format!("[providers.{name}]\n");
        if let Some(url) = configured { text += &format!("base_url = \"{url}\"\n"); }
        if keyed { text += "key_env = \"WORK_KEY\"\n"; }
        let address = address.filter(|_| primary);
        let Ok((url, key)) = sent(named, address, &text, role, EVERYTHING) else { return Ok(()) };
        let host = url::Url::parse(&url).unwrap().host_str().unwrap().to_owned();
        let secure = url.starts_with("https:");
        let own = |provider: &str, server: &str| named == Some(provider) || (secure && host == server);
        let usual = primary && named.is_none_or(|name| name == "work");
        let allowed = match key.as_deref() {
            None => true,
            Some("HERMES_HOST_API_KEY") => primary,
            Some("WORK_KEY") => keyed && named.is_some(),
            Some("GROQ_API_KEY") => own("groq", "api.groq.com"),
            Some("OPENROUTER_API_KEY") => own("openrouter", "openrouter.ai"),
            Some("OPENAI_API_KEY") => own("openai", "api.openai.com") || usual,
            Some("ANTHROPIC_API_KEY") => own("anthropic", "api.anthropic.com") || usual,
            Some(_) => false,
        };
        prop_assert!(allowed, "{key:?} to {url} for {named:?} as {role:?}");
    }
}

#[test]
fn a_temperature_of_the_command_line_holds_for_whoever_answers() {
    let text = "fallback_providers = [\"b\"]\n[providers.a]\nbase_url = \"http://a\"\nmodel = \"m\"\n\
                [providers.b]\nbase_url = \"http://b\"\nmodel = \"m\"\nparams = { temperature = 0.9 }\n\
                [providers.c]\nbase_url = \"http://c\"\nmodel = \"m\"\n[auxiliary.title]\nprovider = \"c\"";
    let choice = ModelChoice { temperature: Some(0.1), ..ModelChoice::default() };
    let Models { router, .. } = models(&choice, &config(text), &|_| None).unwrap();
    let main: Vec<_> = router.main().map(|route| route.sampling.temperature).collect();
    assert_eq!(main, [Some(0.1), Some(0.1)]);
    let title = router.auxiliary("title").next().unwrap();
    assert_eq!((&*title.provider, title.sampling.temperature), ("c", None));
}
