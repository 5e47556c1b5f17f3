//! How a task gives way, and closures that do so between their steps.

use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::signal::should_yield;

/// Gives way to others. Where the task was asked to ([`should_yield`]), it goes on as the discipline has it: at once, if
/// nobody else is to run. Otherwise it joins the tail of its queue.
pub fn yield_now() -> YieldNow {
    YieldNow { has: false }
}

/// See [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow {
    has: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.has {
            return Poll::Ready(());
        }
        self.has = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Gives way if the task was asked to; otherwise costs a load and a compare.
pub async fn preemption_point() {
    if should_yield() {
        yield_now().await;
    }
}

/// A future of a closure that does a piece of its work each time it is called, and may be asked to give way in between:
/// `Continue` while there is more to do, `Break` with the result.
pub fn steps<T>(mut step: impl FnMut() -> ControlFlow<T> + Unpin) -> impl Future<Output = T> {
    poll_fn(move |cx| {
        loop {
            if let ControlFlow::Break(result) = step() {
                return Poll::Ready(result);
            }
            if should_yield() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    })
}
