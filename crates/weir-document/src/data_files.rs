//! The data files that a document names: in a folder, or in memory where there is no disk, as in a page of a browser.
//!
//! A folder takes paths as the document has them. Files in memory are found by the last part of the path alone: who hands them
//! over, such as a page to which a file was dragged, knows no more of it.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(log files) to find one in memory, and what the system takes to open one in a folder |
//! | Units | bytes |

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the data files of a document are.
#[derive(Clone, Debug)]
pub enum DataFiles {
    /// Relative to a folder.
    Folder(PathBuf),
    /// In memory, by their names without a folder.
    Memory(Arc<BTreeMap<String, Arc<[u8]>>>),
}

/// A data file that is being read.
pub enum DataFile {
    /// On disk.
    Disk(File),
    /// In memory.
    Memory(Cursor<Arc<[u8]>>),
}

impl DataFiles {
    /// Files by name, in memory.
    #[must_use]
    pub fn in_memory(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self::Memory(Arc::new(files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect()))
    }

    /// The path of a file that a document names, as errors have it.
    #[must_use]
    pub fn path(&self, file: &Path) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(file),
            Self::Memory(_) => file.to_owned(),
        }
    }

    /// Opens a file that a document names.
    ///
    /// # Errors
    /// It is not there, may not be read, or is a folder.
    pub fn open(&self, file: &Path) -> io::Result<DataFile> {
        match self {
            Self::Folder(folder) => {
                let opened = File::open(folder.join(file))?;
                match opened.metadata()?.is_dir() {
                    true => Err(ErrorKind::IsADirectory.into()),
                    false => Ok(DataFile::Disk(opened)),
                }
            }
            Self::Memory(files) => {
                let name = file.file_name().and_then(|name| name.to_str()).ok_or(ErrorKind::NotFound)?;
                let bytes = files.get(name).ok_or(ErrorKind::NotFound)?;
                Ok(DataFile::Memory(Cursor::new(Arc::clone(bytes))))
            }
        }
    }
}

impl Read for DataFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl From<&Path> for DataFiles {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.to_owned())
    }
}

impl From<&PathBuf> for DataFiles {
    fn from(folder: &PathBuf) -> Self {
        Self::Folder(folder.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_found_by_the_last_part_of_their_path() {
        let files = DataFiles::in_memory([("t.csv".to_owned(), b"time,size\n".to_vec())]);
        for path in ["t.csv", "data/t.csv", "../t.csv"] {
            let mut text = String::new();
            files.open(Path::new(path)).and_then(|mut file| file.read_to_string(&mut text)).expect(path);
            assert_eq!((text.as_str(), files.path(Path::new(path))), ("time,size\n", PathBuf::from(path)));
        }
        for path in ["u.csv", "..", ""] {
            assert_eq!(
                files.open(Path::new(path)).err().map(|error| error.kind()),
                Some(ErrorKind::NotFound)
            );
        }
    }

    #[test]
    fn a_folder_is_no_file() {
        let files = DataFiles::from(Path::new(env!("CARGO_MANIFEST_DIR")));
        let refused = files.open(Path::new("src")).err().map(|error| error.kind());
        assert_eq!(refused, Some(ErrorKind::IsADirectory));
        assert!(files.open(Path::new("Cargo.toml")).is_ok());
    }
}
