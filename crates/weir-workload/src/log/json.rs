//! Lines that are JSON objects, as rows of a table.

use crate::trace::Row;
use serde_json::Value;

/// How deep objects lie within each other, at most, that columns are made of.
const DEEPEST: usize = 8;

/// Why a line is no row.
pub(super) type Wrong = (String, &'static str);

/// The object of a line.
pub(super) fn object(line: &str) -> Result<Value, Wrong> {
    match serde_json::from_str(line) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(("the line is JSON and no object".to_owned(), "write one object a line, in braces")),
        Err(error) => {
            let text = error.to_string();
            let reason = text.split(" at line ").next().unwrap_or_default();
            Err((format!("the line is no JSON: {reason}"), "repair or remove the line"))
        }
    }
}

/// The names of the columns that an object has: its keys, and those of objects within it.
pub(super) fn names(object: &Value) -> Vec<String> {
    let mut names = Vec::new();
    collect(object, "", 0, &mut names);
    names
}

fn collect(value: &Value, before: &str, depth: usize, names: &mut Vec<String>) {
    let Value::Object(members) = value else { return };
    for (key, member) in members {
        let name = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
        match member {
            Value::Object(_) if depth < DEEPEST => collect(member, &name, depth + 1, names),
            Value::Object(_) | Value::Array(_) => {}
            _ => names.push(name),
        }
    }
}

/// The values of these columns as the fields of a row; what is null or not there is empty.
pub(super) fn fill(object: &Value, names: &[String], row: &mut Row) {
    row.clear();
    for name in names {
        match value(object, name) {
            Some(Value::String(text)) => row.push(text),
            Some(Value::Number(number)) => row.push(&number.to_string()),
            Some(Value::Bool(truth)) => row.push(if *truth { "true" } else { "false" }),
            _ => row.push(""),
        }
    }
}

/// The value of a column: a key may have dots of its own, so that the longest one found goes first.
fn value<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    if let Some(found) = object.get(name) {
        return Some(found);
    }
    let dots = name.char_indices().rev().filter(|(_, letter)| *letter == '.');
    dots.take(DEEPEST).find_map(|(at, _)| value(object.get(&name[..at])?, &name[at + 1..]))
}
