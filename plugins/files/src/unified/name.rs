//! The names of files in the header lines of a diff.

/// The names in a `---` and a `+++` line: without git's `a/` and `b/`, time stamps and quotes; nothing
/// for `/dev/null`.
pub(super) fn names(old: &str, new: &str) -> (Option<String>, Option<String>) {
    let (old, new) = (name(old), name(new));
    if old == new {
        // git would have put different letters in front, so these are folders.
        return (old, new);
    }
    let without = |name: Option<String>, prefix: &str| {
        name.map(|name| name.strip_prefix(prefix).map(str::to_owned).unwrap_or(name))
    };
    (without(old, "a/"), without(new, "b/"))
}

fn name(text: &str) -> Option<String> {
    let text = text.split('\t').next().unwrap_or_default().trim();
    let name = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .and_then(unquoted)
        .unwrap_or_else(|| text.to_owned());
    (name != "/dev/null").then_some(name)
}

/// A name as git quotes it where it has other than plain letters: like a string in C, with each byte
/// that is not ASCII as three octal digits. Nothing if it is not quoted so.
fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'\\' { escaped(&mut rest)? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

/// The byte that what follows a backslash stands for.
fn escaped(rest: &mut impl Iterator<Item = u8>) -> Option<u8> {
    Some(match rest.next()? {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        byte @ (b'"' | b'\\') => byte,
        first @ b'0'..=b'3' => {
            let digits = [first, rest.next()?, rest.next()?];
            u8::from_str_radix(str::from_utf8(&digits).ok()?, 8).ok()?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_diff_and_git_write_them() {
        let some = |name: &str| Some(name.to_owned());
        for (old, new, wanted) in [
            ("a/x", "b/x", (some("x"), some("x"))),
            ("x", "x", (some("x"), some("x"))),
            ("a/x", "a/x", (some("a/x"), some("a/x"))),
            ("b/x", "b/x", (some("b/x"), some("b/x"))),
            ("a/x", "x", (some("x"), some("x"))),
            ("/dev/null", "b/x", (None, some("x"))),
            ("a/x y\t2026-01-01 00:00", "/dev/null", (some("x y"), None)),
            (
                "\"a/\\303\\251 \\\"\\t\"",
                "\"b/\\303\\251 \\\"\\t\"",
                (some("é \"\t"), some("é \"\t")),
            ),
            ("\"a/\\q\"", "\"a/\\q\"", (some("\"a/\\q\""), some("\"a/\\q\""))),
        ] {
            assert_eq!(names(old, new), wanted, "{old} {new}");
        }
    }
}
