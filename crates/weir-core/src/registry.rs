//! The one registry of disciplines: from a spec string to a discipline, and the list of all.
//!
//! A discipline is registered by one line in the `mod.rs` of its folder ([`crate::message`],
//! [`crate::packet`], [`crate::task`], [`crate::pool`]), under the line that declares its module; every other list is derived from there.
//! Engines that must be fast are monomorphised through a [`Visitor`]; everybody else takes a box.

use core::cell::Cell;

use crate::added::{self, Erased};
use crate::discipline::Discipline;
use crate::excerpt::shorten;
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::message;
use crate::nearest::nearest;
use crate::packet;
use crate::pool::{Dispatcher, DispatcherVisitor, Pool, PoolVisitor, Site};
use crate::role::Role;
use crate::spec::{Spec, SpecError};
use crate::task::{TaskDiscipline, TaskVisitor};
use crate::textbook;
use crate::units::{Bytes, Nanos};

pub use crate::message::{MESSAGE, PRIORITY, WRAPPER, priority_discipline};
use crate::message::{visit_plain_message, visit_wrapper};
pub use crate::packet::PACKET;
pub use crate::pool::{DISPATCHER, POOL, visit_dispatcher, visit_pool};
pub use crate::task::{TASK, visit_task};

/// Receives, under its own type, a discipline of which it can make as many as it needs.
pub trait Visitor<I: Item> {
    /// What the visit yields.
    type Output;
    /// Takes what makes the discipline that the spec names; all that it makes are alike.
    fn visit<D: Discipline<I> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output;
}

/// What makes the same again and again, if it can be made. The first is made to see that, and is the first that is taken.
pub(crate) fn factory<D>(make: impl Fn() -> Result<D, SpecError>) -> Result<impl Fn() -> D, SpecError> {
    let first = Cell::new(Some(make()?));
    Ok(move || first.take().unwrap_or_else(|| make().expect("what was made once can be made again")))
}

/// Boxes whatever it visits.
struct Boxed;

impl<I: Item> Visitor<I> for Boxed {
    type Output = Box<dyn Discipline<I> + Send>;
    fn visit<D: Discipline<I> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        Box::new(make())
    }
}

/// Registers the disciplines of a folder: the list of their descriptions, and a visit of the one that a
/// spec names. It stands in the folder's `mod.rs`, under the modules that it names.
macro_rules! register {
    ($list:ident, $visit:ident, $visitor:ident, [$($item:tt)+], $($module:ident::$type:ident),+ $(,)?) => {
        /// The descriptions, in the order of the listings.
        pub const $list: &[&$crate::info::Info] = &[$(&$module::INFO),+];

        /// Hands what makes the discipline that `spec` names, under its own type, to `visitor`.
        ///
        /// # Errors
        /// The name is not registered, or an argument is refused.
        pub fn $visit<I, V>(spec: &$crate::spec::Spec, visitor: V) -> Result<V::Output, $crate::spec::SpecError>
        where
            I: $($item)+ + Send + 'static,
            V: $visitor<I>,
        {
            match spec.name.as_str() {
                $(name if name == $module::INFO.name => {
                    let arguments = $crate::info::Arguments::new(spec, &$module::INFO)?;
                    Ok(visitor.visit($crate::registry::factory(|| $module::$type::from_spec(&arguments))?))
                })+
                _ => Err($crate::registry::unknown(&spec.name, $list)),
            }
        }
    };
}

/// Lists the message disciplines that order by a key, around which every wrapper goes.
macro_rules! prioritize {
    ($($module:ident::$type:ident),+ $(,)?) => {
        /// The message disciplines that order by a key.
        pub const PRIORITY: &[&$crate::info::Info] = &[$(&$module::INFO),+];

        /// Builds the priority discipline that `spec` names.
        ///
        /// # Errors
        /// The name is not registered or orders by no key, or an argument is refused.
        pub fn priority_discipline<I>(spec: &$crate::spec::Spec) -> Result<Box<dyn $crate::priority::Prioritized<I> + Send>, $crate::spec::SpecError>
        where
            I: $crate::item::Item + Send + 'static,
        {
            match spec.name.as_str() {
                $(name if name == $module::INFO.name => {
                    let arguments = $crate::info::Arguments::new(spec, &$module::INFO)?;
                    Ok(Box::new($module::$type::from_spec(&arguments)?))
                })+
                name => Err($crate::registry::no_priority(name)),
            }
        }
    };
}
pub(crate) use {prioritize, register};

/// Hands what makes the message discipline or the wrapper that `spec` names, under its own type, to `visitor`. What is
/// wrapped is boxed.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub fn visit_message<I, V>(spec: &Spec, visitor: V) -> Result<V::Output, SpecError>
where
    I: Item + Send + 'static,
    V: Visitor<I>,
{
    let named = |list: &[&Info]| list.iter().any(|info| info.name == spec.name);
    match (named(MESSAGE), named(WRAPPER), added::message(&spec.name)) {
        (true, _, _) => visit_plain_message(spec, visitor),
        (_, true, _) => visit_wrapper(spec, visitor),
        (_, _, Some((info, make))) => {
            let arguments = Arguments::new(spec, info)?;
            Ok(visitor.visit(factory(|| Ok(Erased::<I, _>::new(make(&arguments)?)))?))
        }
        _ => Err(unknown(&spec.name, &known(&[MESSAGE, WRAPPER], Kind::Message))),
    }
}

/// Hands what makes the packet discipline that `spec` names, under its own type, to `visitor`.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub fn visit_packet<I, V>(spec: &Spec, visitor: V) -> Result<V::Output, SpecError>
where
    I: Item<Cost = Bytes> + Send + 'static,
    V: Visitor<I>,
{
    match added::packet(&spec.name) {
        Some((info, make)) => {
            let arguments = Arguments::new(spec, info)?;
            Ok(visitor.visit(factory(|| Ok(Erased::<I, _>::new(make(&arguments)?)))?))
        }
        None => packet::visit_packet(spec, visitor),
    }
}

/// What these lists have, and what was added of a kind.
fn known(lists: &[&[&'static Info]], kind: Kind) -> Vec<&'static Info> {
    let added = added::added().into_iter().filter(|info| info.kind == kind);
    lists.concat().into_iter().chain(added).collect()
}

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

impl<I: Item<Cost = Nanos>> TaskVisitor<I> for Boxed
where
    I: 'static,
{
    type Output = Box<dyn TaskDiscipline<I> + Send>;
    fn visit<D: TaskDiscipline<I> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        Box::new(make())
    }
}

/// Builds the discipline of tasks that `spec` names.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub fn task_discipline<I>(spec: &Spec) -> Result<Box<dyn TaskDiscipline<I> + Send>, SpecError>
where
    I: Item<Cost = Nanos> + Send + 'static,
{
    visit_task(spec, Boxed)
}

impl<I: Item<Cost = Nanos>> DispatcherVisitor<I> for Boxed
where
    I: 'static,
{
    type Output = Box<dyn Dispatcher<I> + Send>;
    fn visit<D: Dispatcher<I> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        Box::new(make())
    }
}

impl<I: Item<Cost = Nanos>> PoolVisitor<I> for Boxed
where
    I: 'static,
{
    type Output = Box<dyn Pool<I> + Send>;
    fn visit<P: Pool<I> + Send + 'static>(self, make: impl Fn() -> P) -> Self::Output {
        Box::new(make())
    }
}

/// Builds the dispatcher that `spec` names, for `site`.
///
/// # Errors
/// The name is not registered, an argument is refused, or the site is none.
pub fn dispatcher<I>(spec: &Spec, site: &Site) -> Result<Box<dyn Dispatcher<I> + Send>, SpecError>
where
    I: Item<Cost = Nanos> + Send + 'static,
{
    visit_dispatcher(spec, site, Boxed)
}

/// Builds the pool discipline that `spec` names, for `site`; a dispatcher stands for itself over queues that are first
/// in, first out.
///
/// # Errors
/// The name is not registered, an argument is refused, or the site is none.
pub fn pool<I>(spec: &Spec, site: &Site) -> Result<Box<dyn Pool<I> + Send>, SpecError>
where
    I: Item<Cost = Nanos> + Copy + Send + 'static,
{
    visit_pool(spec, site, Boxed)
}

/// Makes disciplines of packets, one for each queue that needs its own.
pub type PacketFactory<I> = Box<dyn Fn() -> Box<dyn Discipline<I> + Send> + Send>;

/// What makes the packet discipline that `spec` names, as often as it is asked.
///
/// # Errors
/// The name is not registered, or an argument is refused.
pub fn packet_factory<I>(spec: &Spec) -> Result<PacketFactory<I>, SpecError>
where
    I: Item<Cost = Bytes> + Send + 'static,
{
    drop(packet_discipline::<I>(spec)?);
    let spec = spec.clone();
    Ok(Box::new(move || packet_discipline(&spec).expect("the spec has made one before")))
}

/// The spec with a seed for every discipline in it, nested ones too, that takes one and is not given it. Seeds are drawn in the order in which the disciplines are written. Of pools: [`Role::with_seeds`].
///
/// A simulation gives each link and replication seeds of its own; where nobody does, a discipline has the
/// seed of its table of parameters.
pub fn with_seeds(spec: &Spec, draw: &mut dyn FnMut() -> u64) -> Spec {
    Role::Discipline.with_seeds(spec, draw)
}

/// The description of the discipline called `name`, whatever its kind; of two of one name, the one that is listed first.
///
/// # Errors
/// No discipline has that name; the error names the nearest.
pub fn info(name: &str) -> Result<&'static Info, SpecError> {
    Role::Discipline.info(name)
}

/// All disciplines called `name`: a message discipline and a dispatcher may share it.
pub fn named(name: &str) -> impl Iterator<Item = &'static Info> {
    all().filter(move |info| info.name == name)
}

/// All descriptions, in the order of the listings, what was added last; each once, though it may serve several kinds.
pub fn all() -> impl Iterator<Item = &'static Info> {
    own().chain(added::added())
}

/// The descriptions of the disciplines of this crate.
pub(crate) fn own() -> impl Iterator<Item = &'static Info> {
    let listed = |info: &&Info| MESSAGE.iter().any(|other| other.name == info.name);
    let packets = PACKET.iter().filter(move |info| !listed(info));
    MESSAGE.iter().chain(WRAPPER).chain(packets).chain(TASK).chain(DISPATCHER).chain(POOL).copied()
}

/// The error where `in_order` is put around a discipline that is none, or has no key.
pub(crate) fn no_priority(name: &str) -> SpecError {
    if !all().any(|info| info.name == name) {
        return unknown(name, PRIORITY);
    }
    let names: Vec<_> = PRIORITY.iter().map(|info| info.name).collect();
    let reason = format!(
        "is `{}`, which does not order by a key, must be one of `{}`",
        shorten(name),
        names.join("`, `")
    );
    SpecError::Value { discipline: message::in_order::INFO.name, parameter: "discipline", reason }
}

/// What the discipline of this name orders, in the plural.
fn orders(name: &str) -> Option<&'static str> {
    let lists: [(&[&Info], &str); 6] = [
        (MESSAGE, "messages"),
        (WRAPPER, "messages"),
        (PACKET, "packets at a link"),
        (TASK, "processes of a node"),
        (DISPATCHER, "requests to a pool of cores"),
        (POOL, "requests to a pool of cores"),
    ];
    let found = lists.iter().find(|(list, _)| list.iter().any(|info| info.name == name));
    found.map(|(_, what)| *what).or_else(|| {
        match added::added().iter().find(|info| info.name == name)?.kind {
            Kind::Message => Some("messages"),
            _ => Some("packets at a link"),
        }
    })
}

pub(crate) fn unknown(name: &str, known: &[&Info]) -> SpecError {
    let names: Vec<_> = known.iter().map(|info| info.name).collect();
    let orders = orders(name);
    let meant = textbook::hint(name, &names);
    let nearest = || nearest(name, names.iter().copied()).filter(|_| orders.is_none());
    let hint = meant.or_else(|| Some(format!("did you mean `{}`? ", nearest()?))).unwrap_or_default();
    let remedy = format!("{hint}choose one of `{}`", names.join("`, `"));
    SpecError::UnknownName { name: name.to_owned(), orders, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Takes;
    use crate::item::{Message, Packet};
    use crate::task::Task;

    #[test]
    fn every_example_builds() {
        for info in MESSAGE.iter().chain(WRAPPER) {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(message_discipline::<Message>(&spec).is_ok(), "{}", info.example);
        }
        for info in PACKET {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(packet_discipline::<Packet>(&spec).is_ok(), "{}", info.example);
        }
        for info in TASK {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(task_discipline::<Task>(&spec).is_ok(), "{}", info.example);
        }
        assert_eq!((named("fifo").count(), named("rr").count()), (1, 2));
    }

    fn site() -> Site {
        let classes = vec![crate::pool::Profile { share: 1.0, service: Nanos::new(1_000) }];
        Site { servers: 4, receivers: 1, classes, queue: None, speeds: Vec::new() }
    }

    #[test]
    fn every_example_of_a_pool_builds() {
        for info in DISPATCHER {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(dispatcher::<Message<Nanos>>(&spec, &site()).is_ok(), "{}", info.example);
        }
        for info in POOL.iter().chain(DISPATCHER) {
            let spec: Spec = info.example.parse().expect(info.example);
            assert!(pool::<Message<Nanos>>(&spec, &site()).is_ok(), "{}", info.example);
        }
    }

    #[test]
    fn a_site_that_is_none_is_refused() {
        let refused = |site: Site| {
            let spec: Spec = "rr".parse().expect("a spec");
            pool::<Message<Nanos>>(&spec, &site).map(drop).expect_err("refused").to_string()
        };
        assert_eq!(
            refused(Site { servers: 0, ..site() }),
            "the pool has 0 servers, must have from 1 to 1024"
        );
        assert_eq!(
            refused(Site { receivers: 0, ..site() }),
            "the pool has 0 receivers, must have from 1 to 1024"
        );
        let classes = Vec::new();
        assert_eq!(refused(Site { classes, ..site() }), "the pool has 0 classes, must have from 1 to 64");
    }

    #[test]
    fn every_discipline_with_a_seed_gets_one_unless_it_has_one() {
        let seeded = |text: &str| {
            let mut next = 40;
            let spec: Spec = text.parse().expect(text);
            let draw = &mut || {
                next += 1;
                next
            };
            with_seeds(&spec, draw).to_string()
        };
        for (written, expected) in [
            ("fifo", "fifo"),
            ("sfq", "sfq:seed=41"),
            ("sfq:queues=16", "sfq:queues=16,seed=41"),
            ("sfq:queues=16,seed=3", "sfq:queues=16,seed=3"),
            ("sfq:9,100pkt,keyed,3", "sfq:9,100pkt,keyed,3"),
            ("tbf(sfq,rate=1Mbit,burst=2kB)", "tbf(sfq:seed=41,rate=1Mbit,burst=2kB)"),
            (
                "tbf(sfq(9,hash=xor),rate=1Mbit,burst=2kB)",
                "tbf(sfq(9,hash=xor,seed=41),rate=1Mbit,burst=2kB)",
            ),
            ("nobody(sfq,sfq:seed=1,sfq)", "nobody(sfq:seed=41,sfq:seed=1,sfq:seed=42)"),
            ("jsq:ties=random", "jsq:ties=random,seed=41"),
        ] {
            assert_eq!(seeded(written), expected, "{written}");
        }
    }

    #[test]
    fn an_argument_is_given_where_it_is_missing() {
        let is_epoch = |takes: &Takes| matches!(takes, Takes::Epoch(_));
        for (written, expected) in [
            ("epoch", "epoch:length=50ms"),
            ("epoch:admit=refuse", "epoch:admit=refuse,length=50ms"),
            ("epoch:10ms", "epoch:10ms"),
            ("epoch(length=10ms,slice=1ms)", "epoch:length=10ms,slice=1ms"),
            ("fifo", "fifo"),
            ("nobody", "nobody"),
        ] {
            let spec: Spec = written.parse().expect(written);
            let given = Role::Discipline.with_argument(&spec, is_epoch, "50ms");
            assert_eq!(given.to_string(), expected);
        }
        let spec: Spec = "epoch:10ms".parse().expect("a spec");
        let [length, slice, ..] = crate::task::epoch::INFO.parameters else { panic!("two or more") };
        let argument = |parameter| Role::Discipline.argument(&spec, parameter).map(ToString::to_string);
        assert_eq!((argument(length), argument(slice)), (Some("10ms".to_owned()), None));
    }

    fn error(spec: &str) -> String {
        let spec: Spec = spec.parse().expect(spec);
        message_discipline::<Message>(&spec).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn wrappers_nest() {
        for spec in [
            "outstanding(in_order(alpha:10),limit=4)",
            "outstanding(rr,limit=1)",
            "outstanding(outstanding(fifo,limit=1),limit=2)",
            "in_order(alpha(inf,update=recalculate,classes=1/inf))",
            "in_order(alpha_tracking(low=2,high=50,weight=0.5))",
        ] {
            assert_eq!(error(spec), "", "{spec}");
        }
    }

    fn packet_error(spec: &str) -> String {
        let spec: Spec = spec.parse().expect(spec);
        packet_discipline::<Packet>(&spec).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn disciplines_of_packets_nest() {
        for spec in [
            "fq(codel:target=5ms)",
            "fq:codel",
            "tbf(sfq:queues=9,rate=10Mbit,burst=15140B)",
            "tbf(fq(codel(target=5ms,interval=100ms)),rate=10Mbit,burst=15140B)",
            "priority(fifo:limit=100pkt,bands=3)",
            "priority(fq(tbf(codel,rate=1Mbit,burst=2kB)),last=tbf(fq_codel,rate=1Mbit,burst=2kB))",
            "fq(fq(fq(fq(fq(fq(fq(fq)))))))",
        ] {
            assert_eq!(packet_error(spec), "", "{spec}");
        }
        let (open, close) = ("fq(".repeat(9), ")".repeat(9));
        let deeper = format!("{open}fifo{close}").parse::<Spec>().expect_err("too deep").to_string();
        assert!(deeper.ends_with("specs nest deeper than 8 levels"), "{deeper}");
    }

    #[test]
    fn the_error_of_a_child_is_passed_on() {
        for (spec, expected) in [
            ("fq(tbf(codel:target=5,rate=1Mbit,burst=2kB))", "`codel`: target is `5`, must be"),
            ("tbf(fq(codel:tarjet=5ms),rate=1Mbit,burst=2kB)", "`codel` has no parameter `tarjet`: it takes"),
            (
                "priority(fifo,last=fq(alpha:10))",
                "`alpha` orders messages and cannot be used here: choose one of `fifo`",
            ),
            ("priority(fq:drrr)", "no discipline is named `drrr`: did you mean `drr`?"),
            ("tbf(fq(sfq:queues=0),rate=1Mbit,burst=2kB)", "`sfq`: queues is `0`, must be"),
        ] {
            let error = packet_error(spec);
            assert!(error.starts_with(expected), "{spec}: {error}");
        }
    }

    #[test]
    fn in_order_needs_a_key() {
        assert!(
            error("in_order(rr)")
                .starts_with("`in_order`: discipline is `rr`, which does not order by a key")
        );
        assert!(error("in_order(outstanding(sf,limit=1))").contains("which does not order by a key"));
        assert!(error("in_order(alpah:10)").contains("did you mean `alpha`?"));
        assert!(error("in_order").contains("is missing"));
        assert!(error("in_ordr(sf)").contains("did you mean `in_order`?"));
    }

    #[test]
    fn values_are_refused_with_bound_and_remedy() {
        let alpha = "must be a number from 0 (first in, first out) to 1000000000, or `inf` (shortest first)";
        for value in ["-1", "NaN", "nan", "-inf", "2e9", "ten"] {
            let message = error(&format!("alpha:{value}"));
            assert!(message.starts_with("`alpha`: alpha is ") && message.ends_with(alpha), "{message}");
        }
        assert!(error("alpha").contains("`alpha`: alpha is missing, write it as in `alpha:10`"));
        assert!(error("alpha(1,classes=1/-2)").starts_with("`alpha`: classes is -2, must be"));
        assert!(error("alpha(1,classes=1//2)").contains("alphas separated by `/`"));
        assert!(error("alpha(1,update=never)").contains("one of `decrement`, `recalculate`"));
        assert!(
            error("alpha_tracking(low=2,high=1)").contains("high is 1, must be at least low, which is 2")
        );
        assert!(error("alpha_tracking(low=inf)").contains("low is `inf`, must be a number from 0"));
        assert!(error("rr:0").contains("quantum is `0`, must be a whole number from 1"));
        assert!(error("outstanding(sf,limit=0)").contains("limit is `0`"));
        assert!(error("outstanding(limit=1)").contains("discipline is missing"));
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let error = info("fofo").expect_err("no such discipline").to_string();
        assert!(error.contains("did you mean `fifo`?"), "{error}");
    }

    #[test]
    fn c3_a_discipline_of_another_kind_is_said_to_be_one() {
        let refused = error("drr:quantum=1514B");
        assert!(
            refused.starts_with("`drr` orders packets at a link and cannot be used here: choose one of"),
            "{refused}"
        );
        let refused = error("priority");
        assert!(refused.starts_with("`priority` orders packets at a link and"), "{refused}");
        let refused = error("fcfs");
        assert!(refused.contains("first come, first served is called `fifo` here"), "{refused}");
        assert!(info("fcfs").is_err_and(|error| error.to_string().contains("called `fifo` here")));
    }
}
