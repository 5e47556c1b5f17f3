//! Scripts on disk: the one place of this crate that reads files, for those who want no other.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::lexer::MAX_TEXT;
use crate::script::Place;
use crate::{Script, ScriptError, error, parse};

/// Reads and checks a script and what it includes; names are relative to the script's folder.
///
/// # Errors
/// As [`parse`], and where a file cannot be read or is larger than a script may be.
pub fn read(path: &Path) -> Result<Script, ScriptError> {
    let name = path.display().to_string();
    let text = text_of(path).map_err(|reason| {
        let remedy = "check the name and that the file is a TG script";
        error::refuse(&name, Place::default(), None, format!("the file cannot be read: {reason}"), remedy)
    })?;
    parse(&text, &name, &mut included(path.parent().unwrap_or(Path::new(""))))
}

/// What [`parse`] asks for included files, read from a folder.
pub fn included(folder: &Path) -> impl FnMut(&str) -> Result<String, String> + use<> {
    let folder = PathBuf::from(folder);
    move |name| text_of(&folder.join(name))
}

/// The text of a file that may be a script's. Neither a pipe nor an endless device is opened.
fn text_of(path: &Path) -> Result<String, String> {
    let describe = |error: std::io::Error| error.to_string();
    if !path.metadata().map_err(describe)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let most = MAX_TEXT as u64 + 1;
    File::open(path).map_err(describe)?.take(most).read_to_end(&mut bytes).map_err(describe)?;
    if bytes.len() > MAX_TEXT {
        return Err(format!("it has more than {MAX_TEXT} bytes"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_script_on_disk_is_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (name, expected) in
            [("src", "it is not a file"), ("none.tg", "No such file"), ("Cargo.toml", "`on`")]
        {
            let error = read(&folder.join(name)).expect_err(name).to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(included(folder)("Cargo.toml").is_ok_and(|text| text.contains("weir-tg")));
    }
}
