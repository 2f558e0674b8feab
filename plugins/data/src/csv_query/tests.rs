#![allow(clippy::unwrap_used)]

use hermes_plugin_sdk::{Tool, serde_json};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const SALES: &str = "date,shop,product,amount,paid\n\
    2024-01-05,A,pen,0.10,true\n\
    2024-01-07,A,ink,0.20,false\n\
    2024-02-01,B,\"paper, white\",5.00,true\n\
    2024-02-09,A,pen,,true\n";

/// The whole answer, or the failure.
fn ask(arguments: &Value) -> String {
    match <csv_query as Tool>::call(&arguments.to_string(), &CallInfo::default()) {
        Ok(parts) => parts.iter().filter_map(Part::as_text).collect(),
        Err(failure) => failure.to_string(),
    }
}

/// The rows alone, of a query on [`SALES`].
fn rows(query: Value) -> String {
    let mut arguments = json!({"csv": SALES});
    let (Value::Object(all), Value::Object(query)) = (&mut arguments, query) else { panic!() };
    all.extend(query);
    let answer = ask(&arguments);
    match answer.find("\"rows\":").zip(answer.rfind(",\"total_rows\"")) {
        Some((from, to)) => answer[from + 7..to].to_owned(),
        None => answer,
    }
}

#[test]
fn answers_columns_rows_and_how_many_there_are() {
    assert_eq!(
        ask(&json!({"csv": SALES, "limit": 1})),
        concat!(
            r#"{"columns":["date","shop","product","amount","paid"],"rows":[{"date":"2024-01-05","#,
            r#""shop":"A","product":"pen","amount":0.10,"paid":true}],"total_rows":4,"#,
            r#""note":"there are more rows; go on at offset 1"}"#
        )
    );
    assert_eq!(
        rows(json!({"select": ["AMOUNT", "product"], "offset": 2})),
        r#"[{"amount":5.00,"product":"paper, white"},{"amount":null,"product":"pen"}]"#
    );
    assert_eq!(
        rows(json!({"select": ["amount", "paid"], "as_text": true, "offset": 3})),
        r#"[{"amount":"","paid":"true"}]"#
    );
}

#[test]
fn conditions_compare_numbers_by_size_and_dates_by_time() {
    let cases = [
        (json!({"column": "amount", "op": ">", "value": 0.1}), r#"["ink","paper, white"]"#),
        (json!({"column": "amount", "op": "<=", "value": "0.1"}), r#"["pen"]"#),
        (json!({"column": "amount", "value": 5}), r#"["paper, white"]"#),
        (json!({"column": "amount", "op": "empty"}), r#"["pen"]"#),
        (json!({"column": "amount", "op": "!=", "value": 5}), r#"["pen","ink","pen"]"#),
        (json!({"column": "date", "op": ">=", "value": "2024-02"}), r#"["paper, white","pen"]"#),
        (json!({"column": "paid", "value": false}), r#"["ink"]"#),
        (json!({"column": "shop", "op": "in", "value": ["B", "C"]}), r#"["paper, white"]"#),
        (json!({"column": "product", "op": "contains", "value": "P"}), "[]"),
        (
            json!({"column": "product", "op": "starts_with", "value": "P", "ignore_case": true}),
            r#"["pen","paper, white","pen"]"#,
        ),
        (json!({"column": "product", "op": "ends_with", "value": "k"}), r#"["ink"]"#),
    ];
    for (condition, products) in cases {
        let rows = rows(json!({"where": [condition], "select": ["product"]}));
        let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
        let found: Value = rows.iter().map(|row| row["product"].clone()).collect();
        assert_eq!(found.to_string(), products, "{condition}");
    }
}

#[test]
fn sums_and_means_are_exact() {
    let aggregate = |function: &str| json!({"function": function, "column": "amount"});
    assert_eq!(
        rows(json!({
            "group_by": ["shop"],
            "aggregates": [
                {"function": "count"}, aggregate("count"), aggregate("sum"), aggregate("mean"),
                aggregate("min"), aggregate("max"),
                {"function": "distinct", "column": "product", "name": "products"}
            ]
        })),
        concat!(
            r#"[{"shop":"A","count":3,"count_amount":2,"sum_amount":0.3,"mean_amount":0.15,"#,
            r#""min_amount":0.10,"max_amount":0.20,"products":2},"#,
            r#"{"shop":"B","count":1,"count_amount":1,"sum_amount":5,"mean_amount":5,"#,
            r#""min_amount":5.00,"max_amount":5.00,"products":1}]"#
        )
    );
    assert_eq!(
        ask(&json!({
            "csv": "n\n9007199254740993\n1\n",
            "aggregates": [{"function": "sum", "column": "n"}, {"function": "mean", "column": "n"}]
        })),
        concat!(
            r#"{"columns":["sum_n","mean_n"],"rows":[{"sum_n":9007199254740994,"#,
            r#""mean_n":4503599627370497}],"total_rows":1}"#
        )
    );
    assert_eq!(
        rows(json!({"group_by": ["paid"]})),
        r#"[{"paid":true,"count":3},{"paid":false,"count":1}]"#
    );
}

#[test]
fn sorts_by_several_columns_with_empty_cells_last() {
    let products = |sort: Value| rows(json!({"select": ["product", "amount"], "sort": sort}));
    assert_eq!(
        products(json!([{"by": "product", "descending": true}, {"by": "amount"}])),
        concat!(
            r#"[{"product":"pen","amount":0.10},{"product":"pen","amount":null},"#,
            r#"{"product":"paper, white","amount":5.00},{"product":"ink","amount":0.20}]"#
        )
    );
    assert_eq!(
        rows(json!({"select": ["amount"], "sort": [{"by": "amount", "descending": true}]})),
        r#"[{"amount":5.00},{"amount":0.20},{"amount":0.10},{"amount":null}]"#
    );
    assert_eq!(
        rows(json!({"group_by": ["shop"], "sort": [{"by": "count"}], "limit": 1})),
        r#"[{"shop":"B","count":1}]"#
    );
}

#[test]
fn finds_the_dialect_out() {
    let first = |csv: &str, more: Value| {
        let mut arguments = json!({"csv": csv});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&arguments)
    };
    assert_eq!(
        first("\u{feff}a;b\n1.234,50;\"x;y\"\n", json!({"decimal_comma": true})),
        r#"{"columns":["a","b"],"rows":[{"a":1234.50,"b":"x;y"}],"total_rows":1}"#
    );
    assert_eq!(
        first("a\tb\n1\t2,3\n", json!({})),
        r#"{"columns":["a","b"],"rows":[{"a":1,"b":"2,3"}],"total_rows":1}"#
    );
    assert_eq!(
        first("1|2\n", json!({"header": false})),
        r#"{"columns":["1","2"],"rows":[{"1":1,"2":2}],"total_rows":1}"#
    );
    assert_eq!(
        first("a,a,\n007,1e5,+1\n", json!({})),
        r#"{"columns":["a","a_2","3"],"rows":[{"a":"007","a_2":"1e5","3":"+1"}],"total_rows":1}"#
    );
    assert_eq!(first("a\n1\n", json!({})), r#"{"columns":["a"],"rows":[{"a":1}],"total_rows":1}"#);
    assert_eq!(
        first("a,b\n1\n2,3,4\n", json!({"allow_ragged": true})),
        r#"{"columns":["a","b"],"rows":[{"a":1,"b":null},{"a":2,"b":3}],"total_rows":2}"#
    );
}

#[test]
fn faults_name_row_and_column() {
    let cases = [
        (json!({"csv": ""}), "`csv` is empty"),
        (
            json!({"csv": "a,b\n\"1\n2\",3\n4\n"}),
            "row 2 (line 4) has 1 fields where the header has 2; check `delimiter` and quotes, or \
             set `allow_ragged`",
        ),
        (
            json!({"csv": SALES, "select": ["shops"]}),
            "`select` names the column `shops`, but there are only: date, shop, product, amount, paid",
        ),
        (
            json!({"csv": SALES, "aggregates": [{"function": "sum", "column": "product"}]}),
            "sum of `product`: row 1 (line 2) has `pen`, which is not a number; leave such rows out \
             with `where`",
        ),
        (
            json!({"csv": SALES, "aggregates": [{"function": "sum"}]}),
            "the aggregate `sum` needs a `column`",
        ),
        (
            json!({"csv": SALES, "where": [{"column": "shop"}]}),
            "the condition on `shop` needs a `value`",
        ),
        (
            json!({"csv": SALES, "where": [{"column": "shop", "value": ["A"]}]}),
            "the condition on `shop` takes one value; a list goes with `\"op\": \"in\"`",
        ),
        (
            json!({"csv": SALES, "group_by": ["shop"], "select": ["shop"]}),
            "`select` does not go together with `group_by` or `aggregates`, which say what is \
             returned; leave it out",
        ),
        (
            json!({"csv": SALES, "aggregates": [{"function": "count"}, {"function": "count"}]}),
            "two columns of the result would be called `count`; give the aggregate a `name`",
        ),
    ];
    for (arguments, message) in cases {
        assert_eq!(ask(&arguments), format!("invalid-arguments: {message}"));
    }
}

#[test]
fn the_answer_is_bounded() {
    let csv = format!("text\n{}", format!("{}\n", "x".repeat(10_000)).repeat(100));
    let answer: Value = serde_json::from_str(&ask(&json!({"csv": csv}))).unwrap();
    assert_eq!(answer["rows"].as_array().unwrap().len(), 26);
    assert_eq!(
        answer["note"],
        "stopped at 262144 bytes; select fewer columns, or go on at offset 26"
    );
    assert_eq!(
        ask(&json!({"csv": "x".repeat(5 << 20)})),
        "too-large: `csv` has 5242880 bytes, more than 4194304; pass a part of it"
    );
    assert_eq!(
        ask(&json!({"csv": ",".repeat(3_000)})),
        "too-large: `csv` has more than 2000 columns"
    );
}

proptest! {
    #[test]
    fn any_text_is_answered(csv in "[a-c0-9,;\t|\"\n\r .-]{0,80}", ragged in any::<bool>()) {
        let arguments = json!({
            "csv": csv, "allow_ragged": ragged,
            "sort": [{"by": "a", "descending": true}],
            "where": [{"column": "a", "op": "<", "value": 5}]
        });
        ask(&arguments);
        ask(&json!({"csv": csv, "allow_ragged": true, "decimal_comma": ragged, "header": false,
            "group_by": ["1"], "aggregates": [{"function": "max", "column": "1"}]}));
    }

    #[test]
    fn any_characters_are_answered(csv in ".{0,80}", column in ".{0,5}") {
        ask(&json!({"csv": csv, "select": [column]}));
    }

    /// Sums of cents are what adding whole numbers gives.
    #[test]
    fn sums_lose_nothing(cents in prop::collection::vec(-100_000_i64..100_000, 1..30)) {
        let field = |cents: &i64| {
            let sign = if *cents < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}\n", cents.abs() / 100, cents.abs() % 100)
        };
        let csv: String = std::iter::once("n\n".to_owned()).chain(cents.iter().map(field)).collect();
        let answer = ask(&json!({"csv": csv, "aggregates": [{"function": "sum", "column": "n"}]}));
        let sum: i64 = cents.iter().sum();
        let exact = crate::exact::Number::new(sum.into(), 100.into());
        let text = crate::exact::show(&exact, 20).text;
        prop_assert!(answer.contains(&format!("{{\"sum_n\":{text}}}")), "{answer} {text}");
    }
}
