//! What hooks may do beyond objecting, as words: `full` (see arguments uncut), `rewrite`
//! (change arguments), `replace` (change results).

use crate::policy::HookPowers;

/// One power.
pub(crate) fn parse(text: &str) -> Result<HookPowers, String> {
    let none = HookPowers::default();
    match text {
        "full" => Ok(HookPowers { full: true, ..none }),
        "rewrite" => Ok(HookPowers { rewrite: true, ..none }),
        "replace" => Ok(HookPowers { replace: true, ..none }),
        _ => Err("must be \"full\", \"rewrite\" or \"replace\"".into()),
    }
}

/// Powers separated by commas.
pub(crate) fn parse_list(text: &str) -> Result<HookPowers, String> {
    text.split(',').map(parse).try_fold(HookPowers::default(), |all, one| Ok(union(all, one?)))
}

/// Powers separated by commas, in one order; empty for none.
pub(crate) fn to_text(powers: HookPowers) -> String {
    let words = [
        powers.full.then_some("full"),
        powers.rewrite.then_some("rewrite"),
        powers.replace.then_some("replace"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(",")
}

/// What either has.
pub(crate) fn union(one: HookPowers, two: HookPowers) -> HookPowers {
    HookPowers {
        full: one.full || two.full,
        rewrite: one.rewrite || two.rewrite,
        replace: one.replace || two.replace,
    }
}

/// What both have.
pub(crate) fn intersection(one: HookPowers, two: HookPowers) -> HookPowers {
    HookPowers {
        full: one.full && two.full,
        rewrite: one.rewrite && two.rewrite,
        replace: one.replace && two.replace,
    }
}
