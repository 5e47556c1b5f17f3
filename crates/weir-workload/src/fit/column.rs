//! One column of positive numbers of a CSV file.

use std::io::Read;

use crate::trace::{Column, Header, Rows, Separator, unpacked};
use weir_document::Refused;

/// The most values.
const MAX_VALUES: usize = 20_000_000;

/// Reads the column of this name; `file` names the file in errors. A file compressed by gzip is known by its first bytes.
///
/// # Errors
/// The file has no such column, or the first row whose value is missing, no number, or not above 0.
pub fn read_column(source: impl Read, file: &str, name: &str) -> Result<Vec<f64>, Refused> {
    let mut rows = Rows::new(unpacked(source, file)?, Separator::Comma.byte(), file);
    let Some((header, line)) = rows.next()? else {
        return Err(Refused::of_file(
            file,
            "is empty",
            "give a header that names the columns, and a row a value",
        ));
    };
    let count = header.len();
    let names = (0..count).map(|place| header.field(place)).collect();
    let column = Header { names, file, line }.required(name)?;
    let mut values = Vec::new();
    while let Some((row, line)) = rows.next()? {
        if row.len() != count {
            let reason = format!("the row has {} fields, must have {count} like the first", row.len());
            let remedy = "complete the row; the file may have been cut off here";
            return Err(Refused::of_file(file, reason, remedy).at(line, 1));
        }
        let written = row.field(column.place);
        match written.parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => values.push(value),
            _ => return Err(of_value(file, line, &column, written)),
        }
        if values.len() > MAX_VALUES {
            let reason = format!("comes after {MAX_VALUES} rows, the most that are fitted");
            return Err(Refused::of_file(file, reason, "cut the file").at(line, 1));
        }
    }
    Ok(values)
}

fn of_value(file: &str, line: usize, column: &Column, written: &str) -> Refused {
    let value = if written.is_empty() { "empty" } else { written };
    let refusal = Refused::of_file(file, "must be a number above 0", "correct or remove the row");
    refusal.at(line, column.place + 1).key(&column.name).value(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<f64>, String> {
        read_column(text.as_bytes(), "x.csv", "ms").map_err(|refused| refused.to_string())
    }

    #[test]
    fn values_are_those_of_the_column() {
        assert_eq!(read("# seen\nid,ms\na,1.5\n\nb,2e3\n"), Ok(vec![1.5, 2000.0]));
    }

    #[test]
    fn refusals_name_line_value_and_remedy() {
        for (text, expected) in [
            ("", "x.csv: is empty: give a header"),
            ("id,us\na,1\n", "ms is not a column of the file: "),
            ("id,us\na,1\n", "the columns are `id`, `us`"),
            (
                "id,ms\na,1\nb,\n",
                "x.csv:3:2: ms is empty, must be a number above 0: correct or remove the row",
            ),
            ("id,ms\na,1\nb,0\n", "x.csv:3:2: ms is 0, must be a number above 0"),
            ("id,ms\na,-3\n", "x.csv:2:2: ms is -3, must be a number above 0"),
            ("id,ms\na,inf\n", "x.csv:2:2: ms is inf, must be a number above 0"),
            ("id,ms\na\n", "x.csv:2:1: the row has 1 fields, must have 2 like the first"),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
