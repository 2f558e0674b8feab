//! Reads and evaluates an expression in one pass, by recursive descent. Binding, loosest first:
//! `;`, `=`, `to`, comparison, `|`, `&`, shifts, `+ -`, `* / % of mod`, sign, `^`, `! %` and units.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Fault;
use super::functions;
use super::lexer::{Kind, Token};
use super::operators::{bits, constant, convert, is_word, measured, percent};
use super::units;
use super::value::Value;

/// Levels of nesting; a bracket takes two. Each costs a kilobyte or two of stack.
const MAX_DEPTH: u32 = 100;

/// What the calculation may take; reached only by thousands of huge operands.
const TIME: Duration = Duration::from_secs(3);

/// The last statement's result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// A number, perhaps with a unit.
    Value(Box<Value>),
    /// What a comparison says, and whether rounding may have decided it.
    Truth(bool, bool),
}

/// Evaluates the statements; the last one counts.
pub(super) fn evaluate(text: &str, tokens: &[Token]) -> Result<Answer, Fault> {
    let mut parser = Parser {
        text,
        tokens,
        next: 0,
        depth: 0,
        variables: HashMap::new(),
        begun: Instant::now(),
    };
    let mut answer = None;
    loop {
        while parser.takes(";") {}
        if *parser.kind() == Kind::End {
            let message = "the expression is empty".to_owned();
            return answer.ok_or(Fault { at: 0, message });
        }
        answer = Some(parser.statement()?);
        if *parser.kind() != Kind::End && !matches!(parser.kind(), Kind::Symbol(";")) {
            return Err(parser.unexpected("an operator or the end"));
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    next: usize,
    depth: u32,
    variables: HashMap<String, Value>,
    begun: Instant,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        // The lexer always ends with `End`, which nothing steps over.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> &Kind {
        &self.token().kind
    }

    fn after(&self, steps: usize) -> &Kind {
        &self.tokens[(self.next + steps).min(self.tokens.len() - 1)].kind
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let taken = matches!(self.kind(), Kind::Symbol(found) if *found == symbol);
        self.next += usize::from(taken);
        taken
    }

    fn takes_name(&mut self, names: &[&str]) -> bool {
        let taken = matches!(self.kind(), Kind::Name(found) if names.contains(&found.as_str()));
        self.next += usize::from(taken);
        taken
    }

    /// Takes one of the operators and says which and where.
    fn operator(&mut self, symbols: &[&'static str]) -> Option<(&'static str, usize)> {
        let at = self.token().at;
        let symbol = symbols.iter().find(|symbol| self.takes(symbol))?;
        Some((*symbol, at))
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.kind() {
            Kind::End => "the end".to_owned(),
            Kind::Number(_) => "a number".to_owned(),
            Kind::Name(name) => format!("`{name}`"),
            Kind::Symbol(";") => "the end of a statement".to_owned(),
            Kind::Symbol(",") => {
                "`,` (write numbers without thousands separators and with a decimal point)"
                    .to_owned()
            }
            Kind::Symbol(symbol) => format!("`{symbol}`"),
        };
        Fault { at: self.token().at, message: format!("expected {wanted}, found {found}") }
    }

    /// Guards the stack and the clock around whatever nests.
    fn nested<T>(&mut self, rule: fn(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let at = self.token().at;
        if self.depth == MAX_DEPTH {
            let message = "too many levels of brackets, signs or powers; split the expression with \
                `;` and variables";
            return Err(Fault { at, message: message.to_owned() });
        }
        if self.begun.elapsed() > TIME {
            let message = format!("stopped after {} seconds; use smaller numbers", TIME.as_secs());
            return Err(Fault { at, message });
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    fn statement(&mut self) -> Result<Answer, Fault> {
        let (Kind::Name(name), Kind::Symbol("=")) = (self.kind().clone(), self.after(1).clone())
        else {
            return self.comparison();
        };
        let at = self.token().at;
        if constant(&name).is_some() || functions::exists(&name) || is_word(&name) {
            let message = format!("`{name}` has a meaning of its own; take another name");
            return Err(Fault { at, message });
        }
        self.next += 2;
        let answer = self.comparison()?;
        if let Answer::Value(value) = &answer {
            self.variables.insert(name, Value { percent: false, ..(**value).clone() });
        }
        Ok(answer)
    }

    fn comparison(&mut self) -> Result<Answer, Fault> {
        let left = self.conversion()?;
        let Some((symbol, at)) = self.operator(&["==", "!=", "<=", ">=", "<", ">"]) else {
            return Ok(Answer::Value(Box::new(left)));
        };
        let right = self.conversion()?;
        left.same_measure(&right).map_err(|message| Fault { at, message })?;
        let ordering = left.number.cmp(&right.number);
        let truth = match symbol {
            "==" => ordering.is_eq(),
            "!=" => ordering.is_ne(),
            "<=" => ordering.is_le(),
            ">=" => ordering.is_ge(),
            "<" => ordering.is_lt(),
            _ => ordering.is_gt(),
        };
        Ok(Answer::Truth(truth, left.exact && right.exact))
    }

    fn conversion(&mut self) -> Result<Value, Fault> {
        let mut value = self.bit_or()?;
        while self.takes_name(&["to", "in"]) {
            let (at, start) = (self.token().at, self.token().byte);
            let target = self.sum()?;
            let name = self.text.get(start..self.token().byte).unwrap_or("").trim().to_owned();
            value = convert(value, &target, name).map_err(|message| Fault { at, message })?;
        }
        Ok(value)
    }

    fn bit_or(&mut self) -> Result<Value, Fault> {
        self.whole_numbers(&["|"], Self::bit_and)
    }

    fn bit_and(&mut self) -> Result<Value, Fault> {
        self.whole_numbers(&["&"], Self::shift)
    }

    fn shift(&mut self) -> Result<Value, Fault> {
        self.whole_numbers(&["<<", ">>"], Self::sum)
    }

    fn whole_numbers(
        &mut self,
        symbols: &[&'static str],
        operand: fn(&mut Self) -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        let mut left = operand(self)?;
        while let Some((symbol, at)) = self.operator(symbols) {
            let right = operand(self)?;
            left = bits(symbol, &left, &right).map_err(|message| Fault { at, message })?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Value, Fault> {
        let mut left = self.product()?;
        while let Some((symbol, at)) = self.operator(&["+", "-"]) {
            let right = self.product()?;
            left = left.plus(right, symbol == "-").map_err(|message| Fault { at, message })?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Value, Fault> {
        let mut left = self.signed()?;
        loop {
            let at = self.token().at;
            let result = if self.takes("*") || self.takes_name(&["of"]) {
                left.times(self.signed()?)
            } else if self.takes("/") {
                left.over(self.signed()?)
            } else if self.takes("%") || self.takes_name(&["mod"]) {
                left.divided(self.signed()?, true)
            } else {
                return Ok(left);
            };
            left = result.map_err(|message| Fault { at, message })?;
        }
    }

    fn signed(&mut self) -> Result<Value, Fault> {
        let at = self.token().at;
        if self.takes("-") {
            let value = self.nested(Self::signed)?;
            return value.negated().map_err(|message| Fault { at, message });
        }
        if self.takes("+") {
            return self.nested(Self::signed);
        }
        self.power()
    }

    fn power(&mut self) -> Result<Value, Fault> {
        let base = self.postfix()?;
        let at = self.token().at;
        if !self.takes("^") {
            return Ok(base);
        }
        let exponent = self.nested(Self::signed)?;
        base.raised(&exponent).map_err(|message| Fault { at, message })
    }

    fn postfix(&mut self) -> Result<Value, Fault> {
        let mut value = self.nested(Self::primary)?;
        loop {
            let at = self.token().at;
            let result = if self.takes("!") {
                functions::factorial(&value)
            } else if self.percent_follows() {
                self.next += 1;
                percent(value)
            } else {
                return Ok(value);
            };
            value = result.map_err(|message| Fault { at, message })?;
        }
    }

    /// `%` is the remainder where an operand follows, else a hundredth. `10 % -3` is a remainder
    /// too, told from `10% - 3` by the blanks.
    fn percent_follows(&self) -> bool {
        if !matches!(self.kind(), Kind::Symbol("%")) {
            return false;
        }
        let following = &self.tokens[(self.next + 1).min(self.tokens.len() - 1)];
        match &following.kind {
            Kind::Number(_) | Kind::Symbol("(") => false,
            Kind::Name(name) => is_word(name),
            Kind::Symbol("-" | "+") => !(self.token().spaced && following.spaced),
            _ => true,
        }
    }

    fn primary(&mut self) -> Result<Value, Fault> {
        let at = self.token().at;
        let value = match self.kind().clone() {
            Kind::Number(number) => {
                self.next += 1;
                Value::from(number)
            }
            Kind::Symbol("(") => {
                self.next += 1;
                let value = self.nested(Self::conversion)?;
                self.close()?;
                // `(5%)` is a number like any other.
                Value { percent: false, ..value }
            }
            Kind::Name(name) if matches!(self.after(1), Kind::Symbol("(")) => {
                self.next += 2;
                let arguments = self.arguments()?;
                functions::call(&name, arguments).map_err(|message| Fault { at, message })?
            }
            Kind::Name(_) => return self.named(),
            _ => return Err(self.unexpected("a number")),
        };
        self.with_units(value)
    }

    fn arguments(&mut self) -> Result<Vec<Value>, Fault> {
        let mut arguments = Vec::new();
        if self.takes(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.nested(Self::conversion)?);
            if !self.takes(",") {
                self.close()?;
                return Ok(arguments);
            }
        }
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.takes(")") { Ok(()) } else { Err(self.unexpected("`)`")) }
    }

    /// A variable, constant or unit that stands alone.
    fn named(&mut self) -> Result<Value, Fault> {
        let at = self.token().at;
        let Kind::Name(name) = self.kind().clone() else {
            return Err(self.unexpected("a name"));
        };
        let value = self.variables.get(&name).cloned().or_else(|| constant(&name));
        if let Some(value) = value.or_else(|| units::find(&name)) {
            self.next += 1;
            return Ok(value);
        }
        let message = if functions::exists(&name) {
            format!("`{name}` is a function: write `{name}(…)`")
        } else {
            format!("`{name}` is no variable, constant, unit or function")
        };
        Err(Fault { at, message })
    }

    /// Units and constants written right after a number: `5 km`, `2 m^2`, `2 pi`.
    fn with_units(&mut self, mut value: Value) -> Result<Value, Fault> {
        while let Kind::Name(name) = self.kind().clone() {
            if is_word(&name) && !(name == "in" && self.is_inch()) {
                break;
            }
            let at = self.token().at;
            if matches!(self.after(1), Kind::Symbol("(")) {
                let message = format!("write `*` before `{name}(`");
                return Err(Fault { at, message });
            }
            let mut unit = self.named()?;
            if self.takes("^") {
                let exponent = self.nested(Self::signed)?;
                unit = unit.raised(&exponent).map_err(|message| Fault { at, message })?;
            }
            value = measured(value, unit).map_err(|message| Fault { at, message })?;
        }
        if matches!(self.kind(), Kind::Number(_) | Kind::Symbol("(")) {
            return Err(self.unexpected("an operator"));
        }
        Ok(value)
    }

    /// Whether `in` stands where no unit to convert to can follow.
    fn is_inch(&self) -> bool {
        match self.after(1) {
            Kind::Name(name) => is_word(name),
            Kind::Number(_) | Kind::Symbol("(") => false,
            _ => true,
        }
    }
}
