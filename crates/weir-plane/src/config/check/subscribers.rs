//! Subscribers of an interface: their file, and that the interface can be shared among them.

use std::path::Path;
use std::sync::Arc;

use weir_document::Refused;
use weir_document::quantity::Speed;
use weir_document::subscribers::Table;

use super::super::Subscribers;
use super::super::document::{InterfaceTable, SubscriberAddress};
use super::{Checked, Checker, given};

impl Checker<'_> {
    /// Who shares an interface.
    pub(super) fn subscribers(&self, table: &InterfaceTable) -> Checked<Option<Subscribers>> {
        let Some(written) = &table.subscribers else {
            let remedy = "add `subscribers = \"subscribers.csv\"`, or remove it";
            let reason = "has no effect without `subscribers`";
            if let Some(written) = &table.subscriber_address {
                return self.refuse(written, reason, remedy);
            }
            return match &table.subscriber_metrics {
                Some(written) => self.refuse(written, reason, remedy),
                None => Ok(None),
            };
        };
        let Some(Speed(rate)) = table.rate.as_ref().map(|rate| rate.value) else {
            let reason = "cannot be shared among subscribers without a rate";
            return self.refuse(written, reason, "add `rate`, somewhat less than what the line takes");
        };
        let path = Path::new(self.source.name).with_file_name(&written.value);
        // What is wrong with a line is said at the line; what is wrong with all of them, where they are named.
        let here = |refused: Refused| match refused.line {
            Some(_) => refused,
            None => self.source.refuse(written.span.clone(), refused.message(), refused.remedy.clone()),
        };
        let listed = Table::read_file(&path, &path.display().to_string()).map_err(here)?;
        let (config, _) = listed.shares(rate).map_err(here)?;
        if let Err(error) = config.check() {
            return self.refuse(written, error.to_string(), "change the rates of its lines");
        }
        Ok(Some(Subscribers {
            file: written.value.clone(),
            address: given(&table.subscriber_address).unwrap_or(SubscriberAddress::Destination),
            metrics: given(&table.subscriber_metrics).unwrap_or(false),
            table: Arc::new(listed),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use weir_document::Source;

    use super::super::read;
    use super::*;
    use crate::config::Router;

    /// A router whose interface names a file of these lines, in a folder of its own.
    fn router(name: &str, lines: &str) -> Checked<Router> {
        let folder = std::env::temp_dir().join(format!("weir-subscribers-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("s.csv"), lines).expect("written");
        let text = "weir = 1\n[router]\nname = \"r\"\n[[interface]]\nname = \"a\"\nrate = \"8Mbit\"\nsubscribers = \"s.csv\"\n";
        let file = folder.join("r.toml").display().to_string();
        let read = read(&Source { name: &file, text });
        // What is printed reads as the same, in the same folder.
        let again = read.as_ref().ok().map(|router| router.to_toml());
        if let (Ok(first), Some(text)) = (&read, again) {
            assert_eq!(super::super::read(&Source { name: &file, text: &text }).as_ref(), Ok(first));
        }
        fs::remove_dir_all(&folder).expect("removed");
        read
    }

    #[test]
    fn the_file_lies_next_to_that_of_the_router() {
        let router = router("read", "name,address,rate\nanna,10.0.0.1,1Mbit\n").expect("valid");
        let named = router.interfaces[0].subscribers.as_ref().expect("subscribers");
        assert_eq!((named.table.subscribers(), named.address), (1, SubscriberAddress::Destination));
        assert_eq!(router.interfaces[0].discipline.name, "fq_codel");
    }

    #[test]
    fn promises_beyond_the_interface_are_pointed_out() {
        let advice = router("advice", "name,address,rate\na,10.0.0.1,6Mbit\nb,10.0.0.2,10Mbit\n")
            .expect("valid")
            .advice();
        assert!(
            advice.len() == 1
                && advice[0].contains("s.csv: the interface has 8Mbit and promises 16Mbit: each is"),
            "{advice:?}"
        );
    }

    #[test]
    fn a_wrong_line_refuses_the_router_with_its_own_place() {
        let error = router("refused", "name,address,rate\na,10.0.0.1,6\n").expect_err("refused").to_string();
        assert!(error.contains("s.csv:2:3: rate is 6, not a rate with its unit: "), "{error}");
    }
}
