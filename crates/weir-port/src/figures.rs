//! From what was gathered to the rows of a result.

use crate::collector::Metric;
use crate::gathered::{CLOCK, Gathered, scale};
use crate::outcome::{ClassRow, Difference, Distribution, Figure};
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
    for (place, &metric) in gathered.metrics.iter().enumerate() {
        for (class, name) in frame.every_class() {
            figures.extend(of_class(gathered, frame, place, metric, class, name));
        }
    }
    figures.extend(packet_periods(gathered, frame));
    figures.extend(of_flows(gathered, frame));
    figures.push(utilisation(gathered));
    figures
}

fn of_class(
    gathered: &Gathered,
    frame: &Frame,
    place: usize,
    metric: Metric,
    class: Option<usize>,
    name: &str,
) -> Vec<Figure> {
    let figure = |statistic, measure: &Measure| {
        let unit = frame.unit(metric);
        Figure::new(Some(&gathered.name), name, metric.name(), statistic, unit, measure)
    };
    let histograms = gathered.histograms(place, class);
    let mut figures = vec![figure("mean", &Measure::from(gathered.mean(place, class)))];
    if gathered.has_tails() {
        figures.extend(tails(gathered, place, &histograms).map(|(name, measure)| figure(name, &measure)));
    }
    figures
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
        Figure::new(name, class, "packet_period", statistic, frame.time_unit, measure)
    };
    let slowdown =
        |class: &str, mean: &Linearised| Figure::new(name, class, "slowdown", "mean", "1", &mean.estimate());
    let mut figures = Vec::new();
    for (class, mean) in &periods {
        figures.push(period(class, "mean", &mean.estimate()));
        figures.push(slowdown(class, &mean.clone().times(1.0 / service)));
    }
    if let Ok(extremes) = fairness::extremes(periods.iter().map(|(class, mean)| (*class, mean.estimate()))) {
        figures.push(period(extremes.least.0, "min", &extremes.least.1));
        figures.push(period(extremes.most.0, "max", &extremes.most.1));
    }
    figures.extend(over_all(gathered, &periods).map(|mean| slowdown("all", &mean.times(1.0 / service))));
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
        let name = Some(gathered.name.as_str());
        figures.push(Figure::new(name, "all", "bandwidth_share", "share", "1", &share).of_flow(flow));
        figures.extend(of_flow(gathered, frame, flow));
    }
    figures
}

fn of_flow(gathered: &Gathered, frame: &Frame, flow: usize) -> Vec<Figure> {
    let metric = gathered.metrics[0];
    let figure = |statistic, measure: &Measure| {
        let unit = frame.unit(metric);
        Figure::new(Some(&gathered.name), "all", metric.name(), statistic, unit, measure).of_flow(flow)
    };
    let mut figures = vec![figure("mean", &Measure::from(gathered.flow_mean(flow)))];
    let histograms = gathered.flow_histograms(flow);
    if gathered.has_tails() && !histograms.is_empty() {
        figures.extend(tails(gathered, 0, &histograms).map(|(name, measure)| figure(name, &measure)));
    }
    figures
}

fn utilisation(gathered: &Gathered) -> Figure {
    let (busy, time) = (gathered.total_time(|state| state.busy), gathered.total_time(|state| state.now));
    let measure = match time {
        0 => Unavailable::NoObservations.into(),
        time => Measure::observed(busy as f64 / time as f64, gathered.total(|state| state.ticks)),
    };
    Figure::new(Some(&gathered.name), "all", "utilisation", "share", "1", &measure)
}

/// The queue monitor, under the name of a discipline, or as what all of them share.
#[must_use]
pub fn queue_length(gathered: &Gathered, discipline: Option<&str>) -> Figure {
    let measure = Measure::from(gathered.queue_length());
    Figure::new(discipline, "all", "queue", "mean", "pkt", &measure)
}

/// The paired differences of one discipline from the reference, class by class.
#[must_use]
pub fn differences(gathered: &Gathered, reference: &Gathered, frame: &Frame) -> Vec<Difference> {
    let mut rows = Vec::new();
    for (place, &metric) in gathered.metrics.iter().enumerate() {
        for (class, name) in frame.every_class() {
            let both = gathered.mean(place, class).and_then(|own| Ok((own, reference.mean(place, class)?)));
            let row = difference(both, [&gathered.name, &reference.name], name, metric.name());
            rows.push(Difference { unit: frame.unit(metric), ..row });
        }
    }
    rows
}

fn difference(
    both: Result<(Linearised, Linearised), Unavailable>,
    names: [&str; 2],
    class: &str,
    metric: &'static str,
) -> Difference {
    let difference: Measure = both.as_ref().map_err(|&reason| reason).map(|(a, b)| a.minus(b)).into();
    let ratio: Measure = both.and_then(|(a, b)| a.over(&b)).into();
    let (apart, over) = (difference.as_estimate(), ratio.as_estimate());
    let reason = match difference {
        Measure::NotAvailable { reason } => Some(reason.to_string()),
        _ => None,
    };
    Difference {
        discipline: names[0].to_owned(),
        reference: names[1].to_owned(),
        class: class.to_owned(),
        metric,
        statistic: "mean",
        value: difference.value(),
        low: apart.map(|e| e.low()),
        high: apart.map(|e| e.high()),
        ratio: ratio.value(),
        ratio_low: over.map(|e| e.low()),
        ratio_high: over.map(|e| e.high()),
        ratio_standard_error: over.map(|e| e.standard_error()),
        unit: "",
        reason,
    }
}

/// The distributions of one discipline.
#[must_use]
pub fn distributions(gathered: &Gathered, frame: &Frame) -> Vec<Distribution> {
    let mut rows = Vec::new();
    for (place, &metric) in gathered.metrics.iter().enumerate() {
        for (class, name) in frame.every_class() {
            let mut whole = Histogram::new();
            gathered.histograms(place, class).iter().for_each(|section| whole.merge(section));
            rows.push(distribution(&whole, gathered, name, metric, frame.unit(metric)));
        }
    }
    rows
}

fn distribution(
    histogram: &Histogram,
    gathered: &Gathered,
    class: &str,
    metric: Metric,
    unit: &'static str,
) -> Distribution {
    let scale = scale(metric);
    Distribution {
        discipline: gathered.name.clone(),
        class: class.to_owned(),
        metric: metric.name(),
        bins: Bins::new(histogram, unit, |time| time * scale),
    }
}
