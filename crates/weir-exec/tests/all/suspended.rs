//! A program that was suspended pays no debt back in a burst.

use std::process::{Command, Stdio};
use std::time::Duration;

use weir_exec::{Executor, Terms, every, now, preemption_point};

const CHILD: &str = "WEIR_EXEC_SUSPENDED_CHILD";

/// What the child does: a control task every 10 ms next to one that computes for ever.
fn child() {
    let executor =
        Executor::builder().pinned(false).reports(|report| println!("report: {report}")).build().unwrap();
    let ticks = executor.spawn(Terms::named("control").need(Duration::from_millis(20)).priority(2), async {
        let mut ticks = every(Duration::from_millis(10)).unwrap();
        let (began, mut count, mut burst) = (now(), 0u64, 0u64);
        let mut last = [began; 4];
        while now().since(began) < Duration::from_millis(1_500) {
            ticks.tick().await;
            count += 1;
            // A late one and the next on time may be close; four within one period would be a burst.
            last.rotate_left(1);
            last[3] = now();
            burst += u64::from(count > 4 && last[3].since(last[0]) < Duration::from_millis(10));
        }
        (count, burst, ticks.missed())
    });
    let greedy = executor.spawn(Terms::named("greedy"), async {
        loop {
            preemption_point().await;
        }
    });
    let (count, burst, missed) = ticks.wait().unwrap();
    let counts = executor.handle().counts(Duration::from_secs(5));
    let run = counts[0].tasks.iter().find(|task| task.name == "greedy").map(|task| task.run);
    println!("ticks {count} burst {burst} missed {missed} greedy {:?}", run.unwrap_or_default().as_millis());
    greedy.abort();
}

#[test]
#[cfg(target_os = "linux")]
fn ten_seconds_of_sigstop_are_no_debt() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let own = std::env::current_exe().unwrap();
    let name = "suspended::ten_seconds_of_sigstop_are_no_debt";
    let child = Command::new(own)
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let signal = |number: i32| {
        // SAFETY: takes numbers only.
        assert_eq!(unsafe { libc::kill(child.id() as i32, number) }, 0);
    };
    std::thread::sleep(Duration::from_millis(600));
    signal(libc::SIGSTOP);
    std::thread::sleep(Duration::from_secs(10));
    signal(libc::SIGCONT);
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let line = said.lines().find(|line| line.contains("ticks ")).unwrap_or_else(|| panic!("{said}"));
    let words: Vec<&str> = line[line.find("ticks").unwrap()..].split(' ').collect();
    let number = |place: usize| words[place].parse::<u64>().unwrap();
    assert!(said.contains("report: the program was suspended for "), "{said}");
    let (count, burst, missed, greedy) = (number(1), number(3), number(5), number(7));
    assert!(count <= 151, "no tick is caught up: {line}");
    assert!(burst == 0, "none comes in a burst: {line}");
    assert!(missed < 100, "its clock stood still: {line}");
    assert!(greedy < 2_500, "nobody was charged for it: {line}");
}
