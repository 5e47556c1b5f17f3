//! The user that a daemon becomes when all is set up that takes root: `--user NAME`, or `user` of the configuration.
//!
//! Capabilities are kept over the change, so that [`drop_to`](super::privileges::drop_to) decides alone what is left. The
//! user and the daemon's files: `RunDirectory::hand_over`.
//!
//! | | |
//! |-|-|
//! | Source | setresuid(2), capabilities(7): "Effect of user ID changes on capabilities"; getpwnam(3) |
//! | Units | none |

use core::fmt;
use std::ffi::CString;
use std::io;

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, set_keep_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

/// What it takes to become another user and to give him files.
pub const NEEDED: CapabilitySet =
    CapabilitySet::SETUID.union(CapabilitySet::SETGID).union(CapabilitySet::CHOWN);

/// A user of this system other than root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// His number.
    pub uid: u32,
    /// The number of his first group.
    pub gid: u32,
}

/// A name that no daemon becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoUser {
    /// This system has none of this name.
    Unknown(String),
    /// It is root.
    Root(String),
}

impl fmt::Display for NoUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "user is \"{name}\", not a user of this system: see `getent passwd`")
            }
            Self::Root(name) => {
                write!(
                    f,
                    "user is \"{name}\", which is root: leave it out, or name a user of the daemon's own"
                )
            }
        }
    }
}

impl std::error::Error for NoUser {}

impl User {
    /// The user of this name.
    ///
    /// # Errors
    /// There is none, or it is root.
    pub fn named(name: &str) -> Result<Self, NoUser> {
        let unknown = || NoUser::Unknown(name.to_owned());
        let text = CString::new(name).map_err(|_| unknown())?;
        let mut buffer = vec![0; 1 << 16];
        let mut user = core::mem::MaybeUninit::<libc::passwd>::uninit();
        let mut found = core::ptr::null_mut();
        // SAFETY: the name ends in zero; buffer and user are as long as said and outlive the call.
        let failed = unsafe {
            libc::getpwnam_r(
                text.as_ptr(),
                user.as_mut_ptr(),
                buffer.as_mut_ptr(),
                buffer.len(),
                &raw mut found,
            )
        };
        if failed != 0 || found.is_null() {
            return Err(unknown());
        }
        // SAFETY: it was found, so `found` points to `user`, which is filled.
        let (uid, gid) = unsafe { ((*found).pw_uid, (*found).pw_gid) };
        if uid == 0 { Err(NoUser::Root(name.to_owned())) } else { Ok(Self { uid, gid }) }
    }

    /// Makes this thread one of the user, with no group but his, for good; what it is permitted it keeps, and nothing of
    /// it is in effect.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn take_over(self) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        set_keep_capabilities(true)?;
        set_thread_groups(&[])?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        Ok(set_keep_capabilities(false)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_root_is_none() {
        let error = User::named("no-such-user").expect_err("absent").to_string();
        assert!(error.starts_with("user is \"no-such-user\", not a user of this system: "), "{error}");
        assert_eq!(User::named("root"), Err(NoUser::Root("root".to_owned())));
        assert_eq!(User::named("a\0b"), Err(NoUser::Unknown("a\0b".to_owned())));
    }
}
