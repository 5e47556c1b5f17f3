//! Tokio alongside and within the executor: its sockets and timers in tasks, its budget of operations, and tasks of its
//! own runtimes that wait for tasks of the executor, and the other way round.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio::task::coop::{consume_budget, has_budget_remaining};
use weir_exec::{Event, Executor, JoinHandle, Terms, preemption_point, spawn_local, yield_now};

const PATIENCE: Duration = Duration::from_secs(20);
const ROUNDS: u64 = 100;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn over_tokio(io_every: Duration) -> Executor {
    let builder = Executor::builder().discipline("epoch(100ms,admit=refuse)").pinned(false).tokio();
    builder.io_every(io_every).reports(|_| {}).build().unwrap()
}

/// Terms with a need that is admitted together with two more like it.
fn needs(name: &str) -> Terms {
    Terms::named(name).need(ms(20)).priority(2)
}

/// A task that is always ready, and gives way when it is asked to, until it is aborted.
fn greedy(executor: &Executor) -> JoinHandle<()> {
    executor.spawn(Terms::named("greedy"), async {
        loop {
            preemption_point().await;
        }
    })
}

#[test]
fn tasks_send_and_receive_datagrams_beside_a_greedy_one() {
    let executor = over_tokio(ms(1));
    let greedy = greedy(&executor);
    let echo = executor.spawn(needs("echo"), async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let client = spawn_local(needs("client"), async move {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            socket.connect(address).await.unwrap();
            for round in 0..ROUNDS {
                socket.send(&round.to_le_bytes()).await.unwrap();
                let mut answer = [0; 8];
                assert_eq!(socket.recv(&mut answer).await.unwrap(), 8);
                assert_eq!(u64::from_le_bytes(answer), round + 1);
            }
        });
        for round in 0..ROUNDS {
            let mut asked = [0; 8];
            let (length, from) = socket.recv_from(&mut asked).await.unwrap();
            assert_eq!((length, u64::from_le_bytes(asked)), (8, round));
            socket.send_to(&(round + 1).to_le_bytes(), from).await.unwrap();
        }
        client.await.unwrap();
    });
    echo.wait().unwrap();
    greedy.abort();
}

#[test]
fn tasks_serve_streams_beside_a_greedy_one() {
    let executor = over_tokio(ms(1));
    let greedy = greedy(&executor);
    let served = executor.spawn(needs("listener"), async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients = [1_u8, 2, 3].map(|number| {
            spawn_local(Terms::named("client"), async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&vec![number; 100_000]).await.unwrap();
                stream.shutdown().await.unwrap();
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).await.unwrap();
                assert_eq!(answer, (100_000 * u64::from(number)).to_le_bytes());
            })
        });
        for _ in 0..clients.len() {
            let (mut stream, _) = listener.accept().await.unwrap();
            drop(spawn_local(Terms::named("server"), async move {
                let mut got = Vec::new();
                stream.read_to_end(&mut got).await.unwrap();
                let sum: u64 = got.iter().map(|&byte| u64::from(byte)).sum();
                stream.write_all(&sum.to_le_bytes()).await.unwrap();
            }));
        }
        for client in clients {
            client.await.unwrap();
        }
    });
    served.wait().unwrap();
    greedy.abort();
}

#[test]
fn timers_of_tokio_go_off_in_tasks_and_tasks_of_tokio_run_beside_them() {
    let executor = over_tokio(ms(1));
    let greedy = greedy(&executor);
    let waits = executor.spawn(needs("waits"), async {
        let began = tokio::time::Instant::now();
        let mut ticks = tokio::time::interval(ms(2));
        for _ in 0..5 {
            ticks.tick().await;
        }
        assert!(began.elapsed() >= ms(8), "the first tick is at once");
        let late = tokio::time::timeout(ms(5), std::future::pending::<()>()).await;
        assert!(late.is_err());
        let event = Event::<u32>::new();
        let poster = event.poster();
        // It runs on the reactor of this worker, where this task does not.
        let posts = tokio::spawn(async move {
            tokio::time::sleep(ms(1)).await;
            poster.post_with(7)
        });
        (event.wait().await.unwrap(), posts.await.unwrap())
    });
    assert_eq!(waits.wait().unwrap(), (7, true));
    greedy.abort();
}

/// Uses up Tokio's budget, this much in each poll; returns `false` if a poll began without any.
async fn uses(budget: u64) -> bool {
    for _ in 0..ROUNDS {
        let begins_with = poll_fn(|_| Poll::Ready(has_budget_remaining())).await;
        if !begins_with {
            return false;
        }
        for _ in 0..budget {
            consume_budget().await;
        }
        yield_now().await;
    }
    true
}

#[test]
fn every_poll_has_a_budget_of_tokio_though_somebody_is_always_ready() {
    // The reactor has its turn for no other reason.
    let executor = over_tokio(PATIENCE * 10);
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let spins = executor.spawn(Terms::named("spins"), async move {
        let began = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            assert!(began.elapsed() < PATIENCE, "whoever used up the budget was not woken");
            yield_now().await;
        }
    });
    let users = [1, 3, 50, 200].map(|budget| executor.spawn(Terms::named("user"), uses(budget)));
    for user in users {
        assert!(user.wait().unwrap(), "a poll began without a budget: what others had used");
    }
    over.store(true, Ordering::Relaxed);
    spins.wait().unwrap();
}

fn runtimes() -> [tokio::runtime::Runtime; 2] {
    let mut several = tokio::runtime::Builder::new_multi_thread();
    let builders = [&mut tokio::runtime::Builder::new_current_thread(), several.worker_threads(2)];
    builders.map(|builder| builder.enable_all().build().unwrap())
}

/// A task of Tokio and one of the executor hand a number to and fro, by events.
async fn to_and_fro(executor: &Executor) {
    let event = Event::<u64>::new();
    let to_tokio = event.poster();
    let (hand_over, handed) = oneshot::channel();
    let answers = executor.spawn(needs("answers"), async move {
        let event = Event::<u64>::new();
        hand_over.send(event.poster()).unwrap();
        loop {
            let round = event.wait().await.unwrap();
            assert!(to_tokio.post_with(round + 1));
            if round + 1 == ROUNDS {
                return;
            }
        }
    });
    let to_executor = handed.await.unwrap();
    for round in 0..ROUNDS {
        assert!(to_executor.post_with(round));
        assert_eq!(event.wait().await, Ok(round + 1));
    }
    answers.await.unwrap();
}

/// The same by a channel of Tokio and the result of a task.
async fn by_channel(executor: &Executor) {
    let (asks, mut asked) = mpsc::channel(1);
    let sum = executor.spawn(needs("sum"), async move {
        let mut sum = 0;
        while let Some(number) = asked.recv().await {
            sum += number;
        }
        sum
    });
    for round in 0..ROUNDS {
        asks.send(round).await.unwrap();
    }
    drop(asks);
    assert_eq!(sum.await.unwrap(), ROUNDS * (ROUNDS - 1) / 2);
}

#[test]
fn tasks_of_other_runtimes_wait_for_tasks_of_the_executor_and_the_other_way_round() {
    let builders = [Executor::builder(), Executor::builder().tokio()];
    for executor in builders.map(|builder| Arc::new(builder.pinned(false).build().unwrap())) {
        for runtime in runtimes() {
            let theirs = Arc::clone(&executor);
            let task = runtime.spawn(async move {
                to_and_fro(&theirs).await;
                by_channel(&theirs).await;
            });
            runtime.block_on(async { tokio::time::timeout(PATIENCE, task).await.expect("in time").unwrap() });
        }
    }
}

#[test]
fn whoever_gives_way_only_when_asked_is_asked_when_the_reactor_is_due() {
    // Its slice is never over, and nobody but the reactor knows when the other is to be woken.
    let builder = Executor::builder().discipline("priority_rr(3600s)").pinned(false).tokio();
    let executor = builder.io_every(ms(1)).build().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let greedy = executor.spawn(Terms::named("greedy"), async move {
        let began = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            assert!(began.elapsed() < PATIENCE, "it was not asked");
            preemption_point().await;
        }
    });
    let waits = executor.spawn(Terms::named("waits").priority(2), async {
        for _ in 0..20 {
            tokio::time::sleep(ms(1)).await;
        }
    });
    waits.wait().unwrap();
    over.store(true, Ordering::Relaxed);
    greedy.wait().unwrap();
}
