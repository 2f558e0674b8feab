//! Which calls of a reply run together. Pure: it sees only how each tool may be run.

use crate::tool::ToolTraits;

/// Calls that run one after the other or side by side; indices into the reply's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// These run side by side: each only reads and is safe beside others.
    Together(Vec<usize>),
    /// This one runs alone, after all before it and before all after it.
    Alone(usize),
}

/// Splits calls into segments, in order. `None` stands for a call that is already answered; it
/// joins whatever is around it.
pub(super) fn segments<'a>(
    calls: impl IntoIterator<Item = Option<&'a ToolTraits>>,
) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (at, traits) in calls.into_iter().enumerate() {
        let together = traits
            .is_none_or(|traits| traits.read_only && traits.parallel_safe && !traits.interactive);
        match segments.last_mut() {
            Some(Segment::Together(run)) if together => run.push(at),
            _ if together => segments.push(Segment::Together(vec![at])),
            _ => segments.push(Segment::Alone(at)),
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_run_together_and_everything_else_is_a_barrier() {
        let read = ToolTraits { read_only: true, parallel_safe: true, ..ToolTraits::default() };
        let write = ToolTraits::default();
        let exclusive_read = ToolTraits { parallel_safe: false, ..read.clone() };
        let question = ToolTraits { interactive: true, ..read.clone() };
        let got = segments([
            Some(&read),
            None,
            Some(&read),
            Some(&write),
            Some(&read),
            Some(&exclusive_read),
            Some(&question),
            Some(&read),
        ]);
        let expected = vec![
            Segment::Together(vec![0, 1, 2]),
            Segment::Alone(3),
            Segment::Together(vec![4]),
            Segment::Alone(5),
            Segment::Alone(6),
            Segment::Together(vec![7]),
        ];
        assert_eq!(got, expected);
    }
}
