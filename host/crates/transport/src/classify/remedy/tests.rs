//! Refusals as real servers word them, with what to change. The link above a row says where the
//! body was seen.

use hermes_core::transport::ErrorKind::{self, BadRequest, Overloaded};
use proptest::prelude::*;

use super::*;
use crate::classify::Answer;

mod output;

/// Status, body, the kind and the remedy it means.
type Row = (u16, &'static str, ErrorKind, Option<Remedy>);

fn check(rows: Vec<Row>) {
    for (status, body, kind, remedy) in rows {
        let error = Answer { status, ..Answer::default() }.refused(body.as_bytes());
        assert_eq!((error.kind, error.remedy), (kind, remedy.clone()), "{status} {body}");
        // The same object inside a success means the same.
        let told = Answer { status: 200, ..Answer::default() };
        let told = told.fault(&crate::mode::Fault::Reported(body.into()));
        if status == 400 {
            assert_eq!(told.remedy, remedy, "in a stream: {body}");
        }
    }
}

fn without(name: &str) -> Option<Remedy> {
    Some(Remedy::WithoutParameter(name.into()))
}

#[test]
fn b038_images_are_left_out_where_they_are_refused() {
    let images = || Some(Remedy::WithoutImages);
    check(vec![
        // https://github.com/gptme/gptme/issues/185 (Anthropic)
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.58.content.2.image.source.base64: image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes"}}"#,
            BadRequest,
            images(),
        ),
        // https://github.com/anthropics/claude-code/issues/14412
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.59.content.12.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"}}"#,
            BadRequest,
            images(),
        ),
        // https://github.com/1jehuang/jcode/issues/310 (DeepSeek)
        (
            400,
            r#"{"error":{"message":"Failed to deserialize the JSON body into the target type: messages[7]: unknown variant `image_url`, expected `text` at line 1 column 114708","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
            BadRequest,
            images(),
        ),
        // https://github.com/NousResearch/hermes-agent/pull/23411 (OpenRouter)
        (
            404,
            r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
            BadRequest,
            images(),
        ),
        // https://github.com/vllm-project/vllm/issues/17757
        (
            400,
            r#"{"object":"error","message":"At most 1 image(s) may be provided in one request.","type":"BadRequestError","param":null,"code":400}"#,
            BadRequest,
            images(),
        ),
        // https://github.com/jakobdylanc/llmcord/issues/126 (LM Studio)
        (400, r#"{"error":"'url' field must be a base64 encoded image."}"#, BadRequest, images()),
        // https://github.com/ollama/ollama/issues/17301
        (
            400,
            r#"{"error":{"message":"this model does not support image input (ref: b8bd630e)","type":"invalid_request_error"}}"#,
            BadRequest,
            images(),
        ),
        // https://github.com/open-webui/open-webui/issues/13077 (Ollama)
        (
            500,
            r#"{"error":{"message":"Failed to create new sequence: failed to process inputs: this model is missing data required for image input","type":"api_error"}}"#,
            Overloaded,
            images(),
        ),
        // https://github.com/vercel/ai/issues/1544 (OpenAI)
        (
            400,
            r#"{"error":{"message":"You uploaded an unsupported image. Please make sure your image is below 20 MB in size and is of one the following formats: ['png', 'jpeg', 'gif', 'webp'].","type":"invalid_request_error","param":null,"code":"image_parse_error"}}"#,
            BadRequest,
            images(),
        ),
        // Not about an image of the conversation.
        (
            400,
            r#"{"error":{"message":"Invalid schema for function 'resize_image': not an object","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}"#,
            BadRequest,
            None,
        ),
    ]);
}

#[test]
fn what_a_provider_no_longer_accepts_back_is_not_sent() {
    let replay = || Some(Remedy::WithoutReplay);
    check(vec![
        // https://github.com/anthropics/claude-code/issues/10627
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"},"request_id":"req_1"}"#,
            BadRequest,
            replay(),
        ),
        // https://github.com/lbjlaq/Antigravity-Manager/issues/498 (Claude behind Vertex)
        (
            400,
            r#"{"error":{"code":400,"message":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"},\"request_id\":\"req_vrtx_1\"}","status":"INVALID_ARGUMENT"}}"#,
            BadRequest,
            replay(),
        ),
        // https://github.com/openai/codex/issues/8145
        (
            400,
            r#"{"error":{"message":"The encrypted content gAAA...DQ== could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}"#,
            BadRequest,
            replay(),
        ),
        // https://github.com/edison7009/EchoBird/issues/255: the same without its code
        (
            400,
            r#"{"error":{"message":"The encrypted content Work...out. could not be verified. Reason: Encrypted content could not be decrypted or parsed."}}"#,
            BadRequest,
            replay(),
        ),
        // https://github.com/manthanabc/paws/issues/103 (Gemini's OpenAI endpoint)
        (
            400,
            "[{\n  \"error\": {\n \"code\": 400,\n \"message\": \"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call `default_api:shell` , position 2.\",\n \"status\": \"INVALID_ARGUMENT\"\n }\n}\n]",
            BadRequest,
            replay(),
        ),
        // https://github.com/charmbracelet/crush/issues/1590 (Mistral)
        (
            422,
            r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",31,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted","input":"\n"}]},"type":"invalid_request_error","param":null,"code":null}"#,
            BadRequest,
            replay(),
        ),
        (
            400,
            r#"{"error":{"message":"Unknown parameter: 'messages[1].reasoning'.","type":"invalid_request_error","param":"messages[1].reasoning","code":"unknown_parameter"}}"#,
            BadRequest,
            replay(),
        ),
        (
            400,
            r#"{"error":{"message":"'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]","type":"invalid_request_error"}}"#,
            BadRequest,
            replay(),
        ),
        (
            400,
            r#"{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","type":"invalid_request_error","param":"input","code":null}}"#,
            BadRequest,
            replay(),
        ),
    ]);
}

#[test]
fn parameters_a_server_does_not_take_are_left_out() {
    check(vec![
        // https://github.com/owndev/Open-WebUI-Functions/issues/136 (Azure)
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            BadRequest,
            without("max_tokens"),
        ),
        // https://github.com/caozhiyuan/copilot-api/issues/164: neither param nor its code
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"invalid_request_body"}}"#,
            BadRequest,
            without("max_tokens"),
        ),
        // https://github.com/openai/openai-python/issues/1724 (Azure)
        (
            400,
            r#"{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens","type":"invalid_request_error","param":null,"code":null}}"#,
            BadRequest,
            without("max_completion_tokens"),
        ),
        // https://github.com/gabrii/Cursor-Azure-GPT-5/issues/33
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
            BadRequest,
            without("temperature"),
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","type":"invalid_request_error","param":"reasoning.effort","code":"unsupported_parameter"}}"#,
            BadRequest,
            without("reasoning"),
        ),
        // https://github.com/iamsrikanthnani/pluely/issues/242 (Groq)
        (
            400,
            r#"{"error":{"message":"`reasoning_effort` is not supported with this model","type":"invalid_request_error"}}"#,
            BadRequest,
            without("reasoning_effort"),
        ),
        // https://github.com/yym68686/uni-api/issues/105 (xAI)
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Argument not supported on this model: presencePenalty"}"#,
            BadRequest,
            without("presence_penalty"),
        ),
        // https://github.com/NousResearch/hermes-agent/issues/23088 (xAI)
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Model grok-4-1-fast does not support parameter reasoningEffort."}"#,
            BadRequest,
            without("reasoning_effort"),
        ),
        // https://github.com/jackmpcollins/magentic/pull/382 (Gemini)
        (
            400,
            r#"[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"parallel_tool_calls\": Cannot find field.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest"}]}}]"#,
            BadRequest,
            without("parallel_tool_calls"),
        ),
        // https://github.com/TheAgenticAI/TheAgenticBrowser/issues/4 (Gemini)
        (
            400,
            r#"[{"error":{"code":400,"message":"Parallel tool calls are not supported.","status":"INVALID_ARGUMENT"}}]"#,
            BadRequest,
            without("parallel_tool_calls"),
        ),
        // https://github.com/mistralai/platform-docs-public/issues/7
        (
            422,
            r#"{"object":"error","message":"{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"frequency_penalty\"],\"msg\":\"Extra inputs are not permitted\",\"input\":0.0}]}","type":"internal_error_proxy","param":null,"code":"1000"}"#,
            BadRequest,
            without("frequency_penalty"),
        ),
        (
            422,
            r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error"}"#,
            BadRequest,
            without("stream_options"),
        ),
        // https://github.com/HKUDS/nanobot/issues/3939 (Moonshot)
        (
            400,
            r#"{"error":{"message":"cannot specify both 'thinking' and 'reasoning_effort'","type":"invalid_request_error"}}"#,
            BadRequest,
            without("reasoning_effort"),
        ),
        (
            400,
            r#"{"error":{"message":"invalid temperature: only 1 is allowed for this model","type":"invalid_request_error"}}"#,
            BadRequest,
            without("temperature"),
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` and `top_p` cannot both be specified for this model. Please use only one."}}"#,
            BadRequest,
            without("top_p"),
        ),
    ]);
}

#[test]
fn what_no_request_can_do_without_is_never_taken_out() {
    check(vec![
        // https://github.com/partITech/php-mistral/issues/76
        (
            422,
            r#"{"object":"Error","message":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted","input":[]}],"type":"invalid_request_error","code":3001}"#,
            BadRequest,
            None,
        ),
        // https://github.com/openswarm-ai/openswarm/issues/24: a tool's schema
        (
            400,
            r#"{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"any_of\" at 'tools[0].function_declarations[0].parameters': Cannot find field.","status":"INVALID_ARGUMENT"}}"#,
            BadRequest,
            None,
        ),
        (
            400,
            r#"{"error":{"message":"Tool use is not supported with this model","type":"invalid_request_error"}}"#,
            BadRequest,
            None,
        ),
    ]);
}

#[test]
fn b064_a_stream_is_not_asked_for_where_it_is_refused() {
    let whole = || Some(Remedy::WithoutStream);
    check(vec![
        // https://github.com/lobehub/lobehub/issues/9385 (OpenAI)
        (
            400,
            r#"{"error":{"message":"Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.","type":"invalid_request_error","param":"stream","code":"unsupported_value"}}"#,
            BadRequest,
            whole(),
        ),
        // https://github.com/BeehiveInnovations/pal-mcp-server/issues/134 (OpenRouter)
        (
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\n  \"error\": {\n    \"message\": \"Your organization must be verified to stream this model.\",\n    \"type\": \"invalid_request_error\",\n    \"param\": \"stream\",\n    \"code\": \"unsupported_value\"\n  }\n}","provider_name":"OpenAI"}}}"#,
            BadRequest,
            whole(),
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.","param":"stream","code":"unsupported_value"}}"#,
            BadRequest,
            whole(),
        ),
    ]);
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(
        text in "(max_tokens|image|`|'|\\.|,|[0-9]{1,25}|input|\\+|>|\\[| |İ|context length is|at most){0,24}",
        param in any::<String>(),
        code in prop_oneof![Just("unsupported_parameter".to_owned()), any::<String>()],
    ) {
        let report =
            Report { message: Some(text), param: Some(param), code: Some(code), status: None };
        if let Some(Remedy::MaxTokens(limit)) = of(Some(400), &report, "") {
            prop_assert_ne!(limit, Some(0));
        }
    }
}
