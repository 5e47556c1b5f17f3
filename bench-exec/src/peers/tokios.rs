//! Tokio: one current-thread runtime, or two on two threads of the same processor, one of which has what is in no hurry.

use std::future::Future;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tokio::task::{LocalSet, spawn_local, yield_now};

use crate::env::{Class, Env, Scene};
use crate::machine::{OWN, Rank, pin, rank};

#[derive(Clone, Copy)]
struct Tokio;

impl Env for Tokio {
    async fn pause(&self) {
        yield_now().await;
    }

    async fn sleep_until(&self, at: Instant) {
        tokio::time::sleep_until(at.into()).await;
    }

    async fn spawn(&self, _: Class, task: impl Future<Output = ()> + 'static) {
        drop(spawn_local(task));
    }
}

fn run_some<S: Scene>(scene: &Arc<S>, jobs: Vec<S::Job>, tuned: bool) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    if tuned {
        builder.event_interval(1).global_queue_interval(1);
    }
    let runtime = builder.enable_all().build().expect("the system has what it takes");
    LocalSet::new().block_on(&runtime, async {
        let task = |job| spawn_local(Arc::clone(scene).perform(Tokio, job));
        let tasks: Vec<_> = jobs.into_iter().map(task).collect();
        for task in tasks {
            task.await.expect("it comes to its end");
        }
    });
}

pub fn run<S: Scene>(scene: &Arc<S>, tuned: bool) {
    let jobs = scene.jobs(false).into_iter().map(|(_, job)| job).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(OWN);
            run_some(scene, jobs, tuned);
        });
    });
}

pub fn run_two<S: Scene>(scene: &Arc<S>, first: Rank, second: Rank) {
    let (rest, hurried): (Vec<_>, Vec<_>) =
        scene.jobs(false).into_iter().partition(|(class, _)| *class == Class::Rest);
    thread::scope(|scope| {
        for (jobs, wanted) in [(hurried, first), (rest, second)] {
            scope.spawn(move || {
                pin(OWN);
                rank(wanted).expect("it was tried");
                run_some(scene, jobs.into_iter().map(|(_, job)| job).collect(), false);
            });
        }
    });
}
