//! What a turn may spend.

/// Model calls a turn may make. One is consumed per iteration; retries inside one are free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationBudget {
    max: u32,
    used: u32,
}

impl IterationBudget {
    /// A fresh budget of `max` iterations.
    pub fn new(max: u32) -> Self {
        Self { max, used: 0 }
    }

    /// Takes one; `false` if none is left.
    pub fn consume(&mut self) -> bool {
        let left = self.remaining() > 0;
        self.used += u32::from(left);
        left
    }

    /// Gives one back: the iteration did no work for the user.
    pub fn refund(&mut self) {
        self.used = self.used.saturating_sub(1);
    }

    /// Iterations used.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// Iterations left.
    pub fn remaining(&self) -> u32 {
        self.max - self.used
    }

    /// Iterations in all.
    pub fn max(&self) -> u32 {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumes_refunds_and_ends() {
        let mut budget = IterationBudget::new(2);
        budget.refund();
        assert_eq!(budget.remaining(), 2, "a refund never exceeds the maximum");
        assert!(budget.consume() && budget.consume() && !budget.consume());
        budget.refund();
        assert_eq!((budget.used(), budget.remaining()), (1, 1));
        assert!(budget.consume());
    }
}
