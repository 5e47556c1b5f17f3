//! A list of servers that are taken in turn; its places may lead to none.
//!
//! It stands for the arrays of a packet-steering program: one from places to servers, one of the next place by
//! receiver. A turn is used and then moved on, modulo the number of places in use, which may have shrunk since. A place
//! that leads to no server is passed over for the next one that does, or, in strict mode, drops the request.
//!
//! | | |
//! |-|-|
//! | Work | O(1); where a place leads to none, one step for each place passed over |
//! | Memory | one word per place |

use super::{MAX_SERVERS, Part, Rule, ServerId, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Parameter, Takes};
use crate::spec::SpecError;

/// Which servers there are to take.
pub(super) const AVAILABLE: Parameter = Parameter::new("available", Takes::Text, "all")
    .or(&["all"])
    .listed(
        "servers from 0 in the order in which they are used, each once, with `none` for a place without a \
         server, such as `0/1/none/3`; or `all`",
    )
    .meaning("the list of servers");

/// What becomes of a request whose place leads to no server.
pub(super) const STRICT: Parameter = Parameter::new("strict", Takes::Words(&["no", "abort"]), "no")
    .meaning("whether a request whose place in the list has no server is dropped, or goes to the next place");

/// The servers in the order in which they are taken.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    places: Vec<Option<ServerId>>,
    strict: bool,
    redirected: u64,
}

impl Cycle {
    /// As a spec names it.
    ///
    /// # Errors
    /// A server of the list is none of the site, or stands in it twice.
    pub(super) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let strict = arguments.choice(STRICT.name, [false, true])?;
        let places = match arguments.word(AVAILABLE.name)? {
            Some(_) => site.server_ids().map(Some).collect(),
            None => read(arguments.text(AVAILABLE.name)?, site.servers)
                .map_err(|reason| arguments.error(AVAILABLE.name, reason))?,
        };
        Ok(Self { places, strict, redirected: 0 })
    }

    /// How many places there are.
    pub(super) fn len(&self) -> u32 {
        self.places.len() as u32
    }

    /// How many requests were sent on from a place that leads to no server.
    pub(super) fn redirected(&self) -> u64 {
        self.redirected
    }

    /// The rule of who takes these parts of it.
    pub(super) fn rule(&self, parts: [Part; 2]) -> Rule<'_> {
        Rule::Cycle { places: &self.places, strict: self.strict, parts }
    }

    /// The server whose turn it is, of a part within the list.
    ///
    /// # Errors
    /// The place leads to none in strict mode, or every place of the part does.
    #[inline]
    pub(super) fn next(&mut self, part: Part, turn: &mut u32) -> Result<ServerId, DropReason> {
        let Part { first, count, .. } = part;
        let at = if *turn < count { *turn } else { turn.checked_rem(count).ok_or(DropReason::NoServer)? };
        *turn = if at + 1 < count { at + 1 } else { 0 };
        match self.places.get((first + at) as usize) {
            Some(Some(server)) => Ok(*server),
            _ => self.pass_over(part, at, turn),
        }
    }

    /// The next place behind `at` that leads to a server.
    #[cold]
    fn pass_over(&mut self, part: Part, at: u32, turn: &mut u32) -> Result<ServerId, DropReason> {
        let Part { first, count, .. } = part;
        if self.strict {
            return Err(DropReason::NoServer);
        }
        for step in 1..count {
            let place = (at + step) % count;
            if let Some(Some(server)) = self.places.get((first + place) as usize) {
                *turn = (place + 1) % count;
                self.redirected += 1;
                return Ok(*server);
            }
        }
        Err(DropReason::NoServer)
    }
}

/// The places that a list names.
fn read(list: &str, servers: u32) -> Result<Vec<Option<ServerId>>, String> {
    let mut places = Vec::new();
    for each in list.split('/') {
        let server = match each {
            "none" => None,
            text => match text.parse::<u32>() {
                Ok(server) if server < servers => Some(ServerId(server)),
                _ => {
                    return Err(format!(
                        "names `{text}`, must name servers from 0 to {} or `none`",
                        servers - 1
                    ));
                }
            },
        };
        if server.is_some() && places.contains(&server) {
            return Err(format!("names server `{each}` twice, name it once"));
        }
        if places.len() == MAX_SERVERS as usize {
            return Err(format!("has more than {MAX_SERVERS} places, must have at most that many"));
        }
        places.push(server);
    }
    Ok(places)
}
