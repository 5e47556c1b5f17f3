//! A thread a task, which the system interrupts: nobody gives way of its own accord.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

use crate::env::{Class, Env, Scene};
use crate::machine::{OWN, Rank, rank};
use crate::mailbox::Mailbox;

#[derive(Clone, Copy)]
struct Threads;

impl Env for Threads {
    async fn pause(&self) {}

    async fn sleep_until(&self, at: Instant) {
        thread::sleep(at.saturating_duration_since(Instant::now()));
    }

    async fn spawn(&self, _: Class, task: impl Future<Output = ()> + 'static) {
        task.await;
    }

    async fn receive<T>(&self, mailbox: &Mailbox<T>) -> Option<T> {
        mailbox.receive_blocking()
    }
}

/// Where everything blocks, a future is ready when it is polled.
fn run_one(task: impl Future<Output = ()>) {
    let polled = pin!(task).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(()), "it blocks");
}

pub fn run<S: Scene>(scene: &Arc<S>, hurried: Rank, rest: Rank) {
    thread::scope(|scope| {
        for (class, job) in scene.jobs(true) {
            scope.spawn(move || {
                crate::machine::pin(OWN);
                rank(if class == Class::Rest { rest } else { hurried }).expect("it was tried");
                run_one(Arc::clone(scene).perform(Threads, job));
            });
        }
    });
}
