//! The shapes secrets have. Each is looked for where its rarest byte can stand, so that ordinary
//! text costs one look a byte.

/// A secret in a text, as byte offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// A token with a telling beginning, as opposed to a password.
    pub(crate) token: bool,
}

/// A token by its beginning: how it starts and how many characters follow at least.
/// From the issuers' own descriptions of their formats.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-ant-", 20),
    ("sk-proj-", 20),
    ("sk-live-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("sk-or-", 20),
    ("sk-", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 35),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("whsec_", 20),
];

/// Least characters after a prefix of the user's own.
const OWN_LENGTH: usize = 8;

/// Last words of names that say what they hold.
const TELLING: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Shortest value of a telling name that is taken for a secret.
const VALUE_LENGTH: usize = 8;

/// The first secret that starts at or after `from`.
pub(crate) fn next(text: &str, from: usize, own: &[String]) -> Option<Found> {
    let bytes = text.as_bytes();
    let mut before = from.checked_sub(1).map(|at| bytes[at]);
    for (at, &byte) in bytes.iter().enumerate().skip(from) {
        let starts = !before.is_some_and(is_word);
        before = Some(byte);
        let found = match byte {
            b'-' => private_key(text, at),
            b':' => password_in_url(text, at),
            b'=' => assignment(text, at),
            _ if starts && is_word(byte) => token(text, at, own).or_else(|| bearer(text, at)),
            _ => None,
        };
        if found.is_some_and(|found| found.start >= from) {
            return found;
        }
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// Length of the run of bytes from `at` on for which `is` holds.
fn run(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|&&byte| is(byte)).count()
}

/// A token with a known beginning, or a web token.
fn token(text: &str, at: usize, own: &[String]) -> Option<Found> {
    let rest = &text[at..];
    let known = PREFIXES.iter().map(|(prefix, least)| (*prefix, *least));
    let own = own.iter().map(|prefix| (prefix.as_str(), OWN_LENGTH));
    for (prefix, least) in own.chain(known) {
        if prefix.is_empty() || !rest.starts_with(prefix) {
            continue;
        }
        let length = run(rest.as_bytes(), prefix.len(), is_token);
        let body = &rest[prefix.len()..prefix.len() + length];
        if length >= least && is_random(prefix, body) {
            return Some(Found { start: at, end: at + prefix.len() + length, token: true });
        }
    }
    web_token(rest).map(|length| Found { start: at, end: at + length, token: true })
}

/// Whether it looks drawn by lot: words joined by dashes have no digits, and the identifiers of one
/// issuer are capitals and digits alone.
fn is_random(prefix: &str, body: &str) -> bool {
    match prefix {
        "AKIA" | "ASIA" => {
            body.len() == 16 && body.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        }
        _ => {
            body.bytes().any(|b| b.is_ascii_digit())
                && body.bytes().any(|b| b.is_ascii_alphabetic())
        }
    }
}

/// The length of a JSON web token: three runs of base64url joined by dots, the first of which opens
/// a JSON object.
fn web_token(rest: &str) -> Option<usize> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let bytes = rest.as_bytes();
    let mut end = 0;
    for part in 0..3 {
        let length = run(bytes, end, is_token);
        if length < 10 {
            return None;
        }
        end += length;
        if part < 2 {
            (bytes.get(end) == Some(&b'.')).then_some(())?;
            end += 1;
        }
    }
    Some(end)
}

/// What follows `Bearer ` or `Basic `.
fn bearer(text: &str, at: usize) -> Option<Found> {
    let rest = &text[at..];
    let scheme =
        ["Bearer ", "bearer ", "Basic "].into_iter().find(|word| rest.starts_with(word))?;
    let start = at + scheme.len();
    let length = run(text.as_bytes(), start, |b| is_token(b) || b".~+/=".contains(&b));
    let value = &text[start..start + length];
    (length >= 16 && is_random("", value)).then_some(Found {
        start,
        end: start + length,
        token: false,
    })
}

/// The password of `scheme://user:password@host`; `at` is a colon.
fn password_in_url(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !text[at..].starts_with("://") {
        return None;
    }
    let user = at + 3;
    let authority = run(bytes, user, |b| b.is_ascii_graphic() && !b"/?#\"'<>`".contains(&b));
    let authority = &text[user..user + authority];
    let host = authority.rfind('@')?;
    let colon = authority[..host].find(':')?;
    let (start, end) = (user + colon + 1, user + host);
    (end > start).then_some(Found { start, end, token: false })
}

/// The value of `NAME=value` where the name says what it holds; `at` is the equals sign.
fn assignment(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let name_length = bytes[..at].iter().rev().take_while(|&&byte| is_word(byte)).count();
    let name = &text[at - name_length..at];
    let is_constant =
        name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let last_word = name.rsplit('_').next().unwrap_or(name);
    if !is_constant || !TELLING.contains(&last_word) {
        return None;
    }
    let quoted = bytes.get(at + 1).copied().filter(|byte| b"\"'".contains(byte));
    let start = at + 1 + usize::from(quoted.is_some());
    let length = run(bytes, start, |b| match quoted {
        Some(quote) => b != quote && b != b'\n',
        None => b.is_ascii_graphic() && !b"\"'`;,)".contains(&b),
    });
    let value = text.get(start..start + length)?;
    // A reference to a secret is none.
    let is_reference = value.starts_with(['$', '<', '%', '{']) || value.starts_with("process.env");
    (length >= VALUE_LENGTH && !is_reference).then_some(Found {
        start,
        end: start + length,
        token: false,
    })
}

/// A private key between its lines; `at` is a dash.
fn private_key(text: &str, at: usize) -> Option<Found> {
    const OPENS: &str = "-----BEGIN ";
    let rest = &text[at..];
    if !rest.starts_with(OPENS) {
        return None;
    }
    let head_end = rest.find('\n')?;
    if !rest[..head_end].contains("PRIVATE KEY-----") {
        return None;
    }
    // A key whose end was cut off is masked to where the text ends.
    let body = &rest[head_end..];
    let end = body.find("-----END ").unwrap_or(body.len());
    let start = at + head_end + 1;
    let end = at + head_end + end;
    (end > start).then_some(Found { start, end, token: false })
}
