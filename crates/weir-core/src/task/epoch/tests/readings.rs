//! Why the report is read as it is: what becomes of needs under another reading, which is not offered.

use super::oracle::{Oracle, Reading};
use super::script::{assert_schedule, length, schedule};

/// `a` waits with 15 ms of its slice unused, all of them owed to it. Were they given back as if nobody was promised
/// them, they would be promised twice: `c`, without need, runs 10 of them, and `b`, ready throughout, lacks 15 of its
/// 80.
#[test]
fn of_what_is_unused_only_the_uncommitted_part_goes_back() {
    let processes = ["a need=20: 5 @80 always", "b need=80 priority=0: always", "c: always"];
    assert_schedule("epoch", &processes, "a5 b20 b20 b20 b15 a15 b5 |");
    let expected = "a5 c10 b20 b20 b20 b5 a20 |";
    let all = Oracle::new(Reading { all_unused: true, scale: 1_000, ..Reading::default() });
    assert_eq!(schedule(all, &processes, length(expected)), expected);
}
