//! A greeter: the smallest useful plugin, to be replaced by yours.

use hermes_plugin_sdk::prelude::*;

/// Arguments of `greet`.
#[arguments]
struct Greet {
    /// Who to greet.
    name: String,
}

/// Greets somebody by name.
#[tool(read_only, idempotent, parallel_safe)]
fn greet(arguments: Greet) -> Result<String, Failure> {
    let name = arguments.name.trim();
    if name.is_empty() {
        return Err(Failure::invalid_arguments("`name` is empty; say whom to greet"));
    }
    Ok(format!("Hello, {name}!"))
}

hermes_plugin_sdk::plugin! { tools: [greet] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greets_by_name() {
        let arguments = Greet { name: " Ada ".to_owned() };
        assert_eq!(greet(arguments), Ok("Hello, Ada!".to_owned()));
    }

    #[test]
    fn asks_for_a_name() {
        let arguments = Greet { name: " ".to_owned() };
        let failure = Failure::invalid_arguments("`name` is empty; say whom to greet");
        assert_eq!(greet(arguments), Err(failure));
    }
}
