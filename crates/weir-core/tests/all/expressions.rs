//! Expressions of `rank`, made at random: what is read, printed, canonical and read again is the same rule.

use proptest::prelude::*;
use weir_core::canonical::canonical;
use weir_core::item::Message;
use weir_core::message::rank::Expression;
use weir_core::registry::message_discipline;
use weir_core::spec::Spec;

const NAMES: [&str; 9] =
    ["size", "remaining", "served", "arrival", "waited", "clock", "class", "flow", "weight"];

/// An expression, with spaces here and there. No zero stands alone: a sign before it would get lost.
fn expression() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        (1_u32..2_000).prop_map(|number| number.to_string()),
        (1_u32..99).prop_map(|number| format!("0{number}.50")),
        (1_i32..9, -9_i32..9).prop_map(|(number, power)| format!("{number}e{power}")),
    ];
    let leaf = prop_oneof![2 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => number];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), prop::sample::select(&["+", "-", "*", "/"][..]), inner.clone());
        let several = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            4 => (two.clone(), any::<bool>()).prop_map(|((left, sign, right), spaced)| {
                if spaced { format!("{left} {sign} {right}") } else { format!("{left}{sign}{right}") }
            }),
            2 => two.prop_map(|(left, sign, right)| format!("( {left}{sign}{right})")),
            1 => inner.prop_map(|inner| format!("-({inner})")),
            1 => (prop::bool::ANY, several).prop_map(|(least, each)| {
                format!("{}({})", if least { "min" } else { "max" }, each.join(" , "))
            }),
        ]
    })
}

fn key(spec: &Spec) -> String {
    let text = spec.to_string();
    let inside = || text.strip_prefix("rank(")?.strip_suffix(')');
    text.strip_prefix("rank:").or_else(inside).expect("the key alone").to_owned()
}

proptest! {
    #[test]
    fn the_canonical_form_is_the_same_rule(text in expression()) {
        let Ok(expected) = Expression::read(&text) else { return Ok(()) };
        let spec: Spec = format!("rank:{text}").parse().expect(&text);
        prop_assert_eq!(&spec.to_string().parse::<Spec>().expect(&text), &spec);
        let form = canonical(&spec).expect(&text);
        prop_assert_eq!(&canonical(&form).expect(&text), &form);
        prop_assert_eq!(Expression::read(&key(&form)), Ok(expected), "{} of {}", form, text);
        prop_assert!(message_discipline::<Message>(&form).is_ok(), "{}", form);
    }

    #[test]
    fn an_expression_stands_inside_wrappers(text in expression()) {
        prop_assume!(Expression::read(&text).is_ok());
        let spec: Spec = format!("outstanding(rank({text},preempt=yes),limit=4)").parse().expect(&text);
        prop_assert!(message_discipline::<Message>(&spec).is_ok(), "{}", spec);
        let form = canonical(&spec).expect(&text);
        prop_assert_eq!(&form.to_string().parse::<Spec>().expect(&text), &form);
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9 ()+*/,.=:-]{0,60}") {
        let _ = Expression::read(&text);
        if let Ok(spec) = format!("rank:{text}").parse::<Spec>() {
            let _ = (message_discipline::<Message>(&spec).is_ok(), canonical(&spec));
        }
    }
}
