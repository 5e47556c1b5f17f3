//! Events: whatever the order of posts and waits, no value and no wake-up is lost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use weir_exec::{Event, Events, Executor, Poster, Terms, WaitError};

/// Polls once, outside of tasks.
fn once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn ready<T>(future: impl Future<Output = Result<T, WaitError>>) -> T {
    match once(future) {
        Poll::Ready(found) => found.expect("its own"),
        Poll::Pending => panic!("it was posted"),
    }
}

#[test]
fn a_post_between_a_wait_and_the_take_has_its_own_value() {
    let set = Events::new();
    let (one, other) = (set.event::<u32>(), set.event::<u32>());
    one.poster().post_with(1);
    assert_eq!(ready(set.wait_any()), one.number());
    assert!(one.poster().post_with(2), "it may be posted again");
    assert!(!one.poster().post_with(3), "once");
    assert_eq!((one.take(), one.take()), (Some(1), None), "the second stands posted");
    assert_eq!(ready(set.wait_for(&[other.number(), one.number()])), one.number());
    assert_eq!((one.take(), one.take()), (Some(2), None));
    assert_eq!((once(one.wait()), other.take()), (Poll::Pending, None));
}

#[test]
fn a_value_that_is_not_taken_gives_way_to_the_next_that_is_waited_for() {
    let set = Events::new();
    let event = set.event::<Arc<()>>();
    let values = [(); 4].map(|()| Arc::new(()));
    let post = |place: usize| assert!(event.poster().post_with(Arc::clone(&values[place])));
    post(0);
    ready(set.wait_any());
    post(1);
    ready(set.wait_any());
    post(2);
    assert_eq!(Arc::strong_count(&values[0]), 1, "it was not taken before the next was waited for");
    assert!(Arc::ptr_eq(&event.take().unwrap(), &values[1]));
    ready(set.wait_any());
    post(3);
    assert!(Arc::ptr_eq(&ready(event.wait()), &values[3]) && event.take().is_none());
    assert!(values.iter().all(|value| Arc::strong_count(value) == 1), "none is kept");
}

#[test]
fn a_value_whose_destructor_posts_is_dropped_while_nothing_is_locked() {
    struct Posts(Poster<Option<Posts>>);
    impl Drop for Posts {
        fn drop(&mut self) {
            self.0.post_with(None);
        }
    }
    let set = Events::new();
    let event = set.event();
    for _ in 0..2 {
        event.poster().post_with(Some(Posts(event.poster())));
        ready(set.wait_any());
    }
    event.poster().post_with(None);
    ready(set.wait_any());
    assert!(event.take().is_some());
}

#[test]
fn a_task_may_wait_for_several_at_once_and_whoever_is_posted_wakes_it() {
    let executor = Executor::builder().pinned(false).build().unwrap();
    let (hand_over, handed) = std::sync::mpsc::channel();
    let waits = executor.handle().spawn_with(Terms::named("waits"), move || async move {
        let set = Events::new();
        let (one, other) = (set.event::<u32>(), set.event::<u32>());
        hand_over.send((one.poster(), other.poster())).unwrap();
        let sum = async {
            let (one, other) = tokio::join!(one.wait(), other.wait());
            one.unwrap() + other.unwrap()
        };
        sum.await
    });
    let (one, other) = handed.recv().unwrap();
    // Each must wake the task by itself, once that waits for both.
    executor
        .spawn(Terms::named("settle"), weir_exec::sleep(std::time::Duration::from_millis(2)))
        .wait()
        .unwrap();
    assert!(one.post_with(1));
    executor
        .spawn(Terms::named("settle"), weir_exec::sleep(std::time::Duration::from_millis(2)))
        .wait()
        .unwrap();
    assert!(other.post_with(2));
    assert_eq!(waits.wait().unwrap(), 3);
}

#[test]
fn a_set_that_is_waited_for_while_its_events_are_posted_again_has_each_value_in_turn() {
    const POSTS: u64 = 20_000;
    let executor = Executor::builder().pinned(false).build().unwrap();
    let (hand_over, handed) = std::sync::mpsc::channel();
    let waits = executor.handle().spawn_with(Terms::named("waits"), move || async move {
        let set = Events::new();
        let events: [Event<u64>; 2] = [set.event(), set.event()];
        hand_over.send(events.each_ref().map(Event::poster)).unwrap();
        let mut next = [0; 2];
        while next != [POSTS; 2] {
            let number = set.wait_any().await.unwrap();
            let place = usize::from(number == events[1].number());
            assert_eq!(events[place].take(), Some(next[place]));
            next[place] += 1;
        }
    });
    let posters = handed.recv().unwrap();
    std::thread::scope(|scope| {
        for poster in posters {
            let waits = &waits;
            scope.spawn(move || {
                for number in 0..POSTS {
                    while !waits.is_finished() && !poster.post_with(number) {
                        std::hint::spin_loop();
                    }
                }
            });
        }
    });
    waits.wait().expect("no value is lost");
}
