//! Reads the lines of a file of subscribers; one that is wrong refuses the whole file.

use std::collections::HashMap;
use std::fs::{File, metadata};
use std::io::Read;
use std::net::IpAddr;
use std::path::Path;

use ipnet::IpNet;
use weir_core::packet::htb::MAX_DEPTH;
use weir_core::units::Rate;

use super::{Class, Kind, LONGEST, MOST, OTHERS, RATES, Table};
use crate::quantity::Speed;
use crate::words::known_names;
use crate::{Checked, Refused, plain_io};

/// The columns; those from the fourth on may be left out.
const COLUMNS: [&str; 5] = ["name", "address", "rate", "ceiling", "group"];
const REQUIRED: usize = 3;
/// A first line, as it may be written.
const HEADER: &str = "write `name,address,rate,ceiling,group` as the first line";
/// The longest name, in characters.
const LONGEST_NAME: usize = 64;
/// The most groups above a subscriber: it and they are classes, below the interface.
const MOST_GROUPS: usize = MAX_DEPTH - 2;

/// A line, before groups are known by number.
struct Row<'t> {
    line: usize,
    name: &'t str,
    addresses: Vec<IpNet>,
    rate: Rate,
    ceiling: Option<Rate>,
    group: &'t str,
}

impl Row<'_> {
    fn kind(&self) -> Kind {
        match self.addresses.is_empty() {
            true if self.name == OTHERS => Kind::Others,
            true => Kind::Group,
            false => Kind::Subscriber,
        }
    }
}

impl Table {
    /// Reads a file; errors name it as `shown`.
    ///
    /// # Errors
    /// It cannot be read, is no file or too long, or one of its lines is refused.
    pub fn read_file(path: &Path, shown: &str) -> Checked<Self> {
        let refused =
            |reason: String| Refused::of_file(shown, reason, "name a file of subscribers that may be read");
        let unread = |error: std::io::Error| refused(format!("cannot be read: {}", plain_io(&error)));
        // A pipe or a device may never end.
        if !metadata(path).map_err(unread)?.is_file() {
            return Err(refused("is no file".to_owned()));
        }
        let mut bytes = Vec::new();
        File::open(path).map_err(unread)?.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unread)?;
        Self::parse(shown, &bytes)
    }

    /// Reads the bytes of a file of this name.
    ///
    /// # Errors
    /// One of its lines is refused.
    pub fn parse(file: &str, bytes: &[u8]) -> Checked<Self> {
        if bytes.len() as u64 > LONGEST {
            let reason = format!("is longer than {}MiB", LONGEST >> 20);
            return Err(Refused::of_file(file, reason, "divide the subscribers among several interfaces"));
        }
        let reader = Reader { file };
        let text = reader.text(bytes)?;
        let rows = reader.rows(text.strip_prefix('\u{feff}').unwrap_or(text))?;
        reader.table(&rows)
    }
}

struct Reader<'f> {
    file: &'f str,
}

impl<'f> Reader<'f> {
    /// Refuses a value in a column (from 0) of a line.
    fn refuse<T>(
        &self,
        (line, column): (usize, usize),
        value: &str,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Checked<T> {
        let refused = Refused::of_file(self.file, reason, remedy).at(line, column + 1);
        let key = COLUMNS.get(column).copied().unwrap_or("line");
        Err(refused.key(key).value(if value.is_empty() { "empty" } else { value }))
    }

    fn text<'t>(&self, bytes: &'t [u8]) -> Checked<&'t str> {
        core::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
            let byte = format!("the byte 0x{:02x}", bytes[error.valid_up_to()]);
            let reason = format!("has {byte}, which is no UTF-8");
            Refused::of_file(self.file, reason, "write the file as UTF-8").at(line, column)
        })
    }

    fn rows<'t>(&self, text: &'t str) -> Checked<Vec<Row<'t>>> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let Some((first, header)) = lines.next() else {
            return Err(Refused::of_file(self.file, "is empty", HEADER));
        };
        let columns = self.columns(first, header)?;
        let mut rows = Vec::new();
        for (line, text) in lines {
            if rows.len() == MOST {
                let reason = format!("has more than {MOST} subscribers and groups");
                let remedy = "divide them among several interfaces";
                return Err(Refused::of_file(self.file, reason, remedy).at(line, 1));
            }
            rows.push(self.row(line, text, &columns)?);
        }
        if rows.iter().all(|row| row.kind() != Kind::Subscriber) {
            return Err(Refused::of_file(self.file, "has no line with an address", "add a subscriber"));
        }
        Ok(rows)
    }

    /// The place of each column among the fields of a line.
    fn columns(&self, line: usize, header: &str) -> Checked<Vec<usize>> {
        let mut columns = Vec::new();
        for (place, written) in header.split(',').map(str::trim).enumerate() {
            let known = COLUMNS.iter().position(|name| *name == written);
            let refused = |reason: &str| {
                let refused = Refused::of_file(self.file, reason, HEADER).at(line, place + 1);
                refused.key("column").value(format!("`{written}`"))
            };
            match known {
                None => return Err(refused("is none of `name`, `address`, `rate`, `ceiling`, `group`")),
                Some(column) if columns.contains(&column) => return Err(refused("is written twice")),
                Some(column) => columns.push(column),
            }
        }
        match (0..REQUIRED).find(|column| !columns.contains(column)) {
            None => Ok(columns),
            Some(missing) => {
                let reason = format!("has no column `{}`", COLUMNS[missing]);
                Err(Refused::of_file(self.file, reason, HEADER).at(line, 1))
            }
        }
    }

    fn row<'t>(&self, line: usize, text: &'t str, columns: &[usize]) -> Checked<Row<'t>> {
        let mut fields = [""; COLUMNS.len()];
        let mut count = 0;
        for field in text.split(',') {
            if let Some(&column) = columns.get(count) {
                fields[column] = field.trim();
            }
            count += 1;
        }
        if count != columns.len() {
            let reason = format!("has {count} fields, must have {} as the first line", columns.len());
            let remedy = "write a field for each column, empty where there is nothing to say";
            return Err(Refused::of_file(self.file, reason, remedy).at(line, count.min(columns.len())));
        }
        let [name, address, rate, ceiling, group] = fields;
        self.name((line, 0), name)?;
        let addresses = self.addresses((line, 1), address)?;
        let rate = self.rate((line, 2), rate)?;
        let ceiling = match ceiling {
            "" => None,
            written => Some(self.ceiling((line, 3), written, rate)?),
        };
        Ok(Row { line, name, addresses, rate, ceiling, group })
    }

    fn name(&self, place: (usize, usize), name: &str) -> Checked<()> {
        let is_plain = name.chars().all(|each| !each.is_control() && !"\"\\`".contains(each));
        if !name.is_empty() && name.chars().count() <= LONGEST_NAME && is_plain {
            return Ok(());
        }
        let reason = format!("must be from 1 to {LONGEST_NAME} characters without quotes and backslashes");
        self.refuse(place, name, reason, "write a name such as customer-17")
    }

    fn addresses(&self, place: (usize, usize), written: &str) -> Checked<Vec<IpNet>> {
        written.split_whitespace().map(|each| self.address(place, each)).collect()
    }

    fn address(&self, place: (usize, usize), written: &str) -> Checked<IpNet> {
        let host = || written.parse::<IpAddr>().map(IpNet::from);
        let Ok(net) = written.parse::<IpNet>().or_else(|_| host()) else {
            let remedy = "write 10.1.0.2, 10.1.0.0/24 or 2001:db8:1::/56, several with blanks between them";
            return self.refuse(place, written, "not an address or a prefix", remedy);
        };
        if net != net.trunc() {
            let remedy = format!("write {}", net.trunc());
            return self.refuse(place, written, "has bits behind its prefix", remedy);
        }
        Ok(net)
    }

    fn rate(&self, place: (usize, usize), written: &str) -> Checked<Rate> {
        let (low, high) = RATES;
        let Some(Speed(rate)) = Speed::parse(written) else {
            return self.refuse(place, written, "not a rate with its unit", "write a rate such as 2Mbit");
        };
        if (low..=high).contains(&rate) {
            return Ok(rate);
        }
        self.refuse(place, written, format!("must be from {low} to {high}"), "write a rate such as 2Mbit")
    }

    fn ceiling(&self, place: (usize, usize), written: &str, rate: Rate) -> Checked<Rate> {
        let ceiling = self.rate(place, written)?;
        if ceiling >= rate {
            return Ok(ceiling);
        }
        let remedy = "raise it, or leave it empty: then it is that of the group, or of the interface";
        self.refuse(place, written, format!("must be at least the rate, {rate}"), remedy)
    }

    /// The classes in the order of their numbers.
    fn table(&self, rows: &[Row<'_>]) -> Checked<Table> {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            if let Some(first) = places.insert(row.name, place) {
                let reason = format!("is the name of line {} too", rows[first].line);
                return self.refuse((row.line, 0), row.name, reason, "give each its own name");
            }
        }
        let order = self.order(rows, &places)?;
        let mut numbers = vec![0_u16; rows.len()];
        order.iter().zip(0..).for_each(|(&place, number)| numbers[place] = number);
        let of_row = |&place: &usize| {
            let row = &rows[place];
            let group = (!row.group.is_empty()).then(|| numbers[places[row.group]]);
            Class {
                name: row.name.to_owned(),
                kind: row.kind(),
                rate: Some(row.rate),
                ceiling: row.ceiling,
                group,
            }
        };
        let mut classes: Vec<Class> = order.iter().map(of_row).collect();
        if classes.last().is_none_or(|last| last.kind != Kind::Others) {
            if places.contains_key(OTHERS) {
                let line = rows[places[OTHERS]].line;
                let remedy = "name it otherwise, or leave its address empty";
                return self.refuse((line, 0), OTHERS, "is kept for packets of no subscriber", remedy);
            }
            let name = OTHERS.to_owned();
            classes.push(Class { name, kind: Kind::Others, rate: None, ceiling: None, group: None });
        }
        let mut by_name: Vec<u16> = (0..classes.len()).map(|class| class as u16).collect();
        by_name.sort_unstable_by(|one, other| {
            classes[usize::from(*one)].name.cmp(&classes[usize::from(*other)].name)
        });
        let prefixes = self.prefixes(rows, &numbers)?;
        Ok(Table { file: self.file.to_owned(), classes, prefixes, by_name })
    }

    /// All rows: groups, each after the one that it is in, then subscribers, then all others.
    fn order(&self, rows: &[Row<'_>], places: &HashMap<&str, usize>) -> Checked<Vec<usize>> {
        let mut depths = Vec::with_capacity(rows.len());
        for row in rows {
            depths.push(self.depth(row, rows, places)?);
        }
        let rank = |place: usize| match rows[place].kind() {
            Kind::Group => depths[place],
            Kind::Subscriber => MOST_GROUPS + 1,
            Kind::Others => MOST_GROUPS + 2,
        };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&place| rank(place));
        Ok(order)
    }

    /// How many groups are above a row.
    fn depth(&self, row: &Row<'_>, rows: &[Row<'_>], places: &HashMap<&str, usize>) -> Checked<usize> {
        let (mut depth, mut at) = (0, row);
        while !at.group.is_empty() {
            let place = (at.line, 4);
            let remedy = "name a line that has no address";
            let Some(&above) = places.get(at.group) else {
                let groups = || rows.iter().filter(|row| row.kind() == Kind::Group).map(|row| row.name);
                let remedy = known_names(at.group, groups());
                return self.refuse(place, at.group, "not the name of a line", remedy);
            };
            at = &rows[above];
            match at.kind() {
                Kind::Group => {}
                Kind::Subscriber => {
                    return self.refuse(place, at.name, "has an address, so it is no group", remedy);
                }
                Kind::Others => return self.refuse(place, at.name, "is not a group", remedy),
            }
            depth += 1;
            if depth > MOST_GROUPS || (row.kind() == Kind::Group && depth >= MOST_GROUPS) {
                let reason =
                    format!("has more than {MOST_GROUPS} groups above those in it, or is above itself");
                return self.refuse((row.line, 4), row.group, reason, "name a group that is in fewer");
            }
        }
        Ok(depth)
    }

    /// The prefixes with their classes; of two that are equal the later line is refused.
    fn prefixes(&self, rows: &[Row<'_>], numbers: &[u16]) -> Checked<Vec<(IpNet, u16)>> {
        let mut seen: HashMap<IpNet, usize> = HashMap::with_capacity(rows.len());
        let mut prefixes = Vec::with_capacity(rows.len());
        for (row, &number) in rows.iter().zip(numbers) {
            for &net in &row.addresses {
                if let Some(line) = seen.insert(net, row.line) {
                    let reason = format!("is an address of line {line} already");
                    return self.refuse((row.line, 1), &net.to_string(), reason, "remove one of the two");
                }
                prefixes.push((net, number));
            }
        }
        Ok(prefixes)
    }
}
