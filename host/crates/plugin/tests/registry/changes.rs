//! A plugin that is no longer what its user agreed to.

use crate::rig::{User, changed, component};

const ANY: &str = "[[request.fs]]\npath = \"*\"\nmode = \"rw\"\n";

fn digest(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_first_grant_approves_the_bytes_it_finds_and_changed_bytes_need_an_approval() {
    let mut user = User::new();
    let (old, new) = (component("files"), changed(component("files")));
    user.plugin("files", &old, ANY).file("home/x", "");
    user.grant(&["files:fs:.:rw"]);
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw]"]);
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw]"], "unchanged, so granted again");

    user.plugin("files", &new, ANY);
    let change = format!("component: sha256 {} → {}", digest(&old), digest(&new));
    assert_eq!(
        user.load_error(),
        format!(
            "grant files:fs:ME/work:rw: the plugin changed since it was approved; look at the \
             changes and agree to them with hermes-host plugins approve files\n  {change}"
        )
    );
    user.dev = true;
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw]"]);
    user.dev = false;
    assert!(user.try_load().is_err(), "a developer's run agrees to nothing");

    let registry = user.registry();
    let review = registry.review("files").unwrap();
    assert_eq!(
        (review.new, &review.changes[..], &review.requests[..]),
        (false, &[change][..], &["fs:*:rw".to_owned()][..])
    );
    registry.approve(&review).unwrap();
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw]"]);
}

#[test]
fn a_plugin_seen_without_grants_is_bound_to_its_bytes_too() {
    let mut user = User::new();
    user.plugin("files", &component("files"), ANY);
    assert_eq!(user.states(), ["files loaded []"]);
    user.plugin("files", &changed(component("files")), ANY);
    user.grant(&["files:fs:.:rw"]);
    assert!(user.load_error().starts_with("grant files:fs:ME/work:rw: the plugin changed since"));
}

#[test]
fn stored_grants_wait_for_the_approval_of_a_change() {
    let user = User::new();
    let env = "[[request.env]]\nvariables = [\"TZ\"]\n";
    user.plugin("files", &component("files"), &format!("{ANY}{env}"));
    user.registry().grant("files:fs:.:rw").unwrap();
    user.registry().grant("files:env:TZ").unwrap();
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw env:TZ]"]);

    // A manifest that asks for other things, same bytes.
    let web = "[[request.http]]\nhosts = [\"evil.example\"]\n";
    user.plugin("files", &component("files"), &format!("{ANY}{web}"));
    let states = user.states();
    let (start, end) = states[0].split_once("plugin.toml: sha256 ").unwrap();
    assert_eq!(
        start,
        "files loaded []: changed since it was approved, so it has no stored grants; see \
         hermes-host plugins approve files: "
    );
    assert!(
        end.ends_with("; request removed: env:TZ; request added: http:GET:https://evil.example"),
        "{end}"
    );
    assert!(user.registry().grant("files:fs:../other:ro").is_err(), "nothing more meanwhile");

    let registry = user.registry();
    let review = registry.review("files").unwrap();
    let text = |powers: &[hermes_plugin::grant::Power]| {
        powers.iter().map(|power| user.short(&power.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(
        (text(&review.kept), text(&review.dropped)),
        (vec!["fs:ME/work:rw".into()], vec!["env:TZ".into()])
    );
    registry.approve(&review).unwrap();
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw]"]);
}

#[test]
fn approving_names_what_cannot_be_approved() {
    let user = User::new();
    user.plugin("files", &component("files"), ANY).plugin("junk", b"junk", "");
    let error = |name| user.short(&user.registry().review(name).unwrap_err().to_string());
    assert_eq!(error("file"), "there is no plugin \"file\"; did you mean \"files\"?");
    assert_eq!(
        error("junk"),
        "plugin \"junk\" is refused: ME/plugins/junk/p.wasm is no WebAssembly; place a component, \
         as `hermes-host plugins build` makes it"
    );
    assert!(user.registry().review("files").unwrap().new);
}
