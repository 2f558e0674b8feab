//! What a turn may spend: model calls, tokens, money and time. What is spent first ends it. Agents
//! that work together can also share a budget over all of them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::notice::percent;
use crate::usage::{Cost, Usage};

/// Limits of a turn besides its iterations. Absent ones do not limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BudgetLimits {
    /// Tokens of all model calls, cached ones included, as reported or estimated.
    pub tokens: Option<u64>,
    /// US dollars, as far as prices are known.
    pub usd: Option<f64>,
    /// Time since the turn began.
    pub wall: Option<Duration>,
}

/// What has been spent so far, besides iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// Tokens.
    pub usage: Usage,
    /// Money, where known.
    pub cost: Option<Cost>,
    /// Time.
    pub wall: Duration,
}

/// The limit that was reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Reached {
    /// All iterations are used.
    Iterations(u32),
    /// The tokens are spent.
    Tokens(u64),
    /// The money is spent.
    Usd(f64),
    /// The time is up.
    Wall(Duration),
    /// This limit of the budget that several agents share.
    Tree(Box<Reached>),
}

impl Reached {
    fn describe(&self, f: &mut fmt::Formatter<'_>, who: &str) -> fmt::Result {
        match self {
            Self::Iterations(max) => write!(f, "all {max} iterations of {who} are used"),
            Self::Tokens(max) => write!(f, "{who} has used its {max} tokens"),
            Self::Usd(max) => write!(f, "{who} has cost its {max} US dollars"),
            Self::Wall(max) => write!(f, "{who} has taken its {} s", max.as_secs()),
            Self::Tree(limit) => limit.describe(f, "the tree of agents"),
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f, "the turn")
    }
}

/// The budget of a turn. One iteration is consumed per model call with its tool results; retries
/// inside one are free.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnBudget {
    max: u32,
    used: u32,
    limits: BudgetLimits,
}

impl TurnBudget {
    /// A fresh budget of `max` iterations within `limits`.
    pub fn new(max: u32, limits: BudgetLimits) -> Self {
        Self { max, used: 0, limits }
    }

    /// Takes one iteration.
    ///
    /// # Errors
    /// None is left, or another limit is reached; nothing is taken then.
    pub fn consume(&mut self, spent: &Spent) -> Result<(), Reached> {
        if self.used >= self.max {
            return Err(Reached::Iterations(self.max));
        }
        let BudgetLimits { tokens, usd, wall } = self.limits;
        if let Some(max) = tokens.filter(|&max| spent.usage.total() >= max) {
            return Err(Reached::Tokens(max));
        }
        if let Some(max) = usd.filter(|&max| spent.cost.is_some_and(|cost| cost.usd >= max)) {
            return Err(Reached::Usd(max));
        }
        if let Some(max) = wall.filter(|&max| spent.wall >= max) {
            return Err(Reached::Wall(max));
        }
        self.used += 1;
        Ok(())
    }

    /// The part of the scarcest limit that is spent, in percent.
    pub fn percent(&self, spent: &Spent) -> u64 {
        let iterations = percent(self.used.into(), self.max.into());
        let BudgetLimits { tokens, usd, wall } = self.limits;
        let tokens = tokens.map(|max| percent(spent.usage.total(), max));
        let wall = wall.map(|max| percent(millis(spent.wall), millis(max)));
        let usd = usd.zip(spent.cost).map(|(max, cost)| percent(cents(cost.usd), cents(max)));
        [tokens, wall, usd].into_iter().flatten().fold(iterations, u64::max)
    }

    /// Gives one back: the iteration did no work for the user.
    pub fn refund(&mut self) {
        self.used = self.used.saturating_sub(1);
    }

    /// Iterations used.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// Iterations there are.
    pub fn max(&self) -> u32 {
        self.max
    }

    /// Iterations left.
    pub fn remaining(&self) -> u32 {
        self.max - self.used
    }
}

/// A budget over a parent agent and all its children, beside the one each turn has. Shared by
/// reference; what one of them spends is gone for all.
#[derive(Debug)]
pub struct TreeBudget(Mutex<Tree>);

#[derive(Debug)]
struct Tree {
    budget: TurnBudget,
    usage: Usage,
    cost: Option<Cost>,
    began: Instant,
}

impl TreeBudget {
    /// A fresh budget of `max` iterations within `limits`, whose time begins now.
    pub fn new(max: u32, limits: BudgetLimits) -> Arc<Self> {
        let (budget, began) = (TurnBudget::new(max, limits), Instant::now());
        let tree = Tree { budget, usage: Usage::default(), cost: None, began };
        Arc::new(Self(Mutex::new(tree)))
    }

    /// Takes one iteration.
    ///
    /// # Errors
    /// None is left, or another limit is reached; nothing is taken then.
    pub fn consume(&self) -> Result<(), Reached> {
        let mut tree = self.tree();
        let spent = Spent { usage: tree.usage, cost: tree.cost, wall: tree.began.elapsed() };
        tree.budget.consume(&spent).map_err(|reached| Reached::Tree(Box::new(reached)))
    }

    /// Counts what one of the agents has spent.
    pub fn spend(&self, usage: Usage, cost: Option<Cost>) {
        let mut tree = self.tree();
        tree.usage += usage;
        if let Some(cost) = cost {
            *tree.cost.get_or_insert(Cost { usd: 0.0, estimated: false }) += cost;
        }
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Hundredths of a cent, which is fine enough to compare.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float as an integer saturates, and nothing is negative here"
)]
fn cents(usd: f64) -> u64 {
    (usd * 10_000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Spent = Spent {
        usage: Usage {
            input: 0,
            output: 0,
            cached: 0,
            cache_write: 0,
            reasoning: 0,
            estimated: false,
        },
        cost: None,
        wall: Duration::ZERO,
    };

    #[test]
    fn consumes_refunds_and_ends() {
        let mut budget = TurnBudget::new(2, BudgetLimits::default());
        budget.refund();
        assert_eq!(budget.remaining(), 2, "a refund never exceeds the maximum");
        assert_eq!([budget.consume(&NOTHING), budget.consume(&NOTHING)], [Ok(()), Ok(())]);
        assert_eq!(budget.consume(&NOTHING), Err(Reached::Iterations(2)));
        budget.refund();
        assert_eq!((budget.used(), budget.remaining()), (1, 1));
        assert_eq!(budget.consume(&NOTHING), Ok(()));
    }

    #[test]
    fn whatever_is_spent_first_ends_it() {
        let limits = BudgetLimits {
            tokens: Some(1000),
            usd: Some(0.5),
            wall: Some(Duration::from_secs(60)),
        };
        let mut budget = TurnBudget::new(9, limits);
        assert_eq!(budget.consume(&NOTHING), Ok(()));
        let usage = Usage { input: 600, cached: 300, output: 100, ..Usage::default() };
        let over = budget.consume(&Spent { usage, ..NOTHING });
        assert_eq!(over, Err(Reached::Tokens(1000)));
        let cost = Some(Cost { usd: 0.5, estimated: true });
        assert_eq!(budget.consume(&Spent { cost, ..NOTHING }), Err(Reached::Usd(0.5)));
        let late = Spent { wall: Duration::from_secs(61), ..NOTHING };
        assert_eq!(
            budget.consume(&late).map_err(|reached| reached.to_string()),
            Err("the turn has taken its 60 s".into())
        );
        assert_eq!(budget.used(), 1, "a refusal takes nothing");
        assert_eq!(budget.percent(&NOTHING), 11, "one iteration of nine");
        assert_eq!(budget.percent(&Spent { usage, ..NOTHING }), 100);
        let cost = Some(Cost { usd: 0.45, estimated: true });
        assert_eq!(budget.percent(&Spent { cost, ..NOTHING }), 90);
        assert_eq!(budget.percent(&late), 101);
    }
}
