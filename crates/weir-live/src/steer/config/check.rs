//! From the document to a daemon that steers, whose parts fit together.
//!
//! What can be refused is refused at its own line and column. Which processors there are is not known here: a file is
//! the same on every machine.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(length of the file) |
//! | Units | those of the document |

#[cfg(test)]
mod tests;

use weir_core::pool::Profile;
use weir_core::units::{Bytes, Nanos};
use weir_document::quantity::{Length, LengthUnit, Time};
use weir_document::{Located, Mismatch, Refused, Source, Wording, words};
use weir_plane::config::check::{Checked, Checker, LONGEST, VERSION, given};
use weir_plane::config::{XDP_PRIORITY, Xdp};

use super::document::{ClassesTable, LongTable, ServiceTable, SteerTable, SteeringDocument};
use super::{Classes, MOST_CLASSES, MOST_PROCESSORS, Priority, Processors, Steering};
use crate::io::attach::Sharing;
use crate::steer::kernel::{ClassRule, LONGEST_QUEUE, Service, Setup, Traffic};
use crate::steer::policy;

/// The policy where the file does not say.
const POLICY: &str = "rr";
/// How many frames wait for one processor where the file does not say.
const QUEUE: u32 = 4096;
/// The priority where the file does not say.
const PRIORITY: Priority = Priority(Some(50));
/// The window where the file does not say, and its bounds.
const WINDOW: Nanos = Nanos::new(100_000_000);
const SHORTEST_WINDOW: Nanos = Nanos::new(1_000_000);
const LONGEST_WINDOW: Nanos = Nanos::new(10_000_000_000);
/// The names of the classes where the file does not say.
const NAMES: [&str; MOST_CLASSES] = ["short", "long"];
/// The name of the class where there is one.
const ALL: &str = "all";
/// The most turns of the loop for each unit.
const MOST_ITERATIONS: u32 = 1_000;
/// How often the loop runs where the file does not say.
const ITERATIONS: u32 = 10;
/// How far the sum of shares may be from 1: what decimal fractions cost in binary.
const ROUNDING: f64 = 1e-9;
/// The longest mean service.
const LONGEST_SERVICE: Nanos = Nanos::new(10_000_000_000);

const WORDING: Wording = Wording {
    longest: Bytes::new(LONGEST),
    shorten: "write fewer processors, as ranges such as \"1-7\"",
    missing,
    parameters: "write its parameters after the name",
    mismatch,
};

/// Reads and checks the configuration of a daemon that steers.
///
/// # Errors
/// The text is refused: with line, column, value, bound and remedy.
pub fn read(source: &Source<'_>) -> Result<Steering, Refused> {
    let document: SteeringDocument = source.read(&WORDING)?;
    Steers(Checker { source }).steering(&document)
}

/// What to do where a key is missing.
fn missing(field: &str) -> String {
    match field {
        "steer" => "add a table `[steer]` with `name`, `interface` and `processors`".to_owned(),
        "weir" => format!("write `weir = {VERSION}` first"),
        "interface" => {
            "add the interface that requests come in by, such as `interface = \"eth0\"`".to_owned()
        }
        "processors" => "add those that requests are spread over, such as `processors = \"1-7\"`".to_owned(),
        "long" => "add what makes a request long, such as `long = { byte = 3, at_least = 10 }`".to_owned(),
        _ => format!("add `{field} = ...`"),
    }
}

/// What is wrong with a value of another type, and what to write.
fn mismatch(value: &Mismatch<'_>) -> (&'static str, String) {
    match value.expected {
        "u8" => ("must be from 0 to 63", "write a code point such as 46".to_owned()),
        expected if expected.starts_with("processors") && value.found != "integer" => {
            ("names something that is not a processor, or one processor twice", format!("write {expected}"))
        }
        // Of lengths there are frames alone.
        expected if expected.starts_with("a length") => {
            words::mismatch(value, "a number of frames such as \"4096pkt\"")
        }
        expected => words::mismatch(value, expected),
    }
}

/// Checks one document.
struct Steers<'a>(Checker<'a>);

impl Steers<'_> {
    fn steering(&self, document: &SteeringDocument) -> Checked<Steering> {
        let table = &document.steer.value;
        self.0.version(&document.weir)?;
        let traffic = given(&table.traffic).unwrap_or(Traffic::Udp);
        let mut steering = Steering {
            name: self.0.daemon_name(&table.name)?,
            interface: self.0.interface_name(&table.interface)?,
            traffic,
            ports: self.request_ports(document, traffic)?,
            policy: POLICY.parse().expect("a spec"),
            processors: self.processors(&table.processors)?,
            queue: table.queue.as_ref().map_or(Ok(QUEUE), |written| self.queue(written))?,
            priority: given(&table.priority).unwrap_or(PRIORITY),
            window: table.window.as_ref().map_or(Ok(WINDOW), |written| self.window(written))?,
            pin: given(&table.pin).unwrap_or(false),
            sharing: Sharing {
                xdp: given(&table.xdp).unwrap_or(Xdp::Auto),
                priority: given(&table.xdp_priority).unwrap_or(XDP_PRIORITY),
            },
            metrics: self.0.metrics(&table.metrics)?,
            group: self.0.group(&table.group)?,
            user: self.0.user(&table.user)?,
            classes: self.request_classes(document.classes.as_ref().map(|it| &it.value), traffic)?,
            service: document.service.as_ref().map(|it| self.service(&it.value)).transpose()?,
        };
        self.policy(table, &mut steering)?;
        Ok(steering)
    }

    /// Builds the policy, for as many processors as the file names.
    fn policy(&self, table: &SteerTable, steering: &mut Steering) -> Checked<()> {
        let Some(written) = &table.policy else { return Ok(()) };
        let site = steering.site(steering.processors.0.len().min(MOST_PROCESSORS));
        let read = policy::read(&written.value, &site);
        let (spec, _) = read.or_else(|(reason, remedy)| self.0.refuse(written, reason, remedy))?;
        steering.policy = spec;
        Ok(())
    }

    fn request_ports(&self, document: &SteeringDocument, traffic: Traffic) -> Checked<Vec<u16>> {
        let table = &document.steer.value;
        match (&table.ports, traffic) {
            (Some(written), Traffic::Udp) => self.ports(written),
            (None, Traffic::Udp) => self.0.refuse(
                &document.steer,
                "has no `ports`, without which no frame is a request",
                "add the destination ports of requests, such as `ports = [9000]`, or write `traffic = \"ip\"`",
            ),
            (Some(written), _) => self.0.refuse(
                written,
                "cannot be combined with traffic other than UDP",
                "remove it, or write `traffic = \"udp\"`",
            ),
            (None, _) => Ok(Vec::new()),
        }
    }

    /// Ports, at least one.
    fn ports(&self, written: &Located<Vec<Located<u32>>>) -> Checked<Vec<u16>> {
        self.some_values(written, "ports", "[9000]")?;
        let port = |each: &Located<u32>| match u16::try_from(each.value) {
            Ok(port) if port > 0 => Ok(port),
            _ => self.0.refuse(each, "must be from 1 to 65535", "write a port such as 9000"),
        };
        written.value.iter().map(port).collect()
    }

    fn some_values<T>(&self, written: &Located<Vec<T>>, what: &str, example: &str) -> Checked<()> {
        if (1..=Setup::MOST).contains(&written.value.len()) {
            return Ok(());
        }
        let reason = format!("has {} {what}, must have from 1 to {}", written.value.len(), Setup::MOST);
        self.0.refuse(written, reason, format!("write a list such as {example}"))
    }

    fn processors(&self, written: &Located<Processors>) -> Checked<Processors> {
        if written.value.0.is_empty() {
            return self.0.refuse(written, "names no processor", "write those that serve, such as \"1-7\"");
        }
        Ok(written.value.clone())
    }

    fn queue(&self, written: &Located<Length>) -> Checked<u32> {
        let Length { count, unit } = written.value;
        let remedy = "write a number of frames such as \"4096pkt\"";
        if unit != LengthUnit::Packets {
            return self.0.refuse(written, "must be in frames", remedy);
        }
        if !(1..=u64::from(LONGEST_QUEUE)).contains(&count) {
            let reason =
                format!("must be from 1pkt to {LONGEST_QUEUE}pkt, the longest that the kernel makes");
            return self.0.refuse(written, reason, remedy);
        }
        Ok(count as u32)
    }

    fn window(&self, written: &Located<Time>) -> Checked<Nanos> {
        let remedy = "write a span such as \"100ms\"";
        let window = self.0.span(written, LONGEST_WINDOW, remedy)?;
        if window < SHORTEST_WINDOW {
            return self.0.refuse(written, format!("must be at least {SHORTEST_WINDOW}"), remedy);
        }
        Ok(window)
    }

    fn request_classes(&self, table: Option<&ClassesTable>, traffic: Traffic) -> Checked<Classes> {
        let Some(table) = table else {
            let names = vec![ALL.to_owned()];
            return Ok(Classes { names, rule: ClassRule::One, profiles: None });
        };
        let names = match &table.names {
            Some(written) => self.names(written)?,
            None => NAMES.map(str::to_owned).to_vec(),
        };
        Ok(Classes { names, rule: self.long(&table.long, traffic)?, profiles: self.profiles(table)? })
    }

    fn names(&self, written: &Located<Vec<Located<String>>>) -> Checked<Vec<String>> {
        let remedy = "write the short ones' and the long ones', such as [\"short\", \"long\"]";
        let [short, long] = written.value.as_slice() else {
            let reason = format!("has {} names, must have {MOST_CLASSES}", written.value.len());
            return self.0.refuse(written, reason, remedy);
        };
        let names = vec![self.0.plain_name(short)?, self.0.plain_name(long)?];
        if names[0] == names[1] {
            return self.0.refuse(long, "is the name of both classes", remedy);
        }
        Ok(names)
    }

    fn long(&self, written: &Located<LongTable>, traffic: Traffic) -> Checked<ClassRule> {
        let LongTable { byte, at_least, ports, dscp } = &written.value;
        match (byte, at_least, ports, dscp) {
            (Some(byte), Some(least), None, None) => self.byte(byte, least, traffic),
            (None, None, Some(ports), None) => Ok(ClassRule::Ports(self.ports(ports)?)),
            (None, None, None, Some(points)) => {
                self.some_values(points, "code points", "[46]")?;
                let points = points.value.iter().map(|point| self.0.dscp(point));
                Ok(ClassRule::Dscp(points.collect::<Checked<_>>()?))
            }
            _ => self.0.refuse(
                written,
                "must have `byte` with `at_least`, or `ports`, or `dscp`, one of the three",
                "write a rule such as { byte = 3, at_least = 10 }",
            ),
        }
    }

    fn byte(&self, byte: &Located<u32>, at_least: &Located<u32>, traffic: Traffic) -> Checked<ClassRule> {
        if traffic != Traffic::Udp {
            let reason = "is a byte of the payload, which is looked for in UDP alone";
            return self.0.refuse(byte, reason, "write `dscp` or `ports`, or `traffic = \"udp\"`");
        }
        if byte.value > Setup::FARTHEST {
            let reason = format!("must be from 0 to {}", Setup::FARTHEST);
            return self.0.refuse(byte, reason, "write the place of a byte near the start of the payload");
        }
        match u8::try_from(at_least.value) {
            Ok(at_least @ 1..) => Ok(ClassRule::Byte { offset: byte.value, at_least }),
            _ => self.0.refuse(at_least, "must be from 1 to 255", "write a value of a byte such as 10"),
        }
    }

    fn profiles(&self, table: &ClassesTable) -> Checked<Option<Vec<Profile>>> {
        let (shares, services) = match (&table.shares, &table.services) {
            (None, None) => return Ok(None),
            (Some(shares), Some(services)) => (shares, services),
            (Some(lone), None) => return self.0.refuse(lone, "is given without `services`", BOTH),
            (None, Some(lone)) => return self.0.refuse(lone, "is given without `shares`", BOTH),
        };
        self.two(shares)?;
        self.two(services)?;
        if let Some(odd) = shares.value.iter().find(|share| !(0.0..=1.0).contains(&share.value)) {
            return self.0.refuse(odd, "must be from 0 to 1", "write a part of all requests such as 0.9");
        }
        let sum: f64 = shares.value.iter().map(|share| share.value).sum();
        if (sum - 1.0).abs() > ROUNDING {
            return self.0.refuse(
                shares,
                format!("has the sum {sum}, must have 1"),
                "write shares of all requests",
            );
        }
        let profile = |(share, service): (&Located<f64>, &Located<Time>)| {
            let span = self.0.span(service, LONGEST_SERVICE, "write a mean such as \"1.95us\"")?;
            if span.get() == 0 {
                return self.0.refuse(service, "must be above 0", "write a mean such as \"1.95us\"");
            }
            Ok(Profile { share: share.value, service: span })
        };
        shares.value.iter().zip(&services.value).map(profile).collect::<Checked<_>>().map(Some)
    }

    fn two<T>(&self, written: &Located<Vec<T>>) -> Checked<()> {
        if written.value.len() == MOST_CLASSES {
            return Ok(());
        }
        let reason = format!("has {} values, must have {MOST_CLASSES}", written.value.len());
        self.0.refuse(written, reason, "write one for each class, that of the short requests first")
    }

    fn service(&self, table: &ServiceTable) -> Checked<Service> {
        let bounded = |written: &Option<Located<u32>>, default: u32, low: u32, high: u32| match written {
            Some(written) if !(low..=high).contains(&written.value) => {
                let remedy = format!("write a number such as {default}");
                self.0.refuse(written, format!("must be from {low} to {high}"), remedy)
            }
            written => Ok(written.as_ref().map_or(default, |it| it.value)),
        };
        Ok(Service {
            field: bounded(&table.field, 0, 0, Setup::FARTHEST)?,
            iterations: bounded(&table.iterations, ITERATIONS, 0, MOST_ITERATIONS)?,
            reflect: given(&table.reflect).unwrap_or(false),
        })
    }
}

const BOTH: &str =
    "write both, such as `shares = [0.9, 0.1]` and `services = [\"1.95us\", \"3.42us\"]`, or neither";
