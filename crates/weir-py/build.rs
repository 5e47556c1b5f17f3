//! Puts the published tables of `reproduce` aside for the wheel, where they are `weir/reproduce/published`
//! (`include` in pyproject.toml).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = |name| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let source = folder("CARGO_MANIFEST_DIR")?.join("../../reproduce");
    let target = folder("OUT_DIR")?.join("published");
    println!("cargo::rerun-if-changed={}", source.display());
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    copy(&source, &target)
}

fn copy(source: &Path, target: &Path) -> io::Result<()> {
    fs::create_dir(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let into = target.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &into)?;
        } else {
            fs::copy(entry.path(), into)?;
        }
    }
    Ok(())
}
