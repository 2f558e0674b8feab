//! A component linked against everything the host offers, by what it exports.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{ComponentNamedList, InstancePre, Lift, Lower};

use crate::bindings::gate::GatePluginPre;
use crate::bindings::gate::exports::hermes::plugin::pre_tool_call as gate;
use crate::bindings::observer::ObserverPluginPre;
use crate::bindings::plugin_types::{Attribute, CallInfo, Failure, Part, ToolSpec};
use crate::bindings::review::ReviewPluginPre;
use crate::bindings::review::exports::hermes::plugin::post_tool_call as review;
use crate::bindings::tool::ToolPluginPre;
use crate::guest::Guest;
use crate::inspect::Exports;

/// What of the contract a component exports, ready to be instantiated.
pub(crate) struct Linked {
    pub(crate) tool: Option<ToolPluginPre<Guest>>,
    pub(crate) gate: Option<GatePluginPre<Guest>>,
    pub(crate) review: Option<ReviewPluginPre<Guest>>,
    pub(crate) observer: Option<ObserverPluginPre<Guest>>,
}

impl Linked {
    /// Looks for each interface; one that is not there, or not in our version and form, is absent.
    pub(crate) fn new(pre: &InstancePre<Guest>) -> Self {
        let tools = "hermes:plugin/tools@0.1.0";
        let tools = fits::<(), (Result<Vec<ToolSpec>, Failure>,)>(pre, tools, "list-tools")
            && fits::<(&str, &str, &CallInfo), (Result<Vec<Part>, Failure>,)>(pre, tools, "call");
        let gate = fits::<(&gate::PendingCall,), (Result<gate::Verdict, String>,)>(
            pre,
            "hermes:plugin/pre-tool-call@0.1.0",
            "check",
        );
        let review = fits::<(&review::FinishedCall,), (Result<review::Verdict, String>,)>(
            pre,
            "hermes:plugin/post-tool-call@0.1.0",
            "review",
        );
        let observer =
            fits::<(&str, &[Attribute]), ()>(pre, "hermes:plugin/observer@0.1.0", "notify");
        Self {
            tool: ToolPluginPre::new(pre.clone()).ok().filter(|_| tools),
            gate: GatePluginPre::new(pre.clone()).ok().filter(|_| gate),
            review: ReviewPluginPre::new(pre.clone()).ok().filter(|_| review),
            observer: ObserverPluginPre::new(pre.clone()).ok().filter(|_| observer),
        }
    }

    /// Which interfaces are there.
    pub(crate) fn exports(&self) -> Exports {
        Exports {
            tools: self.tool.is_some(),
            pre_tool_call: self.gate.is_some(),
            post_tool_call: self.review.is_some(),
            observer: self.observer.is_some(),
        }
    }
}

/// Whether a component exports a function with these types. The generated bindings look at names
/// alone before a component is instantiated, and a guard that cannot be asked must be found out at
/// load.
fn fits<P, R>(pre: &InstancePre<Guest>, interface: &str, function: &str) -> bool
where
    P: ComponentNamedList + Lower,
    R: ComponentNamedList + Lift,
{
    let component = pre.component();
    let found = component
        .get_export_index(None, interface)
        .and_then(|interface| component.get_export(Some(&interface), function));
    let Some((ComponentItem::ComponentFunc(function), _)) = found else { return false };
    function.typecheck::<P, R>(&pre.instance_type()).is_ok()
}
