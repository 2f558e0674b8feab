//! What `wit/` says, as Rust. One world for each export interface, so that each can be looked for
//! in a component on its own; all share the types of the imports.

#![allow(missing_docs, reason = "generated from wit/, where everything is documented")]

/// The imports and the shared types.
pub(crate) mod imports {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        world: "imports",
        imports: {
            "hermes:plugin/http": async | trappable,
            "hermes:plugin/process": async | trappable,
            "hermes:plugin/state": async | trappable,
            default: trappable,
        },
    });
}

pub(crate) use imports::hermes::plugin::{http, log, plugin_types, process, state};

macro_rules! world {
    ($module:ident, $world:literal) => {
        pub(crate) mod $module {
            wasmtime::component::bindgen!({
                path: "../../../wit",
                world: $world,
                with: {
                    "hermes:plugin/plugin-types": crate::bindings::imports::hermes::plugin::plugin_types,
                    "hermes:plugin/log": crate::bindings::imports::hermes::plugin::log,
                    "hermes:plugin/progress": crate::bindings::imports::hermes::plugin::progress,
                    "hermes:plugin/config": crate::bindings::imports::hermes::plugin::config,
                    "hermes:plugin/state": crate::bindings::imports::hermes::plugin::state,
                    "hermes:plugin/secrets": crate::bindings::imports::hermes::plugin::secrets,
                    "hermes:plugin/http": crate::bindings::imports::hermes::plugin::http,
                    "hermes:plugin/process": crate::bindings::imports::hermes::plugin::process,
                },
                exports: { default: async },
            });
        }
    };
}

world!(tool, "tool-plugin");
world!(gate, "gate-plugin");
world!(review, "review-plugin");
world!(observer, "observer-plugin");
