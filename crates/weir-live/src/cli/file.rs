//! Files that commands write: whole, or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use weir_document::Refused;

use super::Failure;

/// A file that is written next to its place; where it is dropped before it is whole, nothing stays.
#[derive(Debug)]
pub(super) struct Pending {
    place: PathBuf,
    beside: PathBuf,
    file: Option<File>,
}

impl Pending {
    /// Begins one, so that a folder that cannot be written to is known at once.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(super) fn new(place: &Path) -> Result<Self, Failure> {
        let name = place.file_name().ok_or_else(|| refused(place, "it names no file"))?;
        let beside = format!(".{}.{}", name.to_string_lossy(), std::process::id());
        let beside = place.with_file_name(beside);
        let file = File::create(&beside).map_err(|error| refused(place, &error.to_string()))?;
        Ok(Self { place: place.to_owned(), beside, file: Some(file) })
    }

    /// Writes it, and puts it in its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(mut self, text: impl AsRef<[u8]>) -> Result<(), Failure> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        let written = file
            .write_all(text.as_ref())
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&self.beside, &self.place));
        written.map_err(|error| {
            let _ = fs::remove_file(&self.beside);
            refused(&self.place, &error.to_string())
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

fn refused(place: &Path, reason: &str) -> Failure {
    let reason = format!("the file cannot be written: {reason}");
    Refused::of_file(&place.display().to_string(), reason, "name a file in a folder that you may write to")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_whole_or_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out.json");
        fs::write(&place, "old").expect("written");
        drop(Pending::new(&place).expect("begun"));
        assert_eq!(fs::read_to_string(&place).expect("read"), "old");
        Pending::new(&place).expect("begun").write("new").expect("written");
        assert_eq!(fs::read_to_string(&place).expect("read"), "new");
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 1);
        assert!(Pending::new(&folder.path().join("none/out.json")).is_err());
        assert!(Pending::new(Path::new("/")).is_err());
    }
}
