//! Schedules decided by hand, one for each sentence of the rules. The epoch is 100 ms, slices are 20 ms unless
//! declared.

use super::script::assert_schedule;

const REPORT: &str = "epoch:100ms";
const AT_DISPATCH: &str = "epoch:100ms,allocate=at_dispatch";

/// One test a line: its name, the spec, the processes, the schedule.
macro_rules! schedules {
    ($($(#[$doc:meta])* $name:ident: $spec:expr, $processes:expr => $expected:literal;)+) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            assert_schedule($spec, &$processes, $expected);
        }
    )+};
}

// Needs, uncommitted time, windfall.
schedules! {
    /// `b` does not claim its 60 ms; `a` has 30 of its own and 10 that nobody is promised before it goes low.
    need_then_uncommitted_time_then_windfall: REPORT,
        ["a need=30: always", "b need=60:"] => "a20 a20 -a20 -a20 -a20 | a20 a20 -a20 -a20 -a20 |";
    /// Slices end where uncommitted time does, though not below what is useful.
    nobody_goes_low_while_uncommitted_time_is_left: REPORT,
        ["a: always", "b need=59.5:"] => "a20 a20 a0.5 -a20 -a20 -a19.5 |";
    uncommitted_time_just_long_enough_is_used: REPORT,
        ["a: always", "b need=59.7:"] => "a20 a20 a0.3 -a20 -a20 -a19.7 |";
    uncommitted_time_too_short_to_be_useful_is_left: REPORT,
        ["a: always", "b need=59.8:"] => "a20 a20 -a20 -a20 -a20 |";
    /// Nothing is uncommitted: a slice that ends leads to the low queue if the need is met, and only then.
    in_the_critical_period_a_process_goes_low_once_its_need_is_met: REPORT,
        ["a need=30: always", "b need=70: always"] => "a20 b20 a10 b20 b20 b10 |";
    fully_committed_everybody_gets_its_need: "epoch:100ms,slice=10ms",
        ["a need=15: always", "b need=25: always", "c need=60: always"] =>
        "a10 b10 c10 a5 b10 c10 b5 c10 c10 c10 c10 |";
    fully_committed_whatever_the_priorities: REPORT,
        ["a need=15 priority=3: always", "b need=25 priority=0: always", "c need=60 slice=35: always"] =>
        "a15 c35 c25 b20 b5 |";
    /// Nobody is promised 70: `b` asks first because it stands first in the higher queue.
    uncommitted_time_goes_to_the_higher_priority_first: REPORT,
        ["a need=30: always", "b priority=2: always"] => "b20 b20 b20 b10 a20 a10 |";
    /// `a` has 30 of the 40 that are uncommitted: it asks again before `b` is first served.
    of_equals_whoever_asks_first_gets_uncommitted_time: REPORT,
        ["a need=10: always", "b need=10: always", "c need=40:"] => "a20 b20 a20 -b20 -a20 |";
    idle_time_is_taken_from_uncommitted_time: REPORT,
        ["a: @30 always", "b need=60:"] => ".30 a10 -a20 -a20 -a20 |";
}

// Queues.
schedules! {
    /// `a` has 15 ms of its slice left, and goes on before its equal `b`. All 10 ms that are uncommitted are allocated
    /// to `c` when it waits, so that `a` is low in the end.
    who_is_preempted_resumes_before_its_equals: REPORT,
        ["a need=40: always", "b need=40: always", "c need=10 priority=2: @5 3"] => "a5 c3 a15 b20 a20 b20 -a17 |";
    /// With 0.2 ms of its slice left it is as if it were over.
    who_is_preempted_at_the_end_of_its_slice_joins_the_tail: REPORT,
        ["a need=40: always", "b need=40: always", "c need=10 priority=2: @19.8 3"] => "a19.8 c3 b20 a20 b20 -a17.2 |";
    who_is_preempted_on_the_low_queue_resumes_there_too: REPORT,
        ["a: always", "b: always", "c need=100 priority=2: @5 3"] => "-a5 c3 -a15 -b20 -a20 -b20 -a17 |";
    /// `a` wakes at 15: `c` stands before it.
    who_waits_joins_the_tail: REPORT,
        ["a need=30: 5 ~10 always", "b need=30: always", "c need=30: always"] => "a5 b20 c20 a20 b20 c10 a5 |";
    to_yield_is_to_join_the_tail_with_a_new_slice: REPORT,
        ["a need=50: 5 ~0 always", "b need=50: always"] => "a5 b20 a20 b20 a20 b10 a5 |";
    /// Whose slice is over joins the tail of its queue; a priority is served before those below.
    levels_are_served_in_their_order: "epoch:100ms,slice=30ms",
        ["a need=10 priority=0: 10", "b need=10 priority=1: 10", "c need=10 priority=2: 10", "d need=10 priority=3: 10"] =>
        "d10 c10 b10 a10 .60 |";
    /// `b` waits with 10 ms of its need and 10 that are uncommitted: 30 of these are left for `a`.
    an_equal_does_not_preempt: REPORT,
        ["a need=40: always", "b need=20: @5 10"] => "a20 b10 a20 a20 a10 -a20 |";
}

// Windfall.
schedules! {
    /// `a` is low though its priority is the highest there is; `b` has a need that is not met.
    every_low_queue_is_below_every_normal_one: REPORT,
        ["a priority=3: always", "b need=20 priority=0: @45 always", "c need=80:"] => "-a20 -a20 -a5 b20 -a15 -a20 |";
    /// It has 20 ms of 30: what is not claimed in time is not kept.
    a_sleeper_with_need_left_preempts_whoever_uses_windfall: REPORT,
        ["a need=30 priority=0: @80 always", "b priority=3: always"] =>
        "b20 b20 b20 b10 -b10 a20 | b20 b20 b20 b10 a20 a10 |";
    /// `b` and `c` have slices of 20 and 10; `a` comes before both while it runs.
    windfall_goes_by_priority_then_by_slice: REPORT,
        ["a priority=2: @45 10", "b: always", "c slice=10: always", "d need=100:"] =>
        "-b20 -c10 -b15 -a10 -b5 -c10 -b20 -c10 |";
    a_low_slice_is_whole_whatever_is_left_of_the_epoch: REPORT,
        ["a need=90: always", "b need=10:"] => "a20 a20 a20 a20 a10 -a10 | a20 a20 a20 a20 a10 -a10 |";
}

// The end of an epoch.
schedules! {
    /// Everybody is normal again, and is given its need anew.
    at_the_end_of_an_epoch_everybody_is_normal_again: "epoch:100ms,slice=50ms",
        ["a need=40: always", "b need=20: always", "c need=40:"] =>
        "a40 b20 -a40 | a40 b20 -a40 |";
    /// `b` has 20 ms of its slice left, is at the head, and has a whole slice.
    who_runs_at_the_end_of_an_epoch_is_at_the_head: "epoch:100ms,slice=30ms",
        ["a: always", "b: always", "c need=100:"] => "-a30 -b30 -a30 -b10 | -b30 -a30 -b30 -a10 |";
    /// `b` has 0.2 ms left.
    who_has_little_of_its_slice_left_then_is_at_the_tail: REPORT,
        ["a slice=25.05: always", "b slice=25.05: always", "c need=100:"] =>
        "-a25.05 -b25.05 -a25.05 -b24.85 | -a25.05 -b25.05 -a25.05 -b24.85 |";
    /// `a` was low at the end, and `c` normal with need left: `a` comes after it.
    members_of_low_queues_return_behind: REPORT,
        ["a need=10: always", "b need=100: always", "c need=100: always"] =>
        "a10 b20 c20 b20 c20 b10 | b20 c20 a10 b20 c20 b10 |";
    members_of_low_queues_return_ahead_where_asked_for: "epoch:100ms,returning=ahead",
        ["a need=10: always", "b need=100: always", "c need=100: always"] =>
        "a10 b20 c20 b20 c20 b10 | b20 a10 c20 b20 c20 b10 |";
    /// `a` runs on in time that is uncommitted, and no longer: its slice of the old epoch is void.
    who_runs_low_into_a_new_epoch_is_given_what_is_uncommitted_in_it: "epoch:100ms",
        ["a slice=40: always", "b need=90: @100 always"] => "a10 -a40 -a40 -a10 | a10 b20 b20 b20 b20 b10 |";
    /// `a` has no need, `b` needs all of the second epoch and is ready throughout.
    a_slice_left_over_is_void: REPORT,
        ["a slice=60: always", "b need=100: @90 always"] => "-a60 -a30 b10 | b20 b20 b20 b20 b20 |";
    a_slice_that_is_kept_takes_what_others_need: "epoch:100ms,leftover=keep",
        ["a slice=60: always", "b need=100: @90 always"] => "-a60 -a30 b10 | b10 a30 b20 b20 b20 |";
    an_epoch_in_which_nobody_is_ready_passes: REPORT,
        ["a need=10: 10 @250 always", "b need=70:"] => "a10 .90 | .100 | .50 a10 -a20 -a20 |";
    /// Finding B12: `b` wakes at the end itself, and is posted before the turn to its normal queue; `a` is low until then,
    /// returns behind it, and `c`, which wakes a nanosecond later, behind both.
    who_wakes_at_the_end_of_an_epoch_is_posted_before_it_ends: REPORT,
        ["a need=10: always", "b need=50: 10 @100 always", "c need=40: @100.000001 always"] =>
        "a10 b10 -a20 -a20 -a20 -a20 | b20 a10 c20 b20 c20 b10 |";
    /// Two wake while the processor is idle, one of which is low: it is posted first, and returns behind the other.
    who_wakes_an_idle_processor_then_is_posted_before_too: REPORT,
        ["a need=10: 30 @100 always", "b need=60: @100 always", "c need=30:"] => "a10 -a20 .70 | b20 a10 b20 b20 -a20 -b10 |";
    /// At the end itself: the wake-up comes before the turn, and is of the new epoch all the same.
    who_wakes_at_the_end_of_an_epoch_is_of_the_next: REPORT,
        ["a need=60: always", "b need=40 priority=2: 40 @100 always"] => "b20 b20 a20 a20 a20 | b20 b20 a20 a20 a20 |";
}

// More is promised than there is.
schedules! {
    /// Slices of 20 and 10 divide the time, not the needs, which are equal.
    overcommitted_equals_share_by_their_slices: REPORT,
        ["a need=90: always", "b need=90 slice=10: always"] => "a20 b10 a20 b10 a20 b10 a10 | a20 b10 a20 b10 a20 b10 a10 |";
    until_the_need_of_one_is_met: REPORT,
        ["a need=40: always", "b need=90 slice=10: always"] => "a20 b10 a20 b10 b10 b10 b10 b10 |";
    overcommitted_time_goes_by_priority: REPORT,
        ["a need=70 priority=0: always", "b need=70 priority=1: always"] => "b20 b20 b20 b10 a20 a10 |";
    /// As the report runs its measurements: it is never low.
    a_need_of_all_there_is_keeps_a_process_normal: REPORT,
        ["a need=100: always", "b need=3 priority=2: @50 3"] => "a20 a20 a10 b3 a10 a20 a17 |";
}

// Uncommitted time that is allocated to who waits.
schedules! {
    /// `a` has used its need, and waits with a slice of uncommitted time, which it uses late: `b`, which wakes after
    /// the critical period began, gets nothing of its need.
    uncommitted_time_kept_over_a_wait_blocks_others: REPORT,
        ["a need=10: 10 @80 always", "b need=20: @85 always", "c: always"] => "a10 c20 c20 c10 -c20 a20 |";
    given_back_at_the_wait_it_blocks_nobody: AT_DISPATCH,
        ["a need=10: 10 @80 always", "b need=20: @85 always", "c: always"] => "a10 c20 c20 c20 c10 -c5 b15 |";
    /// Who waits with need left is owed it, whenever uncommitted time is allocated.
    need_is_kept_over_a_wait: AT_DISPATCH,
        ["a need=30: 5 @60 always", "b: always"] => "a5 b20 b20 b20 a20 b10 a5 |";
}

// Changes.
schedules! {
    /// `b` asks for 70 instead of 40 at 5: in this epoch it has 35 left, and 60 are uncommitted for `a`.
    a_change_of_need_counts_from_the_next_epoch: REPORT,
        ["a: @5 always", "b need=40: 5 need=70"] => "b5 a20 a20 a20 -a20 -a15 | a20 a10 -a20 -a20 -a20 -a10 |";
    /// The 35 that it is owed are uncommitted from then on.
    what_is_owed_to_who_exits_goes_back: REPORT,
        ["a: @5 always", "b need=40: 5 !"] => "b5 a20 a20 a20 a20 a15 | a20 a20 a20 a20 a20 |";
}
