//! Why a file is refused, in words for whoever built or placed it.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::{Component, types::ComponentItem};

use super::{Exports, Refusal};

/// Version of the contract this host speaks.
const CONTRACT: &str = "hermes:plugin@0.1.0";

/// Version of WASI 0.2 this host offers.
const WASI: &str = "0.2.12";

/// Layer field of the header of a component, where a core module has 0.
const COMPONENT_LAYER: &[u8] = &[0x01, 0x00];

/// Refuses what the first bytes already give away.
pub(crate) fn not_a_component(path: &Path, bytes: &[u8]) -> Option<Refusal> {
    let what = if bytes.is_empty() {
        "is empty; build the plugin again"
    } else if bytes.starts_with(b"\x7fELF") {
        "is compiled code (a .cwasm or a native library), which is never loaded from a plugin folder; \
         place the .wasm component itself"
    } else if !bytes.starts_with(b"\0asm") {
        "is no WebAssembly; place a component, as `hermes-host plugins build` makes it"
    } else if bytes.get(6..8) != Some(COMPONENT_LAYER) {
        "is a core module, not a component; build it for wasm32-wasip2, or wrap it with \
         `wasm-tools component new`"
    } else {
        return None;
    };
    Some(Refusal(format!("{} {what}", path.display())))
}

/// Why a component cannot be linked: an interface we do not have, or not in that version.
pub(crate) fn unlinkable(
    path: &Path,
    component: &Component,
    engine: &Engine,
    error: &wasmtime::Error,
) -> Refusal {
    let text = format!("{error:#}");
    let component = component.component_type();
    let mut imports = component.imports(engine).map(|(name, _)| name.to_owned());
    let culprit = imports.find(|name| text.contains(name.as_str()));
    let path = path.display();
    let Some(culprit) = culprit else {
        return Refusal(format!("{path} cannot be linked: {text}"));
    };
    let (interface, wanted) = culprit.split_once('@').unwrap_or((&culprit, "none"));
    let offered = if interface.starts_with("hermes:plugin/") {
        format!("this host offers {CONTRACT}; build the plugin against that version")
    } else if interface.starts_with("wasi:") {
        format!("this host offers WASI {WASI}; build the plugin with a toolchain for WASI 0.2")
    } else {
        format!("this host offers only {CONTRACT} and WASI {WASI}")
    };
    let cause = error.root_cause();
    Refusal(format!(
        "{path} imports {interface} (version {wanted}), which this host does not have in that form: {offered} \
         ({cause})"
    ))
}

/// Refuses a component that exports something of the contract we cannot call: a guard that is
/// never asked is worse than one that does not load.
pub(super) fn foreign_export(
    path: &Path,
    component: &Component,
    exports: Exports,
    engine: &Engine,
) -> Option<Refusal> {
    let component = component.component_type();
    let foreign = component.exports(engine).find_map(|(name, _)| {
        let (interface, version) = name.split_once('@').unwrap_or((name, "none"));
        let spoken = match interface.strip_prefix("hermes:plugin/")? {
            "tools" => exports.tools,
            "pre-tool-call" => exports.pre_tool_call,
            "post-tool-call" => exports.post_tool_call,
            "observer" => exports.observer,
            // Types only; there is nothing to call.
            "plugin-types" => true,
            _ => false,
        };
        (!spoken).then(|| (interface.to_owned(), version.to_owned()))
    });
    foreign.map(|(interface, version)| {
        Refusal(format!(
            "{} exports {interface} (version {version}), which this host does not know in that form: this host \
             speaks {CONTRACT}; build the plugin against that version",
            path.display()
        ))
    })
}

/// Why a component that links is still no plugin.
pub(super) fn no_export(path: &Path, component: &Component, engine: &Engine) -> Refusal {
    let component = component.component_type();
    let exported: Vec<String> = component
        .exports(engine)
        .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentInstance(_)))
        .map(|(name, _)| name.to_owned())
        .collect();
    let path = path.display();
    let exported =
        if exported.is_empty() { "no interface".to_owned() } else { exported.join(", ") };
    Refusal(format!(
        "{path} exports {exported}, but a plugin exports one of tools, pre-tool-call, post-tool-call or observer \
         of {CONTRACT}"
    ))
}
