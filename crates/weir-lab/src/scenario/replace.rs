//! Keys of a scenario replaced from outside, as by the options of the command line.

use toml::{Table, Value};
use weir_document::Refused;

/// The text with the value of each dotted key replaced, or added.
///
/// # Errors
/// The text is no TOML, or a key is not a table that can hold another.
pub fn keys(text: &str, name: &str, replaced: &[(&str, &str)]) -> Result<String, Refused> {
    let unread = |error: toml::de::Error| Refused::of_file(name, error.message(), "correct the TOML");
    let mut root: Table = text.parse().map_err(unread)?;
    for (key, written) in replaced {
        put(&mut root, key, value(written)).ok_or_else(|| {
            let reason = "is not a table that can hold a key";
            Refused::of_file(name, reason, "name a key such as stop.packets").key(*key)
        })?;
    }
    Ok(root.to_string())
}

/// The TOML value that was written, or else the text itself.
fn value(written: &str) -> Value {
    let parsed = format!("value = {written}").parse::<Table>().ok();
    let parsed = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| Value::String(written.to_owned()))
}

fn put(table: &mut Table, key: &str, value: Value) -> Option<()> {
    let Some((head, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return Some(());
    };
    let inner = table.entry(head).or_insert_with(|| Value::Table(Table::new()));
    put(inner.as_table_mut()?, rest, value)
}
