//! Shares of the work, so that two processes do not play the same.
//!
//! Every replication belongs to one of [`SHARES`] shares, by its key. Who plays from a share holds the lock of its file
//! (flock), which the system gives up when a process ends, however it does. A share that another process holds is left for
//! later. Claims save work and nothing else: without them two processes play the same, and keep the same.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::Error;
use crate::index::Key;

/// How many shares there are.
pub const SHARES: usize = 256;

/// The claims of a process.
#[derive(Debug)]
pub struct Claims {
    folder: PathBuf,
    /// Of each share the file and how many threads play from it.
    shares: Vec<Mutex<Option<(File, u32)>>>,
    /// Whether no other process is asked.
    alone: bool,
}

impl Claims {
    /// Of a folder, in which they are made; `alone` asks nobody.
    ///
    /// # Errors
    /// The folder cannot be made, or its file system has no locks.
    pub fn new(folder: &Path, alone: bool) -> Result<Self, Error> {
        let shares = (0..SHARES).map(|_| Mutex::new(None)).collect();
        let claims = Self { folder: folder.to_owned(), shares, alone };
        if !alone {
            std::fs::create_dir_all(folder).map_err(Error::at("made", folder))?;
            // What cannot be locked is found before anything is played.
            drop(claims.claim_share(0)?);
        }
        Ok(claims)
    }

    /// The share of a replication.
    fn share(key: &Key) -> usize {
        let mixed = key.content
            ^ key.seed.rotate_left(32)
            ^ u64::from(key.replication).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SHARES
    }

    /// Claims a replication; nothing where another process plays from its share.
    ///
    /// # Errors
    /// A lock cannot be asked for.
    pub fn claim(&self, key: &Key) -> Result<Option<Claim<'_>>, Error> {
        self.claim_share(Self::share(key))
    }

    fn claim_share(&self, share: usize) -> Result<Option<Claim<'_>>, Error> {
        if self.alone {
            return Ok(Some(Claim { claims: self, share: None }));
        }
        let mut held = self.shares[share].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, threads)) = held.as_mut().filter(|(_, threads)| *threads > 0) {
            *threads += 1;
            return Ok(Some(Claim { claims: self, share: Some(share) }));
        }
        let path = self.folder.join(format!("{share:02x}"));
        if held.is_none() {
            let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            *held = Some((opened.map_err(Error::at("made", &path))?, 0));
        }
        let Some((file, threads)) = held.as_mut() else { return Ok(None) };
        match flock(&*file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                *threads = 1;
                Ok(Some(Claim { claims: self, share: Some(share) }))
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                Err(Error::at("locked", &path)(io::ErrorKind::Unsupported.into()))
            }
            Err(error) => Err(Error::at("locked", &path)(error.into())),
        }
    }
}

/// A claim, given up when it is dropped.
#[derive(Debug)]
pub struct Claim<'c> {
    claims: &'c Claims,
    share: Option<usize>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let Some(share) = self.share else { return };
        let mut held = self.claims.shares[share].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((file, threads)) = held.as_mut() {
            *threads -= 1;
            if *threads == 0 {
                // The lock of a closed file is given up in any case.
                if flock(&*file, FlockOperation::Unlock).is_err() {
                    *held = None;
                }
            }
        }
    }
}
