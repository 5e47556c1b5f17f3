//! Figures of queues without memory, and of those in which the law of service does not matter.

use super::family::Family;
use super::{Figure, FigureError, Given, Unit};
use crate::kendall::{Kendall, Order};
use crate::{Markov, MarkovMeans, MarkovQueue};

/// Which shares of the waits are given.
pub(super) const QUANTILES: [(&str, f64); 3] = [("wait_p50", 0.5), ("wait_p90", 0.9), ("wait_p99", 0.99)];

const LITTLE: &str = "Little 1961";

pub(super) fn figures(queue: &Kendall, given: &Given, family: Family) -> Result<Vec<Figure>, FigureError> {
    let (arrival, service) = (given.arrival.unwrap_or(0.0), given.service.unwrap_or(0.0));
    let markov = Markov {
        arrival,
        service: 1.0 / service,
        servers: queue.servers,
        places: queue.places,
        sources: queue.sources,
        patience: queue.patience.and(given.patience).map_or(0.0, |mean| 1.0 / mean),
    };
    let source = if family == Family::Unlimited { LITTLE } else { source_of(queue) };
    if queue.servers.is_none() && queue.sources.is_none() {
        // No chain, which could have more states than fit: nobody waits.
        return Ok(vec![
            Figure::exact("mean_response", service, Unit::Time, source),
            Figure::exact("mean_number_in_system", arrival * service, Unit::Customers, source),
        ]);
    }
    let solved = MarkovQueue::new(markov)?;
    let means = solved.means();
    let mut found = of_means(queue, &means, source);
    if queue.order == Order::Fcfs && means.waits > 0.0 {
        for (metric, below) in QUANTILES {
            found.push(Figure::exact(metric, solved.wait_quantile(below)?, Unit::Time, source));
        }
    }
    Ok(found)
}

/// The figures that the means of a queue are.
fn of_means(queue: &Kendall, means: &MarkovMeans, source: &'static str) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut add = |metric, value, unit| found.push(Figure::exact(metric, value, unit, source));
    if let Some(utilisation) = means.utilisation {
        add("utilisation", utilisation, Unit::Share);
    }
    let is_preemptive = matches!(queue.order, Order::Ps | Order::LcfsPr | Order::Las);
    let has_queue = queue.servers.is_some() && queue.places != queue.servers;
    let waits = has_queue && !is_preemptive;
    if waits {
        add("probability_of_waiting", means.waits, Unit::Share);
    }
    if queue.places.is_some() {
        add("loss", means.lost, Unit::Share);
    }
    if queue.patience.is_some() {
        add("abandonment", means.abandoned, Unit::Share);
    }
    if waits {
        add("mean_wait", means.wait, Unit::Time);
    }
    if let (Order::Fcfs, Some(abandoned)) = (queue.order, means.wait_of_abandoned) {
        add("mean_wait_of_served", means.wait_of_served, Unit::Time);
        add("mean_wait_of_abandoned", abandoned, Unit::Time);
    }
    add("mean_response", means.response, Unit::Time);
    if waits {
        add("mean_number_waiting", means.waiting, Unit::Customers);
    }
    add("mean_number_in_system", means.waiting + means.busy, Unit::Customers);
    found
}

fn source_of(queue: &Kendall) -> &'static str {
    let has_places = queue.places != queue.servers;
    match (queue.servers, queue.sources, queue.patience, queue.places) {
        (None, None, ..) => "Palm 1943, M/G/∞",
        (None, Some(_), ..) => "Engset 1918, a server for each",
        (_, _, Some(_), _) => "Palm 1957, Erlang-A",
        (_, Some(_), None, _) if !has_places => "Engset 1918",
        (_, Some(_), None, _) => "Palm 1947, machine repair",
        (_, None, None, Some(_)) if !has_places => "Erlang 1917, B",
        (_, None, None, Some(_)) => "Kleinrock 1975, section 3.6",
        _ => "Erlang 1917, C",
    }
}
