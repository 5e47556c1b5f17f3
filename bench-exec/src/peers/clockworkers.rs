//! clockworker over a current-thread runtime of Tokio, with the queues and weights of its own priority benchmark.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use clockworker::{Executor, ExecutorBuilder, yield_maybe};
use tokio::task::LocalSet;

use crate::env::{Class, Env, Scene};
use crate::machine::{OWN, pin};

#[derive(Clone)]
struct Clockworker(Rc<Executor<u8>>);

fn queue(class: Class) -> u8 {
    u8::from(class == Class::Rest)
}

impl Env for Clockworker {
    async fn pause(&self) {
        yield_maybe().await;
    }

    async fn sleep_until(&self, at: Instant) {
        tokio::time::sleep_until(at.into()).await;
    }

    async fn spawn(&self, class: Class, task: impl Future<Output = ()> + 'static) {
        let Ok(queue) = self.0.queue(queue(class)) else { unreachable!("there are both") };
        drop(queue.spawn(task));
    }
}

async fn run_all<S: Scene>(scene: Arc<S>) {
    let executor = ExecutorBuilder::new().with_queue(0_u8, 99).with_queue(1, 1).build().expect("two queues");
    let env = Clockworker(Rc::clone(&executor));
    executor
        .run_until(async move {
            let mut tasks = Vec::new();
            for (class, job) in scene.jobs(false) {
                let Ok(queue) = env.0.queue(queue(class)) else { unreachable!("there are both") };
                tasks.push(queue.spawn(Arc::clone(&scene).perform(env.clone(), job)));
            }
            for task in tasks {
                let Ok(()) = task.await else { unreachable!("nobody aborts it") };
            }
        })
        .await;
}

pub fn run<S: Scene>(scene: &Arc<S>) {
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(OWN);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("the system has what it takes");
            LocalSet::new().block_on(&runtime, run_all(Arc::clone(scene)));
        });
    });
}
