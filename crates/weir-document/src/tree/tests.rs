use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::Located;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Point,
    Circle(u32),
    Ellipse(u32, u32),
    Square { side: u32 },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    shape: Option<Shape>,
    sizes: Option<Vec<Located<f64>>>,
    names: Option<BTreeMap<String, bool>>,
}

fn read(text: &str) -> Result<Document, Unread> {
    Tree::parse(text).expect("TOML").read()
}

#[test]
fn what_is_written_is_read() {
    let shape = |text| read(text).expect("a document").shape;
    assert_eq!(shape("shape = \"point\""), Some(Shape::Point));
    assert_eq!(shape("shape = { point = {} }"), Some(Shape::Point));
    assert_eq!(shape("shape = { circle = 0x1F }"), Some(Shape::Circle(31)));
    assert_eq!(shape("shape = { ellipse = [1, 2] }"), Some(Shape::Ellipse(1, 2)));
    assert_eq!(shape("[shape.square]\nside = 3"), Some(Shape::Square { side: 3 }));
    assert_eq!(shape(""), None);
    let sizes = read("sizes = [1, 2.5]").expect("a document").sizes.expect("written");
    assert_eq!((sizes[1].value, sizes[1].span.clone()), (2.5, 12..15));
    let names = read("[names]\nb = true").expect("a document").names.expect("written");
    assert_eq!(names.get("b"), Some(&true));
}

#[test]
fn what_is_not_is_refused_where_it_stands() {
    for (text, message, span) in [
        ("shape = 3", "wanted string or table", 8..9),
        ("shape = {}", "wanted exactly 1 element, found 0", 8..10),
        ("shape = { point = [1] }", "expected empty array", 18..21),
        ("shape = { ellipse = [1] }", "expected tuple with length 2", 20..23),
        ("shape = { ellipse = 1 }", "expected table, found integer", 20..21),
        ("shape = { square = { width = 1 } }", "unknown field `width`, expected `side`", 21..26),
        ("shape = { square = {} }", "missing field `side`", 19..21),
        ("shape = { circle = -1 }", "invalid value: integer `-1`, expected u32", 19..21),
        ("sizes = [true]", "invalid type: boolean `true`, expected f64", 9..13),
        ("sizes = [1e999]", "floating-point number overflowed", 9..14),
        ("sizes = [99999999999999999999]", "integer number overflowed", 9..29),
        ("sizes = 2026-11-22", "invalid type: map, expected a sequence", 8..18),
        ("names = { a = 1 }", "invalid type: integer `1`, expected a boolean", 14..15),
        ("other = 1", "unknown field `other`, expected one of `shape`, `sizes`, `names`", 0..5),
    ] {
        let refused = read(text).expect_err(text);
        assert_eq!((refused.to_string().as_str(), refused.span), (message, Some(span)), "{text}");
    }
}
