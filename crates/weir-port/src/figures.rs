//! From what was gathered to the rows of a result.

use std::borrow::Cow;

use crate::build;
use crate::collector::Metric;
use crate::gathered::{CLOCK, Gathered};
use crate::model::{Clock, PortScenario, Service};
use crate::outcome::{ClassRow, Difference, Distribution, Figure, OfClass, Ratio, Subject};
use crate::settling::Sufficiency;
use weir_lab::scenario::need::{MEANS, Measured, Metric as NeedMetric, Subjects, TAILS};
use weir_lab::stats::figure::{ALL, Title};
use weir_lab::stats::settled;
use weir_lab::stats::{Bins, Histogram, Linearised, Measure, QUANTILES, Unavailable, fairness};
use weir_workload::MessageClasses;

/// The units in which a result is reported, and its classes.
#[derive(Clone, Debug)]
pub struct Frame {
    /// `u` or `s`.
    pub time_unit: &'static str,
    /// The classes, `all` first.
    pub classes: Vec<ClassRow>,
    /// The mean service of a packet in nanoseconds, where the port serves packets.
    pub packet: Option<f64>,
    /// Whether all that conserve work accept packets at the same instants: not where what arrives depends on
    /// them, nor where messages are served whole.
    pub shared_instants: bool,
    /// By how much the first metric outlasts a message's presence, which ends where its last packet is
    /// accepted.
    pub transmission: f64,
    /// Whether what came before the measured part is as what comes in it.
    pub is_steady: bool,
}

impl Frame {
    /// The unit of a metric.
    #[must_use]
    pub fn unit(&self, metric: Metric) -> &'static str {
        if metric == Metric::Slowdown { "1" } else { self.time_unit }
    }

    /// Every class with its name: `None` is all of them.
    fn every_class(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        self.classes.iter().enumerate().map(|(place, class)| (place.checked_sub(1), class.name.as_str()))
    }
}

/// The unit of reported times.
#[must_use]
pub fn time_unit(port: &PortScenario) -> &'static str {
    match port.clock {
        Clock::PacketServices => "u",
        Clock::Seconds => "s",
    }
}

/// What there are figures of, for needs.
#[must_use]
pub fn measured(port: &PortScenario) -> Measured {
    let time_unit = time_unit(port);
    let statistics = if port.measure.tails { TAILS } else { MEANS };
    let timed = |metric: Metric| {
        let unit = if metric == Metric::Slowdown { "1" } else { time_unit };
        NeedMetric::new(metric.name(), statistics, unit)
    };
    let times: Vec<NeedMetric> = build::metrics(port).into_iter().map(timed).collect();
    let of_one_length =
        matches!((port.service, &port.classes), (Service::Packets(_), MessageClasses::Lengths(_)));
    let slowdown = of_one_length.then_some(NeedMetric::new(Metric::Slowdown.name(), MEANS, "1"));
    let period = of_one_length.then_some(NeedMetric::new("packet_period", MEANS, time_unit));
    let utilisation = NeedMetric::new("utilisation", &["share"], "1");
    let share = NeedMetric::new("bandwidth_share", &["share"], "1");
    let names = port.classes.names(port.unit.symbol());
    let flows: Vec<String> = (0..build::flows(port)).map(|flow| flow.to_string()).collect();
    let all = times.iter().copied().chain(slowdown).chain([utilisation]).collect();
    let of_class = times.iter().copied().chain(slowdown).chain(period).collect();
    let of_flow = times.iter().copied().take(1).chain([share]).collect();
    let subjects = vec![
        Subjects::all(all),
        Subjects::named("class", names.iter().map(String::as_str), of_class),
        Subjects::named("flow", flows.iter().map(String::as_str), of_flow),
    ];
    Measured { subjects, loads: Vec::new() }
}

/// All figures of one discipline.
#[must_use]
pub fn of_discipline(gathered: &Gathered, frame: &Frame, enough: &Sufficiency) -> Vec<Figure> {
    let mut figures = Vec::new();
    for place in 0..gathered.metrics.len() {
        for (class, name) in frame.every_class() {
            let histograms = gathered.has_tails().then(|| gathered.histograms(place, class));
            let mean = enough.mean_of(gathered, place, class);
            let subject = Subject::new(name);
            figures.extend(of_subject((gathered, frame, enough), place, &subject, &mean, histograms));
        }
    }
    figures.extend(packet_periods(gathered, frame, enough));
    figures.extend(of_flows(gathered, frame, enough));
    figures.push(utilisation(gathered));
    figures
}

/// The mean of a metric, its quantiles and its maximum where there are histograms.
fn of_subject(
    (gathered, frame, enough): (&Gathered, &Frame, &Sufficiency),
    place: usize,
    subject: &Subject,
    mean: &Measure,
    histograms: Option<Vec<Cow<'_, Histogram>>>,
) -> Vec<Figure> {
    let metric = gathered.metrics[place];
    let figure = |statistic, measure: &Measure| {
        let (metric, unit) = (metric.name(), frame.unit(metric));
        let title = Title { subject: subject.clone(), metric, statistic, unit };
        Figure::new(Some(&gathered.name), title, measure)
    };
    let tails = histograms.map(|histograms| tails((gathered, enough), place, &histograms));
    let tails = tails.into_iter().flatten().map(|(name, measure)| figure(name, &measure));
    [figure("mean", mean)].into_iter().chain(tails).collect()
}

/// The quantiles and the maximum of a metric.
fn tails(
    (gathered, enough): (&Gathered, &Sufficiency),
    metric: usize,
    histograms: &[Cow<'_, Histogram>],
) -> [(&'static str, Measure); 5] {
    let made = gathered.quantiles(metric, histograms, QUANTILES.map(|(_, p)| p));
    let judged = |place: usize| {
        let (name, p) = QUANTILES[place];
        (name, enough.quantile(&gathered.name, made[place], p))
    };
    let [p50, p90, p99, p999] = [0, 1, 2, 3].map(judged);
    [p50, p90, p99, p999, ("max", gathered.maximum(metric, histograms))]
}

/// The effective packet period of each class of one length: `(latency + 1) / length` (alpha report, section
/// 12), its extremes over the classes, and the slowdown, which is the same in mean packet services.
fn packet_periods(gathered: &Gathered, frame: &Frame, enough: &Sufficiency) -> Vec<Figure> {
    let Some(service) = frame.packet.map(|service| service / CLOCK) else { return Vec::new() };
    let periods: Vec<_> =
        (0..gathered.classes).filter_map(|class| packet_period(gathered, frame, service, class)).collect();
    // What is made of means needs what they need.
    let needs = |class: &str| {
        let place = frame.classes.iter().position(|row| row.name == class).and_then(|at| at.checked_sub(1));
        enough.mean_of(gathered, 0, place).settled()
    };
    let name = Some(gathered.name.as_str());
    let period = |class: &str, statistic, measure: &Measure| {
        let subject = Subject::new(class);
        let title = Title { subject, metric: "packet_period", statistic, unit: frame.time_unit };
        Figure::new(name, title, measure)
    };
    let slowdown = |class: &str, mean: &Linearised| {
        let measure = mean.estimate().needing(needs(class));
        Figure::new(name, Title::mean(Subject::new(class), "slowdown", "1"), &measure)
    };
    // Where slowdowns are measured message by message, these are among their means.
    let is_new = !gathered.metrics.contains(&Metric::Slowdown);
    let mut figures = Vec::new();
    for (class, mean) in &periods {
        figures.push(period(class, "mean", &mean.estimate().needing(needs(class))));
        figures.extend(is_new.then(|| slowdown(class, &mean.clone().times(1.0 / service))));
    }
    if let Ok(extremes) = fairness::extremes(periods.iter().map(|(class, mean)| (*class, mean.estimate()))) {
        for (statistic, (class, measure)) in [("min", extremes.least), ("max", extremes.most)] {
            figures.push(period(class, statistic, &measure.needing(needs(class))));
        }
    }
    let over_all = over_all(gathered, &periods).filter(|_| is_new);
    figures.extend(over_all.map(|mean| slowdown(ALL, &mean.times(1.0 / service))));
    figures
}

fn packet_period<'a>(
    gathered: &Gathered,
    frame: &'a Frame,
    service: f64,
    class: usize,
) -> Option<(&'a str, Linearised)> {
    let row = &frame.classes[class + 1];
    let length = u32::try_from(row.low.filter(|low| row.high == Some(*low))?).ok()?;
    let latency = gathered.mean(0, Some(class)).ok()?;
    Some((row.name.as_str(), fairness::effective_packet_period(latency.clone(), service, length).ok()?))
}

/// The mean over all messages of what is known class by class, each class with its share of them; `None`
/// unless every class with messages is among them.
fn over_all(gathered: &Gathered, classes: &[(&str, Linearised)]) -> Option<Linearised> {
    let counted: u64 = classes.iter().map(|(_, mean)| mean.count()).sum();
    let share = |mean: &Linearised| mean.count() as f64 / counted as f64;
    let parts = classes.iter().map(|(_, mean)| mean.clone().times(share(mean)));
    parts.reduce(|sum, part| sum.plus(&part)).filter(|_| counted == gathered.counted())
}

/// The first metric and the share of bandwidth of each application, where there are several.
fn of_flows(gathered: &Gathered, frame: &Frame, enough: &Sufficiency) -> Vec<Figure> {
    let mut figures = Vec::new();
    for flow in 0..gathered.served.len() {
        let share = settled::by_itself(gathered.flow_share(flow).into(), 0.0, settled::error_of("1"));
        figures.push(share_of(gathered, Subject::flow(flow), "bandwidth_share", &share));
        let histograms = gathered.has_tails().then(|| gathered.flow_histograms(flow));
        let histograms = histograms.filter(|histograms| !histograms.is_empty());
        let mean = enough.mean(&gathered.name, gathered.flow_mean(flow).into(), gathered.least(0, None));
        let subject = Subject::flow(flow);
        figures.extend(of_subject((gathered, frame, enough), 0, &subject, &mean, histograms));
    }
    figures
}

fn share_of(gathered: &Gathered, subject: Subject, metric: &'static str, share: &Measure) -> Figure {
    let title = Title { subject, metric, statistic: "share", unit: "1" };
    Figure::new(Some(&gathered.name), title, share)
}

fn utilisation(gathered: &Gathered) -> Figure {
    let (busy, time) = (gathered.total_time(|state| state.busy), gathered.total_time(|state| state.now));
    let measure = match time {
        0 => Unavailable::NoObservations.into(),
        time => Measure::observed(busy as f64 / time as f64, gathered.total(|state| state.ticks)),
    };
    share_of(gathered, Subject::new(ALL), "utilisation", &measure)
}

/// The queue monitor, under the name of a discipline, or as what all of them share.
#[must_use]
pub fn queue_length(gathered: &Gathered, enough: &Sufficiency, discipline: Option<&str>) -> Figure {
    let measure = enough.queue_length(gathered);
    Figure::new(discipline, Title::mean(Subject::new(ALL), "queue", "pkt"), &measure)
}

/// The paired differences of one discipline from the reference, class by class.
#[must_use]
pub fn differences(
    gathered: &Gathered,
    reference: &Gathered,
    frame: &Frame,
    enough: &Sufficiency,
) -> Vec<Difference> {
    let mut rows = Vec::new();
    for (place, &metric) in gathered.metrics.iter().enumerate() {
        for (class, name) in frame.every_class() {
            let both = gathered.mean(place, class).and_then(|own| Ok((own, reference.mean(place, class)?)));
            let apart: Measure =
                both.as_ref().map_err(|&reason| reason).map(|(own, other)| own.minus(other)).into();
            let [own, other] = [gathered, reference].map(|of| enough.mean_of(of, place, class).settled());
            let apart = apart.needing(own.and(other));
            let ratio = both.and_then(|(own, other)| own.over(other)).into();
            let subject = OfClass { class: name.to_owned() };
            let title = Title::mean(subject, metric.name(), frame.unit(metric));
            let names = [gathered.name.as_str(), &reference.name];
            rows.push(Difference::new(names, title, &apart, Ratio::new(&ratio)));
        }
    }
    rows
}

/// The distributions of one discipline.
#[must_use]
pub fn distributions(gathered: &Gathered, frame: &Frame) -> Vec<Distribution> {
    let mut rows = Vec::new();
    for (place, &metric) in gathered.metrics.iter().enumerate() {
        for (class, name) in frame.every_class() {
            let whole = gathered.histogram(place, class);
            let scale = gathered.scale(metric);
            rows.push(Distribution {
                discipline: gathered.name.clone(),
                subject: OfClass { class: name.to_owned() },
                metric: metric.name(),
                bins: Bins::new(&whole, frame.unit(metric), |time| time * scale),
            });
        }
    }
    rows
}
