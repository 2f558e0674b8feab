//! Guests written by hand, instruction by instruction: what no compiler would make of a plugin,
//! but anybody can put into a file.

use std::sync::Arc;

use hermes_core::failure::{Failure, code};
use hermes_core::message::Effect;
use hermes_core::tool::ToolResult;
use hermes_plugin::policy::{Effective, HookPowers, Limits};
use hermes_plugin::{Inspected, Plugin};
use serde_json::{Map, json};

use super::rig::{failure, hook_options, invocation, pending, sandbox};

const TYPES: &str = include_str!("written/types.wat");
const GATE: &str = include_str!("written/gate.wat");
const TOOLS: &str = include_str!("written/tools.wat");

/// Makes a component out of a core module.
fn component(exports: &str, module: &str) -> Vec<u8> {
    wat::parse_str(format!(
        "(component {TYPES} (core module $m {module}) (core instance $main (instantiate $m)) {exports})"
    ))
    .unwrap()
}

/// Loads a component; the text of an error is why it is refused.
fn inspect(bytes: &[u8]) -> Result<Inspected, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.wasm");
    std::fs::write(&path, bytes).unwrap();
    let inspected = sandbox().inspect(&path);
    inspected.map_err(|refusal| refusal.to_string().replace(path.to_str().unwrap(), "written.wasm"))
}

fn plugin(bytes: &[u8], effective: Effective) -> Arc<Plugin> {
    let inspected = inspect(bytes).unwrap();
    Plugin::new(&sandbox(), "written", inspected, effective, Limits::default(), Map::new())
}

/// Every allocation the host asks for lands above 3 MiB, one after another.
const ALLOCATOR: &str = "
    (global $free (mut i32) (i32.const 3145728))
    (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32)
        (global.get $free)
        (global.set $free (i32.and (i32.const -8)
            (i32.add (i32.const 7) (i32.add (global.get $free) (local.get 3))))))";

/// A gate whose `check` does this; its answer lies at 0, as `result<verdict, string>`.
fn gate(check: &str, also: &str) -> Vec<u8> {
    component(
        GATE,
        &format!(
            "   (memory (export \"memory\") 64)
                {ALLOCATOR} {also}
                (func (export \"check\")
                    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32)
                    (result i32)
                    {check})"
        ),
    )
}

/// A plugin of one tool `t`, whose `list-tools` and `call` do this. The answer of a call lies at
/// 512, as `result<list<part>, failure>`; a part of one text of 1 MiB (of zeros, at 1 MiB) at 768.
fn tool(list: &str, call: &str) -> Vec<u8> {
    let le = |numbers: &[u32]| -> String {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        bytes.map(|byte| format!("\\{byte:02x}")).collect()
    };
    let listed = le(&[0, 0, 64, 1]);
    let spec = le(&[200, 1, 0, 0, 0, 200, 1, 208, 17, 0, 0]);
    let answer = le(&[0, 0, 768, 1]);
    let part = le(&[240, 10, 0, 1 << 20, 1 << 20, 0, 0]);
    component(
        TOOLS,
        &format!(
            "   (memory (export \"memory\") 64)
                (data (i32.const 0) \"{listed}\")
                (data (i32.const 64) \"{spec}\")
                (data (i32.const 200) \"t\")
                (data (i32.const 208) \"{{\\\"type\\\":\\\"object\\\"}}\")
                (data (i32.const 240) \"text/plain\")
                (data (i32.const 512) \"{answer}\")
                (data (i32.const 768) \"{part}\")
                {ALLOCATOR}
                (func $recurse (result i32) (call $recurse))
                (func $repeat (param $size i32) (param $count i32) (param $from i32) (param $to i32)
                    (loop $next
                        (memory.copy (local.get $to) (local.get $from) (local.get $size))
                        (local.set $to (i32.add (local.get $to) (local.get $size)))
                        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
                        (br_if $next (local.get $count))))
                (func (export \"list-tools\") (result i32) {list} (i32.const 0))
                (func (export \"call\")
                    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32) (result i32)
                    {call})"
        ),
    )
}

async fn call(body: &str) -> ToolResult {
    let plugin = plugin(&tool("", body), Effective::default());
    plugin.tools(|spec| spec.description.clone()).remove(0).call(invocation(json!({}))).await
}

/// Writes `count` parts at 2 MiB, all of the same text, and answers with them.
fn parts(count: u32, text_bytes: u32) -> String {
    format!(
        "(i32.store (i32.const 784) (i32.const {text_bytes}))
         (call $repeat (i32.const 28) (i32.const {count}) (i32.const 768) (i32.const 2097152))
         (i32.store (i32.const 520) (i32.const 2097152))
         (i32.store (i32.const 524) (i32.const {count}))
         (i32.const 512)"
    )
}

#[tokio::test]
async fn a_tool_that_breaks_off_fails_in_few_words_and_its_effect_is_unknown() {
    for (body, code, message) in [
        (
            "(unreachable)".to_owned(),
            code::INTERNAL,
            "plugin \"written\" trapped: it gave up (unreachable code)",
        ),
        ("(call $recurse)".to_owned(), code::INTERNAL, "plugin \"written\" overflowed its stack"),
        (
            "(i32.div_u (i32.const 1) (i32.const 0))".to_owned(),
            code::INTERNAL,
            "plugin \"written\" trapped: wasm trap: integer divide by zero",
        ),
        (
            // A gigabyte, though the guest itself holds one megabyte.
            parts(1000, 1 << 20),
            code::TOO_LARGE,
            "plugin \"written\" handed over more than 64 MiB at once. Ask for less",
        ),
    ] {
        let result = call(&body).await;
        assert_eq!(result.effect, Effect::Unknown, "{message}");
        let failure = failure(result);
        assert_eq!((&*failure.code, &*failure.message), (code, message));
    }
}

#[tokio::test]
async fn results_end_at_their_caps_after_the_tool_has_run() {
    let few = call(&parts(3, 5)).await;
    assert_eq!(few.receipt.as_ref().map(|receipt| receipt.result_bytes), Some(15));
    assert_eq!((few.outcome.unwrap().len(), few.effect), (3, Effect::Applied));
    for (parts, message) in [
        (parts(2000, 0), "the result has 2000 parts; at most 1000 are allowed. Ask for less"),
        (
            parts(17, 1 << 20),
            "the result has 17825792 bytes; at most 16 MiB are allowed. Ask for less",
        ),
    ] {
        let result = call(&parts).await;
        assert_eq!(result.effect, Effect::Applied);
        assert_eq!(failure(result), Failure::new(code::TOO_LARGE, message));
    }
}

#[tokio::test]
async fn a_plugin_whose_list_of_tools_is_no_list_is_refused() {
    // Specs of 44 bytes at 2 MiB, each with the same text of 1 MiB as its description.
    let specs = |count: u32, text_bytes: u32| {
        format!(
            "(i32.store (i32.const 84) (i32.const 1048576))
             (i32.store (i32.const 88) (i32.const {text_bytes}))
             (call $repeat (i32.const 44) (i32.const {count}) (i32.const 64) (i32.const 2097152))
             (i32.store (i32.const 8) (i32.const 2097152))
             (i32.store (i32.const 12) (i32.const {count}))"
        )
    };
    for (list, wanted) in [
        (
            "(unreachable)".to_owned(),
            "written.wasm: list-tools trapped: it gave up (unreachable code)",
        ),
        (specs(100, 1 << 20), "written.wasm: list-tools answers with more than 64 MiB"),
        (specs(129, 0), "written.wasm: list-tools names 129 tools; a plugin may have 128"),
        (specs(2, 1), "written.wasm: list-tools names the tool \"t\" twice"),
        (
            specs(1, 1 << 20),
            "written.wasm: list-tools describes tool \"t\" with a description of 1048576 bytes; at most 8192 are \
             allowed",
        ),
    ] {
        assert_eq!(inspect(&tool(&list, "(i32.const 512)")).err().as_deref(), Some(wanted));
    }
}

/// B134: whatever a gate does instead of judging, there is no verdict, and one that trapped is
/// never asked again.
#[tokio::test]
async fn b134_a_gate_without_a_verdict_is_a_failure() {
    let trap = |detail: &str| ("trapped".to_owned(), detail.to_owned());
    let garbage = "(i32.store8 (i32.const 4) (i32.const 9)) (i32.const 0)";
    let nowhere =
        "(i32.store8 (i32.const 4) (i32.const 1)) (i32.store (i32.const 8) (i32.const -8))
                   (i32.store (i32.const 12) (i32.const 100)) (i32.const 0)";
    let says_no =
        "(i32.store8 (i32.const 0) (i32.const 1)) (i32.store (i32.const 4) (i32.const 64))
                   (i32.store (i32.const 8) (i32.const 2)) (i32.const 0)";
    for (bytes, (reason, detail), closed) in [
        (gate("(unreachable)", ""), trap("trapped: it gave up (unreachable code)"), true),
        (
            gate("(loop (br 0)) (unreachable)", ""),
            ("gave no answer within 50 ms".to_owned(), "1 of 3".to_owned()),
            false,
        ),
        (
            gate(garbage, ""),
            trap("answered something that is no answer: unexpected discriminant: 9"),
            true,
        ),
        (
            gate(nowhere, ""),
            trap(
                "answered something that is no answer: string pointer/length out of bounds of memory",
            ),
            true,
        ),
        (
            gate("(i32.const 0)", "(func $start (unreachable)) (start $start)"),
            trap("trapped: it gave up (unreachable code)"),
            true,
        ),
        (
            // 128 MiB from the start, where a hook may have 64.
            gate("(i32.const 0)", "(memory 2048)"),
            trap("ran out of memory: it may use 64 MiB"),
            true,
        ),
        (
            gate(says_no, "(data (i32.const 64) \"no\")"),
            ("answered with an error".to_owned(), "no".to_owned()),
            false,
        ),
    ] {
        let gate = plugin(&bytes, Effective::default()).gate(hook_options());
        let failed = gate.check(&pending(&json!({}))).await.unwrap_err();
        assert_eq!((failed.reason, failed.detail), (reason.clone(), detail));
        let again = gate.check(&pending(&json!({}))).await.unwrap_err();
        let wanted = if closed { "is closed after it failed" } else { &reason };
        assert_eq!(again.reason, wanted);
    }
}

#[tokio::test]
async fn a_gate_of_another_form_is_refused_and_not_forgotten() {
    let export = |name: &str, result: &str| {
        let text = format!(
            "(component
                (core module $m (func (export \"f\") (result i32) (i32.const 0)))
                (core instance $i (instantiate $m))
                (func $f (result {result}) (canon lift (core func $i \"f\")))
                (instance $e (export \"check\" (func $f)))
                (export \"{name}\" (instance $e)))"
        );
        inspect(&wat::parse_str(text).unwrap()).err().unwrap()
    };
    let wanted = |name: &str, version: &str| {
        format!(
            "written.wasm exports {name} (version {version}), which this host does not know in that form: this host \
             speaks hermes:plugin@0.1.0; build the plugin against that version"
        )
    };
    let name = "hermes:plugin/pre-tool-call";
    assert_eq!(export(&format!("{name}@0.1.0"), "bool"), wanted(name, "0.1.0"));
    assert_eq!(export(&format!("{name}@0.9.0"), "bool"), wanted(name, "0.9.0"));
    assert_eq!(
        export("hermes:plugin/on-error@0.1.0", "bool"),
        wanted("hermes:plugin/on-error", "0.1.0")
    );
}

/// What the engine leaves out cannot be had.
#[tokio::test]
async fn memories_of_64_bits_and_shared_ones_are_refused() {
    for module in ["(memory i64 1)", "(memory 1 1 shared)"] {
        let bytes = wat::parse_str(format!("(component (core module {module}))")).unwrap();
        let refusal = inspect(&bytes).err().unwrap();
        assert!(refusal.starts_with("written.wasm is no valid component: "), "{refusal}");
    }
}

/// A hook hears of every call, so it gets no folder to leave what it heard in.
#[tokio::test]
async fn hooks_do_not_see_the_folders_of_their_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let host_path = folder.path().canonicalize().unwrap();
    drop(folder);
    let gone = hermes_plugin::policy::Folder { host_path, guest_path: None, writable: true };
    let powers = HookPowers { full: true, rewrite: true, replace: true };
    let effective = Effective { fs: vec![gone], hook_powers: powers, ..Effective::default() };
    // A folder that is gone fails every call that would open it. `proceed` is all zeros.
    let gate = plugin(&gate("(i32.const 0)", ""), effective).gate(hook_options());
    let verdict = gate.check(&pending(&json!({}))).await;
    assert_eq!(verdict, Ok(hermes_core::hook::PreVerdict::Proceed));
}
