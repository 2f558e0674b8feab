//! The component ABI, written by wit-bindgen from the contract. The records of `plugin-types` are
//! not generated but those of `types.rs`, whose fields the generated code checks by using them.
//!
//! Each export has a world and a module of its own: a world's exports are promised only where its
//! export macro is used, so a plugin promises just what it lists.

#![allow(missing_docs, unreachable_pub, clippy::all, clippy::cast_possible_truncation)]

/// What the host offers.
pub(crate) mod imports {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "imports",
        with: { "hermes:plugin/plugin-types@0.1.0": crate::types },
        additional_derives: [PartialEq],
        generate_unused_types: true,
    });
}

/// A module `world` with one export, whose trait and types stand beside it.
macro_rules! export {
    ($module:ident, $world:literal, $interface:ident, $macro:ident, $name:literal) => {
        pub mod $module {
            pub mod world {
                wit_bindgen::generate!({
                    path: "../../wit",
                    world: $world,
                    with: {
                        "hermes:plugin/plugin-types@0.1.0": crate::types,
                        "hermes:plugin/log@0.1.0": crate::bindings::imports::hermes::plugin::log,
                        "hermes:plugin/progress@0.1.0": crate::bindings::imports::hermes::plugin::progress,
                        "hermes:plugin/config@0.1.0": crate::bindings::imports::hermes::plugin::config,
                        "hermes:plugin/state@0.1.0": crate::bindings::imports::hermes::plugin::state,
                        "hermes:plugin/secrets@0.1.0": crate::bindings::imports::hermes::plugin::secrets,
                        "hermes:plugin/http@0.1.0": crate::bindings::imports::hermes::plugin::http,
                        "hermes:plugin/process@0.1.0": crate::bindings::imports::hermes::plugin::process,
                    },
                    additional_derives: [PartialEq],
                    pub_export_macro: true,
                    export_macro_name: $name,
                });
            }
            pub use world::exports::hermes::plugin::$interface::*;
            pub use world::$macro;
        }
    };
}

export!(tools, "tool-plugin", tools, export_tools, "export_tools");
export!(gate, "gate-plugin", pre_tool_call, export_gate, "export_gate");
export!(review, "review-plugin", post_tool_call, export_review, "export_review");
export!(observer, "observer-plugin", observer, export_observer, "export_observer");
