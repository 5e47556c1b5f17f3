//! Events: what a task waits for, and anybody posts; one of them, any, or one of a set.
//!
//! An event is posted or not; to post it again before its owner has taken it has no effect. Its owner is the task that
//! made it, or, where it was made elsewhere, the first that waits for it. A wait takes the first match in the order of
//! the posts, and from then on the event may be posted again; the value that came with it is kept apart for its owner
//! until it waits for that event again.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, BBN Report 5285, 1983, section 2.4 |
//! | Work | of a post O(1); of a wait O(posted events of the owner × set) |
//! | Departs from the source | a second post before a wait keeps the first value; a post from another thread takes effect at once, and wakes by a message |

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::local;

/// Who owns events: a task, or one that is none of weir-exec's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Nobody,
    Task(u64),
    Foreign,
}

fn asker() -> Owner {
    local::with(|local| local.running_task()).flatten().map_or(Owner::Foreign, Owner::Task)
}

/// The events of one owner that are posted, and what it waits for.
#[derive(Debug)]
struct Mail {
    owner: Owner,
    posted: VecDeque<u64>,
    /// A task may wait for several at once, where it joins or selects futures.
    waiting: Vec<Waiting>,
    seats: u64,
}

#[derive(Debug)]
struct Waiting {
    seat: u64,
    wanted: Wanted,
    waker: Waker,
}

impl Mail {
    /// Takes out who waits for an event. Several do so of one task mostly, hence of one waker.
    fn woken(&mut self, number: u64) -> (Option<Waker>, Vec<Waker>) {
        let mut all = self.waiting.extract_if(.., |one| one.wanted.has(number)).map(|one| one.waker);
        (all.next(), all.collect())
    }
}

/// The values of one event.
#[derive(Debug)]
struct Values<T> {
    /// What it was last posted with.
    posted: Option<T>,
    /// What it was posted with before, and its owner has waited for and not yet taken.
    awaited: Option<T>,
}

impl<T> Values<T> {
    /// The event was not posted, and is now. Returns what nobody can take any more.
    fn post(&mut self, value: T) -> Option<T> {
        match self.posted.replace(value) {
            None => None,
            before => std::mem::replace(&mut self.awaited, before),
        }
    }

    /// The value of an event that was waited for, and is posted again or not; and what nobody can take any more.
    fn take(&mut self, posted: bool) -> (Option<T>, Option<T>) {
        match self.posted.take_if(|_| !posted) {
            None => (self.awaited.take(), None),
            value => (value, self.awaited.take()),
        }
    }
}

/// Which events are waited for.
#[derive(Clone, Debug)]
enum Wanted {
    Any,
    One(u64),
    Set(Arc<[u64]>),
}

impl Wanted {
    fn has(&self, number: u64) -> bool {
        match self {
            Self::Any => true,
            Self::One(one) => *one == number,
            Self::Set(set) => set.contains(&number),
        }
    }
}

type Mailbox = Arc<Mutex<Mail>>;

fn lock(mailbox: &Mailbox) -> MutexGuard<'_, Mail> {
    mailbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A wait that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The event is another task's: only its owner waits for it.
    NotOwner,
    /// The events are of several sets: those that are waited for together are made by one [`Events`].
    SeveralSets,
    /// A set of no events, which never comes.
    NoEvents,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOwner => "the event belongs to another task: only its owner may wait for it",
            Self::SeveralSets => {
                "the events were not made by one `Events`: make them there to wait for several"
            }
            Self::NoEvents => "there is no event to wait for: name one, or wait for any",
        })
    }
}

impl std::error::Error for WaitError {}

/// The events of one task, which it may wait for together.
#[derive(Debug)]
pub struct Events {
    mailbox: Mailbox,
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

impl Events {
    /// Those of the task that runs, or, outside of tasks, of the first that waits.
    #[must_use]
    pub fn new() -> Self {
        let owner = match asker() {
            Owner::Foreign => Owner::Nobody,
            owner => owner,
        };
        let mail = Mail { owner, posted: VecDeque::new(), waiting: Vec::new(), seats: 0 };
        Self { mailbox: Arc::new(Mutex::new(mail)) }
    }

    /// One event more, which is not posted.
    #[must_use]
    pub fn event<T: Send>(&self) -> Event<T> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let values = Arc::new(Mutex::new(Values { posted: None, awaited: None }));
        Event { posts: Poster { number, mailbox: Arc::clone(&self.mailbox), values } }
    }

    /// Waits for any of the events that were made here; returns the number of the one that was posted first
    /// ([`Event::number`]), which is not posted any more.
    ///
    /// # Errors
    /// They are another task's.
    pub async fn wait_any(&self) -> Result<u64, WaitError> {
        Wait { mailbox: &self.mailbox, wanted: Wanted::Any, found: |number| number, seat: None }.await
    }

    /// Waits for one of a set of events; returns the number of the one that was posted first ([`Event::number`]), which
    /// is not posted any more.
    ///
    /// # Errors
    /// The set is empty, or they are another task's.
    pub async fn wait_for(&self, events: &[u64]) -> Result<u64, WaitError> {
        if events.is_empty() {
            return Err(WaitError::NoEvents);
        }
        let wanted = Wanted::Set(events.into());
        Wait { mailbox: &self.mailbox, wanted, found: |number| number, seat: None }.await
    }
}

/// An event, with which its owner waits. It is posted with a value of type `T`.
#[derive(Debug)]
pub struct Event<T = ()> {
    posts: Poster<T>,
}

impl<T: Send> Default for Event<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> Event<T> {
    /// An event by itself, which is not posted.
    #[must_use]
    pub fn new() -> Self {
        Events::new().event()
    }

    /// What tells it from other events.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.posts.number
    }

    /// What others post it with.
    #[must_use]
    pub fn poster(&self) -> Poster<T> {
        self.posts.clone()
    }

    /// Waits until it is posted, and takes what it was posted with.
    ///
    /// # Errors
    /// It is another task's.
    pub async fn wait(&self) -> Result<T, WaitError> {
        let wanted = Wanted::One(self.posts.number);
        // Where it is posted again at once, that has its own value.
        let found = |_| self.posts.values().take(false);
        let (value, _stale) = Wait { mailbox: &self.posts.mailbox, wanted, found, seat: None }.await?;
        Ok(value.expect("a posted event has a value"))
    }

    /// Takes what it was posted with when [`Events::wait_any`] or [`Events::wait_for`] last found it, also where it was
    /// posted again since. Nothing before that.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        let (value, _stale) = {
            let mailbox = lock(&self.posts.mailbox);
            let posted = mailbox.posted.contains(&self.posts.number);
            self.posts.values().take(posted)
        };
        value
    }
}

/// Posts an event, from any task or thread.
#[derive(Debug)]
pub struct Poster<T = ()> {
    number: u64,
    mailbox: Mailbox,
    values: Arc<Mutex<Values<T>>>,
}

impl<T> Clone for Poster<T> {
    fn clone(&self) -> Self {
        Self { number: self.number, mailbox: Arc::clone(&self.mailbox), values: Arc::clone(&self.values) }
    }
}

impl Poster<()> {
    /// Posts it; without effect where it is posted already. Wakes its owner if that waits for it.
    pub fn post(&self) -> bool {
        self.post_with(())
    }
}

impl<T> Poster<T> {
    fn values(&self) -> MutexGuard<'_, Values<T>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts it with a value; `false`, and without effect, where it is posted already. Wakes its owner if that waits for it.
    pub fn post_with(&self, value: T) -> bool {
        let mut mailbox = lock(&self.mailbox);
        if mailbox.posted.contains(&self.number) {
            return false;
        }
        // Dropped once nothing is locked: its destructor may post.
        let _stale = self.values().post(value);
        mailbox.posted.push_back(self.number);
        let (first, others) = mailbox.woken(self.number);
        drop(mailbox);
        first.into_iter().chain(others).for_each(Waker::wake);
        true
    }
}

impl<T: Send + 'static> Poster<T> {
    /// Posts it after this span, by an alarm of this worker.
    ///
    /// # Panics
    /// The thread is no worker.
    pub fn post_after(&self, span: std::time::Duration, value: T) {
        let poster = self.clone();
        crate::time::here("post_after()", |local| {
            let at = local.now().saturating_add(crate::terms::nanos(span).get());
            let post = move || {
                poster.post_with(value);
            };
            local.set_alarm(at, crate::timers::Alarm::Post(Box::new(post)));
        });
    }
}

/// Waits for one of some events.
struct Wait<'a, F> {
    mailbox: &'a Mailbox,
    wanted: Wanted,
    /// What is made of the event that came, while nobody can post it again.
    found: F,
    /// Where it stands in the mailbox.
    seat: Option<u64>,
}

impl<T, F: Fn(u64) -> T + Unpin> Future for Wait<'_, F> {
    type Output = Result<T, WaitError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let asker = asker();
        let mut mailbox = lock(self.mailbox);
        match mailbox.owner {
            Owner::Nobody => mailbox.owner = asker,
            owner if owner != asker => return Poll::Ready(Err(WaitError::NotOwner)),
            _ => {}
        }
        if let Some(place) = mailbox.posted.iter().position(|&number| self.wanted.has(number)) {
            let number = mailbox.posted.remove(place).expect("it was found there");
            let found = (self.found)(number);
            let own = self.seat.take();
            mailbox.waiting.retain(|one| Some(one.seat) != own);
            return Poll::Ready(Ok(found));
        }
        match mailbox.waiting.iter_mut().find(|one| Some(one.seat) == self.seat) {
            Some(one) => one.waker.clone_from(cx.waker()),
            None => {
                mailbox.seats += 1;
                let seat = mailbox.seats;
                let waker = cx.waker().clone();
                mailbox.waiting.push(Waiting { seat, wanted: self.wanted.clone(), waker });
                self.seat = Some(seat);
            }
        }
        Poll::Pending
    }
}

impl<F> Drop for Wait<'_, F> {
    fn drop(&mut self) {
        if self.seat.is_some() {
            lock(self.mailbox).waiting.retain(|one| Some(one.seat) != self.seat);
        }
    }
}
