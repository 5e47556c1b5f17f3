//! The one registry of disciplines: from a spec string to a discipline, and the list of all.
//!
//! A discipline is registered by one line here. Engines that must be fast are monomorphised through a
//! [`Visitor`]; everybody else takes a box.

use crate::discipline::Discipline;
use crate::info::{Arguments, Info};
use crate::item::Item;
use crate::message;
use crate::packet;
use crate::spec::{Spec, SpecError};
use crate::units::Bytes;

/// Receives a discipline under its own type.
pub trait Visitor<I: Item> {
    /// What the visit yields.
    type Output;
    /// Takes the discipline that the spec names.
    fn visit<D: Discipline<I> + Send + 'static>(self, discipline: D) -> Self::Output;
}

/// Boxes whatever it visits.
struct Boxed;

impl<I: Item> Visitor<I> for Boxed {
    type Output = Box<dyn Discipline<I> + Send>;
    fn visit<D: Discipline<I> + Send + 'static>(self, discipline: D) -> Self::Output {
        Box::new(discipline)
    }
}

/// Registers disciplines: the list of their descriptions, and a visit of the one that a spec names.
macro_rules! register {
    ($list:ident, $visit:ident, [$($item:tt)+], $folder:ident, $($module:ident::$type:ident),+ $(,)?) => {
        /// The descriptions, in the order of the listings.
        pub const $list: &[&Info] = &[$(&$folder::$module::INFO),+];

        /// Builds the discipline that `spec` names and hands it, under its own type, to `visitor`.
        ///
        /// # Errors
        /// The name is not registered, or an argument is refused.
        pub fn $visit<I, V>(spec: &Spec, visitor: V) -> Result<V::Output, SpecError>
        where
            I: $($item)+ + Send + 'static,
            V: Visitor<I>,
        {
            match spec.name.as_str() {
                $(name if name == $folder::$module::INFO.name => {
                    let arguments = Arguments::new(spec, &$folder::$module::INFO)?;
                    Ok(visitor.visit($folder::$module::$type::from_spec(&arguments)?))
                })+
                _ => Err(unknown(&spec.name, $list)),
            }
        }
    };
}

register!(
    MESSAGE,
    visit_message,
    [Item],
    message,
    fifo::Fifo,
    ps::Ps,
    sjf::Sjf,
    psjf::Psjf,
    las::Las,
    hrrn::Hrrn
);

/// Builds the message discipline that `spec` names.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub fn message_discipline<I>(spec: &Spec) -> Result<Box<dyn Discipline<I> + Send>, SpecError>
where
    I: Item + Send + 'static,
{
    visit_message(spec, Boxed)
}

register!(PACKET, visit_packet, [Item<Cost = Bytes>], packet, fifo::Fifo, drr::Drr, tbf::Tbf);

/// Builds the packet discipline that `spec` names.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub fn packet_discipline<I>(spec: &Spec) -> Result<Box<dyn Discipline<I> + Send>, SpecError>
where
    I: Item<Cost = Bytes> + Send + 'static,
{
    visit_packet(spec, Boxed)
}

/// The description of the discipline called `name`, whatever its kind.
///
/// # Errors
/// No discipline has that name; the error names the nearest.
pub fn info(name: &str) -> Result<&'static Info, SpecError> {
    all().find(|info| info.name == name).ok_or_else(|| unknown(name, &all().collect::<Vec<_>>()))
}

/// All descriptions, in the order of the listings; each once, though it may serve several kinds.
pub fn all() -> impl Iterator<Item = &'static Info> {
    let listed = |info: &&Info| MESSAGE.iter().any(|other| other.name == info.name);
    MESSAGE.iter().chain(PACKET.iter().filter(move |info| !listed(info))).copied()
}

fn unknown(name: &str, known: &[&Info]) -> SpecError {
    let nearest = known.iter().map(|info| (distance(name, info.name), info.name)).min();
    let names: Vec<_> = known.iter().map(|info| info.name).collect();
    let hint = match nearest {
        Some((edits, near)) if edits <= 2 => format!("did you mean `{near}`? "),
        _ => String::new(),
    };
    let remedy = format!("{hint}known here are `{}`", names.join("`, `"));
    SpecError::UnknownName { name: name.to_owned(), remedy }
}

/// The number of single-character edits between two names (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Message, Packet};

    #[test]
    fn every_example_builds() {
        for info in MESSAGE {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(message_discipline::<Message>(&spec).is_ok(), "{}", info.example);
        }
        for info in PACKET {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(packet_discipline::<Packet>(&spec).is_ok(), "{}", info.example);
        }
        assert_eq!(all().filter(|info| info.name == "fifo").count(), 1);
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let error = info("fofo").expect_err("no such discipline").to_string();
        assert!(error.contains("did you mean `fifo`?"), "{error}");
    }
}
