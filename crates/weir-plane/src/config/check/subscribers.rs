//! Subscribers of an interface: their file, and that the interface can be shared among them.

use std::path::Path;
use std::sync::Arc;

use weir_document::Refused;
use weir_document::quantity::Speed;
use weir_document::subscribers::Table;

use super::super::document::{InterfaceTable, SubscriberAddress};
use super::super::Subscribers;
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
        let listed = Table::read_file(&path, &path.display().to_string())?;
        let (config, _) = listed.shares(rate)?;
        config.check().map_err(|error| {
            Refused::of_file(listed.file(), error.to_string(), "change the rates of its lines")
        })?;
        Ok(Some(Subscribers {
            file: written.value.clone(),
            address: given(&table.subscriber_address).unwrap_or(SubscriberAddress::Destination),
            metrics: given(&table.subscriber_metrics).unwrap_or(false),
            table: Arc::new(listed),
        }))
    }
}
