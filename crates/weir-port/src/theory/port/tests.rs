use super::*;
use weir_theory::TheoryError;
use weir_workload::Run;

const PUBLISHED: &str = include_str!("../../../../../reproduce/alpha/analytic.csv");

fn latencies(port: &Port, strategy: &str) -> Latencies {
    match strategy {
        "fifo" => port.fifo(),
        "sf" => port.shortest_first(),
        "rr" => port.round_robin().expect("small"),
        _ => port.round_robin_head().expect("small"),
    }
}

fn quantity(strategy: &str, load: f64, name: &str) -> f64 {
    let port = Port::new(&Sizes::alpha_report(), load, 0.25).expect("stable");
    match name {
        "qlen" => port.queue_length(),
        "avlat" => latencies(&port, strategy).mean(),
        length => {
            let length = length["lat".len()..].parse().expect("a length");
            latencies(&port, strategy).of(length).expect("occurs")
        }
    }
}

#[test]
fn every_row_of_the_analytic_table_agrees_to_its_printed_digits() {
    let mut rows = 0;
    for line in PUBLISHED.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let load = field[0].parse::<f64>().expect("a load") / 100.0;
        assert_eq!(format!("{:.6}", quantity(field[1], load, field[2])), field[3], "{line}");
        rows += 1;
    }
    assert_eq!(rows, 320);
}

/// Lengths that leave gaps, with a longest message of 60 packets.
fn uneven() -> Sizes {
    Sizes::mixture(&[Run { first: 2, last: 7, share: 0.5 }, Run::atom(1, 0.2), Run::atom(60, 0.3)])
        .expect("a distribution")
}

/// The queue length that the mean times to each packet's acceptance imply, if the order is blind to length.
fn implied_queue_length(port: &Port, times: &[f64]) -> f64 {
    let longer = |i: usize| port.lengths.iter().filter(|l| l.0 as usize > i).map(|l| l.1).sum::<f64>();
    port.rate * times.iter().enumerate().map(|(i, time)| longer(i) * time).sum::<f64>()
}

#[test]
fn orders_blind_to_length_conserve_the_queue_length() {
    for load in [0.05, 0.5, 0.9, 0.99, 0.9999] {
        for scv in [0.0, 0.25, 1.0, 4.0] {
            let port = Port::new(&uneven(), load, scv).expect("stable");
            let wait = port.fifo().of(1).expect("occurs");
            let fifo: Vec<f64> = (0..60).map(|packet| wait + f64::from(packet)).collect();
            let rr = port.acceptance_times(Newcomers::Last).expect("small");
            let head = port.acceptance_times(Newcomers::First).expect("small");
            for times in [fifo, rr, head] {
                let ratio = implied_queue_length(&port, &times) / port.queue_length();
                assert!((ratio - 1.0).abs() < 1e-9, "load {load}, scv {scv}: ratio {ratio}");
            }
        }
    }
}

/// The system as it is written in the module's documentation, solved by elimination.
fn eliminated(port: &Port, newcomers: Newcomers) -> Vec<f64> {
    let n = port.lengths.last().expect("lengths").0 as usize;
    let longer = |i: usize| port.lengths.iter().filter(|l| l.0 as usize > i).map(|l| l.1).sum::<f64>();
    let (rate, residual) = (port.rate, 0.5 * port.load * (1.0 + port.scv));
    let mut rows: Vec<Vec<f64>> = (1..=n)
        .map(|j| {
            let mut row = vec![0.0; n + 1];
            row[j - 1] += 1.0;
            row[n] = if j == 1 { residual } else { 1.0 };
            match newcomers {
                Newcomers::Last => {
                    (0..n).for_each(|i| row[i] -= rate * longer(i + j - 1));
                    (1..j).for_each(|r| row[r - 1] -= rate * longer(j - 1 - r));
                }
                Newcomers::First => {
                    row[j - 1] -= rate;
                    if j > 1 {
                        row[0] -= rate * (longer(j - 1) + longer(j - 2));
                        (1..n).for_each(|i| row[i] -= rate * longer(i + j - 2));
                        (2..j).for_each(|r| row[r - 1] -= rate * longer(j - r));
                    }
                }
            }
            row
        })
        .collect();
    for pivot in 0..n {
        let row = rows[pivot].clone();
        for other in (0..n).filter(|&other| other != pivot) {
            let factor = rows[other][pivot] / row[pivot];
            rows[other].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let steps = (0..n).map(|j| rows[j][n] / rows[j][j]);
    steps
        .scan(0.0, |sum, step| {
            *sum += step;
            Some(*sum)
        })
        .collect()
}

#[test]
fn the_iteration_solves_the_system_that_elimination_solves() {
    for load in [0.1, 0.7, 0.98, 0.999] {
        for newcomers in [Newcomers::Last, Newcomers::First] {
            let port = Port::new(&uneven(), load, 1.0).expect("stable");
            let (found, expected) =
                (port.acceptance_times(newcomers).expect("small"), eliminated(&port, newcomers));
            for (packet, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a / b - 1.0).abs() < 1e-9, "load {load}, {newcomers:?}, packet {packet}: {a} {b}");
            }
        }
    }
}

#[test]
fn messages_of_one_packet_wait_alike_under_every_order() {
    let port = Port::new(&Sizes::constant(1).expect("a size"), 0.8, 1.0).expect("stable");
    // The wait of an M/M/1 queue: ρ / (1 - ρ).
    for strategy in ["fifo", "sf", "rr", "rr_head"] {
        assert!((latencies(&port, strategy).mean() - 4.0).abs() < 1e-12, "{strategy}");
    }
    assert!((port.queue_length() - 3.2).abs() < 1e-12);
}

#[test]
fn a_single_long_message_on_an_idle_port_takes_its_own_packets() {
    let port = Port::new(&Sizes::constant(9).expect("a size"), 1e-9, 0.25).expect("stable");
    for strategy in ["fifo", "sf", "rr", "rr_head"] {
        assert!((latencies(&port, strategy).mean() - 8.0).abs() < 1e-6, "{strategy}");
    }
}

/// A message in the list of the simulation below.
struct Waiting {
    arrived: f64,
    length: u64,
    left: u64,
}

/// Xorshift, for the simulation below only.
fn uniform(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Where a newcomer stands in a list from which packets are taken at the front.
fn place(strategy: &str, list: &[Waiting], length: u64) -> usize {
    match strategy {
        "sf" => list.iter().position(|other| other.left > length).unwrap_or(list.len()),
        "rr_head" => list.iter().position(|other| other.left < other.length).unwrap_or(list.len()),
        _ => list.len(),
    }
}

/// Mean latency of each length from a list served packet by packet.
fn simulated(strategy: &str, lengths: &[u64], load: f64, service: impl Fn(f64) -> f64) -> Vec<f64> {
    let mean = lengths.iter().sum::<u64>() as f64 / lengths.len() as f64;
    let (mut random, mut list) = (88_172_645_463_325_252u64, Vec::<Waiting>::new());
    let (mut free, mut arrival) = (0.0f64, 0.0);
    let mut sums = vec![(0.0, 0.0); lengths.len()];
    let mut messages = 0;
    while messages < 400_000 {
        if list.is_empty() || arrival < free {
            let length = lengths[(uniform(&mut random) * lengths.len() as f64) as usize];
            list.insert(place(strategy, &list, length), Waiting { arrived: arrival, length, left: length });
            free = free.max(arrival);
            arrival -= (1.0 - uniform(&mut random)).ln() * mean / load;
            messages += 1;
            continue;
        }
        let mut head = list.remove(0);
        head.left -= 1;
        if head.left == 0 {
            let index = lengths.iter().position(|&length| length == head.length).expect("listed");
            sums[index].0 += free - head.arrived;
            sums[index].1 += 1.0;
        } else {
            let at = if strategy.starts_with("rr") { list.len() } else { 0 };
            list.insert(at, head);
        }
        free += service(uniform(&mut random));
    }
    sums.iter().map(|(sum, count)| sum / count).collect()
}

#[test]
fn a_simulated_list_agrees_for_constant_and_for_exponential_services() {
    let lengths = [1u64, 3, 8];
    let sizes = Sizes::list(&lengths.map(|length| (length, 1.0 / 3.0))).expect("a distribution");
    for scv in [0.0, 1.0] {
        let port = Port::new(&sizes, 0.7, scv).expect("stable");
        for strategy in ["fifo", "sf", "rr", "rr_head"] {
            let service = |u: f64| if scv == 0.0 { 1.0 } else { -(1.0 - u).ln() };
            let found = simulated(strategy, &lengths, 0.7, service);
            for (row, found) in latencies(&port, strategy).rows().iter().zip(found) {
                assert!(
                    (found / row.latency - 1.0).abs() < 0.02,
                    "{strategy}, scv {scv}: {row:?}, found {found}"
                );
            }
        }
    }
}

#[test]
fn long_messages_conserve_the_queue_length_too() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sizes");
    let sizes = Sizes::from_cdf_file(&folder.join("homa-w4.csv")).expect("a CDF file");
    let packets = sizes.in_packets(1460).expect("packets");
    for (load, newcomers) in [(0.8, Newcomers::Last), (0.99, Newcomers::Last), (0.99, Newcomers::First)] {
        let port = Port::new(&packets, load, 0.0).expect("stable");
        let times = port.acceptance_times(newcomers).expect("small enough");
        assert_eq!(times.len(), 6850);
        let ratio = implied_queue_length(&port, &times) / port.queue_length();
        assert!((ratio - 1.0).abs() < 1e-9, "{newcomers:?}: {ratio}");
    }
}

#[test]
fn next_to_saturation_the_system_is_still_solved() {
    for lengths in [Sizes::alpha_report(), uneven()] {
        for load in [0.999_999, weir_theory::MAX_LOAD] {
            let port = Port::new(&lengths, load, 0.25).expect("stable");
            for newcomers in [Newcomers::Last, Newcomers::First] {
                let times = port.acceptance_times(newcomers).expect("a solution");
                let ratio = implied_queue_length(&port, &times) / port.queue_length();
                assert!((ratio - 1.0).abs() < 1e-9, "load {load}, {newcomers:?}: {ratio}");
            }
        }
    }
}

#[test]
fn what_has_no_number_is_an_error() {
    let sizes = Sizes::alpha_report();
    assert_eq!(Port::new(&sizes, 1.0, 0.25).err(), Some(TheoryError::Unstable(1.0)));
    assert_eq!(Port::new(&sizes, -0.5, 0.25).err(), Some(TheoryError::Load(-0.5)));
    assert!(matches!(Port::new(&sizes, f64::NAN, 0.25), Err(TheoryError::Load(_))));
    assert!(matches!(Port::new(&sizes, 0.5, f64::NAN), Err(TheoryError::Scv(_))));
    assert_eq!(Port::new(&sizes, 0.5, -1.0).err(), Some(TheoryError::Scv(-1.0)));
    let wide = Sizes::uniform(1, 10_000_000).expect("a distribution");
    assert_eq!(Port::new(&wide, 0.5, 0.0).err(), Some(NoForm::TooManyLengths.into()));
    let long = Sizes::uniform(1, 100_000).expect("a distribution");
    let port = Port::new(&long, 0.5, 0.0).expect("stable");
    assert_eq!(port.round_robin(), Err(NoForm::SystemTooLarge));
    assert!(port.shortest_first().mean().is_finite());
}

#[test]
fn little_relates_the_waits_of_packets_to_the_queue_length() {
    let port = Port::new(&Sizes::alpha_report(), 0.9, 0.25).expect("stable");
    // Under FIFO packet j of a message waits j - 1 services longer than its first.
    let rows = port.fifo();
    let wait = |length: u64, latency: f64| length as f64 * (latency - (length - 1) as f64 / 2.0);
    let waits = rows.rows().iter().map(|row| row.share * wait(row.length, row.latency)).sum::<f64>();
    let found = weir_theory::identities::number_present(port.arrival_rate(), waits);
    assert!((found / port.queue_length() - 1.0).abs() < 1e-12, "{found}");
}
