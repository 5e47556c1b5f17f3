//! From what was gathered to the rows of a result.

use crate::collector::Metric;
use crate::gathered::{CLOCK, Gathered};
use crate::outcome::{ClassRow, Difference, Distribution, Figure, OfClass, Ratio, Subject};
use weir_lab::stats::figure::{ALL, Title};
use weir_lab::stats::{Bins, Histogram, Linearised, Measure, QUANTILES, Unavailable, fairness};

/// The units in which a result is told, and its classes.
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

/// All figures of one discipline.
#[must_use]
pub fn of_discipline(gathered: &Gathered, frame: &Frame) -> Vec<Figure> {
    let mut figures = Vec::new();
    for place in 0..gathered.metrics.len() {
        for (class, name) in frame.every_class() {
            let histograms = gathered.has_tails().then(|| gathered.histograms(place, class));
            let mean = gathered.mean(place, class);
            figures.extend(of_subject((gathered, frame), place, &Subject::new(name), mean, histograms));
        }
    }
    figures.extend(packet_periods(gathered, frame));
    figures.extend(of_flows(gathered, frame));
    figures.push(utilisation(gathered));
    figures
}

/// The mean of a metric, its quantiles and its maximum where there are histograms.
fn of_subject(
    (gathered, frame): (&Gathered, &Frame),
    place: usize,
    subject: &Subject,
    mean: Result<Linearised, Unavailable>,
    histograms: Option<Vec<Histogram>>,
) -> Vec<Figure> {
    let metric = gathered.metrics[place];
    let figure = |statistic, measure: &Measure| {
        let (metric, unit) = (metric.name(), frame.unit(metric));
        let title = Title { subject: subject.clone(), metric, statistic, unit };
        Figure::new(Some(&gathered.name), title, measure)
    };
    let tails = histograms.map(|histograms| tails(gathered, place, &histograms));
    let tails = tails.into_iter().flatten().map(|(name, measure)| figure(name, &measure));
    [figure("mean", &mean.into())].into_iter().chain(tails).collect()
}

/// The quantiles and the maximum of a metric.
fn tails(gathered: &Gathered, metric: usize, histograms: &[Histogram]) -> [(&'static str, Measure); 5] {
    let quantile = |(name, p)| (name, gathered.quantile(metric, histograms, p));
    let [p50, p90, p99, p999] = QUANTILES.map(quantile);
    [p50, p90, p99, p999, ("max", gathered.maximum(metric, histograms))]
}

/// The effective packet period of each class of one length: `(latency + 1) / length` (alpha report, section
/// 12), its extremes over the classes, and the slowdown, which is the same in mean packet services.
fn packet_periods(gathered: &Gathered, frame: &Frame) -> Vec<Figure> {
    let Some(service) = frame.packet.map(|service| service / CLOCK) else { return Vec::new() };
    let periods: Vec<_> =
        (0..gathered.classes).filter_map(|class| packet_period(gathered, frame, service, class)).collect();
    let name = Some(gathered.name.as_str());
    let period = |class: &str, statistic, measure: &Measure| {
        let subject = Subject::new(class);
        let title = Title { subject, metric: "packet_period", statistic, unit: frame.time_unit };
        Figure::new(name, title, measure)
    };
    let slowdown = |class: &str, mean: &Linearised| {
        Figure::new(name, Title::mean(Subject::new(class), "slowdown", "1"), &mean.estimate())
    };
    // Where slowdowns are measured message by message, these are among their means.
    let is_new = !gathered.metrics.contains(&Metric::Slowdown);
    let mut figures = Vec::new();
    for (class, mean) in &periods {
        figures.push(period(class, "mean", &mean.estimate()));
        figures.extend(is_new.then(|| slowdown(class, &mean.clone().times(1.0 / service))));
    }
    if let Ok(extremes) = fairness::extremes(periods.iter().map(|(class, mean)| (*class, mean.estimate()))) {
        figures.push(period(extremes.least.0, "min", &extremes.least.1));
        figures.push(period(extremes.most.0, "max", &extremes.most.1));
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
    Some((row.name.as_str(), fairness::effective_packet_period(latency, service, length).ok()?))
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
fn of_flows(gathered: &Gathered, frame: &Frame) -> Vec<Figure> {
    let served: u64 = gathered.served.iter().sum();
    let mut figures = Vec::new();
    for (flow, &own) in gathered.served.iter().enumerate() {
        let share = match served {
            0 => Unavailable::NoObservations.into(),
            served => Measure::observed(own as f64 / served as f64, own),
        };
        figures.push(share_of(gathered, Subject::flow(flow), "bandwidth_share", &share));
        let histograms = gathered.has_tails().then(|| gathered.flow_histograms(flow));
        let histograms = histograms.filter(|histograms| !histograms.is_empty());
        let mean = gathered.flow_mean(flow);
        figures.extend(of_subject((gathered, frame), 0, &Subject::flow(flow), mean, histograms));
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
pub fn queue_length(gathered: &Gathered, discipline: Option<&str>) -> Figure {
    let measure = Measure::from(gathered.queue_length());
    Figure::new(discipline, Title::mean(Subject::new(ALL), "queue", "pkt"), &measure)
}

/// The paired differences of one discipline from the reference, class by class.
#[must_use]
pub fn differences(gathered: &Gathered, reference: &Gathered, frame: &Frame) -> Vec<Difference> {
    let mut rows = Vec::new();
    for (place, &metric) in gathered.metrics.iter().enumerate() {
        for (class, name) in frame.every_class() {
            let both = gathered.mean(place, class).and_then(|own| Ok((own, reference.mean(place, class)?)));
            let apart = both.as_ref().map_err(|&reason| reason).map(|(own, other)| own.minus(other)).into();
            let ratio = both.and_then(|(own, other)| own.over(&other)).into();
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
            let mut whole = Histogram::new();
            gathered.histograms(place, class).iter().for_each(|section| whole.merge(section));
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
