//! Two turns never run in one session at once, and none is locked out by a dead one.

use std::time::Duration;

use hermes_core::store::StoreError;

use super::*;

async fn refusal(store: &SqliteStore, session: &str) -> String {
    match store.begin_turn(session).await {
        Err(StoreError::InUse(text)) => text.replace(session, "SESSION"),
        other => panic!("{other:?}"),
    }
}

/// Puts a lease there as another process would leave it.
fn left_behind(home: &Home, change: impl Fn(&str) -> String) {
    let [holder] = &home.rows("SELECT holder FROM turn_lease")[..] else { panic!("one lease") };
    let conn = home.sql();
    conn.execute("UPDATE turn_lease SET holder = ?1", [change(holder)]).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_has_one_turn_at_a_time() {
    let home = Home::new();
    let (store, other) = (home.open(), home.open());
    let (session, free) = (new_session(&store).await, new_session(&store).await);
    let lease = store.begin_turn(&session).await.unwrap();
    assert_eq!(
        refusal(&other, &session).await,
        "a turn is running in session SESSION, in this very process. Wait for it to end or stop \
         it, or go on without --resume and --continue in a new session (a lease whose process is \
         gone ends by itself within 30 s)"
    );
    drop(other.begin_turn(&free).await.unwrap());
    let error = other.delete_session(&session).await.unwrap_err();
    assert!(matches!(error, StoreError::InUse(_)), "{error}");
    drop(lease);
    drop(other.begin_turn(&session).await.unwrap());
    assert_eq!(home.rows("SELECT * FROM turn_lease"), [""; 0]);
    let error = store.begin_turn("x").await.unwrap_err();
    assert_eq!(error, StoreError::NoSession("x".into()));
}

#[tokio::test(start_paused = true)]
async fn a_lease_lasts_while_it_is_renewed_and_then_runs_out() {
    let home = Home::new();
    let (store, other) = (home.open(), home.open());
    let session = new_session(&store).await;
    let lease = store.begin_turn(&session).await.unwrap();
    for _ in 0..5 {
        home.pass(20_000);
        tokio::time::sleep(Duration::from_secs(11)).await;
        refusal(&other, &session).await;
    }
    left_behind(&home, |_| "4000000 elsewhere/pid:[1]/1 x".into());
    home.pass(29_999);
    refusal(&other, &session).await;
    home.pass(1);
    let taken = other.begin_turn(&session).await.unwrap();
    // What the first one gives back is not what the second one has.
    drop(lease);
    assert_eq!(home.rows("SELECT count(*) FROM turn_lease"), ["1"]);
    drop(taken);
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn the_lease_of_a_dead_process_is_taken_at_once() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let lease = store.begin_turn(&session).await.unwrap();
    // The number is in use again by a process that began at another time.
    left_behind(&home, |holder| {
        let (pid, rest) = holder.split_once(' ').unwrap();
        let (place, unique) = rest.rsplit_once('/').unwrap();
        format!("{pid} {place}/1 {}", unique.split_once(' ').unwrap().1)
    });
    drop(store.begin_turn(&session).await.unwrap());

    // One that is alive keeps it, even after the machine has slept.
    let asleep = store.begin_turn(&session).await.unwrap();
    home.pass(3_600_000);
    refusal(&store, &session).await;
    drop(asleep);

    // A process of another machine cannot be seen: only time tells.
    let second = store.begin_turn(&session).await.unwrap();
    left_behind(&home, |_| "4000000 elsewhere/pid:[1]/1 x".into());
    assert!(refusal(&store, &session).await.contains("in process 4000000. Wait"));
    drop((lease, second));
}
