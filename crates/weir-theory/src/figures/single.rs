//! Figures of queues with a general law: one server in any order, several by bounds and approximations.

use weir_workload::Sizes;

use super::family::Family;
use super::many::QUANTILES;
use super::{Figure, FigureError, Given, Status, Unit, scv_of};
use crate::kendall::{Arrivals, Kendall, Law, Order};
use crate::{
    Batch, Gaps, General, GiM1, Markov, MarkovQueue, Mg1, Policy, SizeLaw, TheoryError, batch_wait,
    check_load, md1n_loss, mdk_wait, mg1_wait,
};

const KHINCHINE: &str = "Pollaczek 1930, Khinchine 1932";
/// The most places of M/D/1/K, whose work grows with their square.
const MOST_PLACES: u32 = 20_000;
const LITTLE: &str = "Little 1961";

/// What the formulas take.
struct Asked {
    arrival: f64,
    service: f64,
    servers: u32,
    scv_service: f64,
}

pub(super) fn figures(queue: &Kendall, given: &Given, family: Family) -> Result<Vec<Figure>, FigureError> {
    let asked = Asked {
        arrival: given.arrival.unwrap_or(0.0),
        service: given.service.unwrap_or(0.0),
        servers: queue.servers.unwrap_or(1),
        scv_service: scv_of(queue.service, given.scv_service),
    };
    match family {
        Family::Single if queue.service == Law::Exponential => exponential(queue, &asked),
        Family::Single => single(queue, &asked),
        Family::Constant => constant(&asked),
        Family::ConstantLoss => constant_loss(&asked, queue.places.unwrap_or(1)),
        Family::Renewal => renewal(queue, &asked),
        Family::Batches => batches(queue, given, &asked),
        _ => general(queue, given, &asked),
    }
}

impl Asked {
    fn load(&self) -> Result<f64, FigureError> {
        let queue = General {
            arrival: self.arrival,
            service: self.service,
            servers: self.servers,
            scv_arrival: 1.0,
            scv_service: self.scv_service,
        };
        Ok(queue.load()?)
    }

    /// Wait, response and both numbers from the mean wait.
    fn by_wait(&self, rate: f64, wait: f64, status: Status, source: &'static str) -> Vec<Figure> {
        let response = wait + self.service;
        vec![
            Figure::exact("mean_wait", wait, Unit::Time, source).with(status),
            Figure::exact("mean_response", response, Unit::Time, source).with(status),
            Figure::exact("mean_number_waiting", rate * wait, Unit::Customers, source).with(status),
            Figure::exact("mean_number_in_system", rate * response, Unit::Customers, source).with(status),
        ]
    }

    /// Response and number present from the mean response.
    fn by_response(&self, response: f64, source: &'static str) -> Vec<Figure> {
        vec![
            Figure::exact("mean_response", response, Unit::Time, source),
            Figure::exact("mean_number_in_system", self.arrival * response, Unit::Customers, source),
        ]
    }
}

/// M/M/1: the chain knows more than the law of sizes, in orders that ignore sizes.
fn exponential(queue: &Kendall, asked: &Asked) -> Result<Vec<Figure>, FigureError> {
    let mut found = single(queue, asked)?;
    if queue.order == Order::Fcfs {
        let Asked { arrival, service, .. } = *asked;
        let (servers, places, sources) = (Some(1), None, None);
        let chain = Markov { arrival, service: 1.0 / service, servers, places, sources, patience: 0.0 };
        let solved = MarkovQueue::new(chain)?;
        for (metric, below) in QUANTILES {
            let source = "Erlang 1909, M/M/1";
            found.push(Figure::exact(metric, solved.wait_quantile(below)?, Unit::Time, source));
        }
    }
    Ok(found)
}

/// M/G/1 in one of the orders.
fn single(queue: &Kendall, asked: &Asked) -> Result<Vec<Figure>, FigureError> {
    let load = asked.load()?;
    let mut found = vec![Figure::exact("utilisation", load, Unit::Share, LITTLE)];
    let waits = Figure::exact("probability_of_waiting", load, Unit::Share, "Wolff 1982, PASTA");
    let fcfs = mg1_wait(asked.arrival, asked.service, asked.scv_service)?;
    let source = match queue.order {
        Order::Fcfs => KHINCHINE,
        Order::Lcfs | Order::Siro => "Pollaczek 1930, Khinchine 1932; Kingman 1962 for the order",
        _ => "",
    };
    if !source.is_empty() {
        found.push(waits);
        found.extend(asked.by_wait(asked.arrival, fcfs, Status::Exact, source));
        return Ok(found);
    }
    let (policy, source) = match queue.order {
        Order::LcfsPr => (Policy::Ps, "Kelly 1979, section 3.3"),
        Order::Sjf => (Policy::Sjf, "Cobham 1954, Phipps 1956"),
        Order::Psjf => (Policy::Psjf, "Jaiswal 1968"),
        Order::Srpt => (Policy::Srpt, "Schrage and Miller 1966"),
        Order::Las => (Policy::Las, "Schrage 1967"),
        _ => (Policy::Ps, "Kleinrock 1967; Sakata, Noguchi and Oizumi 1971"),
    };
    let response = asked.service * in_services(queue.service, policy, load)?;
    if policy == Policy::Sjf {
        found.push(waits);
        found.extend(asked.by_wait(asked.arrival, response - asked.service, Status::Exact, source));
    } else {
        found.extend(asked.by_response(response, source));
    }
    Ok(found)
}

/// The mean response in mean services. Sharing, and only it, is asked of laws other than the two that have a [`SizeLaw`].
fn in_services(service: Law, policy: Policy, load: f64) -> Result<f64, FigureError> {
    check_load(load)?;
    let law = match (service, policy) {
        (_, Policy::Ps) => return Ok(1.0 / (1.0 - load)),
        (Law::Constant, _) => Sizes::list(&[(1, 1.0)]).ok().map(|sizes| SizeLaw::from(&sizes)),
        _ => None,
    };
    Ok(Mg1::new(&law.unwrap_or_else(|| SizeLaw::exponential(1.0)), load)?.mean_response(policy))
}

fn constant(asked: &Asked) -> Result<Vec<Figure>, FigureError> {
    let load = asked.load()?;
    let wait = asked.service * mdk_wait(asked.servers, load)?;
    let mut found = vec![Figure::exact("utilisation", load, Unit::Share, LITTLE)];
    found.extend(asked.by_wait(asked.arrival, wait, Status::Exact, "Crommelin 1932"));
    Ok(found)
}

fn constant_loss(asked: &Asked, places: u32) -> Result<Vec<Figure>, FigureError> {
    if places > MOST_PLACES {
        let bound = "at most 20000 with constant service";
        let name = "number of places";
        return Err(TheoryError::Parameter { name, value: places.into(), bound }.into());
    }
    let load = asked.arrival * asked.service;
    // A loss below rounding may come out on the other side of 0.
    let loss = md1n_loss(places, load)?;
    let source = "Cooper 1981, section 5.9";
    Ok(vec![
        Figure::exact("utilisation", load * (1.0 - loss), Unit::Share, source),
        Figure::exact("loss", loss, Unit::Share, source),
    ])
}

fn renewal(queue: &Kendall, asked: &Asked) -> Result<Vec<Figure>, FigureError> {
    let gaps = match queue.arrivals {
        Arrivals::Single(Law::Erlang(phases)) => Gaps::Erlang(phases),
        _ => Gaps::Constant,
    };
    let load = asked.load()?;
    let solved = GiM1::new(gaps, asked.arrival, 1.0 / asked.service)?;
    let source = "Kendall 1953; Kleinrock 1975, section 6.4";
    let mut found = vec![
        Figure::exact("utilisation", load, Unit::Share, LITTLE),
        Figure::exact("probability_of_waiting", solved.waits(), Unit::Share, source),
    ];
    found.extend(asked.by_wait(asked.arrival, solved.mean_wait(), Status::Exact, source));
    for (metric, below) in QUANTILES {
        found.push(Figure::exact(metric, solved.wait_quantile(below)?, Unit::Time, source));
    }
    Ok(found)
}

fn batches(queue: &Kendall, given: &Given, asked: &Asked) -> Result<Vec<Figure>, FigureError> {
    let batch = match queue.arrivals {
        Arrivals::Batches(Some(customers)) => Batch { mean: customers.into(), scv: 0.0 },
        _ => Batch { mean: given.batch.unwrap_or(1.0), scv: given.scv_batch.unwrap_or(0.0) },
    };
    let wait = batch_wait(asked.arrival, batch, asked.service, asked.scv_service)?;
    let rate = asked.arrival * batch.mean;
    let mut found = vec![Figure::exact("utilisation", rate * asked.service, Unit::Share, LITTLE)];
    found.extend(asked.by_wait(rate, wait, Status::Exact, "Gaver 1959, Burke 1975"));
    Ok(found)
}

fn general(queue: &Kendall, given: &Given, asked: &Asked) -> Result<Vec<Figure>, FigureError> {
    let scv_arrival = match queue.arrivals {
        Arrivals::Single(law) => scv_of(law, given.scv_arrival),
        _ => 1.0,
    };
    let Asked { arrival, service, servers, scv_service } = *asked;
    let of = General { arrival, service, servers, scv_arrival, scv_service };
    let bound = if servers == 1 { "Kingman 1962" } else { "Kingman 1970" };
    let near = match (servers, queue.arrivals) {
        (_, Arrivals::Single(Law::Exponential)) => "Lee and Longton 1959",
        (1, _) => "Kingman 1961, heavy traffic",
        _ => "Allen 1978, Allen–Cunneen",
    };
    let mut found = vec![
        Figure::exact("utilisation", of.load()?, Unit::Share, LITTLE),
        Figure::exact("mean_wait", of.wait_at_most()?, Unit::Time, bound).with(Status::UpperBound),
    ];
    found.extend(asked.by_wait(arrival, of.wait_about()?, Status::Approximation, near));
    Ok(found)
}
