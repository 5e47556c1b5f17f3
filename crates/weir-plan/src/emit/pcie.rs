//! Phases of a PCI Express VC arbitration table, as `setpci` commands.
//!
//! A phase is 4 bits, the channel in the lowest three; a phase is one transaction, so that the table is a basic one.
//! Eight phases make a 32-bit word, the first in the lowest bits. A plan shorter than the table of the device (32,
//! 64 or 128 phases) is repeated, which keeps every distance.
//!
//! Source: Linux, `include/uapi/linux/pci_regs.h` (`PCI_VC_*`).

use core::fmt::Write;

use super::{Emission, EmitError, commented, header, longer_bounds};
use crate::plan::Plan;
use crate::target::{Form, Target};

/// Phases of the tables that there are, with the number by which the control register selects them.
const TABLES: [(usize, u32); 3] = [(32, 1), (64, 2), (128, 3)];
/// The highest number of a channel.
const MAX_CHANNEL: u32 = 7;
/// Where the table is in the capability of most devices; it is read from bits 31:24 of register +08h, in 16 bytes.
const OFFSET: usize = 0x30;
/// Phases of a register of 32 bits.
const PHASES_PER_WORD: usize = 8;

/// Writes the commands.
///
/// # Errors
/// Channels above 7, more than 128 entries, or free entries.
pub fn emit(plan: &Plan, target: &Target) -> Result<Emission, EmitError> {
    let refuse = |reason: String, remedy: &str| Err(EmitError::new(Form::Pcie, reason, remedy));
    let entries = plan.slots.len();
    let Some((phases, select)) = TABLES.into_iter().find(|(phases, _)| *phases >= entries) else {
        return refuse(
            format!("it has {entries} entries, a table has at most 128 phases"),
            "write table.entries = 128",
        );
    };
    if let Some(class) = plan.classes.iter().find(|class| class.lane > MAX_CHANNEL) {
        let reason = format!("`{}` has lane {}, channels are 0 to {MAX_CHANNEL}", class.name, class.lane);
        return refuse(reason, "use lanes 0 to 7");
    }
    let Some(channels) = plan
        .slots
        .iter()
        .map(|slot| slot.map(|entry| plan.classes[entry.class].lane))
        .collect::<Option<Vec<u32>>>()
    else {
        let reason = format!("{} of its entries are free, and every phase names a channel", plan.table.free);
        return refuse(reason, "give them to a class: a shorter distance, or a class for the rest");
    };
    let lost = lost(plan, phases);
    let mut comments = header(plan);
    comments.push("What the VC arbitration table does not keep of the plan:".into());
    comments.extend(lost.iter().map(|line| format!("- {line}")));
    let device = target.device.as_deref().unwrap_or("BDF");
    let mut text = commented(&comments);
    for word in 0..phases / PHASES_PER_WORD {
        let _ = write!(text, "setpci -s {device} ECAP_VC+{:02x}.L=", OFFSET + 4 * word);
        for phase in (0..PHASES_PER_WORD).rev() {
            let _ = write!(text, "{:x}", channels[(word * PHASES_PER_WORD + phase) % entries]);
        }
        text.push('\n');
    }
    let _ = writeln!(text, "setpci -s {device} ECAP_VC+0c.W={:04x}", select << 1 | 1);
    Ok(Emission { text, lost })
}

fn lost(plan: &Plan, phases: usize) -> Vec<String> {
    let mut lost = vec![
        "weights: a phase is one transaction of any size, so that shares follow the entries and the sizes"
            .to_owned(),
        format!(
            "that the device has {phases} phases and its table at +30h is assumed: read ECAP_VC+08.L, bits 1 to 3 \
             and 31:24, and wait until bit 0 of ECAP_VC+0e.W is 0"
        ),
    ];
    for class in &plan.classes {
        let planned = class.planned_share(plan.table.pool);
        if planned != class.entry_share {
            lost.push(format!(
                "the share of `{}`, {planned}: with transactions of one size it gets {}",
                class.name, class.entry_share
            ));
        }
    }
    lost.extend(longer_bounds(plan, Form::Pcie));
    lost
}
