//! Rewrites a parsed filter so that nothing in it can repeat without passing by the meter, and so
//! that what jaq does otherwise than jq goes through functions of ours (see `natives`). It notes the
//! functions that are called, since only those need compiling.
//!
//! A step is written `if !tick then … else . end`: a condition takes part in no path, so paths,
//! updates and tail calls stay what they were. Names with `!` cannot be written in a filter.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::ops::Math;
use jaq_core::path::{Opt, Part, Path};

/// Passes by the meter; true.
pub(super) const TICK: &str = "!tick";

/// `left * right`, bounded.
pub(super) const TIMES: &str = "!times";

/// A value as text, as jq writes it.
pub(super) const TEXT: &str = "!text";

/// `.`; in an update, makes room for a key first.
pub(super) const ROOM: &str = "!room";

/// Holds the right side of `*=` while the left side is updated.
const FACTOR: &str = "$!factor";

/// Parts of a path up to which an update makes room for them; each becomes a level of the filter.
const MAX_ROOMY: usize = 100;

type Filter<'s> = Term<&'s str>;

/// Rewrites filters and notes what they call.
#[derive(Default)]
pub(super) struct Guard<'s> {
    /// Names of functions and formats, with repetitions.
    pub(super) called: Vec<&'s str>,
    /// Whether the filter at hand says what an update changes.
    target: bool,
}

impl<'s> Guard<'s> {
    /// A definition whose every call passes by the meter.
    pub(super) fn definition(&mut self, def: Def<&'s str>) -> Def<&'s str> {
        // `getpath(…) = …` is an update by what `getpath` means.
        let outer = std::mem::replace(&mut self.target, def.name == "getpath");
        let body = self.term(def.body);
        self.target = outer;
        Def { body: step(body), ..def }
    }

    /// Rewrites a filter.
    fn term(&mut self, filter: Filter<'s>) -> Filter<'s> {
        match filter {
            Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) => filter,
            Term::Str(format, parts) => self.string(format, parts),
            Term::Arr(items) => Term::Arr(items.map(|items| Box::new(counted(self.value(*items))))),
            Term::Obj(fields) => Term::Obj(
                fields
                    .into_iter()
                    .map(|(key, value)| (self.value(key), value.map(|value| self.value(value))))
                    .collect(),
            ),
            Term::Neg(inner) => Term::Neg(Box::new(self.value(*inner))),
            Term::BinOp(left, operator, right) => self.binary(*left, operator, *right),
            Term::Label(name, body) => Term::Label(name, self.boxed(*body)),
            Term::Fold(kind, items, pattern, bodies) => Term::Fold(
                kind,
                Box::new(self.value(*items)),
                self.pattern(pattern),
                bodies.into_iter().map(|body| step(self.term(body))).collect(),
            ),
            Term::TryCatch(body, handler) => Term::TryCatch(
                self.boxed(*body),
                handler.map(|handler| Box::new(self.value(*handler))),
            ),
            Term::IfThenElse(branches, otherwise) => Term::IfThenElse(
                branches
                    .into_iter()
                    .map(|(when, then)| (self.value(when), self.term(then)))
                    .collect(),
                otherwise.map(|otherwise| self.boxed(*otherwise)),
            ),
            Term::Def(defs, body) => {
                let defs = defs.into_iter().map(|def| self.definition(def)).collect();
                Term::Def(defs, self.boxed(*body))
            }
            Term::Call(name, arguments) => self.call(name, arguments),
            Term::Path(head, path) => self.path(*head, path),
        }
    }

    fn boxed(&mut self, filter: Filter<'s>) -> Box<Filter<'s>> {
        Box::new(self.term(filter))
    }

    /// Rewrites a part whose outputs are only read, even where the whole says what to update.
    fn value(&mut self, filter: Filter<'s>) -> Filter<'s> {
        self.with_target(false, filter)
    }

    fn with_target(&mut self, target: bool, filter: Filter<'s>) -> Filter<'s> {
        let outer = std::mem::replace(&mut self.target, target);
        let filter = self.term(filter);
        self.target = outer;
        filter
    }

    fn call(&mut self, name: &'s str, arguments: Vec<Filter<'s>>) -> Filter<'s> {
        self.called.push(name);
        let target = self.target || name == "del";
        let arguments =
            arguments.into_iter().map(|argument| counted(self.with_target(target, argument)));
        Term::Call(name, arguments.collect())
    }

    fn binary(
        &mut self,
        left: Filter<'s>,
        operator: BinaryOp<&'s str>,
        right: Filter<'s>,
    ) -> Filter<'s> {
        let (operator, left, right) = match operator {
            BinaryOp::Pipe(None) => (operator, self.term(left), step(self.term(right))),
            BinaryOp::Pipe(Some(pattern)) => {
                let operator = BinaryOp::Pipe(Some(self.pattern(pattern)));
                (operator, self.value(left), step(self.term(right)))
            }
            BinaryOp::Comma | BinaryOp::Alt => (operator, self.term(left), self.term(right)),
            BinaryOp::Or | BinaryOp::And | BinaryOp::Cmp(_) => {
                (operator, self.value(left), self.value(right))
            }
            BinaryOp::Math(Math::Mul) => {
                return Term::Call(TIMES, vec![self.value(left), self.value(right)]);
            }
            BinaryOp::Math(_) => (operator, self.value(left), self.value(right)),
            BinaryOp::UpdateMath(Math::Mul) => return self.times_update(left, right),
            BinaryOp::Assign | BinaryOp::Update | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt => {
                (operator, self.with_target(true, left), step(self.value(right)))
            }
        };
        Term::BinOp(Box::new(left), operator, Box::new(right))
    }

    /// `l *= r` is `r as $x | l |= . * $x`.
    fn times_update(&mut self, left: Filter<'s>, right: Filter<'s>) -> Filter<'s> {
        let left = self.with_target(true, left);
        let right = self.value(right);
        let product = Term::Call(TIMES, vec![Term::Id, Term::Var(FACTOR)]);
        let update = Term::BinOp(Box::new(left), BinaryOp::Update, Box::new(product));
        let bind = BinaryOp::Pipe(Some(Pattern::Var(FACTOR)));
        Term::BinOp(Box::new(right), bind, Box::new(step(update)))
    }

    fn string(
        &mut self,
        format: Option<&'s str>,
        parts: Vec<StrPart<&'s str, Filter<'s>>>,
    ) -> Filter<'s> {
        self.called.extend(format);
        let mut part = |part| match part {
            // A format converts its values itself.
            StrPart::Term(inner) if format.is_none() => {
                StrPart::Term(pipe(self.value(inner), Term::Call(TEXT, Vec::new())))
            }
            StrPart::Term(inner) => StrPart::Term(self.value(inner)),
            other => other,
        };
        Term::Str(format, parts.into_iter().map(&mut part).collect())
    }

    fn pattern(&mut self, pattern: Pattern<&'s str>) -> Pattern<&'s str> {
        match pattern {
            Pattern::Var(name) => Pattern::Var(name),
            Pattern::Arr(items) => {
                Pattern::Arr(items.into_iter().map(|item| self.pattern(item)).collect())
            }
            Pattern::Obj(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(key, value)| (self.value(key), self.pattern(value)));
                Pattern::Obj(fields.collect())
            }
        }
    }

    fn path(&mut self, head: Filter<'s>, path: Path<Filter<'s>>) -> Filter<'s> {
        let head = self.term(head);
        let makes_room = self.target
            && path.0.len() <= MAX_ROOMY
            && path.0.iter().all(|(part, _)| stands_alone(part));
        let parts = path.0.into_iter().map(|(part, optional)| {
            let part = match part {
                Part::Index(index) => Part::Index(self.value(index)),
                Part::Range(from, to) => {
                    Part::Range(from.map(|from| self.value(from)), to.map(|to| self.value(to)))
                }
            };
            (part, optional)
        });
        if makes_room {
            roomy(head, parts)
        } else {
            Term::Path(Box::new(head), Path(parts.collect()))
        }
    }
}

/// `h.a[0]` as `h | !room("a") | .a | !room(0) | .[0]`.
fn roomy<'s>(head: Filter<'s>, parts: impl Iterator<Item = (Part<Filter<'s>>, Opt)>) -> Filter<'s> {
    parts.fold(head, |head, (part, optional)| {
        let head = match &part {
            Part::Index(key) => pipe(head, Term::Call(ROOM, vec![key.clone()])),
            Part::Range(..) => head,
        };
        pipe(head, Term::Path(Box::new(Term::Id), Path(vec![(part, optional)])))
    })
}

/// Whether a part of a path means the same on any input, so that the path may be cut before it.
fn stands_alone(part: &Part<Filter<'_>>) -> bool {
    match part {
        Part::Index(index) => is_constant(index),
        Part::Range(from, to) => from.iter().chain(to).all(is_constant),
    }
}

fn is_constant(filter: &Filter<'_>) -> bool {
    match filter {
        Term::Num(_) | Term::Var(_) => true,
        Term::Str(_, parts) => parts.iter().all(|part| match part {
            StrPart::Term(inner) => is_constant(inner),
            StrPart::Str(_) | StrPart::Char(_) => true,
        }),
        Term::Neg(inner) => is_constant(inner),
        Term::BinOp(left, BinaryOp::Pipe(None), _) => is_constant(left),
        Term::BinOp(left, BinaryOp::Math(_), right) => is_constant(left) && is_constant(right),
        Term::Path(head, path) => {
            is_constant(head) && path.0.iter().all(|(part, _)| stands_alone(part))
        }
        _ => false,
    }
}

fn pipe<'s>(left: Filter<'s>, right: Filter<'s>) -> Filter<'s> {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}

/// The filter after a step.
fn step(filter: Filter<'_>) -> Filter<'_> {
    Term::IfThenElse(vec![(Term::Call(TICK, Vec::new()), filter)], None)
}

/// Each output of the filter is a step.
fn counted(filter: Filter<'_>) -> Filter<'_> {
    pipe(filter, step(Term::Id))
}
