//! Requests to a server: arrival times, classes, flows and what each costs, from the columns of a CSV file.
//!
//! The service time of a request is `base` and, for each column that costs something, the number that stands there times
//! what one costs; it is rounded to whole nanoseconds. Times count from the first arrival. Nothing is skipped and nothing
//! is guessed: a row that cannot be read is refused with its place.

use std::collections::HashMap;
use std::io::Read;

use super::columns::{Column, Header};
use super::rows::{Row, Rows};
use super::thinning::Decisions;
use super::{MAX_SPAN, Separator, Thinning, TimeUnit, unpacked};
use crate::requests::Requests;
use weir_core::nearest::nearest;
use weir_core::units::Nanos;
use weir_document::Refused;

/// The usual names of columns.
const TIME: &str = "time";
const FLOW: &str = "flow";

/// How requests are written.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestFormat {
    /// The column of the arrival time; `time` where not named.
    pub time: Option<String>,
    /// The column of the flow; `flow` where not named, if there is one.
    pub flow: Option<String>,
    /// How the time is written.
    pub time_unit: TimeUnit,
    /// Whether the first row names the columns; otherwise they are called `1`, `2`, and so on.
    pub header: bool,
    /// What stands between two fields.
    pub separator: Separator,
    /// What every request costs.
    pub base: Nanos,
    /// Columns, and what one of what they count costs, in nanoseconds.
    pub costs: Vec<(String, f64)>,
    /// What tells the classes apart.
    pub class: ClassBy,
    /// Which rows are kept.
    pub thinning: Thinning,
}

/// What tells the classes of requests apart.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassBy {
    /// There is one.
    One,
    /// A column holds one of these names.
    Name(String, Vec<String>),
    /// The service time: class `i` is below bound `i`, the last at or above the last bound.
    Service(Vec<Nanos>),
    /// A column of numbers, in the same way.
    Number(String, Vec<f64>),
}

/// What requests may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBounds {
    /// The most requests.
    pub requests: usize,
    /// The longest service.
    pub service: Nanos,
    /// The most flows.
    pub flows: usize,
}

/// Reads requests; `name` names the file in errors.
///
/// # Errors
/// The first row that is refused, with its place.
pub fn read_requests(
    source: impl Read,
    name: &str,
    format: &RequestFormat,
    bounds: RequestBounds,
) -> Result<Requests, Refused> {
    let mut rows = Rows::new(unpacked(source, name)?, format.separator.byte(), name);
    let mut building = Building {
        requests: Requests::default(),
        first: 0,
        last: 0,
        flows: HashMap::new(),
        rows: 0,
        decisions: format.thinning.decisions(),
    };
    let mut columns = None;
    while let Some((row, line)) = rows.next()? {
        let place = (name, line);
        if columns.is_none() {
            columns = Some(Columns::of(row, format, place)?);
            if format.header {
                continue;
            }
        }
        if let Some(columns) = &columns {
            building.add(&Entry { columns, row, place }, format, bounds)?;
        }
    }
    if building.requests.at.is_empty() {
        if let Some(refused) = building.decisions.refuse_empty(name, building.rows) {
            return Err(refused);
        }
        let remedy = "give at least one, below the header if there is one";
        return Err(Refused::of_file(name, "has no requests", remedy));
    }
    Ok(building.requests)
}

/// Which column holds what.
struct Columns {
    count: usize,
    time: Column,
    flow: Option<Column>,
    class: Option<Column>,
    costs: Vec<(Column, f64)>,
}

impl Columns {
    fn of(first: &Row, format: &RequestFormat, (file, line): (&str, usize)) -> Result<Self, Refused> {
        let numbers: Vec<String> = (1..=first.len()).map(|number| number.to_string()).collect();
        let names = match format.header {
            true => (0..first.len()).map(|place| first.field(place)).collect(),
            false => numbers.iter().map(String::as_str).collect(),
        };
        let header = Header { names, file, line };
        let flow = match &format.flow {
            Some(name) => Some(header.required(name)?),
            None if header.names.contains(&FLOW) => Some(header.required(FLOW)?),
            None => None,
        };
        let class = match &format.class {
            ClassBy::Name(column, _) | ClassBy::Number(column, _) => Some(header.required(column)?),
            ClassBy::One | ClassBy::Service(_) => None,
        };
        let cost = |(name, cost): &(String, f64)| Ok((header.required(name)?, *cost));
        Ok(Self {
            count: first.len(),
            time: header.required(format.time.as_deref().unwrap_or(TIME))?,
            flow,
            class,
            costs: format.costs.iter().map(cost).collect::<Result<_, Refused>>()?,
        })
    }
}

/// A row, read by its columns.
struct Entry<'r> {
    columns: &'r Columns,
    row: &'r Row,
    place: (&'r str, usize),
}

impl Entry<'_> {
    fn refuse_whole(&self, reason: String, remedy: impl Into<String>) -> Refused {
        Refused::of_file(self.place.0, reason, remedy).at(self.place.1, 1)
    }

    fn refuse(&self, column: &Column, reason: impl Into<String>, remedy: impl Into<String>) -> Refused {
        let value = match self.row.field(column.place) {
            "" => "empty",
            field => field,
        };
        let refusal = Refused::of_file(self.place.0, reason, remedy).at(self.place.1, column.place + 1);
        refusal.key(&column.name).value(value)
    }

    /// Refuses a row of another number of fields than the first.
    fn is_whole(&self) -> Result<(), Refused> {
        let (count, must) = (self.row.len(), self.columns.count);
        if count == must {
            return Ok(());
        }
        let reason = format!("the row has {count} fields, must have {must} like the first");
        Err(self.refuse_whole(reason, "complete the row; the file may have been cut off here"))
    }

    fn time(&self, unit: TimeUnit) -> Result<u128, Refused> {
        let column = &self.columns.time;
        unit.parse(self.row.field(column.place)).ok_or_else(|| {
            let reason = format!("must be {}", unit.expected());
            self.refuse(column, reason, "correct the row, or the `time_unit` of the scenario")
        })
    }

    fn number(&self, column: &Column) -> Result<f64, Refused> {
        let number = self.row.field(column.place).parse::<f64>().ok();
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.refuse(column, "must be a number from 0 up", "correct or remove the row"))
    }

    /// The service time, from one nanosecond to the longest.
    fn service(&self, base: Nanos, longest: Nanos) -> Result<u64, Refused> {
        let mut service = base.get() as f64;
        for (column, cost) in &self.columns.costs {
            service += self.number(column)? * cost;
        }
        let service = service.round();
        if (1.0..=longest.get() as f64).contains(&service) {
            return Ok(service as u64);
        }
        let reason = format!("makes a service of {service:.0} ns, must be from 1 ns to {longest}");
        let remedy = match service < 1.0 {
            true => "give `service` a `base`, or remove the row",
            false => "correct the row, or what `per_unit` says of the column",
        };
        Err(match self.columns.costs.first() {
            Some((column, _)) => self.refuse(column, reason, remedy),
            None => self.refuse_whole(reason, remedy),
        })
    }

    fn class(&self, by: &ClassBy, service: u64) -> Result<u16, Refused> {
        let class = match (by, &self.columns.class) {
            (ClassBy::Name(_, names), Some(column)) => {
                let field = self.row.field(column.place);
                let found = names.iter().position(|name| name == field);
                found.ok_or_else(|| {
                    let near = nearest(field, names.iter().map(String::as_str));
                    let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                    let remedy = format!(
                        "{hint}add a table `[[class]]` of this name; there are `{}`",
                        names.join("`, `")
                    );
                    self.refuse(column, "is not a class of the scenario", remedy)
                })?
            }
            (ClassBy::Number(_, bounds), Some(column)) => {
                let number = self.number(column)?;
                bounds.partition_point(|bound| *bound <= number)
            }
            (ClassBy::Service(bounds), _) => bounds.partition_point(|bound| bound.get() <= service),
            _ => 0,
        };
        Ok(class as u16)
    }
}

/// Requests in the making.
struct Building {
    requests: Requests,
    /// The first time and the last, as the file counts.
    first: u128,
    last: u128,
    flows: HashMap<String, u32>,
    rows: usize,
    decisions: Decisions,
}

impl Building {
    fn add(
        &mut self,
        entry: &Entry<'_>,
        format: &RequestFormat,
        bounds: RequestBounds,
    ) -> Result<(), Refused> {
        if self.requests.at.len() == bounds.requests {
            let reason = format!("comes after {} rows, the most that are kept", bounds.requests);
            return Err(entry.refuse_whole(reason, "cut the file"));
        }
        entry.is_whole()?;
        let at = self.since_first(entry, entry.time(format.time_unit)?)?;
        let service = entry.service(format.base, bounds.service)?;
        let class = entry.class(&format.class, service)?;
        self.rows += 1;
        if !self.decisions.next() {
            return Ok(());
        }
        let flow = self.flow(entry, bounds.flows)?;
        self.requests.at.push(at);
        self.requests.class.push(class);
        self.requests.flow.push(flow);
        self.requests.service.push(service);
        Ok(())
    }

    fn since_first(&mut self, entry: &Entry<'_>, time: u128) -> Result<u64, Refused> {
        if self.requests.at.is_empty() {
            self.first = time;
        }
        if time < self.last {
            let reason = "is before the time of the row above";
            return Err(entry.refuse(&entry.columns.time, reason, "sort the rows by time"));
        }
        self.last = time;
        let since = time - self.first;
        u64::try_from(since).ok().filter(|_| since <= MAX_SPAN).ok_or_else(|| {
            let reason = format!("is more than {MAX_SPAN} ns of the clock after the first");
            entry.refuse(&entry.columns.time, reason, "check the unit of the times")
        })
    }

    fn flow(&mut self, entry: &Entry<'_>, most: usize) -> Result<u32, Refused> {
        let Some(column) = &entry.columns.flow else { return Ok(0) };
        let name = entry.row.field(column.place);
        if let Some(flow) = self.flows.get(name) {
            return Ok(*flow);
        }
        if self.flows.len() == most {
            return Err(entry.refuse(column, format!("makes more than {most} flows"), "use fewer values"));
        }
        let flow = self.flows.len() as u32;
        self.flows.insert(name.to_owned(), flow);
        Ok(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: RequestBounds = RequestBounds { requests: 4, service: Nanos::new(1_000_000), flows: 2 };

    fn format(costs: &[(&str, f64)], class: ClassBy) -> RequestFormat {
        RequestFormat {
            time: Some("t".to_owned()),
            flow: None,
            time_unit: TimeUnit::Us,
            header: true,
            separator: Separator::Comma,
            thinning: Thinning::NONE,
            base: Nanos::new(10),
            costs: costs.iter().map(|(name, cost)| ((*name).to_owned(), *cost)).collect(),
            class,
        }
    }

    fn read(text: &str, format: &RequestFormat) -> Result<Requests, String> {
        read_requests(text.as_bytes(), "r.csv", format, BOUNDS).map_err(|error| error.to_string())
    }

    #[test]
    fn a_service_is_its_base_and_what_the_columns_cost() {
        let by_number = ClassBy::Number("out".to_owned(), vec![2.0]);
        let requests = read(
            "t,in,out,flow\n5,100,2,b\n5,0,1,a\n7.5,1,0,b\n",
            &format(&[("in", 0.8), ("out", 1000.0)], by_number),
        )
        .expect("valid");
        assert_eq!(requests.at, [0, 0, 2_500]);
        assert_eq!(requests.service, [2_090, 1_010, 11]);
        assert_eq!(requests.class, [1, 0, 0]);
        assert_eq!(requests.flow, [0, 1, 0]);
    }

    #[test]
    fn classes_are_told_by_name_or_by_service() {
        let names = ClassBy::Name("kind".to_owned(), vec!["short".to_owned(), "long".to_owned()]);
        let text = "t,n,kind\n0,1,long\n1,2,short\n";
        assert_eq!(read(text, &format(&[("n", 5.0)], names)).expect("valid").class, [1, 0]);
        let bounds = ClassBy::Service(vec![Nanos::new(20)]);
        assert_eq!(read(text, &format(&[("n", 5.0)], bounds)).expect("valid").class, [0, 1]);
        assert_eq!(read(text, &format(&[], ClassBy::One)).expect("valid").service, [10, 10]);
    }

    #[test]
    fn a_file_without_header_has_numbered_columns() {
        let numbered = RequestFormat {
            time: Some("2".to_owned()),
            header: false,
            separator: Separator::Tab,
            ..format(&[("3", 1.0)], ClassBy::One)
        };
        let requests = read("job0\t3\t90\njob1\t4\t0\n", &numbered).expect("valid");
        assert_eq!((requests.at, requests.service), (vec![0, 1_000], vec![100, 10]));
    }

    #[test]
    fn refusals_name_the_row() {
        let names = || ClassBy::Name("kind".to_owned(), vec!["short".to_owned(), "long".to_owned()]);
        for (text, expected) in [
            ("", "r.csv: has no requests: "),
            ("t,n,kind\n", "r.csv: has no requests: "),
            (
                "t,m,kind\n0,1,long\n",
                "r.csv:1:1: n is not a column of the file: did you mean `m`? the columns are `t`, `m`, `kind`",
            ),
            ("t,n,kind\n0,1\n", "r.csv:2:1: the row has 2 fields, must have 3 like the first: "),
            ("t,n,kind\n0,-1,long\n", "r.csv:2:2: n is -1, must be a number from 0 up: "),
            ("t,n,kind\n0,nan,long\n", "r.csv:2:2: n is nan, must be a number from 0 up: "),
            (
                "t,n,kind\n0,1e9,long\n",
                "r.csv:2:2: n is 1e9, makes a service of 5000000010 ns, must be from 1 ns to 1ms: ",
            ),
            ("t,n,kind\n-1,1,long\n", "r.csv:2:1: t is -1, must be a number of microseconds from 0 up: "),
            ("t,n,kind\n2,1,long\n1,1,long\n", "r.csv:3:1: t 1 is before the time of the row above: "),
            (
                "t,n,kind\n0,1,shrot\n",
                "r.csv:2:3: kind shrot is not a class of the scenario: did you mean `short`? add a table `[[class]]` \
                 of this name; there are `short`, `long`",
            ),
            (
                "t,n,kind,flow\n0,1,long,a\n0,1,long,b\n0,1,long,c\n",
                "r.csv:4:4: flow is c, makes more than 2 flows: ",
            ),
            (
                "t,n,kind\n0,1,long\n0,1,long\n0,1,long\n0,1,long\n0,1,long\n",
                "r.csv:6:1: comes after 4 rows, the most that are kept: ",
            ),
        ] {
            let error = read(text, &format(&[("n", 5.0)], names())).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
        let nothing = RequestFormat { base: Nanos::new(0), ..format(&[("n", 5.0)], ClassBy::One) };
        let error = read("t,n\n0,0\n", &nothing).expect_err("refused");
        assert!(
            error.starts_with("r.csv:2:2: n is 0, makes a service of 0 ns, must be from 1 ns"),
            "{error}"
        );
    }
}
