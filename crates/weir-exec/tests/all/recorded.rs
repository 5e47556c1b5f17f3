//! What a live run writes, read back.

use std::path::PathBuf;
use std::time::Duration;

use weir_exec::{BuildError, Executor, Template, Terms, sleep, yield_now};
use weir_recording::{After, Bursts, Event, Facts, read};

const PATIENCE: Duration = Duration::from_secs(20);

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("weir-exec-{}-{name}", std::process::id()))
}

fn builder() -> weir_exec::Builder {
    Executor::builder().pinned(false).discipline("epoch(20ms)")
}

/// What a recording holds, and how many polls ended because the task gave way, asked to or not.
fn gathered(path: &PathBuf) -> (Facts, Bursts, u64) {
    let (mut bursts, mut gave_way) = (Bursts::up_to(1_000_000), 0);
    let source = std::fs::File::open(path).unwrap();
    let facts = read(std::io::BufReader::new(source), &mut |worker, event, _| {
        let yields = matches!(event, Event::Poll { after: After::Yields | After::GivesWay, .. });
        gave_way += u64::from(yields);
        bursts.hear(worker, event);
    });
    let facts = facts.unwrap();
    bursts.finish(facts.tasks.len());
    (facts, bursts, gave_way)
}

#[test]
fn a_recording_holds_every_task_and_every_poll() {
    let path = file("whole");
    let executor = builder().workers(2).record(&path).build().unwrap();
    let template = Template::new(Terms::named("short").priority(2));
    let short: Vec<_> =
        (0..500).map(|_| executor.spawn(template.instance(), async { yield_now().await })).collect();
    let terms =
        Terms::named("sleeper").need(Duration::from_millis(5)).slice(Duration::from_millis(1)).worker(1);
    let sleeper = executor.spawn(terms, async {
        for _ in 0..10 {
            sleep(Duration::from_millis(2)).await;
        }
    });
    short.into_iter().for_each(|task| task.wait().unwrap());
    sleeper.wait().unwrap();
    let counts = executor.handle().counts(PATIENCE);
    assert_eq!(executor.shutdown(PATIENCE), Vec::<String>::new());

    let (facts, bursts, gave_way) = gathered(&path);
    std::fs::remove_file(&path).unwrap();
    assert!(facts.is_whole && facts.lost == 0 && facts.damage.is_none(), "{facts:?}");
    assert_eq!((facts.head.discipline.as_str(), facts.head.epoch), ("epoch(20ms)", 20_000_000));
    assert_eq!(facts.tasks.len(), 501);
    let polls: u64 = counts.iter().map(|worker| worker.polls + worker.wakes).sum();
    assert_eq!(facts.events, polls, "every poll and every wake-up");
    let place = facts.tasks.iter().position(|task| task.name == "sleeper").unwrap();
    assert_eq!(facts.tasks[place].worker, 1);
    assert_eq!(facts.tasks[place].declared.need.get(), 5_000_000);
    assert_eq!(bursts.tasks[place].bursts.len(), 11, "its first wake-up, and ten sleeps");
    assert!(bursts.tasks[place].ended.is_some());
    assert_eq!(gave_way, 500, "each short task once");
}

#[test]
fn the_recording_of_a_program_that_is_killed_can_be_read() {
    let path = file("killed");
    let executor = builder().record(&path).build().unwrap();
    let task = executor.spawn(Terms::named("ticks"), async {
        for _ in 0..40 {
            sleep(Duration::from_millis(10)).await;
        }
    });
    task.wait().unwrap();
    // What is there now is all that a program would leave that is killed now.
    let (facts, bursts, _) = gathered(&path);
    drop(executor);
    std::fs::remove_file(&path).unwrap();
    assert!(!facts.is_whole && facts.damage.is_none(), "{facts:?}");
    assert!(bursts.tasks.iter().map(|task| task.bursts.len()).sum::<usize>() >= 1, "{facts:?}");
}

#[test]
fn a_file_that_cannot_be_created_is_refused_with_its_name() {
    let refused = builder().record("/no/such/folder/run.weirexec").build();
    let Err(error @ BuildError::System { .. }) = refused else { panic!("must be refused") };
    assert!(error.to_string().contains("/no/such/folder/run.weirexec"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_that_is_full_from_the_beginning_is_refused() {
    let refused = builder().record("/dev/full").build();
    let Err(error @ BuildError::System { .. }) = refused else { panic!("must be refused") };
    assert!(error.to_string().contains("the recording `/dev/full`"), "{error}");
}
