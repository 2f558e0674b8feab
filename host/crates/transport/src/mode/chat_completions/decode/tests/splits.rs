//! Any split of any stream, and any bytes at all.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_split_of_a_stream_gives_the_same_reply(
        texts in proptest::collection::vec(any::<String>(), 0..6),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ends in proptest::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut body = String::new();
        for (n, text) in texts.iter().enumerate() {
            let delta = match n % 3 {
                0 => serde_json::json!({"content": text}),
                1 => serde_json::json!({"reasoning": text}),
                _ => serde_json::json!({"tool_calls": [
                    {"index": n, "id": n.to_string(), "function": {"name": "f", "arguments": text}}
                ]}),
            };
            let chunk = serde_json::json!({"choices": [{"index": 0, "delta": delta}]});
            let _ = write!(body, "data: {chunk}{ends}{ends}");
        }
        let _ = write!(body, "data: {{\"choices\":[{{\"finish_reason\":\"stop\"}}]}}{ends}{ends}");
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &body.as_bytes()[pair[0]..pair[1]]);
        let reply = stream(pieces);
        let spoken: String = texts.iter().step_by(3).map(String::as_str).collect();
        prop_assert_eq!(&reply.text, &spoken);
        prop_assert_eq!(reply, stream([body.as_bytes()]));
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(pieces in proptest::collection::vec(any::<Vec<u8>>(), 0..8)) {
        stream(pieces.iter().map(Vec::as_slice));
        whole(&String::from_utf8_lossy(&pieces.concat()));
    }

    #[test]
    fn no_json_makes_the_decoder_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "null", "0", "-1", "1e9", "\"\"", "\"\\ud800\"",
            "\"choices\":", "\"delta\":", "\"message\":", "\"tool_calls\":", "\"index\":", "\"id\":",
            "\"function\":", "\"name\":", "\"arguments\":", "\"content\":", "\"error\":",
            "\"usage\":", "\"finish_reason\":", "\n", "\n\ndata: ",
        ]), 0..40),
    ) {
        let text = words.concat();
        stream([format!("data: {text}").as_bytes()]);
        whole(&text);
    }
}
