//! The vendors' schemas of their requests, with unknown fields refused (`tests/schemas`).

use std::sync::LazyLock;

use serde_json::Value;

/// One vendor's schema.
pub(crate) type Schema = LazyLock<Requests>;

/// What a request must look like.
pub(crate) struct Requests {
    validator: jsonschema::Validator,
    /// Fields of an assistant message that the vendor does not know, but that others speaking its
    /// format demand back.
    foreign: &'static [&'static str],
}

pub(crate) static CHAT_COMPLETIONS: Schema = LazyLock::new(|| {
    // DeepSeek and Kimi refuse a tool-call turn without the first, OpenRouter wants the second.
    let foreign = &["reasoning_content", "reasoning_details"];
    Requests::new(include_str!("../../schemas/openai_chat.strict.request.schema.json"), foreign)
});

pub(crate) static ANTHROPIC_MESSAGES: Schema = LazyLock::new(|| {
    let text = include_str!("../../schemas/anthropic_messages.strict.request.schema.json");
    Requests::new(text, &[])
});

pub(crate) static RESPONSES: Schema = LazyLock::new(|| {
    Requests::new(include_str!("../../schemas/openai_responses.strict.request.schema.json"), &[])
});

impl Requests {
    fn new(schema: &str, foreign: &'static [&'static str]) -> Self {
        let schema = serde_json::from_str(schema).unwrap();
        Self { validator: jsonschema::validator_for(&schema).unwrap(), foreign }
    }

    /// Where a request leaves the schema.
    pub(crate) fn problems(&self, request: &Value) -> Vec<String> {
        let mut request = request.clone();
        for message in
            request.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten()
        {
            for field in self.foreign {
                message.as_object_mut().map(|message| message.remove(*field));
            }
        }
        let errors = self.validator.iter_errors(&request);
        errors
            .map(|error| {
                format!(
                    "{} at {}",
                    error.to_string().chars().take(300).collect::<String>(),
                    error.instance_path()
                )
            })
            .collect()
    }
}
