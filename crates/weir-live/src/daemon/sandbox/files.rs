//! Writing, by Landlock: nowhere but in the directories of the daemon; nothing is executed, and no TCP connection made.
//!
//! What is open already stays so: standard error, the sockets, the listening socket of the metrics. A kernel that knows
//! less than is asked gives what it knows.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::Files;

/// The last version of the interface whose rights are asked for.
const KNOWN: ABI = ABI::V6;

/// Whether anything is restricted.
pub(super) fn restrict(files: &Files) -> Result<bool, RulesetError> {
    let writes: BitFlags<AccessFs> = AccessFs::from_write(KNOWN);
    let status = Ruleset::default()
        .handle_access(writes | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rules(path_beneath_rules(&files.own, writes))?
        .add_rules(path_beneath_rules([&files.base], AccessFs::RemoveDir))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
