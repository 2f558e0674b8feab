//! Groups of rows and what is computed for each, exactly.

use std::collections::{HashMap, HashSet};

use hermes_plugin_sdk::prelude::*;
use num_traits::Zero;

use super::cell::{Cell, Order};
use super::table::{Record, Table};
use crate::exact::Number;

/// What to compute.
#[arguments]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Function {
    /// Rows; with a `column`, its cells that are not empty.
    Count,
    /// Of the numbers in the column.
    Sum,
    /// Sum divided by the count of cells that are not empty.
    Mean,
    /// The least: of numbers by size, else of texts.
    Min,
    /// The greatest.
    Max,
    /// How many different values there are, empty cells aside.
    Distinct,
}

/// Something to compute for each group.
#[arguments]
#[derive(Debug)]
pub(crate) struct Aggregate {
    /// What to compute.
    function: Function,
    /// The column to compute it of; only `count` can do without.
    column: Option<String>,
    /// The result's name. Default: such as `sum_price`.
    name: Option<String>,
}

impl Function {
    fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Distinct => "distinct",
        }
    }
}

/// The aggregate with its column looked up.
struct Plan<'a> {
    function: Function,
    column: Option<(usize, &'a str)>,
}

/// One row a group, in the order in which the groups first appear. Without aggregates each group is
/// counted.
pub(super) fn group(
    table: &Table,
    by: &[String],
    aggregates: &[Aggregate],
) -> Result<Table, Failure> {
    let keys: Vec<usize> =
        by.iter().map(|name| table.column(name, "group_by")).collect::<Result<_, _>>()?;
    let count = [Aggregate { function: Function::Count, column: None, name: None }];
    let aggregates = if aggregates.is_empty() { &count } else { aggregates };
    let plans: Vec<Plan<'_>> =
        aggregates.iter().map(|aggregate| plan(table, aggregate)).collect::<Result<_, _>>()?;
    let columns = names(table, &keys, aggregates, &plans)?;
    let mut records = Vec::new();
    for (row, members) in groups(table, &keys).into_iter().enumerate() {
        let of_group = |&key: &usize| members.first().and_then(|first| first.cells.get(key));
        let mut cells: Vec<Cell> =
            keys.iter().map(|key| of_group(key).cloned().unwrap_or_default()).collect();
        for plan in &plans {
            cells.push(compute(plan, &members)?);
        }
        records.push(Record { row: row + 1, line: 0, cells });
    }
    Ok(Table { columns, records })
}

fn plan<'a>(table: &Table, aggregate: &'a Aggregate) -> Result<Plan<'a>, Failure> {
    let column = match &aggregate.column {
        Some(name) => Some((table.column(name, "aggregates")?, name.as_str())),
        None if aggregate.function == Function::Count => None,
        None => {
            return Err(Failure::invalid_arguments(format!(
                "the aggregate `{}` needs a `column`",
                aggregate.function.word()
            )));
        }
    };
    Ok(Plan { function: aggregate.function, column })
}

/// The names of the result's columns, which must differ.
fn names(
    table: &Table,
    keys: &[usize],
    aggregates: &[Aggregate],
    plans: &[Plan<'_>],
) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> =
        keys.iter().filter_map(|&key| table.columns.get(key).cloned()).collect();
    for (aggregate, plan) in aggregates.iter().zip(plans) {
        let usual = match plan.column {
            Some((_, column)) => format!("{}_{column}", plan.function.word()),
            None => plan.function.word().to_owned(),
        };
        names.push(aggregate.name.clone().unwrap_or(usual));
    }
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => Err(Failure::invalid_arguments(format!(
            "two columns of the result would be called `{twice}`; give the aggregate a `name`"
        ))),
        None => Ok(names),
    }
}

/// The rows of each group. Numbers that are equal belong together, however they were written.
fn groups<'t>(table: &'t Table, keys: &[usize]) -> Vec<Vec<&'t Record>> {
    if keys.is_empty() {
        return vec![table.records.iter().collect()];
    }
    let mut places: HashMap<Vec<Order>, usize> = HashMap::new();
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for record in &table.records {
        let key: Vec<Order> =
            keys.iter().filter_map(|&key| record.cells.get(key)).map(Cell::order).collect();
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

fn compute(plan: &Plan<'_>, members: &[&Record]) -> Result<Cell, Failure> {
    let Some((column, name)) = plan.column else {
        return Ok(Cell::Number(members.len().to_string()));
    };
    let filled = || {
        let cells = members.iter().filter_map(|record| Some((*record, record.cells.get(column)?)));
        cells.filter(|(_, cell)| !cell.text().is_empty())
    };
    let count = filled().count();
    Ok(match plan.function {
        Function::Count => Cell::Number(count.to_string()),
        Function::Distinct => {
            let different: HashSet<Order> = filled().map(|(_, cell)| cell.order()).collect();
            Cell::Number(different.len().to_string())
        }
        Function::Min => filled()
            .map(|(_, cell)| cell)
            .min_by_key(|cell| cell.order())
            .cloned()
            .unwrap_or_default(),
        Function::Max => filled()
            .map(|(_, cell)| cell)
            .max_by_key(|cell| cell.order())
            .cloned()
            .unwrap_or_default(),
        Function::Sum => Cell::number(&sum(filled(), name, plan.function)?),
        Function::Mean if count == 0 => Cell::Empty,
        Function::Mean => {
            let count = Number::from_integer(count.into());
            Cell::number(&(sum(filled(), name, plan.function)? / count))
        }
    })
}

fn sum<'a>(
    cells: impl Iterator<Item = (&'a Record, &'a Cell)>,
    column: &str,
    function: Function,
) -> Result<Number, Failure> {
    let mut total = Number::zero();
    for (record, cell) in cells {
        let Some(value) = cell.value() else {
            let shown: String = cell.text().chars().take(40).collect();
            let (row, line) = (record.row, record.line);
            return Err(Failure::invalid_arguments(format!(
                "{} of `{column}`: row {row} (line {line}) has `{shown}`, which is not a number; \
                 leave such rows out with `where`",
                function.word()
            ))
            .with("row", row)
            .with("line", line)
            .with("column", column));
        };
        total += value;
    }
    Ok(total)
}
