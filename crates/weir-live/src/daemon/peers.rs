//! Who is connected to the control socket: how many connections a user has, and how fast he may ask.
//!
//! A place is kept for root, whatever others hold. Who may only read asks at a pace ([`PACE`], after [`AHEAD`] requests at
//! once), over all of his connections: beyond it his requests wait, unread, in his own sockets. So what a reader costs is
//! bounded, however many connections he has and however fast he writes.
//!
//! | | |
//! |-|-|
//! | Source | unix(7): SO_PEERCRED; the pace is GCRA, the virtual scheduling of ITU-T I.371 |
//! | Work | O(log users) a request |
//! | Memory | O(users that are connected or were within [`AHEAD`] x [`PACE`]) |
//! | Units | seconds |

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most connections at a time.
pub const MOST_CONNECTIONS: usize = 64;
/// How many of them are kept for root.
pub const KEPT_FOR_ROOT: usize = 4;
/// The most connections of one user other than root.
pub const MOST_OF_A_USER: usize = 16;
/// Between two requests of a user who may only read, in the long run.
pub const PACE: Duration = Duration::from_millis(5);
/// How many requests such a user may make at once.
pub const AHEAD: u32 = 64;

const ROOT: u32 = 0;

/// What is known of one user.
#[derive(Debug)]
struct User {
    connections: usize,
    /// When all that he has asked would have been asked at his pace.
    paid_until: Instant,
}

/// All users that are connected.
#[derive(Debug, Default)]
pub struct Peers(Mutex<BTreeMap<u32, User>>);

impl Peers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, User>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection of a user, until what is returned is dropped.
    ///
    /// # Errors
    /// There are too many: how many, of whom, and what to do.
    pub fn begin(self: &Arc<Self>, user: u32) -> Result<Connection, String> {
        let now = Instant::now();
        let mut users = self.lock();
        users.retain(|_, user| user.connections > 0 || user.paid_until > now);
        let all: usize = users.values().map(|user| user.connections).sum();
        let (most, whose) = if user == ROOT {
            (MOST_CONNECTIONS, String::new())
        } else {
            (MOST_CONNECTIONS - KEPT_FOR_ROOT, format!(", and the last {KEPT_FOR_ROOT} are kept for root"))
        };
        if all >= most {
            return Err(format!("{all} connections are open already{whose}: close one, or ask again later"));
        }
        let his = users.entry(user).or_insert(User { connections: 0, paid_until: now });
        if user != ROOT && his.connections >= MOST_OF_A_USER {
            return Err(format!(
                "user {user} has {MOST_OF_A_USER} connections already, the most of one user: close one, or ask again \
                 later"
            ));
        }
        his.connections += 1;
        Ok(Connection { peers: Arc::clone(self), user })
    }
}

/// One of the connections that are counted.
#[derive(Debug)]
pub struct Connection {
    peers: Arc<Peers>,
    user: u32,
}

impl Connection {
    /// Counts a request of this user, who may only read; how long it is to wait.
    #[must_use]
    pub fn due_in(&self, now: Instant) -> Duration {
        let mut users = self.peers.lock();
        let Some(user) = users.get_mut(&self.user) else { return Duration::ZERO };
        user.paid_until = user.paid_until.max(now) + PACE;
        user.paid_until.saturating_duration_since(now + AHEAD * PACE)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(user) = self.peers.lock().get_mut(&self.user) {
            user.connections -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_takes_no_place_of_another_and_nobody_those_of_root() {
        let peers = Arc::new(Peers::default());
        let mut held: Vec<Connection> =
            (0..MOST_OF_A_USER).map(|_| peers.begin(1000).expect("room")).collect();
        let error = peers.begin(1000).expect_err("too many of one");
        assert!(error.starts_with("user 1000 has 16 connections already"), "{error}");
        for user in 1001..1003 {
            held.extend((0..MOST_OF_A_USER).map(|_| peers.begin(user).expect("room")));
        }
        held.extend((0..12).map(|_| peers.begin(1003).expect("room")));
        let error = peers.begin(1003).expect_err("those of root");
        assert!(error.starts_with("60 connections are open already, and the last 4 are kept"), "{error}");
        held.extend((0..KEPT_FOR_ROOT).map(|_| peers.begin(ROOT).expect("kept")));
        let error = peers.begin(ROOT).expect_err("all of them");
        assert!(error.starts_with("64 connections are open already: "), "{error}");
        held.clear();
        assert!(peers.begin(1000).is_ok());
    }

    #[test]
    fn the_pace_is_of_a_user_and_outlives_his_connections() {
        let peers = Arc::new(Peers::default());
        let (one, other) = (peers.begin(1000).expect("room"), peers.begin(1000).expect("room"));
        let now = Instant::now() + Duration::from_secs(1);
        for _ in 0..AHEAD / 2 {
            assert_eq!((one.due_in(now), other.due_in(now)), (Duration::ZERO, Duration::ZERO));
        }
        assert_eq!((one.due_in(now), other.due_in(now)), (PACE, 2 * PACE));
        drop((one, other));
        let again = peers.begin(1000).expect("room");
        assert_eq!(again.due_in(now), 3 * PACE);
        assert_eq!(peers.begin(1001).expect("room").due_in(now), Duration::ZERO);
        // What was asked is forgotten with time.
        assert_eq!(again.due_in(now + (AHEAD + 3) * PACE), Duration::ZERO);
    }
}
