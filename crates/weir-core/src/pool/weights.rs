//! The weights of servers, as a parameter.
//!
//! | | |
//! |-|-|
//! | Work | O(servers), once |
//! | Units | a weight: a whole number; of speeds, millionths |

use super::Site;
use crate::info::{Arguments, Parameter, Takes};
use crate::spec::SpecError;

/// The largest weight that can be written.
const MAX_WEIGHT: u64 = 65_535;

/// How much each server counts.
pub(super) const WEIGHTS: Parameter = Parameter::new("weights", Takes::Text, "speeds")
    .or(&["speeds"])
    .worded(
        "whole numbers from 1 to 65535, one for each server, such as `4/2/1`, taken again from the first where there \
         are more servers; or `speeds`",
    )
    .meaning("how much each server counts; `speeds`: as fast as it is, which is alike where nothing else is said");

/// The weights of all servers of the site, none of them zero.
///
/// # Errors
/// They are no such numbers, or more than there are servers.
pub(super) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Vec<u64>, SpecError> {
    let servers = site.servers as usize;
    if arguments.word(WEIGHTS.name)?.is_some() {
        let speed = |server| site.speed(server).millionths().max(1).into();
        return Ok(site.server_ids().map(speed).collect());
    }
    let weight = |text: &str| text.parse().ok().filter(|weight| (1..=MAX_WEIGHT).contains(weight));
    let parse = |text: &str| text.split('/').map(weight).collect::<Option<Vec<u64>>>();
    let weights = arguments.read(WEIGHTS.name, parse)?;
    if weights.len() > servers {
        let reason = format!("names {} servers, there are {servers}; leave some out", weights.len());
        return Err(arguments.error(WEIGHTS.name, reason));
    }
    Ok(weights.into_iter().cycle().take(servers).collect())
}
