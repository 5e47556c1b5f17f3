//! weir-exec: needs for the control task and the handler, priorities for who is in a hurry; under `epoch`, as the source
//! has it and as whoever has no needs should take it, and under `priority_rr`.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weir_exec::{Executor, Terms, preemption_point, sleep, spawn_local};

use crate::env::{Class, Env, Scene};

#[derive(Clone, Copy)]
struct Weir {
    tokio: bool,
}

fn terms(class: Class) -> Terms {
    let millis = Duration::from_millis;
    match class {
        // 20 ms of an undisturbed processor, and a tenth for what disturbs this one.
        Class::Control => Terms::named("control").need(millis(22)).priority(2),
        Class::Handler => Terms::named("handler").need(millis(5)).priority(3),
        Class::Foreground => Terms::named("foreground").priority(2),
        Class::Rest => Terms::named("rest").priority(1),
    }
}

impl Env for Weir {
    async fn pause(&self) {
        preemption_point().await;
    }

    async fn sleep_until(&self, at: Instant) {
        if self.tokio {
            tokio::time::sleep_until(at.into()).await;
        } else {
            sleep(at.saturating_duration_since(Instant::now())).await;
        }
    }

    async fn spawn(&self, class: Class, task: impl Future<Output = ()> + 'static) {
        drop(spawn_local(terms(class), task));
    }
}

pub fn run<S: Scene>(scene: &Arc<S>, discipline: &str, tokio: bool) {
    let builder = Executor::builder().discipline(discipline).reports(|_| {});
    let builder = if tokio { builder.tokio() } else { builder };
    let executor = builder.build().expect("there is a processor");
    perform(&executor, scene, tokio);
    executor.shutdown(Duration::from_secs(1));
}

/// Does all tasks of a scene, and waits for them.
pub fn perform<S: Scene>(executor: &Executor, scene: &Arc<S>, tokio: bool) {
    let tasks: Vec<_> = scene
        .jobs(false)
        .into_iter()
        .map(|(class, job)| {
            let scene = Arc::clone(scene);
            executor.handle().spawn_with(terms(class), move || scene.perform(Weir { tokio }, job))
        })
        .collect();
    for task in tasks {
        task.wait().expect("it comes to its end");
    }
}
