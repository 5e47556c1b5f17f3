use super::*;
use crate::discipline::Drops;
use crate::pool::Profile;
use crate::pool::cfcfs::Cfcfs;

/// What is wrong with a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    Nothing,
    Forgets,
    ServesTwice,
    AsksTheBusy,
    AsksInVain,
    PreemptsTheIdle,
    NeverAsks,
    GrantsNothing,
    OldestLast,
}
use Defect::*;

/// A central queue with a defect.
struct Broken {
    pool: Cfcfs<Request>,
    defect: Defect,
    calls: u64,
    last: Option<Request>,
}

impl Pool<Request> for Broken {
    fn enqueue(
        &mut self,
        now: Instant,
        item: Request,
        receiver: ReceiverId,
        drops: &mut dyn Drops<Request>,
    ) -> Placed {
        self.calls += 1;
        if self.defect == Forgets && self.calls == 20 {
            return Placed::Queued;
        }
        let placed = self.pool.enqueue(now, item, receiver, drops);
        match (self.defect, placed) {
            (AsksTheBusy, Placed::Queued) => Placed::Ask(ServerId(0)),
            (PreemptsTheIdle, Placed::Ask(server)) => Placed::Preempts(server),
            (NeverAsks, _) => Placed::Queued,
            (_, placed) => placed,
        }
    }

    fn dequeue(
        &mut self,
        now: Instant,
        server: ServerId,
        drops: &mut dyn Drops<Request>,
    ) -> Option<Assigned<Request>> {
        if self.defect == AsksInVain && self.calls == 20 {
            return None;
        }
        let mut assigned = self.pool.dequeue(now, server, drops)?;
        match self.defect {
            ServesTwice => assigned.item = self.last.replace(assigned.item).unwrap_or(assigned.item),
            GrantsNothing => assigned.quantum = Nanos::ZERO,
            OldestLast if !self.pool.backlog().is_empty() => {
                let oldest = assigned.item;
                assigned = self.pool.dequeue(now, server, drops)?;
                self.pool.requeue(now, server, oldest, Nanos::ZERO, drops);
            }
            _ => {}
        }
        Some(assigned)
    }

    fn requeue(
        &mut self,
        now: Instant,
        server: ServerId,
        item: Request,
        used: Nanos,
        drops: &mut dyn Drops<Request>,
    ) {
        self.pool.requeue(now, server, item, used, drops);
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.pool.backlog()
    }
}

fn run(defect: Defect) {
    let classes = vec![Profile { share: 1.0, service: Nanos::new(MEAN) }];
    let site = Site { servers: 3, receivers: 1, classes, queue: None, speeds: Vec::new() };
    let make = || Broken { pool: Cfcfs::new(&site), defect, calls: 0, last: None };
    check_pool(make, &site, PoolPromises { work_conserving: true, flow_order: true, server_order: true });
}

#[test]
fn a_sound_pool_passes() {
    run(Nothing);
}

macro_rules! refused {
    ($($name:ident: $defect:ident, $message:literal;)+) => {$(
        #[test]
        #[should_panic(expected = $message)]
        fn $name() {
            run($defect);
        }
    )+};
}

refused! {
    a_request_forgotten: Forgets, "the backlog at";
    a_request_served_twice: ServesTwice, "granted, yet it was not waiting";
    a_busy_server_asked: AsksTheBusy, "and is busy";
    a_server_asked_in_vain: AsksInVain, "has nothing to do";
    an_idle_server_preempted: PreemptsTheIdle, "serves nothing";
    a_server_that_is_never_asked: NeverAsks, "waits, and a server is idle";
    a_grant_of_nothing: GrantsNothing, "is empty";
    an_order_not_kept: OldestLast, "begins after request";
}
