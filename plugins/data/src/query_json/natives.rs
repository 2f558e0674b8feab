//! Functions that jq knows and jaq has in a form unfit for here: they may panic (sorting what has no
//! order, captures out of order, endless repetition), read the process's environment, or write
//! numbers otherwise than jq does.

use std::collections::BTreeMap;

use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Bind, Cv, Error, Exn, Native, ValX, ValXs};
use jaq_json::{Num, Val};

use super::engine::{Kind, MAX_TEXT};
use super::guard::{ROOM, TEXT, TICK, TIMES};
use super::input;
use super::patterns;
use super::text::{self, Unwritten};

/// Bits of a whole number; the product of two such is still quick.
const MAX_BITS: u64 = 1 << 20;

/// All functions, ours in the place of those of the same name.
pub(super) fn all() -> impl Iterator<Item = Fun<Kind>> {
    let ours: Vec<Fun<Kind>> = ours();
    let replaced: Vec<(&str, usize)> =
        ours.iter().map(|(name, arguments, _)| (*name, arguments.len())).collect();
    let theirs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let kept =
        theirs.filter(move |(name, arguments, _)| !replaced.contains(&(*name, arguments.len())));
    kept.chain(jaq_std::input::funs().into_vec().into_iter().map(run)).chain(ours)
}

fn ours() -> Vec<Fun<Kind>> {
    let closure = || [Bind::Fun(())].into();
    vec![
        (TICK, v(0), Native::new(|cv| tick(cv))),
        (TIMES, v(2), Native::new(|cv| times(cv))),
        (ROOM, v(1), room()),
        (TEXT, v(0), Native::new(|cv| bome(as_text(&cv.1).map(Val::from)))),
        ("tojson", v(0), Native::new(|cv| bome(to_json(&cv.1).map(Val::from)))),
        ("fromjson", v(0), Native::new(|cv| from_json(&cv.1))),
        ("env", v(0), Native::new(|_| bome(Ok(Val::obj(jaq_json::Map::default()))))),
        ("sort", v(0), Native::new(|cv| box_once(sort(cv)))),
        ("sort_by", closure(), Native::new(|cv| box_once(sort_by(cv)))),
        ("group_by", closure(), Native::new(|cv| box_once(group_by(cv)))),
        ("matches", v(2), Native::new(|cv| bome(patterns::search(cv, false, true)))),
        ("split_matches", v(2), Native::new(|cv| bome(patterns::search(cv, true, true)))),
        ("split_", v(2), Native::new(|cv| bome(patterns::search(cv, true, false)))),
    ]
}

fn tick<'a>(cv: Cv<'a, Kind>) -> ValXs<'a, Val> {
    let step = cv.0.data().meter.step(&cv.1);
    bome(step.map(|()| Val::from(true)).map_err(|excess| Error::str(excess.message())))
}

/// `left * right`: repetition and products only up to a size.
fn times<'a>(mut cv: Cv<'a, Kind>) -> ValXs<'a, Val> {
    let right = cv.0.pop_var();
    let left = cv.0.pop_var();
    bome(product(left, right))
}

fn product(left: Val, right: Val) -> Result<Val, Error<Val>> {
    match (&left, &right) {
        (Val::TStr(text) | Val::BStr(text), Val::Num(count))
        | (Val::Num(count), Val::TStr(text) | Val::BStr(text)) => {
            // jq repeats by a fraction rounded up, jaq by whole numbers only.
            let count = match count {
                Num::Int(count) => *count,
                other => repetitions(other)?,
            };
            let length = text.len().checked_mul(count.max(0).unsigned_abs());
            if length.is_none_or(|length| length > MAX_TEXT) {
                return Err(Error::str(format!(
                    "repeating a string gives more than {MAX_TEXT} bytes"
                )));
            }
            Val::TStr(text.clone()) * Val::from(count)
        }
        (Val::Num(one), Val::Num(other)) if bits(one) + bits(other) > MAX_BITS => {
            Err(Error::str("the product is too large a number"))
        }
        _ => left * right,
    }
}

/// The least whole number that is not below.
fn repetitions(number: &Num) -> Result<isize, Error<Val>> {
    let float: f64 = match number {
        Num::Float(float) => *float,
        other => other.to_string().parse().unwrap_or(f64::NAN),
    };
    // Texts are far shorter than this, so a larger count is refused by the caller anyway.
    const MOST: f64 = 2_147_483_647.0;
    if float.is_nan() {
        return Err(Error::str("a string cannot be repeated by something that is not a number"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "clamped to what every isize holds")]
    let count = float.ceil().clamp(-1.0, MOST) as isize;
    Ok(count)
}

fn bits(number: &Num) -> u64 {
    match number {
        Num::BigInt(whole) => whole.bits(),
        _ => 64,
    }
}

/// Elements an assignment may add to an array at once.
const MAX_GAP: usize = 100_000;

/// jq's assignments create what is missing on the way: `{} | .a.b = 1`, `[] | .[2] = 1`. What only
/// was created and not used is taken back, so that `del(.a.b)` changes nothing.
fn room() -> Native<Kind> {
    Native::new(|mut cv| {
        drop(cv.0.pop_var());
        box_once(Ok(cv.1))
    })
    .with_paths(|mut cv| {
        drop(cv.0.pop_var());
        box_once(Ok(cv.1))
    })
    .with_update(|mut cv, update| {
        let key = cv.0.pop_var();
        let Some((with_room, length)) = make_room(&cv.1, &key) else { return update(cv.1) };
        let before = cv.1;
        let unused = move |after: &Val| match after {
            Val::Arr(items) => items.len() < length,
            Val::Obj(fields) => fields.len() < length,
            _ => false,
        };
        Box::new(update(with_room).filter_map(move |after| match after {
            Ok(after) if unused(&after) => {
                (!matches!(before, Val::Null)).then(|| Ok(before.clone()))
            }
            other => Some(other),
        }))
    })
}

/// A container with room for the key and the length it has once the key is used.
fn make_room(value: &Val, key: &Val) -> Option<(Val, usize)> {
    match (value, key) {
        (Val::Null, Val::TStr(_)) => Some((Val::obj(jaq_json::Map::default()), 1)),
        (Val::Null | Val::Arr(_), Val::Num(Num::Int(at))) => {
            let items = match value {
                Val::Arr(items) => items.as_slice(),
                _ => &[],
            };
            let length = usize::try_from(*at).ok()?.checked_add(1)?;
            if length <= items.len() || length - items.len() > MAX_GAP {
                return None;
            }
            let mut items = items.to_vec();
            items.resize(length, Val::Null);
            Some((items.into_iter().collect(), length))
        }
        _ => None,
    }
}

fn as_text(value: &Val) -> Result<String, Error<Val>> {
    text::plain(value, MAX_TEXT).map_err(unwritten)
}

fn to_json(value: &Val) -> Result<String, Error<Val>> {
    text::json(value, MAX_TEXT).map_err(unwritten)
}

/// The documents in a text, checked as the tool's own input is: jaq reads nested brackets by
/// recursion, however many there are.
fn from_json<'a>(value: &Val) -> ValXs<'a, Val> {
    let text = match value {
        Val::TStr(bytes) => String::from_utf8_lossy(bytes),
        other => return bome(Err(Error::typ(other.clone(), "string"))),
    };
    match input::parse(&text) {
        Ok(values) => Box::new(values.into_iter().map(Ok)),
        Err(fault) => bome(Err(Error::str(format!("the text {fault}")))),
    }
}

fn unwritten(reason: Unwritten) -> Error<Val> {
    match reason {
        Unwritten::Long => Error::str(format!("the value has more than {MAX_TEXT} bytes of JSON")),
        Unwritten::Deep => Error::str("the value has too many levels to be written as JSON"),
    }
}

/// Values by key. A map and not a sort: where NaN is among the keys there is no order, and a sort
/// may panic on that.
type Groups = BTreeMap<Vec<Val>, Vec<Val>>;

fn groups<'a>(
    value: Val,
    key: impl Fn(Val) -> Result<Vec<Val>, Exn<'a, Val>>,
) -> Result<Groups, Exn<'a, Val>> {
    let items = match value {
        Val::Arr(items) => items,
        other => return Err(Error::typ(other, "array").into()),
    };
    let mut groups = Groups::new();
    for item in items.iter() {
        groups.entry(key(item.clone())?).or_default().push(item.clone());
    }
    Ok(groups)
}

fn keyed<'a>(mut cv: Cv<'a, Kind>) -> Result<Groups, Exn<'a, Val>> {
    let (filter, context) = cv.0.pop_fun();
    groups(cv.1, |item| filter.run((context.clone(), item)).collect())
}

fn sort<'a>(cv: Cv<'a, Kind>) -> ValX<'a, Val> {
    Ok(groups(cv.1, |item| Ok(vec![item]))?.into_values().flatten().collect())
}

fn sort_by<'a>(cv: Cv<'a, Kind>) -> ValX<'a, Val> {
    Ok(keyed(cv)?.into_values().flatten().collect())
}

fn group_by<'a>(cv: Cv<'a, Kind>) -> ValX<'a, Val> {
    Ok(keyed(cv)?.into_values().map(|group| group.into_iter().collect()).collect())
}
