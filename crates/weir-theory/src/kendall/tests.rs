use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Kendall {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_form_is_read_and_printed() {
    for text in [
        "M/M/3",
        "M/M/3/10",
        "M/M/3/10/50",
        "M/M/3//50",
        "M/M/3+M",
        "M/M/3/10+M",
        "M/G/1",
        "M/D/4",
        "G/G/2",
        "M^X/G/1",
        "M^4/M/1",
        "M/M/inf",
        "M/G/1-PS",
        "M/G/1-LCFS-PR",
        "E_3/M/1",
        "M/E_2/1",
        "MAP/M/1",
        "M_t/M/inf",
        "M/M/3/10/50+M-SIRO",
        "M/M/2+G",
    ] {
        assert_eq!(read(text).to_string(), text);
    }
    for (text, printed) in [
        ("M/M/∞", "M/M/inf"),
        ("GI/GI/2", "G/G/2"),
        ("M/G/1/PS", "M/G/1-PS"),
        ("M/G/1/inf/∞/LCFS-PR", "M/G/1-LCFS-PR"),
        ("M/M/1/5/FIFO", "M/M/1/5"),
        ("M/M/1/5/9/SPT", "M/M/1/5/9-SJF"),
        ("E3/E_1/1", "E_3/E_1/1"),
        ("M[X]/G/1", "M^X/G/1"),
        ("MMPP/M/1", "MAP/M/1"),
        ("M/M/3/", "M/M/3"),
    ] {
        assert_eq!(read(text).to_string(), printed, "{text}");
    }
}

#[test]
fn what_is_not_understood_has_its_place() {
    for (text, at, found) in [
        ("", 1, ""),
        ("M", 2, ""),
        ("M/M", 4, ""),
        ("M/M/", 5, ""),
        ("X/M/1", 1, "X"),
        ("m/M/1", 1, "m"),
        ("M/Q/1", 3, "Q"),
        ("M/M/x", 5, "x"),
        ("M/M/3x", 6, "x"),
        ("M/M/0", 5, "0"),
        ("M/M/3/2", 7, "2"),
        ("M/M/inf/2", 9, "2"),
        ("M/M/∞/2", 7, "2"),
        ("M/M/3/10/5o", 11, "o"),
        ("M/M/3/10/50/6", 13, "6"),
        ("M/M/3+", 7, ""),
        ("M/M/3+X", 7, "X"),
        ("M/M/3+M/10", 7, "M/10"),
        ("M/G/1-", 7, ""),
        ("M/G/1-HRRN", 7, "HRRN"),
        ("M^/G/1", 3, ""),
        ("M^y/G/1", 3, "y"),
        ("E_k/M/1", 1, "E_k"),
        ("M/M/99999999999999999999", 5, "99999999999999999999"),
        ("M/M/1 ", 6, " "),
    ] {
        let error = text.parse::<Kendall>().expect_err(text);
        assert_eq!((error.at, error.found.as_str()), (at, found), "{text}: {error}");
    }
    let error = "M/M/3x".parse::<Kendall>().expect_err("refused").to_string();
    assert_eq!(
        error,
        "at character 6: `x` is no number of servers; write a number from 1 to 1000000, or inf"
    );
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_read_prints_as_the_same(text in "\\PC{0,40}") {
        check(&text)?;
    }

    #[test]
    fn nor_does_one_that_looks_like_a_queue(text in "[MDGEX_^0-9/+∞inf-]{0,24}") {
        check(&text)?;
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    match text.parse::<Kendall>() {
        Ok(queue) => prop_assert_eq!(queue.to_string().parse::<Kendall>(), Ok(queue)),
        Err(error) => prop_assert!(error.at >= 1 && error.at <= text.chars().count() + 1),
    }
    Ok(())
}
