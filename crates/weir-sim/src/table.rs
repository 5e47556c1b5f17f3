//! The figures of many results as one table, column by column.
//!
//! A row is an estimate or a paired difference of one cell, with the columns that the JSON of its model has: the cells of a
//! sweep may have different disciplines, classes and, where the model itself is swept, subjects. What a row does not have is
//! nothing there. Columns come in the order in which they are met, `cell` first; words are kept once each.
//!
//! Work and memory: O(values).

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::AnyOutcome;

/// Nothing, in a column of words.
pub const NO_WORD: u32 = u32::MAX;

/// The values of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Words by their places in `all`, [`NO_WORD`] where there is none.
    Words {
        /// All words.
        all: Vec<String>,
        /// Row by row.
        rows: Vec<u32>,
    },
    /// Numbers; NaN where there is none.
    Numbers(Vec<f64>),
    /// 0, 1, or 2 where there is none.
    Truths(Vec<u8>),
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Values,
    /// The places of words that are known.
    known: HashMap<String, u32>,
}

/// A table in the making.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    places: HashMap<String, usize>,
    rows: usize,
}

/// The figures of one result, as they are pushed to a table.
#[derive(Clone, Debug)]
pub struct Figures(Vec<Map<String, Value>>);

impl Figures {
    /// Of a result.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn new(outcome: &AnyOutcome) -> serde_json::Result<Self> {
        let mut rows = Vec::new();
        for list in outcome.rows()? {
            let Value::Array(list) = list else { continue };
            rows.extend(list.into_iter().filter_map(|row| match row {
                Value::Object(row) => Some(row),
                _ => None,
            }));
        }
        Ok(Self(rows))
    }

    /// The value of the only estimate whose columns have these words; nothing where there is none, or more than one.
    #[must_use]
    pub fn value(&self, words: &[(String, String)]) -> Option<f64> {
        let mut found = self.estimates(words);
        let value = found.next()?.get("value")?.as_f64();
        found.next().map_or(value, |_| None)
    }

    /// The widest interval of all estimates that have these words, as a share of its value; nothing where none has one.
    #[must_use]
    pub fn widest(&self, words: &[(String, String)]) -> Option<f64> {
        let width = |row: &Map<String, Value>| {
            let part = |name| row.get(name).and_then(Value::as_f64);
            let (value, low, high) = (part("value")?, part("low")?, part("high")?);
            // An exact value has a width of 0, even where it is 0.
            Some(if high > low { (high - low) / 2.0 / value.abs() } else { 0.0 })
        };
        self.estimates(words).filter_map(width).reduce(f64::max)
    }

    /// The estimates whose columns have these words: of `a|b` either, where a word is empty nothing.
    fn estimates<'f>(
        &'f self,
        words: &'f [(String, String)],
    ) -> impl Iterator<Item = &'f Map<String, Value>> {
        let has = |row: &Map<String, Value>, name: &str, wanted: &str| match row.get(name) {
            None | Some(Value::Null) => wanted.is_empty(),
            Some(Value::String(word)) => wanted.split('|').any(|one| one == word),
            Some(_) => false,
        };
        let is_one = move |row: &&Map<String, Value>| {
            !row.contains_key("reference") && words.iter().all(|(name, word)| has(row, name, word))
        };
        self.0.iter().filter(is_one)
    }
}

impl Table {
    /// Adds the figures of the cell at a place, which are of `replications` replications.
    pub fn push(&mut self, place: usize, replications: u32, figures: Figures) {
        for row in figures.0 {
            self.row(place, Some(replications), row);
        }
    }

    /// Adds a row that says why the cell at a place has no figures.
    pub fn push_reason(&mut self, place: usize, reason: &str) {
        let row = [("reason".to_owned(), Value::String(reason.to_owned()))];
        self.row(place, None, row.into_iter().collect());
    }

    fn row(&mut self, place: usize, replications: Option<u32>, row: Map<String, Value>) {
        self.put("cell", Value::from(place));
        self.put("replications", Value::from(replications));
        for (name, value) in row {
            self.put(&name, value);
        }
        self.rows += 1;
    }

    fn put(&mut self, name: &str, value: Value) {
        let rows = self.rows;
        // What is nothing in every row is no column.
        if value.is_null() && !self.places.contains_key(name) {
            return;
        }
        let place = self.column(name, || match value {
            Value::String(_) => Values::Words { all: Vec::new(), rows: Vec::new() },
            Value::Bool(_) => Values::Truths(Vec::new()),
            _ => Values::Numbers(Vec::new()),
        });
        let Column { values, known, .. } = &mut self.columns[place];
        match values {
            Values::Words { all, rows: places } => {
                places.resize(rows, NO_WORD);
                let word = match value {
                    Value::String(word) => word,
                    Value::Null => {
                        places.push(NO_WORD);
                        return;
                    }
                    // A list, as of a subject that is several.
                    other => other.to_string(),
                };
                places.push(Column::word(all, known, word));
            }
            Values::Numbers(numbers) => {
                numbers.resize(rows, f64::NAN);
                numbers.push(value.as_f64().unwrap_or(f64::NAN));
            }
            Values::Truths(truths) => {
                truths.resize(rows, 2);
                truths.push(value.as_bool().map_or(2, u8::from));
            }
        }
    }

    /// Adds the rows of another, as if they had been pushed one by one.
    pub fn append(&mut self, other: Self) {
        let (before, rows) = (self.rows, self.rows + other.rows);
        for Column { name, values, .. } in other.into_columns() {
            let place = self.column(&name, || match values {
                Values::Words { .. } => Values::Words { all: Vec::new(), rows: Vec::new() },
                Values::Truths(_) => Values::Truths(Vec::new()),
                Values::Numbers(_) => Values::Numbers(Vec::new()),
            });
            self.columns[place].append(values, before);
        }
        self.rows = rows;
    }

    /// The place of a column, which is made where there is none.
    fn column(&mut self, name: &str, make: impl FnOnce() -> Values) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.places.insert(name.to_owned(), self.columns.len());
        self.columns.push(Column { name: name.to_owned(), values: make(), known: HashMap::new() });
        self.columns.len() - 1
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, each as long as the table.
    #[must_use]
    pub fn into_columns(mut self) -> Vec<Column> {
        for column in &mut self.columns {
            match &mut column.values {
                Values::Words { rows, .. } => rows.resize(self.rows, NO_WORD),
                Values::Numbers(numbers) => numbers.resize(self.rows, f64::NAN),
                Values::Truths(truths) => truths.resize(self.rows, 2),
            }
        }
        self.columns
    }
}

impl Column {
    /// The number of a word, which becomes known.
    fn word(all: &mut Vec<String>, known: &mut HashMap<String, u32>, word: String) -> u32 {
        let next = all.len() as u32;
        *known.entry(word).or_insert_with_key(|word| {
            all.push(word.clone());
            next
        })
    }

    /// Adds the values of another column of this name behind the first `before` rows.
    fn append(&mut self, more: Values, before: usize) {
        match (&mut self.values, more) {
            (Values::Words { all, rows }, Values::Words { all: words, rows: places }) => {
                rows.resize(before, NO_WORD);
                let known = &mut self.known;
                let of: Vec<u32> = words.into_iter().map(|word| Self::word(all, known, word)).collect();
                rows.extend(
                    places.into_iter().map(|place| of.get(place as usize).copied().unwrap_or(NO_WORD)),
                );
            }
            (Values::Numbers(numbers), Values::Numbers(more)) => {
                numbers.resize(before, f64::NAN);
                numbers.extend(more);
            }
            (Values::Truths(truths), Values::Truths(more)) => {
                truths.resize(before, 2);
                truths.extend(more);
            }
            // One name is of one kind in all models: what is not, is nothing there.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn figures(rows: Value) -> Figures {
        let Value::Array(rows) = rows else { panic!("a list") };
        Figures(rows.into_iter().filter_map(|row| row.as_object().cloned()).collect())
    }

    #[test]
    fn rows_of_different_cells_by_hand() {
        let mut table = Table::default();
        table.push(
            0,
            5,
            figures(json!([{"metric": "a", "value": 1.5, "x": null}, {"metric": "b", "value": null}])),
        );
        table.push_reason(1, "no");
        table.push(2, 5, figures(json!([{"metric": "a", "settled": false}])));
        assert_eq!(table.rows(), 4);
        let columns = table.into_columns();
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["cell", "replications", "metric", "value", "reason", "settled"]);
        assert_eq!(columns[0].values, Values::Numbers(vec![0.0, 0.0, 1.0, 2.0]));
        let (all, rows) = (vec!["a".to_owned(), "b".to_owned()], vec![0, 1, NO_WORD, 0]);
        assert_eq!(columns[2].values, Values::Words { all, rows });
        let Values::Numbers(values) = &columns[3].values else { panic!("numbers") };
        assert!(values[0] == 1.5 && values[1..].iter().all(|value| value.is_nan()));
        assert_eq!(columns[5].values, Values::Truths(vec![2, 2, 2, 0]));
    }

    #[test]
    fn tables_put_together_are_as_if_pushed_one_by_one() {
        let rows = [
            json!([{"metric": "a", "value": 1.5}, {"metric": "b", "settled": true}]),
            json!([{"metric": "b", "name": "x"}]),
            json!([{"metric": "c", "value": 2.0, "name": "y"}, {"metric": "a", "settled": false}]),
            json!([]),
            json!([{"late": 1}]),
        ];
        let pushed = |range: std::ops::Range<usize>| {
            let mut table = Table::default();
            range.for_each(|place| table.push(place, 1, figures(rows[place].clone())));
            table
        };
        let plain = |table: Table| -> Vec<_> {
            let columns = table.into_columns().into_iter();
            // NaN is not itself.
            columns.map(|column| (column.name, format!("{:?}", column.values))).collect()
        };
        for cut in 0..=rows.len() {
            let mut table = pushed(0..cut);
            table.append(pushed(cut..rows.len()));
            assert_eq!(plain(table), plain(pushed(0..rows.len())), "{cut}");
        }
    }

    #[test]
    fn one_figure_and_the_widest_interval() {
        let figures = figures(json!([
            {"metric": "a", "name": "all", "value": 10.0, "low": 9.0, "high": 11.0},
            {"metric": "a", "name": "x", "value": 4.0, "low": 2.0, "high": 6.0},
            {"metric": "b", "name": "all", "value": 0.0, "low": 0.0, "high": 0.0},
            {"metric": "a", "name": "all", "reference": "fifo", "value": 0.1, "low": -9.0, "high": 9.0},
        ]));
        let words = |words: &[(&str, &str)]| -> Vec<(String, String)> {
            words.iter().map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect()
        };
        assert_eq!(figures.value(&words(&[("metric", "a"), ("name", "x")])), Some(4.0));
        assert_eq!(figures.value(&words(&[("metric", "a")])), None, "two rows");
        assert_eq!(figures.value(&words(&[("metric", "c")])), None);
        assert_eq!(figures.widest(&words(&[("metric", "a")])), Some(0.5));
        assert_eq!(figures.widest(&words(&[("metric", "b")])), Some(0.0));
        assert_eq!(figures.widest(&words(&[("metric", "c|a")])), Some(0.5));
    }
}
