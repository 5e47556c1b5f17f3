//! From a spec to a pool discipline or a dispatcher, under its own type or in a box.

use super::per_server;
use super::{
    Apart, Assigned, DISPATCHER, Dispatcher, Heard, Measured, POOL, Placed, Pool, ReceiverId, Rule, Sees,
    ServerId, Servers, Site, visit_listed_pool,
};
use crate::discipline::{Backlog, DropReason, Drops, Effort};
use crate::info::Info;
use crate::item::Item;
use crate::spec::{Spec, SpecError};
use crate::units::{Instant, Nanos};

/// Receives, under its own type, a dispatcher of which it can make as many as it needs.
pub trait DispatcherVisitor<I: Item<Cost = Nanos>> {
    /// What the visit yields.
    type Output;
    /// Takes what makes the dispatcher that the spec names; all that it makes are alike.
    fn visit<D: Dispatcher<I> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output;
}

/// Receives, under its own type, a pool discipline of which it can make as many as it needs.
pub trait PoolVisitor<I: Item<Cost = Nanos>> {
    /// What the visit yields.
    type Output;
    /// Takes what makes the pool discipline that the spec names; all that it makes are alike.
    fn visit<P: Pool<I> + Send + 'static>(self, make: impl Fn() -> P) -> Self::Output;
}

/// Registers the dispatchers: the list of their descriptions, and a visit of the one that a spec names. The second part of
/// the list is visited in boxes, so that no engine is compiled for each of them.
macro_rules! dispatchers {
    ($($module:ident::$type:ident),+; in boxes: $($boxed:ident::$boxed_type:ident),+ $(,)?) => {
        /// The descriptions, in the order of the listings.
        pub const DISPATCHER: &[&$crate::info::Info] = &[$(&$module::INFO,)+ $(&$boxed::INFO),+];

        /// The dispatcher of the second part that `spec` names.
        fn dispatcher_in_box<I>(
            spec: &$crate::spec::Spec,
            site: &Site,
        ) -> Result<Box<dyn Dispatcher<I> + Send>, $crate::spec::SpecError>
        where
            I: $crate::item::Item<Cost = $crate::units::Nanos> + Send + 'static,
        {
            match spec.name.as_str() {
                $(name if name == $boxed::INFO.name => {
                    let arguments = $crate::info::Arguments::new(spec, &$boxed::INFO)?;
                    Ok(in_box($boxed::$boxed_type::from_spec(&arguments, site)?))
                })+
                _ => Err($crate::registry::unknown(&spec.name, DISPATCHER)),
            }
        }

        /// Hands what makes the dispatcher that `spec` names, for `site`, under its own type, to `visitor`.
        ///
        /// # Errors
        /// The name is not registered, an argument is refused, or the site is none.
        pub fn visit_dispatcher<I, V>(
            spec: &$crate::spec::Spec,
            site: &Site,
            visitor: V,
        ) -> Result<V::Output, $crate::spec::SpecError>
        where
            I: $crate::item::Item<Cost = $crate::units::Nanos> + Send + 'static,
            V: DispatcherVisitor<I>,
        {
            site.check()?;
            match spec.name.as_str() {
                $(name if name == $module::INFO.name => {
                    let arguments = $crate::info::Arguments::new(spec, &$module::INFO)?;
                    Ok(visitor.visit($crate::registry::factory(|| $module::$type::from_spec(&arguments, site))?))
                })+
                _ => Ok(visitor.visit($crate::registry::factory(|| dispatcher_in_box::<I>(spec, site))?)),
            }
        }
    };
}

/// Puts a dispatcher in a box.
pub(super) fn in_box<I, D>(dispatcher: D) -> Box<dyn Dispatcher<I> + Send>
where
    I: Item<Cost = Nanos>,
    D: Dispatcher<I> + Send + 'static,
{
    Box::new(dispatcher)
}

/// Registers the pool disciplines besides `per_server`, which is listed first: the list of their descriptions, and a
/// visit of the one that a spec names.
macro_rules! pools {
    ($($module:ident::$type:ident),+ $(,)?) => {
        /// The descriptions, in the order of the listings. Every dispatcher stands for a pool discipline too.
        pub const POOL: &[&$crate::info::Info] = &[&per_server::INFO, $(&$module::INFO),+];

        /// As [`visit_pool`], of those that are neither dispatchers nor made of one.
        fn visit_listed_pool<I, V>(
            spec: &$crate::spec::Spec,
            site: &Site,
            visitor: V,
        ) -> Result<V::Output, $crate::spec::SpecError>
        where
            I: $crate::item::Item<Cost = $crate::units::Nanos> + Copy + Send + 'static,
            V: PoolVisitor<I>,
        {
            match spec.name.as_str() {
                $(name if name == $module::INFO.name => {
                    let arguments = $crate::info::Arguments::new(spec, &$module::INFO)?;
                    Ok(visitor.visit($crate::registry::factory(|| $module::$type::from_spec(&arguments, site))?))
                })+
                _ => Err($crate::registry::unknown(&spec.name, &[POOL, DISPATCHER].concat())),
            }
        }
    };
}
pub(super) use {dispatchers, pools};

/// Hands what makes the pool discipline that `spec` names, for `site`, under its own type, to `visitor`. A dispatcher
/// stands for itself over queues that are first in, first out.
///
/// # Errors
/// The name is not registered, an argument is refused, or the site is none.
pub fn visit_pool<I, V>(spec: &Spec, site: &Site, visitor: V) -> Result<V::Output, SpecError>
where
    I: Item<Cost = Nanos> + Copy + Send + 'static,
    V: PoolVisitor<I>,
{
    site.check()?;
    let named = |list: &[&Info]| list.iter().any(|info| info.name == spec.name);
    if spec.name == per_server::INFO.name {
        return per_server::visit(spec, site, visitor);
    }
    if named(DISPATCHER) && !named(POOL) {
        return per_server::visit_over_fifo(spec, site, visitor);
    }
    visit_listed_pool(spec, site, visitor)
}

impl<I: Item<Cost = Nanos>, D: Dispatcher<I> + ?Sized> Dispatcher<I> for Box<D> {
    fn sees(&self) -> Sees {
        (**self).sees()
    }
    #[inline]
    fn dispatch(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        (**self).dispatch(now, item, receiver, servers)
    }
    #[inline]
    fn dispatch_apart(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
        apart: &Apart,
    ) -> Result<ServerId, DropReason> {
        (**self).dispatch_apart(now, item, receiver, servers, apart)
    }
    fn period(&self) -> Option<Nanos> {
        (**self).period()
    }
    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        (**self).control(now, measured);
    }
    fn in_use(&self) -> Option<u32> {
        (**self).in_use()
    }
    fn redirected(&self) -> u64 {
        (**self).redirected()
    }
    fn hears(&self) -> bool {
        (**self).hears()
    }
    fn heard(&mut self, now: Instant, heard: &Heard) {
        (**self).heard(now, heard);
    }
    fn rule(&self) -> Option<Rule<'_>> {
        (**self).rule()
    }
}

impl<I: Item<Cost = Nanos>, P: Pool<I> + ?Sized> Pool<I> for Box<P> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        (**self).enqueue(now, item, receiver, drops)
    }
    #[inline]
    fn enqueue_apart(
        &mut self,
        now: Instant,
        item: I,
        receiver: ReceiverId,
        apart: &mut Apart,
        drops: &mut dyn Drops<I>,
    ) -> Placed {
        (**self).enqueue_apart(now, item, receiver, apart, drops)
    }
    #[inline]
    fn dequeue(&mut self, now: Instant, server: ServerId, drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        (**self).dequeue(now, server, drops)
    }
    #[inline]
    fn requeue(&mut self, now: Instant, server: ServerId, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        (**self).requeue(now, server, item, used, drops);
    }
    #[inline]
    fn finish(&mut self, now: Instant, server: ServerId, item: &I, used: Nanos) {
        (**self).finish(now, server, item, used);
    }
    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        (**self).backlog()
    }
    fn length(&self, server: ServerId) -> Option<u32> {
        (**self).length(server)
    }
    #[inline]
    fn wake(&mut self, now: Instant) -> Option<ServerId> {
        (**self).wake(now)
    }
    fn wakes_at(&self) -> Option<Instant> {
        (**self).wakes_at()
    }
    fn period(&self) -> Option<Nanos> {
        (**self).period()
    }
    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        (**self).control(now, measured);
    }
    fn in_use(&self) -> Option<u32> {
        (**self).in_use()
    }
    fn moved(&self) -> u64 {
        (**self).moved()
    }
    fn effort(&self) -> Option<Effort> {
        (**self).effort()
    }
}
