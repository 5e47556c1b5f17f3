//! Classes: their names, and rules that can fit something.

use ipnet::IpNet;
use weir_document::Located;

use super::super::address::Protocol;
use super::super::document::ClassTable;
use super::super::{Class, MOST_CLASSES, Mark, Rule};
use super::{Checked, Checker};

/// The class of what fits no rule.
pub(in crate::config) const DEFAULT: &str = "default";
/// The longest name of a class, in characters.
const LONGEST_NAME: usize = 64;
/// The most parts of one key of a rule.
const MOST_PARTS: usize = 256;
/// Protocols that have ports: TCP, UDP, SCTP.
const WITH_PORTS: [u8; 3] = [6, 17, 132];
/// The highest code point.
const HIGHEST_DSCP: u8 = 63;

impl Checker<'_> {
    pub(super) fn classes(&self, written: &[Located<ClassTable>]) -> Checked<Vec<Class>> {
        let mut classes: Vec<Class> = Vec::with_capacity(written.len() + 1);
        for table in written {
            let table = &table.value;
            if classes.len() + 1 == MOST_CLASSES {
                let reason =
                    format!("is beyond the limit of {} classes besides `{DEFAULT}`", MOST_CLASSES - 1);
                return self.refuse(&table.name, reason, "join classes");
            }
            let name = self.class_name(&table.name)?;
            if classes.iter().any(|other| other.name == name) {
                let remedy = "give each its own name, or join the two rules to one";
                return self.refuse(&table.name, "is the name of another class", remedy);
            }
            classes.push(Class { name, rule: self.rule(table)?, mark: self.mark(table)? });
        }
        classes.push(Class { name: DEFAULT.to_owned(), rule: Rule::default(), mark: Mark::default() });
        Ok(classes)
    }

    fn class_name(&self, written: &Located<String>) -> Checked<String> {
        let name = &written.value;
        if name == DEFAULT {
            let reason = "is the class of packets that match no rule, and exists without a table";
            return self.refuse(written, reason, "choose another name");
        }
        self.plain_name(written)
    }

    /// The name of a class, which stands in tables and labels.
    ///
    /// # Errors
    /// It is refused.
    pub fn plain_name(&self, written: &Located<String>) -> Checked<String> {
        let name = &written.value;
        let is_plain = name.chars().all(|each| !each.is_control() && !"\"\\`".contains(each));
        if name.trim() != name || name.is_empty() || name.chars().count() > LONGEST_NAME || !is_plain {
            let reason = format!(
                "must be from 1 to {LONGEST_NAME} characters without quotes, backslashes and outer blanks"
            );
            return self.refuse(written, reason, "write a name such as \"voice\"");
        }
        Ok(name.clone())
    }

    fn rule(&self, table: &ClassTable) -> Checked<Rule> {
        for (key, count) in [
            ("from", table.from.len()),
            ("to", table.to.len()),
            ("ports", table.ports.len()),
            ("dscp", table.dscp.len()),
            ("vlan", table.vlan.len()),
            ("outer", table.outer.len()),
            ("priority", table.priority.len()),
        ] {
            if count > MOST_PARTS {
                let reason = format!("has {count} parts of `{key}`, at most {MOST_PARTS} are read");
                return self.refuse(&table.name, reason, "write prefixes or ranges that hold several");
            }
        }
        let rule = Rule {
            from: table.from.iter().map(|prefix| self.prefix(prefix)).collect::<Checked<_>>()?,
            to: table.to.iter().map(|prefix| self.prefix(prefix)).collect::<Checked<_>>()?,
            protocol: table.protocol.as_ref().map(|protocol| protocol.value.0),
            ports: table.ports.iter().map(|range| range.value.0.clone()).collect(),
            dscp: table.dscp.iter().map(|point| self.dscp(point)).collect::<Checked<_>>()?,
            vlan: table.vlan.iter().map(|vlan| self.vlan_id(vlan)).collect::<Checked<_>>()?,
            outer: table.outer.iter().map(|vlan| self.vlan_id(vlan)).collect::<Checked<_>>()?,
            priority: table.priority.iter().map(|point| self.priority(point)).collect::<Checked<_>>()?,
        };
        if rule == Rule::default() {
            let reason = "has no rule, and would leave nothing to the classes after it";
            let remedy = "add `from`, `to`, `protocol`, `ports`, `dscp`, `vlan`, `outer` or `priority`";
            return self.refuse(&table.name, reason, remedy);
        }
        self.can_fit(table, &rule)?;
        Ok(rule)
    }

    fn mark(&self, table: &ClassTable) -> Checked<Mark> {
        Ok(Mark {
            priority: table.set_priority.as_ref().map(|point| self.priority(point)).transpose()?,
            dscp: table.set_dscp.as_ref().map(|point| self.dscp(point)).transpose()?,
        })
    }

    /// A code point of differentiated services.
    ///
    /// # Errors
    /// It is refused.
    pub fn dscp(&self, written: &Located<u8>) -> Checked<u8> {
        if written.value <= HIGHEST_DSCP {
            return Ok(written.value);
        }
        let remedy = "write a code point such as 46: the upper six bits of the octet";
        self.refuse(written, format!("must be from 0 to {HIGHEST_DSCP}"), remedy)
    }

    /// Refuses a rule that no packet fits.
    fn can_fit(&self, table: &ClassTable, rule: &Rule) -> Checked<()> {
        let of = |list: &[IpNet], four: bool| list.iter().any(|it| matches!(it, IpNet::V4(_)) == four);
        let both = |four| of(&rule.from, four) && of(&rule.to, four);
        if let (Some(first), false, false, false) =
            (table.to.first(), rule.from.is_empty(), both(true), both(false))
        {
            let reason = "is of another family of addresses than every prefix in `from`: no packet matches";
            return self.refuse(first, reason, "write prefixes of one family, or remove one of the two");
        }
        match (&table.protocol, table.ports.first()) {
            (Some(Located { value: Protocol(number), .. }), Some(first)) if !WITH_PORTS.contains(number) => {
                let reason = "is combined with a protocol without ports: no packet matches";
                self.refuse(first, reason, "write protocol = \"udp\" or \"tcp\", or remove one of the two")
            }
            _ => Ok(()),
        }
    }
}
