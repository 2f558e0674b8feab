//! Files that cannot be plugins: each is refused with the reason, and nothing else is touched.

use std::path::Path;

use super::rig::{guest, sandbox, sandbox_at};

fn refusal(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let text = sandbox().inspect(&path).err().expect("refused").to_string();
    text.replace(path.to_str().unwrap(), name)
}

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

#[tokio::test]
async fn b130_what_is_no_plugin_is_refused_with_file_interface_and_versions() {
    let imports = |name: &str, inside: &str| {
        component(&format!("(component (import {name:?} (instance {inside})))"))
    };
    for (bytes, wanted) in [
        (Vec::new(), "x.wasm is empty; build the plugin again"),
        (b"hello".to_vec(), "x.wasm is no WebAssembly; place a component"),
        (wat::parse_str("(module)").unwrap(), "x.wasm is a core module, not a component"),
        (b"\x7fELF\x02\x01\x01".to_vec(), "x.wasm is compiled code (a .cwasm or a native library)"),
        (b"\0asm\x0d\0\x01\0\xff\xff".to_vec(), "x.wasm is no valid component: "),
        (
            component("(component)"),
            "x.wasm exports no interface, but a plugin exports one of tools",
        ),
        (
            imports("acme:widgets/spin@1.2.3", "(export \"spin\" (func))"),
            "x.wasm imports acme:widgets/spin (version 1.2.3), which this host does not have in that form: \
             this host offers only hermes:plugin@0.1.0 and WASI 0.2.12",
        ),
        (
            imports("wasi:clocks/monotonic-clock@0.9.0", "(export \"now\" (func (result u64)))"),
            "x.wasm imports wasi:clocks/monotonic-clock (version 0.9.0), which this host does not have in that form: \
             this host offers WASI 0.2.12",
        ),
        (
            imports(
                "hermes:plugin/progress@0.9.0",
                "(export \"is-cancelled\" (func (result bool)))",
            ),
            "x.wasm imports hermes:plugin/progress (version 0.9.0), which this host does not have in that form: \
             this host offers hermes:plugin@0.1.0",
        ),
    ] {
        let text = refusal("x.wasm", &bytes);
        assert!(text.starts_with(wanted), "{text}\nwanted {wanted}");
    }
}

#[tokio::test]
async fn b130_a_newer_patch_of_wasi_links_as_long_as_nothing_new_is_used() {
    let bytes = component(
        "(component (import \"wasi:clocks/monotonic-clock@0.2.99\" \
         (instance (export \"now\" (func (result u64))))))",
    );
    let text = refusal("x.wasm", &bytes);
    assert!(
        text.contains("exports no interface"),
        "it links, and is refused for having no export: {text}"
    );
}

fn warm(path: &Path, cache: &Path) -> String {
    sandbox_at(cache)
        .inspect(path)
        .map(|inspected| inspected.digest)
        .unwrap_or_else(|refusal| refusal.to_string())
}

#[tokio::test]
async fn a_warm_start_believes_the_catalogue_and_nothing_forged() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("gate.wasm");
    std::fs::copy(guest("gate"), &path).unwrap();
    let digest = warm(&path, cache.path());
    assert_eq!(digest.len(), 64, "{digest}");
    assert_eq!(warm(&path, cache.path()), digest);
    // Whatever is written into the cache without its key is as good as absent.
    for entry in std::fs::read_dir(cache.path()).unwrap().flatten() {
        let mut bytes = std::fs::read(entry.path()).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(entry.path(), bytes).unwrap();
    }
    assert_eq!(warm(&path, cache.path()), digest);
}
