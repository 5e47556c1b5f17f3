//! Logs of services: requests with their arrival, service and class, from CSV, JSON lines or access logs.
//!
//! A log is a table, whatever its format: [`survey`] says which format it has and which columns, [`read`] takes requests from the
//! columns that a [`Reading`] names.
//!
//! | format | columns |
//! |---|---|
//! | CSV | those of the header; without one `1`, `2`, and so on; between them a comma, semicolon or tab |
//! | JSON lines | the keys of the first object, those of objects within it with a dot, as `http.status` |
//! | access log of nginx or Apache, common or combined | `remote_addr`, `identity`, `remote_user`, `time`, `request`, `status`, `bytes`, `referer`, `user_agent`, then what follows, by `key=` or by what it looks like; `method` and `path` are of `request` |
//! | access log of Envoy, default format | `time`, `request`, `status`, `flags`, `received`, `sent`, `duration`, `upstream_service_time`, then what follows; `method` and `path` |
//!
//! A log is written at the end of a request. Where its times are those of the end, a request arrived its duration earlier, and requests
//! are brought into the order of arrival. Times that are cut to a resolution coarser than a tenth of the mean gap, and that several lines share, are spread: each
//! gets a part of one unit of it, uniform and independent. That is what a Poisson process does given how many came in the unit, and the
//! burstiness within it is lost.
//!
//! Nothing is guessed: a line that does not fit is refused with its place. What is left out or put right is counted in [`Noted`].
//!
//! | | |
//! |-|-|
//! | Source of the spreading | Kim, Whitt, "Choosing arrival process models for service systems", Naval Research Logistics 61 (2014), section 3 on data rounding |
//! | Source of the formats | Apache HTTP Server 2.4, `mod_log_config`; nginx, `ngx_http_log_module`; Envoy, "Access logging" |
//! | Units | nanoseconds |
//! | Work | O(n log n) for n lines, 24 bytes each |

mod access;
mod dispersion;
mod find;
mod json;
mod kept;
mod requests;
mod stamp;
mod table;
mod write;

use std::io::Read;

use serde::{Deserialize, Serialize};
use weir_document::Refused;

pub use dispersion::{Dispersion, Window};
pub use kept::{ClassTotal, Log, LoggedRequest, Noted};
pub use stamp::{DurationUnit, Stamp};
pub use write::write_csv;

use crate::trace::Separator;
use table::Table;

/// The most requests.
pub const MAX_REQUESTS: usize = 50_000_000;
/// The most classes.
pub const MAX_CLASSES: usize = 64;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// CSV: what stands between fields, and whether the first row names the columns.
    Csv(Separator, bool),
    /// One JSON object a line.
    JsonLines,
    /// The common or combined format of Apache and nginx, and what they write behind it.
    Access,
    /// Envoy's default format.
    Envoy,
}

/// A column of a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogColumn {
    /// Its name.
    pub name: String,
    /// Its value in the first line that has one, at most 40 characters of it.
    pub example: String,
    /// How times are written in it, where its value looks like a point in time.
    pub stamp: Option<Stamp>,
    /// The unit of durations in it, where that is known from the format.
    pub unit: Option<DurationUnit>,
}

/// What the first lines of a log say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survey {
    /// How it is written.
    pub format: LogFormat,
    /// The columns, in their order.
    pub columns: Vec<LogColumn>,
}

/// What the times of a log are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeOf {
    /// The arrival of the request.
    Arrival,
    /// The end of the request.
    End,
}

/// Which column is what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// How the log is written.
    pub format: LogFormat,
    /// The column of the time.
    pub time: String,
    /// How times are written.
    pub stamp: Stamp,
    /// What they are of.
    pub time_of: TimeOf,
    /// The column of the service time, and its unit.
    pub service: (String, DurationUnit),
    /// The column of the time from arrival to end, and its unit; the service where there is none.
    pub duration: Option<(String, DurationUnit)>,
    /// The column of the class.
    pub class: Option<String>,
    /// The column of the status.
    pub status: Option<String>,
    /// By how much a line may come too late, in nanoseconds.
    pub disorder: u64,
}

/// The format and the columns of a log; `name` names the file in errors. A file compressed by gzip is known by its first bytes.
///
/// # Errors
/// The file is empty, or its first line fits no format, or not the one that is given.
pub fn survey(source: impl Read, name: &str, format: Option<LogFormat>) -> Result<Survey, Refused> {
    let mut table = Table::open(source, name, format)?;
    let mut columns: Vec<LogColumn> =
        table.names().iter().map(|name| find::column(name, table.format())).collect();
    for _ in 0..find::SURVEYED {
        let Some((row, _)) = table.next()? else { break };
        columns.iter_mut().enumerate().for_each(|(place, column)| find::fill(column, row.field(place)));
    }
    Ok(Survey { format: table.format(), columns })
}

/// The requests of a log.
///
/// # Errors
/// The first line that is refused, with its place.
pub fn read(source: impl Read, name: &str, reading: &Reading) -> Result<Log, Refused> {
    requests::read(Table::open(source, name, Some(reading.format))?, name, reading)
}

#[cfg(test)]
mod tests;
