//! Compiles a filter and runs it over values, within the limits of the meter.

use std::time::Duration;

use jaq_core::data::HasLut;
use jaq_core::load::parse::Def;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, DataT, Lut, Vars};
use jaq_json::Val;
use jaq_std::input::{HasInputs, Inputs, RcIter};

use super::guard::Guard;
use super::meter::{Excess, Meter};
use super::natives;
use super::syntax::{self, Fault};
use super::text;

/// Bytes a filter may write into one string.
pub(super) const MAX_TEXT: usize = 4 << 20;

/// The whole filter, as a definition the compiler can name. Nothing else has this name, since a
/// filter is compiled after it.
const MAIN: &str = "__main__";

/// The types jaq runs on here.
pub(super) struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = Data<'a>;
}

/// What the functions of one run share.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    lut: &'a Lut<Kind>,
    inputs: Inputs<'a, Val>,
    /// Where every step passes by.
    pub(super) meter: &'a Meter,
}

impl<'a> HasLut<'a, Kind> for Data<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

impl<'a> HasInputs<'a, Val> for Data<'a> {
    fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}

/// A filter ready to run.
pub(super) struct Program {
    filter: jaq_core::Filter<Kind>,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Every output was taken, or the taker had enough.
    Done,
    /// The filter failed with this message.
    Failed(String),
    /// A limit was met.
    Exceeded(Excess),
}

impl Program {
    /// Compiles a filter that may use these variables, named with their `$`.
    pub(super) fn compile(code: &str, variables: &[&str]) -> Result<Self, Fault> {
        let main = Def { name: MAIN, args: Vec::new(), body: syntax::parse(code)? };
        let definitions = needed(main);
        let arena = Arena::default();
        let file = File { code: MAIN, path: () };
        let modules = Loader::new(definitions)
            .load(&arena, file)
            .map_err(|_| Fault { at: 0, message: "the filter cannot be loaded".to_owned() })?;
        let filter = Compiler::default()
            .with_funs(natives::all())
            .with_global_vars(variables.iter().copied())
            .compile(modules)
            .map_err(|errors| syntax::undefined(code, &errors))?;
        Ok(Self { filter })
    }

    /// Runs the filter on each input and hands every output to `take` until that answers false or
    /// the time is up.
    pub(super) fn run(
        &self,
        inputs: Vec<Val>,
        variables: Vec<Val>,
        time: Duration,
        mut take: impl FnMut(&Val) -> bool,
    ) -> End {
        let meter = Meter::start(time);
        let inputs = RcIter::new(inputs.into_iter().map(Ok::<Val, String>));
        let inputs: Inputs<'_, Val> = &inputs;
        let data = Data { lut: &self.filter.lut, inputs, meter: &meter };
        let end = outputs(self, data, variables, &mut take);
        meter.excess().map_or(end, End::Exceeded)
    }
}

fn outputs(
    program: &Program,
    data: Data<'_>,
    variables: Vec<Val>,
    take: &mut dyn FnMut(&Val) -> bool,
) -> End {
    let inputs = data.inputs;
    while let Some(Ok(input)) = { inputs }.next() {
        let context = Ctx::<Kind>::new(data, Vars::new(variables.clone()));
        for output in program.filter.id.run((context, input)) {
            match output.map_err(jaq_core::Exn::get_err) {
                Ok(value) if take(&value) => {}
                // The taker had enough, or the filter called `halt`.
                Ok(_) | Err(Err(_)) => return End::Done,
                Err(Ok(error)) => return End::Failed(text::error(&error)),
            }
        }
    }
    End::Done
}

/// jaq's library and what it lacks.
fn library<'s>() -> Vec<Def<&'s str>> {
    let extra = load::parse(include_str!("extra.jq"), |parser| parser.defs()).unwrap_or_default();
    let all = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(extra);
    all.collect()
}

/// The definitions `main` leads to, rewritten and in their order, with `main` the last. Reading and
/// compiling the whole library would take most of the time of a call.
fn needed(main: Def<&str>) -> Vec<Def<&str>> {
    let mut guard = Guard::default();
    let main = guard.definition(main);
    if guard.called.is_empty() {
        return vec![main];
    }
    let mut open: Vec<Option<Def<&str>>> = library().into_iter().map(Some).collect();
    let mut taken = Vec::new();
    while let Some(name) = guard.called.pop() {
        for (at, slot) in open.iter_mut().enumerate() {
            if let Some(def) = slot.take_if(|def| def.name == name) {
                taken.push((at, guard.definition(def)));
            }
        }
    }
    taken.sort_by_key(|(at, _)| *at);
    taken.into_iter().map(|(_, def)| def).chain([main]).collect()
}
