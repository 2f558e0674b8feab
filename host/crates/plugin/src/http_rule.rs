//! What may be asked of the network: one scheme, host, port, set of methods and path pattern. The
//! manifest's requests and the user's grants are both lists of these, and what holds is where they
//! meet.
//!
//! Only what a rule says is here. Checking a URL against rules belongs to the egress policy.

use std::collections::BTreeSet;
use std::fmt;

use crate::pattern::Words;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRule {
    /// `http` or `https`.
    pub scheme: Scheme,
    /// Which hosts.
    pub host: HostPattern,
    /// The port.
    pub port: u16,
    /// Methods in capitals; `None` in a grant leaves the choice to the request.
    pub methods: Option<BTreeSet<String>>,
    /// Which paths.
    pub path: Words,
    /// Whether loopback, private and link-local addresses may be reached.
    pub private: bool,
}

/// A URL's scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Unencrypted.
    Http,
    /// Encrypted.
    Https,
}

impl Scheme {
    /// The port that need not be written.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "http" => Ok(Scheme::Http),
            "https" => Ok(Scheme::Https),
            _ => Err("must be \"https\" or \"http\"".into()),
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

/// A host, or `*.` before one for exactly one more label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPattern {
    any_label: bool,
    rest: String,
}

impl HostPattern {
    /// Reads a host name, an IPv4 address, an IPv6 address in brackets, or `*.` and a host name.
    ///
    /// # Errors
    /// The text says what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (any_label, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let address = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let known = match address {
            Some(address) => !any_label && address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => rest.len() <= 253 && rest.split('.').all(is_label),
        };
        if known {
            return Ok(Self { any_label, rest: rest.to_owned() });
        }
        Err("must be a host in small letters, as \"api.example.com\", or one label more, as \
             \"*.example.com\""
            .into())
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        match (self.any_label, other.any_label) {
            (true, false) => other.intersect(self),
            (false, true) => {
                let (label, rest) = self.rest.split_once('.')?;
                (is_label(label) && rest == other.rest).then(|| self.clone())
            }
            _ => (self == other).then(|| self.clone()),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.any_label { "*." } else { "" }, self.rest)
    }
}

fn is_label(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    (1..=63).contains(&text.len()) && text.bytes().all(legal) && !text.starts_with('-')
}

/// A method in capitals.
pub(crate) fn method(text: &str) -> Result<String, String> {
    let legal = !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    if legal && text.len() <= 20 {
        return Ok(text.to_owned());
    }
    Err("must be a method in capitals, as \"GET\"".into())
}

impl HttpRule {
    /// Reads `URL-PATTERN` or `METHODS:URL-PATTERN`, methods separated by commas.
    ///
    /// # Errors
    /// The text says what to write instead.
    pub fn parse(text: &str, private: bool) -> Result<Self, String> {
        let (before, url) = text
            .split_once("://")
            .ok_or_else(|| "must be a URL pattern, as https://api.example.com/v1/**".to_owned())?;
        let (methods, scheme) = match before.rsplit_once(':') {
            Some((methods, scheme)) => (Some(methods), scheme),
            None => (None, before),
        };
        let scheme = Scheme::parse(scheme).map_err(|what| format!("its scheme {what}"))?;
        let methods = methods
            .map(|list| list.split(',').map(method).collect::<Result<BTreeSet<_>, _>>())
            .transpose()
            .map_err(|what| format!("each of its methods {what}"))?;
        let slash = url.find('/').unwrap_or(url.len());
        let (authority, path) = url.split_at(slash);
        if authority.contains('@') {
            return Err("must hold no user or password".into());
        }
        let (host, port) = split_port(authority)?;
        let path = if path.is_empty() { "/**" } else { path };
        Ok(Self {
            scheme,
            host: HostPattern::parse(host).map_err(|what| format!("its host {what}"))?,
            port: port.unwrap_or(scheme.default_port()),
            methods,
            path: Words::from_path(path).map_err(|what| format!("its path {what}"))?,
            private,
        })
    }

    /// What both rules allow; `None` if that is nothing.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let methods = match (&self.methods, &other.methods) {
            (Some(one), Some(two)) => {
                let both: BTreeSet<_> = one.intersection(two).cloned().collect();
                (!both.is_empty()).then_some(Some(both))?
            }
            (Some(methods), None) | (None, Some(methods)) => Some(methods.clone()),
            (None, None) => None,
        };
        (self.scheme == other.scheme && self.port == other.port).then_some(())?;
        Some(Self {
            scheme: self.scheme,
            host: self.host.intersect(&other.host)?,
            port: self.port,
            methods,
            path: self.path.intersect(&other.path)?,
            private: self.private && other.private,
        })
    }
}

impl fmt::Display for HttpRule {
    /// The pattern without its kind, which says whether it is private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(methods) = &self.methods {
            let methods: Vec<_> = methods.iter().map(String::as_str).collect();
            write!(f, "{}:", methods.join(","))?;
        }
        write!(f, "{}://{}", self.scheme, self.host)?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        if self.path.is_everything() { Ok(()) } else { f.write_str(&self.path.to_path()) }
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), String> {
    let end_of_host = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    match authority[end_of_host..].rfind(':') {
        None => Ok((authority, None)),
        Some(colon) => {
            let (host, port) = authority.split_at(end_of_host + colon);
            match port[1..].parse() {
                Ok(port) if port != 0 => Ok((host, Some(port))),
                _ => Err("its port must be a number from 1 to 65535".into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn meet(one: &str, two: &str) -> Option<String> {
        let rule = |text| HttpRule::parse(text, true).unwrap();
        rule(one).intersect(&rule(two)).map(|both| both.to_string())
    }

    #[test]
    fn rules_meet_where_every_part_meets() {
        for (one, two, both) in [
            ("https://a.b", "https://a.b", Some("https://a.b")),
            ("https://a.b", "http://a.b", None),
            ("https://a.b", "https://a.b:444", None),
            ("https://*.b", "https://a.b", Some("https://a.b")),
            ("https://*.b", "https://x.a.b", None),
            ("https://*.b", "https://b", None),
            ("GET,POST:https://a", "GET,PUT:https://a", Some("GET:https://a")),
            ("GET:https://a", "POST:https://a", None),
            ("GET:https://a", "https://a", Some("GET:https://a")),
            ("https://a/repos/**", "https://a/*/x", Some("https://a/repos/x")),
            ("https://a/v1/**", "https://a/v2/**", None),
            ("http://[::1]:80", "http://[::1]", Some("http://[::1]")),
        ] {
            assert_eq!(meet(one, two).as_deref(), both, "{one} and {two}");
            assert_eq!(meet(two, one).as_deref(), both, "{two} and {one}");
        }
    }

    #[test]
    fn a_rule_reaches_private_addresses_only_if_both_sides_say_so() {
        let rule = |private| HttpRule::parse("http://a", private).unwrap();
        assert!(rule(true).intersect(&rule(true)).unwrap().private);
        assert!(!rule(true).intersect(&rule(false)).unwrap().private);
    }

    #[test]
    fn bad_rules_are_refused_with_what_to_write() {
        let host = "its host must be a host in small letters, as \"api.example.com\", or one \
                    label more, as \"*.example.com\"";
        for (text, expected) in [
            ("api.x", "must be a URL pattern, as https://api.example.com/v1/**"),
            ("ftp://a", "its scheme must be \"https\" or \"http\""),
            ("get:https://a", "each of its methods must be a method in capitals, as \"GET\""),
            ("https://u:p@a", "must hold no user or password"),
            ("https://A", host),
            ("https://*", host),
            ("https://", host),
            ("https://*.[::1]", host),
            ("https://a?x=1", host),
            ("https://a:0", "its port must be a number from 1 to 65535"),
            ("https://a:x", "its port must be a number from 1 to 65535"),
            ("https://a/b?x", "its path must not hold '?'; percent-encode it"),
        ] {
            assert_eq!(HttpRule::parse(text, false).unwrap_err(), expected, "{text}");
        }
    }
}
