//! How many output tokens to ask for, from what servers say of them.

use hermes_core::transport::ErrorKind::{BadRequest, Billing, ContextOverflow, RateLimited};
use hermes_core::transport::Remedy;

use super::check;

fn tokens(limit: u64) -> Option<Remedy> {
    Some(Remedy::MaxTokens(Some(limit)))
}

#[test]
fn b072_a_number_of_output_tokens_beyond_the_model_is_lowered_not_compressed() {
    check(vec![
        (
            400,
            r#"{"error":{"message":"max_tokens exceeds server limit (32768)"}}"#,
            BadRequest,
            tokens(32768),
        ),
        // https://github.com/charmbracelet/catwalk/issues/41 (Azure)
        (
            400,
            r#"{"error":{"message":"max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}"#,
            BadRequest,
            tokens(16384),
        ),
        // https://github.com/deepseek-ai/DeepSeek-V3/issues/69
        (
            400,
            r#"{"error":{"message":"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
            BadRequest,
            tokens(8192),
        ),
        // https://github.com/skapadia3214/groq-moa/issues/8
        (
            400,
            r#"{"error":{"message":"max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000","type":"invalid_request_error"}}"#,
            BadRequest,
            tokens(8000),
        ),
        // https://github.com/Alishahryar1/free-claude-code/issues/1354 (Groq)
        (
            400,
            r#"{"error":{"message":"`max_completion_tokens` must be less than or equal to `16384`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model","type":"invalid_request_error","param":"max_completion_tokens"}}"#,
            BadRequest,
            tokens(16384),
        ),
        // https://github.com/huggingface/transformers/issues/28523
        (
            422,
            r#"{"error":"Input validation error: `max_new_tokens` must be <= 1,920. Given: 2,000"}"#,
            BadRequest,
            tokens(1920),
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"}}"#,
            BadRequest,
            tokens(8192),
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.","status":"INVALID_ARGUMENT"}}]"#,
            BadRequest,
            tokens(65536),
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 200000 instead.","type":"invalid_request_error","param":"max_output_tokens","code":"integer_above_max_value"}}"#,
            BadRequest,
            tokens(128_000),
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.","type":"invalid_request_error","param":"max_output_tokens","code":"integer_below_min_value"}}"#,
            BadRequest,
            Some(Remedy::MaxTokens(None)),
        ),
        (
            400,
            r#"{"error":{"message":"max_tokens is too large"}}"#,
            BadRequest,
            Some(Remedy::MaxTokens(None)),
        ),
    ]);
}

#[test]
fn b072_output_tokens_beside_the_input_are_lowered_to_the_room_that_is_left() {
    check(vec![
        (
            400,
            r#"{"error":{"message":"input (70000) + max_tokens (65536) > context 131072"}}"#,
            BadRequest,
            tokens(61_072 - 64),
        ),
        // https://github.com/docker/docker-agent/issues/569 (Anthropic)
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"},"request_id":"req_1"}"#,
            BadRequest,
            tokens(21_041 - 64),
        ),
        // https://github.com/continuedev/continue/issues/6080: hardly any room is left
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            ContextOverflow,
            None,
        ),
        // https://github.com/ogx-ai/ogx/issues/4534 (vLLM)
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}"#,
            BadRequest,
            tokens(5480 - 64),
        ),
        // https://github.com/vllm-project/vllm/issues/20409
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}"#,
            ContextOverflow,
            None,
        ),
        // https://github.com/vllm-project/vllm/issues/42474: a lower bound says nothing
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.","type":"BadRequestError","param":"input_tokens","code":400}}"#,
            BadRequest,
            Some(Remedy::MaxTokens(None)),
        ),
        (
            400,
            r#"{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is 40960 tokens and your request has 10000 input tokens (32768 > 40960 - 10000).","type":"BadRequestError","code":400}}"#,
            BadRequest,
            tokens(30_960 - 64),
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9192 tokens (4192 in the messages, 1000 in the functions, and 4000 in the completion).","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            BadRequest,
            tokens(3000 - 64),
        ),
        (
            400,
            r#"{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 138536 tokens (70000 of text input, 3000 of tool input, 65536 in the output). Please reduce the length of either one.","code":400}}"#,
            BadRequest,
            tokens(58_072 - 64),
        ),
        // https://github.com/stanford-crfm/helm/pull/2079 (Together)
        (
            422,
            r#"{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1019 `inputs` tokens and 1100 `max_new_tokens`","type":"invalid_request_error"}}"#,
            BadRequest,
            tokens(1029 - 64),
        ),
    ]);
}

#[test]
fn an_input_that_is_too_long_asks_for_no_other_number_of_output_tokens() {
    check(vec![
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","code":"context_length_exceeded"}}"#,
            ContextOverflow,
            None,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
            ContextOverflow,
            None,
        ),
        // https://github.com/google-gemini/gemini-cli/issues/6678
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
            ContextOverflow,
            None,
        ),
        // https://github.com/iamsrikanthnani/pluely/issues/242 (Groq)
        (
            413,
            r#"{"error":{"message":"Request too large for model `openai/gpt-oss-120b` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 8590, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            ContextOverflow,
            None,
        ),
        (
            429,
            r#"{"error":{"message":"Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            ContextOverflow,
            None,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached: max_tokens limit 30000","code":"rate_limit_exceeded"}}"#,
            RateLimited,
            None,
        ),
    ]);
}

#[test]
fn an_account_that_can_pay_for_less_is_asked_for_less() {
    let afford = r#"{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 8000. To increase, visit settings","code":402}}"#;
    let broke = r#"{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 12.","code":402}}"#;
    check(vec![(402, afford, Billing, tokens(8000)), (402, broke, Billing, None)]);
}
