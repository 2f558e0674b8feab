//! The pure part: where replacements go.

use super::*;

fn live(messages: &[(i64, &str)]) -> Vec<Live> {
    (1..)
        .zip(messages)
        .map(|(key, &(position, id))| Live { key, position, id: id.into() })
        .collect()
}

fn planned(messages: &[(i64, &str)], archived: &[&str], replacements: usize) -> Plan {
    let archived: Vec<String> = archived.iter().map(|&id| id.into()).collect();
    plan(&live(messages), &archived, replacements).expect("a plan")
}

#[test]
fn replacements_take_the_place_of_what_they_replace() {
    let messages = [(0, "a"), (1, "b"), (2, "c"), (3, "d")];
    assert_eq!(
        planned(&messages, &["c", "b"], 2),
        Plan { hidden: vec![2, 3], place: 1, shift: None }
    );
    assert_eq!(
        planned(&messages, &["a", "d"], 1),
        Plan { hidden: vec![1, 4], place: 0, shift: None }
    );
    assert_eq!(planned(&messages, &["d"], 5), Plan { hidden: vec![4], place: 3, shift: None });
}

#[test]
fn what_follows_moves_when_replacements_need_more_room() {
    let messages = [(0, "a"), (4, "b"), (6, "c"), (7, "d")];
    assert_eq!(
        planned(&messages, &["b"], 5),
        Plan { hidden: vec![2], place: 4, shift: Some((6, 3)) }
    );
    assert_eq!(planned(&messages, &["b"], 2), Plan { hidden: vec![2], place: 4, shift: None });
    assert_eq!(
        planned(&messages, &["b", "d"], 3),
        Plan { hidden: vec![2, 4], place: 4, shift: Some((6, 1)) }
    );
}
