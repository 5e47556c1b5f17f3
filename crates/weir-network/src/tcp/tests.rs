//! Transfers over one line, against the laws they obey.

use super::harness::{Fate, MILLISECOND, Network, config};
use super::{Config, Receiver};
use crate::model::Congestion;
use proptest::prelude::*;
use weir_core::units::{Instant, Nanos};

const SECOND: u64 = 1000 * MILLISECOND;

fn seconds(count: u64) -> Nanos {
    Nanos::new(count * SECOND)
}

/// A line so fast that its round trip is constant.
fn fast<'a>(config: &Config) -> Network<'a> {
    let mut network = Network::new(config, usize::MAX - 1);
    network.service = Nanos::new(1000);
    network
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut network = fast(&Config { first_window: 1, ..config(Congestion::Reno) });
    network.run(Nanos::new(690 * MILLISECOND));
    let mut rounds = vec![0; 7];
    for (at, _) in &network.sent {
        rounds[usize::try_from(at / (100 * MILLISECOND)).unwrap()] += 1;
    }
    assert_eq!(rounds, [1, 2, 4, 8, 16, 32, 64]);
}

#[test]
fn the_largest_window_bounds_what_is_on_its_way() {
    let mut network = fast(&Config { window: 20, ..config(Congestion::Cubic) });
    network.run(seconds(10));
    let last = network.sent.iter().filter(|(at, _)| *at >= 9 * SECOND).count();
    assert!((180..=200).contains(&last), "{last}");
}

#[test]
fn reno_saws_between_half_and_full_pipe() {
    // 101 packets are under way without a queue; 100 more wait.
    let mut network = Network::new(&config(Congestion::Reno), 100);
    // The overshoot of slow start loses some 200 packets, and recovers one a round trip.
    network.run(seconds(60));
    let (before, early) = (network.receiver.next(), network.sender.events());

    network.run(seconds(360));
    let settled = || network.windows.iter().filter(|(at, _)| *at > 60 * SECOND).map(|(_, window)| *window);
    let smallest = settled().fold(f64::INFINITY, f64::min);
    assert!((98.0..=104.0).contains(&smallest), "{smallest}");
    // A pipe with a buffer of its own size never runs empty.
    let carried = network.receiver.next() - before;
    assert!(carried > 297_000, "{carried} of 300000");
    assert_eq!(network.sender.events().timeouts, early.timeouts);
    // From 101 to 202 by one a round trip, of 101 ms to 201 ms as the queue fills: 15.3 s.
    let teeth = f64::from(u32::try_from(network.sender.events().recoveries - early.recoveries).unwrap());
    assert!((teeth - 300.0 / 15.3).abs() < 3.0, "{teeth}");
}

/// Packets a second under a law of loss, over the square-root law's: `sqrt(3/2) / (RTT sqrt p)`.
fn over_square_root_law(p: f64, lost: impl FnMut(u64) -> bool) -> f64 {
    let mut lost = lost;
    let fate = move |sent, _| if lost(sent) { Fate::Lost } else { Fate::Passes };
    let mut network = fast(&config(Congestion::Reno)).with_fate(fate);
    network.run(seconds(2000));
    network.throughput() * 0.1 * p.sqrt() / 1.5_f64.sqrt()
}

#[test]
fn reno_follows_the_square_root_law_under_periodic_loss() {
    // Mathis, Semke, Mahdavi, Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997:
    // teeth from W/2 to W, one loss each. Their law counts windows alone; the round trip of each recovery and the
    // integer steps leave a few percent.
    for period in [200, 1000, 5000] {
        let ratio = over_square_root_law(1.0 / period as f64, |sent| sent % period == period - 1);
        assert!((0.92..=1.04).contains(&ratio), "one in {period}: {ratio}");
    }
}

#[test]
fn reno_follows_the_square_root_law_under_random_loss() {
    // Independent losses make teeth of unequal size, which costs Reno up to a tenth, and now and then a timeout.
    for period in [200_u64, 1000] {
        let mut state = 1_u64;
        let ratio = over_square_root_law(1.0 / period as f64, |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).is_multiple_of(period)
        });
        assert!((0.85..=1.15).contains(&ratio), "one in {period}: {ratio}");
    }
}

#[test]
fn cubic_follows_its_function_after_a_loss() {
    let mut network = fast(&config(Congestion::Cubic)).with_fate(|sent, _| {
        // After seven round trips of slow start, the window is about 1,280 packets.
        if sent == 1500 { Fate::Lost } else { Fate::Passes }
    });
    network.run(seconds(20));
    let events = network.sender.events();
    assert_eq!((events.recoveries, events.timeouts), (1, 0));
    let lost = network.sent[1500].0;
    // The window when the loss is noticed, of which 0.7 are left; the epoch begins after the recovery.
    let plateau = network.windows.windows(2).find(|pair| pair[1].1 < pair[0].1).unwrap()[0].1;
    let reduced = network.windows.iter().position(|pair| pair.0 > lost + 250 * MILLISECOND).unwrap();
    let (began, start) = network.windows[reduced];
    assert!((start - 0.7 * plateau).abs() < 0.02 * plateau, "{start} of {plateau}");
    let inflection = ((plateau - start) / 0.4).cbrt();
    for (at, window) in &network.windows[reduced..] {
        let time = (at - began) as f64 / 1e9;
        let expected = 0.4 * (time - inflection).powi(3) + plateau;
        // The function runs a round trip ahead: its steepest slope here is 0.4 * 3 * 10^2 packets a second.
        assert!((window - expected).abs() < 0.02 * expected + 12.0, "at {time} s: {window}, not {expected}");
    }
}

#[test]
fn cubic_keeps_up_with_reno_where_windows_are_small() {
    let run = |congestion| {
        let fate = |sent, _| if sent % 200 == 199 { Fate::Lost } else { Fate::Passes };
        let mut network = fast(&config(congestion)).with_fate(fate);
        network.propagation = Nanos::new(10 * MILLISECOND);
        network.run(seconds(200));
        network.throughput()
    };
    let ratio = run(Congestion::Cubic) / run(Congestion::Reno);
    assert!((0.9..1.3).contains(&ratio), "{ratio}");
}

#[test]
fn a_burst_of_losses_is_recovered_without_a_timeout() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let config = Config { packets: Some(2000), ..config(congestion) };
        let mut network = fast(&config).with_fate(|sent, _| {
            // Six packets of a window of 80, sent once.
            if [100, 101, 105, 110, 111, 119].contains(&sent) { Fate::Lost } else { Fate::Passes }
        });
        network.run(seconds(60));
        assert!(network.sender.finished());
        let events = network.sender.events();
        assert_eq!((events.timeouts, events.recoveries, events.retransmissions), (0, 1, 6), "{congestion:?}");
    }
}

#[test]
fn a_packet_lost_twice_is_recovered_by_the_timer_and_nothing_else_is_sent_again() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let config = Config { packets: Some(2000), ..config(congestion) };
        let mut times = 0;
        let mut network = fast(&config).with_fate(|_, number| {
            times += u32::from(number == 100);
            if number == 100 && times <= 2 { Fate::Lost } else { Fate::Passes }
        });
        network.run(seconds(60));
        assert!(network.sender.finished());
        let events = network.sender.events();
        assert_eq!((events.timeouts, events.recoveries, events.retransmissions), (1, 1, 2), "{congestion:?}");
    }
}

#[test]
fn the_overshoot_of_slow_start_is_recovered_within_seconds() {
    // 167 packets are under way in 200 ms without a queue; 100 more wait.
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let mut network = Network::new(&Config { window: 1024, ..config(congestion) }, 100);
        network.service = Nanos::new(1_200_000);
        network.propagation = Nanos::new(200 * MILLISECOND);
        network.run(seconds(10));
        let before = network.receiver.next();
        network.run(seconds(60));
        let share = (network.receiver.next() - before) as f64 * 1.2e-3 / 50.0;
        assert!(share > 0.93, "{congestion:?}: {share}");
        assert!(network.sender.events().timeouts <= 1, "{congestion:?}");
    }
}

#[test]
fn the_tail_of_a_transfer_is_recovered_by_the_timer() {
    let config = Config { packets: Some(10), ..config(Congestion::Reno) };
    let mut network = fast(&config).with_fate(|sent, _| if sent == 9 { Fate::Lost } else { Fate::Passes });
    network.run(seconds(60));
    assert!(network.sender.finished());
    assert_eq!(network.sender.events().timeouts, 1);
    // Of the first packet, 100 ms: 100 + 4 * 50 after the last progress at 100 ms.
    let (at, number) = network.sent[10];
    assert_eq!((at / MILLISECOND, number), (400, 9));
}

#[test]
fn timeouts_back_off_to_a_minute() {
    let mut network = fast(&config(Congestion::Reno)).with_fate(|_, _| Fate::Lost);
    network.run(seconds(400));
    let times: Vec<u64> = network.sent[10..].iter().map(|(at, _)| at / SECOND).collect();
    // 1 s, then doubled: 1, 3, 7, 15, 31, 63; a minute from there.
    assert_eq!(times, [1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363]);
    assert!(network.sent[10..].iter().all(|(_, number)| *number == 0));
    assert!((network.sender.window() - 1.0).abs() < 1e-9);
}

#[test]
fn marks_reduce_the_window_once_a_round_trip_and_nothing_is_sent_again() {
    let mut network = fast(&config(Congestion::Reno))
        .with_fate(|_, number| if (300..400).contains(&number) { Fate::Marked } else { Fate::Passes });
    network.run(seconds(3));
    let events = network.sender.events();
    // The marked packets are of two windows at most.
    assert!((1..=2).contains(&events.marks), "{events:?}");
    assert_eq!((events.retransmissions, events.timeouts, network.dropped), (0, 0, 0));
}

#[test]
fn acknowledgements_of_nothing_sent_are_ignored() {
    let mut network = fast(&config(Congestion::Reno));
    let now = Instant::ZERO;
    assert_eq!(network.sender.next(now), Some(0));
    let ack = |packets| {
        let mut receiver = Receiver::new(10);
        (0..packets).map(|number| receiver.on_packet(number, true)).last().expect("packets")
    };
    network.sender.on_ack(now, &ack(5));
    network.sender.on_timer(now);
    assert_eq!(network.sender.events().timeouts, 0);
    network.sender.on_ack(now, &ack(1));
    assert_eq!(network.sender.timer(), None);
    assert_eq!(network.sender.next(now), Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transfer_finishes_whatever_is_lost(
        cubic in any::<bool>(),
        packets in 1..400_u64,
        window in 1..60_u32,
        buffer in 0..40_usize,
        lost in prop::collection::vec(any::<bool>(), 0..300),
        acks_lost in prop::collection::vec(any::<bool>(), 0..300),
        marked in 0..10_u64,
    ) {
        let congestion = if cubic { Congestion::Cubic } else { Congestion::Reno };
        let config = Config { packets: Some(packets), window, first_window: window, ..config(congestion) };
        let mut network = Network::new(&config, buffer).with_fate(|sent, _| {
            match lost.get(usize::try_from(sent).unwrap()) {
                Some(true) => Fate::Lost,
                _ if sent % 10 < marked => Fate::Marked,
                _ => Fate::Passes,
            }
        });
        network.ack_lost = Box::new(|ack| acks_lost.get(usize::try_from(ack).unwrap()).copied().unwrap_or(false));
        network.run(seconds(1_000_000));
        prop_assert!(network.sender.finished());
        prop_assert_eq!(network.receiver.next(), packets);
        prop_assert_eq!(network.sender.timer(), None);
        prop_assert!(network.sender.window() >= 1.0);
        let events = network.sender.events();
        prop_assert_eq!(network.sent.len() as u64, packets + events.retransmissions);
    }
}
