//! Glommio: two task queues with shares, of which one says that latency matters.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glommio::{
    Latency, LocalExecutorBuilder, Placement, Shares, TaskQueueHandle, executor, spawn_local_into,
    timer::sleep, yield_if_needed,
};

use crate::env::{Class, Env, Scene};
use crate::machine::OWN;

#[derive(Clone, Copy)]
struct Glommio {
    hurried: TaskQueueHandle,
    rest: TaskQueueHandle,
}

impl Glommio {
    fn new() -> Self {
        let matters = Latency::Matters(Duration::from_millis(1));
        Self {
            hurried: executor().create_task_queue(Shares::Static(990), matters, "hurried"),
            rest: executor().create_task_queue(Shares::Static(10), Latency::NotImportant, "rest"),
        }
    }

    fn queue(self, class: Class) -> TaskQueueHandle {
        if class == Class::Rest { self.rest } else { self.hurried }
    }
}

impl Env for Glommio {
    async fn pause(&self) {
        yield_if_needed().await;
    }

    async fn sleep_until(&self, at: Instant) {
        sleep(at.saturating_duration_since(Instant::now())).await;
    }

    async fn spawn(&self, class: Class, task: impl Future<Output = ()> + 'static) {
        spawn_local_into(task, self.queue(class)).expect("the queue is there").detach();
    }
}

fn builder() -> LocalExecutorBuilder {
    LocalExecutorBuilder::new(Placement::Fixed(OWN))
}

/// # Errors
/// Why it does not run here.
pub fn runs() -> Result<(), String> {
    let executor = builder().spawn(|| async {}).map_err(|error| error.to_string())?;
    executor.join().map_err(|error| error.to_string())
}

pub fn run<S: Scene>(scene: &Arc<S>) {
    let scene = Arc::clone(scene);
    let main = move || async move {
        let env = Glommio::new();
        let jobs = scene.jobs(false).into_iter();
        let task = |(class, job)| spawn_local_into(Arc::clone(&scene).perform(env, job), env.queue(class));
        let tasks: Vec<_> = jobs.map(|one| task(one).expect("the queue is there")).collect();
        for task in tasks {
            task.await;
        }
    };
    builder().spawn(main).expect("it was tried").join().expect("it comes to its end");
}
