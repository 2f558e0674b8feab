//! Between Rust's unsigned numbers and SQLite's one integer, which is signed and of 64 bits.
//!
//! What does not fit is clamped: these are counts, sizes and times, and a wrong extreme is better
//! than a lost row.

/// For a column.
pub(crate) fn to_sql(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// For a column, from a length.
pub(crate) fn len_to_sql(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// From a column.
pub(crate) fn from_sql(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// From a column that holds a small count.
pub(crate) fn small_from_sql(n: i64) -> u32 {
    u32::try_from(n.max(0)).unwrap_or(u32::MAX)
}
