//! Last words: a guest aborts on a panic, so its message is handed to the host before that.

/// What every export does first. The hook goes in here because a component has no `main`.
pub fn enter() {
    #[cfg(target_family = "wasm")]
    {
        static INSTALLED: std::sync::Once = std::sync::Once::new();
        INSTALLED.call_once(|| std::panic::set_hook(Box::new(report)));
    }
}

#[cfg(target_family = "wasm")]
fn report(info: &std::panic::PanicHookInfo<'_>) {
    use crate::log::{Level, write};
    use crate::types::Attribute;

    let message = info.payload_as_str().unwrap_or("a panic without a message");
    let mut fields = vec![Attribute::new("panic", message)];
    if let Some(location) = info.location() {
        fields.push(Attribute::new("location", location.to_string()));
    }
    write(Level::Error, format_args!("panic: {message}"), &fields);
}
