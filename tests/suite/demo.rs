//! `hermes-host demo`, as the README has it.

use crate::host::{Host, shipped};

#[test]
fn the_demo_tells_the_whole_story() {
    shipped();
    let host = Host::new();
    let plugins = shipped();
    let output = host.run(&["demo", "--plugins", plugins.to_str().unwrap()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let (answer, stored) = output.stdout.split_once("\nThe session as stored (").unwrap();
    assert_eq!(
        answer,
        "Four orders, 63.30 in all; Ada ordered twice. The notes are marked as checked and the total is in \
         total.txt. I could not write .env: the guard policy does not allow it. The key in the notes never reached me: it \
         was masked on the way.\n"
    );
    for line in [
        "result    calculate: {\"result\":\"63.3\",\"exact\":true}",
        "result    edit_file: edited notes.txt at line 3",
        "result    write_file: created total.txt: 6 bytes, 1 lines",
        "result    write_file: error [denied]: denied by policy guard: credential files",
        "sk-l[masked]Mf",
    ] {
        assert!(stored.contains(line), "{line} in {stored}");
    }
    assert!(!output.stdout.contains("51Hq8ZtVbN3xYwKp0Lr7Tg2"), "the key is nowhere");
}
