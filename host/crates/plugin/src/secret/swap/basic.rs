//! `Basic` credentials (RFC 7617), which hide what they hold in base64. A plugin may write them
//! plainly, as `Basic user:PLACEHOLDER`, and the host encodes them; a client that encoded them
//! itself is understood too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const SCHEME: &[u8] = b"Basic ";

/// `Basic user:password` as it is sent; `None` for anything else.
pub(super) fn encoded(value: &[u8]) -> Option<Vec<u8>> {
    let plain = rest(value).filter(|rest| rest.contains(&b':'))?;
    Some([SCHEME, STANDARD.encode(plain).as_bytes()].concat())
}

/// `Basic user:password` out of what is sent; `None` for anything else.
pub(super) fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    let plain = STANDARD.decode(rest(value)?).ok()?;
    Some([SCHEME, &plain].concat())
}

fn rest(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(rest.trim_ascii())
}
