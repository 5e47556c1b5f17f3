//! VLANs: which one of its device an interface is, and what classes say of tags.

use weir_document::Located;

use super::super::document::InterfaceTable;
use super::super::vlan::{HIGHEST_PRIORITY, VLANS};
use super::super::{Interface, Outer, PriorityFrom, TagType, Vlan};
use super::{Checked, Checker};

impl Checker<'_> {
    /// The device of an interface, and which VLAN of it the interface is; no other is the same.
    pub(super) fn device(
        &self,
        table: &InterfaceTable,
        name: &str,
        before: &[Interface],
    ) -> Checked<(String, Option<Vlan>)> {
        let device = table.device.as_ref().map_or(Ok(name.to_owned()), |it| self.interface_name(it))?;
        let vlan = self.vlan(table)?;
        if let Some(other) = before.iter().find(|other| other.device == device && other.vlan == vlan) {
            let reason = format!("is {}, as `{}` is", other.what(), other.name);
            let at = table.device.as_ref().unwrap_or(&table.name);
            return self.refuse(at, reason, "give each interface a VLAN of its own, and one device none");
        }
        Ok((device, vlan))
    }

    fn vlan(&self, table: &InterfaceTable) -> Checked<Option<Vlan>> {
        let Some(written) = &table.vlan else {
            const REMEDY: &str = "add `vlan = 100`, or remove it";
            if let Some(outer) = &table.outer {
                return self.refuse(outer, "is an outer tag without an inner one", REMEDY);
            }
            if let Some(from) = &table.priority_from {
                return self.refuse(from, "is of frames that leave with a tag, and these have none", REMEDY);
            }
            return self.outer(table).map(|_| None);
        };
        if table.device.is_none() {
            let remedy = "add `device = \"eth0\"`";
            return self.refuse(written, "is a VLAN of a device that is not named", remedy);
        }
        Ok(Some(Vlan { id: self.vlan_id(written)?, outer: self.outer(table)? }))
    }

    fn outer(&self, table: &InterfaceTable) -> Checked<Option<Outer>> {
        match (&table.outer, &table.outer_type) {
            (Some(outer), kind) => {
                let kind = kind.as_ref().map_or(TagType::Service, |kind| kind.value);
                Ok(Some(Outer { id: self.vlan_id(outer)?, kind }))
            }
            (None, Some(kind)) => {
                self.refuse(kind, "is the type of an outer tag, of which there is none", "add `outer = 200`")
            }
            (None, None) => Ok(None),
        }
    }

    /// What the priority of frames follows that leave with a tag.
    pub(super) fn priority_from(table: &InterfaceTable) -> PriorityFrom {
        table.priority_from.as_ref().map_or(PriorityFrom::Received, |from| from.value)
    }

    /// A VLAN.
    pub(super) fn vlan_id(&self, written: &Located<u32>) -> Checked<u16> {
        if VLANS.contains(&written.value) {
            return Ok(written.value as u16);
        }
        let reason = format!("must be from {} to {}", VLANS.start(), VLANS.end());
        self.refuse(written, reason, "write the number of a VLAN, such as 100")
    }

    /// A priority code point.
    pub(super) fn priority(&self, written: &Located<u32>) -> Checked<u8> {
        if written.value <= HIGHEST_PRIORITY {
            return Ok(written.value as u8);
        }
        self.refuse(
            written,
            format!("must be from 0 to {HIGHEST_PRIORITY}"),
            "write a priority code point such as 5",
        )
    }
}
