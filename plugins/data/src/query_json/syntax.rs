//! From a filter's text to its tree, with errors that say where: the model wrote the text and has to
//! mend it.

use jaq_core::compile::{Errors, Undefined};
use jaq_core::load::lex::{self, Lexer, StrPart, Tok, Token};
use jaq_core::load::parse::{self, Parser, Term};

/// Bytes of a filter.
const MAX_FILTER: usize = 16 << 10;

/// Levels of brackets in a filter, which is read recursively.
const MAX_BRACKETS: usize = 64;

/// Tokens of a filter. Chains such as `a | b | c` are compiled and run recursively too.
const MAX_TOKENS: usize = 1_000;

/// What is wrong with a filter, and at which byte of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

/// Reads a filter.
pub(super) fn parse(code: &str) -> Result<Term<&str>, Fault> {
    check_size(code)?;
    let tokens = Lexer::new(code).lex().map_err(|errors| unread(code, &errors))?;
    if count(&tokens) > MAX_TOKENS {
        let message = format!("the filter has more than {MAX_TOKENS} words and signs");
        return Err(Fault { at: 0, message });
    }
    Parser::new(&tokens).parse(|parser| parser.term()).map_err(|errors| unparsed(code, &errors))
}

/// Refuses what the recursive lexer might not survive. Brackets in strings count too, which only
/// matters where dozens of them are left open.
fn check_size(code: &str) -> Result<(), Fault> {
    if code.len() > MAX_FILTER {
        let message = format!("the filter has more than {MAX_FILTER} bytes");
        return Err(Fault { at: 0, message });
    }
    let mut level = 0_usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => level += 1,
            b')' | b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
        if level > MAX_BRACKETS {
            let message = format!("more than {MAX_BRACKETS} levels of brackets");
            return Err(Fault { at, message });
        }
    }
    Ok(())
}

fn count(tokens: &[Token<&str>]) -> usize {
    let inner = |Token(_, kind): &Token<&str>| match kind {
        Tok::Block(tokens) => count(tokens),
        Tok::Str(parts) => parts
            .iter()
            .map(|part| match part {
                StrPart::Term(token) => 1 + count(std::slice::from_ref(token)),
                StrPart::Str(_) | StrPart::Char(_) => 0,
            })
            .sum(),
        _ => 0,
    };
    tokens.iter().map(|token| 1 + inner(token)).sum()
}

fn unread(code: &str, errors: &[lex::Error<&str>]) -> Fault {
    let Some((expected, found)) = errors.first() else {
        return Fault { at: 0, message: "the filter cannot be read".to_owned() };
    };
    let message = match expected {
        lex::Expect::Token => "this means nothing in a filter".to_owned(),
        lex::Expect::Delim(open) => format!("`{open}` is not closed"),
        other => format!("expected a {}", other.as_str()),
    };
    // An open bracket is better shown than the end it lacks.
    let at = match expected {
        lex::Expect::Delim(open) => offset(code, open),
        _ => offset(code, found),
    };
    Fault { at: at.unwrap_or(0), message }
}

fn unparsed(code: &str, errors: &[parse::Error<&str, Option<&Token<&str>>>]) -> Fault {
    let Some((expected, found)) = errors.first() else {
        return Fault { at: 0, message: "the filter cannot be read".to_owned() };
    };
    let found = Token::opt_as_str(*found, code);
    let expected = match expected {
        parse::Expect::Term => "a filter, such as `.name`",
        parse::Expect::Nothing => "an operator or the end",
        other => other.as_str(),
    };
    let message = if code
        .trim_start()
        .split(' ')
        .next()
        .is_some_and(|word| matches!(word, "import" | "include"))
    {
        "modules cannot be loaded here; define functions with `def`".to_owned()
    } else {
        format!("expected {expected}")
    };
    Fault { at: offset(code, found).unwrap_or(code.len()), message }
}

/// Names what the compiler did not find.
pub(super) fn undefined(code: &str, errors: &Errors<&str, ()>) -> Fault {
    let mut all = errors.iter().flat_map(|(_, errors)| errors);
    let Some((name, kind)) = all.find(|(name, _)| offset(code, name).is_some()) else {
        return Fault { at: 0, message: "the filter cannot be compiled".to_owned() };
    };
    let message = match kind {
        Undefined::Filter(1) => format!("there is no function `{name}` with 1 argument"),
        Undefined::Filter(0) => format!("there is no function `{name}`"),
        Undefined::Filter(arity) => {
            format!("there is no function `{name}` with {arity} arguments")
        }
        Undefined::Var => format!("there is no variable `{name}`; give it in `variables`"),
        other => format!("there is no {} `{name}`", other.as_str()),
    };
    Fault { at: offset(code, name).unwrap_or(0), message }
}

/// Where `part` lies within `code`, if it does.
fn offset(code: &str, part: &str) -> Option<usize> {
    let distance = part.as_ptr().addr().checked_sub(code.as_ptr().addr())?;
    (distance <= code.len()).then_some(distance)
}
