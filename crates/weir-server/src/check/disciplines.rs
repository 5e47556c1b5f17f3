//! The disciplines of the server: dispatchers and pool disciplines, each built once for the site.

use crate::check::Check;
use weir_core::canonical::canonical_as;
use weir_core::item::Message;
use weir_core::pool::Site;
use weir_core::registry;
use weir_core::role::Role;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_document::words::discipline as explain;
use weir_document::{Checked, Located, NamedDiscipline};

impl Check<'_, '_> {
    /// The disciplines by their names as written.
    pub(super) fn pool_disciplines(
        &self,
        list: &Located<Vec<Located<String>>>,
        site: &Site,
    ) -> Checked<Vec<NamedDiscipline>> {
        self.each_once(list, "[\"rr\", \"cfcfs\"]", |written| self.pool_discipline(written, site))
    }

    fn pool_discipline(&self, written: &Located<String>, site: &Site) -> Checked<NamedDiscipline> {
        let build = |text: &str| {
            let spec: Spec = text.parse()?;
            registry::pool::<Message<Nanos>>(&spec, site)?;
            Ok(NamedDiscipline::new(text, canonical_as(Role::Pool, &spec)?))
        };
        build(&written.value).or_else(|error| {
            let (reason, remedy) = explain(error, "a server", "per_server(jsq)");
            self.refuse(written, reason, remedy)
        })
    }

    /// The place of the reference.
    pub(super) fn pool_reference(
        &self,
        written: Option<&Located<String>>,
        disciplines: &[NamedDiscipline],
    ) -> Checked<usize> {
        let Some(written) = written else { return Ok(0) };
        let spec = written.value.parse::<Spec>().and_then(|spec| canonical_as(Role::Pool, &spec));
        let name = spec.map_or_else(|_| written.value.clone(), |spec| spec.to_string());
        self.listed(written, &name, disciplines)
    }
}
