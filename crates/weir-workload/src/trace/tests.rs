//! Traces that are read, and refusals word by word.

use std::io::Write;

use super::*;
use weir_lab::stream::{Purpose, Stream, StreamKey};

fn read(text: &[u8], format: &TraceFormat) -> Result<Trace, String> {
    Trace::read(text, "t.csv", format).map_err(|error| error.to_string())
}

fn seconds() -> TraceFormat {
    TraceFormat::new(TimeUnit::S)
}

fn refusal(text: &[u8]) -> String {
    read(text, &seconds()).expect_err("must be refused")
}

#[test]
fn a_header_says_which_column_is_which() {
    let text =
        "# a comment\nlength,class,time,flow,alpha,other\n3,b,1.5,x,10,\n1,a,1.5,y,10,\n7,b,2.0,x,inf,q\n";
    let trace = read(text.as_bytes(), &seconds()).expect("valid");
    assert_eq!(trace.times(), [0, 0, 500_000_000]);
    assert_eq!(trace.lengths(), [3, 1, 7]);
    assert_eq!((trace.flow_of_message(), trace.flow_names().len()), (&[0, 1, 0][..], 2));
    assert_eq!(trace.class_of_message(), [1, 0, 2]);
    assert_eq!(trace.class_names().expect("named"), ["a, alpha 10", "b, alpha 10", "b, alpha inf"]);
    assert_eq!(trace.alphas().expect("given"), [10.0, 10.0, f64::INFINITY]);
    assert_eq!((trace.span().get(), trace.mean_gap()), (500_000_000, Some(250_000_000.0)));
}

/// Finding B1: the number of a class follows from its value, so that `classes=1/50` means the same in every order.
#[test]
fn b1_classes_are_numbered_by_value() {
    let read = |rows: &str| read(format!("time,length,class\n{rows}").as_bytes(), &seconds()).expect("valid");
    let (one, other) = (read("0,1,0\n1,2,1\n"), read("0,1,1\n1,2,0\n"));
    assert_eq!((one.class_of_message(), other.class_of_message()), (&[0, 1][..], &[1, 0][..]));
    let many = read("0,1,b\n1,1,10\n2,1,9\n3,1,a\n4,1,-1\n5,1,9.5\n");
    assert_eq!(many.class_names().expect("named"), ["-1", "9", "9.5", "10", "a", "b"]);
    assert_eq!(many.class_of_message(), [5, 3, 1, 4, 0, 2]);
}

#[test]
fn columns_may_have_other_names_or_only_numbers() {
    let azure = TraceFormat {
        time: Some("TIMESTAMP".to_owned()),
        length: Some("ContextTokens".to_owned()),
        ..TraceFormat::new(TimeUnit::Timestamp)
    };
    let text =
        b"TIMESTAMP,ContextTokens\r\n2023-11-16 18:17:03.9799600,4808\r\n2023-11-16 18:17:04.0319600,3180";
    assert_eq!(read(text, &azure).expect("valid").times(), [0, 52_000_000]);
    let numbered = TraceFormat {
        time: Some("2".to_owned()),
        length: Some("4".to_owned()),
        header: false,
        separator: Separator::Tab,
        ..seconds()
    };
    let trace = read(b"job0\t49\t49\t740773\njob1\t101\t52\t736346\n", &numbered).expect("valid");
    assert_eq!((trace.times(), trace.lengths()), (&[0, 52_000_000_000][..], &[740_773, 736_346][..]));
}

#[test]
fn quotes_blanks_and_byte_order_marks_are_read() {
    let text = b"\xef\xbb\xbftime, length ,class\n1, 2,\"a, \"\"b\"\"\"\n\n2,3,\"c\"";
    let trace = read(text, &seconds()).expect("valid");
    assert_eq!(trace.class_names().expect("named"), ["a, \"b\"", "c"]);
    assert_eq!(trace.lengths(), [2, 3]);
}

#[test]
fn a_compressed_file_is_read_and_a_cut_one_refused() {
    let text = "time,length\n".to_owned() + &"1,5\n".repeat(2000);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).expect("in memory");
    let packed = packer.finish().expect("in memory");
    assert_eq!(read(&packed, &seconds()).expect("valid").len(), 2000);
    let cut = refusal(&packed[..packed.len() - 9]);
    assert!(cut.contains("cannot be read on") && cut.ends_with("it may have been cut off"), "{cut}");
}

#[test]
fn names_of_columns_are_cut_and_told_without_control_characters() {
    let (long, many) = ("x".repeat(5000), ",y".repeat(40));
    let told = refusal(format!("b\u{8},{long}{many}\n1,2\n").as_bytes());
    let columns = format!("`b?`, `{}...`{}, and more", "x".repeat(60), ", `y`".repeat(30));
    assert_eq!(told, format!("t.csv:1:1: time is not a column of the file: the columns are {columns}"));
}

#[test]
fn refusals_name_line_column_value_and_remedy() {
    let long = format!("time,length\n1,{}\n", "1".repeat(3 << 20));
    let cases: &[(&[u8], &str)] = &[
        (b"", "t.csv: has no messages: give at least one message, below the header if there is one"),
        (
            b"# nothing\n\n",
            "t.csv: has no messages: give at least one message, below the header if there is one",
        ),
        (b"\n\nx\n", "t.csv:3:1: time is not a column of the file: the columns are `x`"),
        (
            b"time;length\n0;1\n",
            "t.csv:1:1: time is not a column of the file: its fields seem to be separated otherwise: write \
             separator = \"semicolon\"",
        ),
        (
            b"time,length,class\n1,2,\"x\n2,2,x\n",
            "t.csv:2:1: a quote is not closed on its line: close it, or write it twice within a field",
        ),
        (
            b"time,length\n",
            "t.csv: has no messages: give at least one message, below the header if there is one",
        ),
        (
            b"Time,length\n1,2\n",
            "t.csv:1:1: time is not a column of the file: did you mean `Time`? the columns are `Time`, `length`",
        ),
        (b"time,length,time\n1,2,3\n", "t.csv:1:3: time appears twice in the header: rename one of the two"),
        (
            b"time,length\n1,2\n0.5,2\n",
            "t.csv:3:1: time 0.5 is before the time of the row above: sort the rows by time",
        ),
        (
            b"time,length\n1,2\n2,\n",
            "t.csv:3:2: length is empty, must be a whole number from 1 to 4294967295: correct or remove the row; \
             a larger unit makes smaller numbers",
        ),
        (
            b"# c\ntime,length\n1,2\n# c\n2,0\n",
            "t.csv:5:2: length is 0, must be a whole number from 1 to 4294967295: correct or remove the row; \
             a larger unit makes smaller numbers",
        ),
        (
            b"time,length\n1,1000000000000\n",
            "t.csv:2:2: length is 1000000000000, must be a whole number from 1 to 4294967295: correct or remove \
             the row; a larger unit makes smaller numbers",
        ),
        (
            b"time,length\nnan,1\n",
            "t.csv:2:1: time is nan, must be a number of seconds from 0 up: correct the row, or the `time_unit` \
             of the scenario",
        ),
        (
            b"time,length\n0,1\n99999999999,1\n",
            "t.csv:3:1: time 99999999999 is more than 9223372036854775808 ns of the clock after the first: \
             check the unit of the times",
        ),
        (
            b"time,length,alpha\n1,1,-1\n",
            "t.csv:2:3: alpha is -1, must be a number from 0 to 1000000000, or inf: correct the row",
        ),
        (
            b"time,length,alpha\n1,1,nan\n",
            "t.csv:2:3: alpha is nan, must be a number from 0 to 1000000000, or inf: correct the row",
        ),
        (
            b"time,length\n1,2\n2\n",
            "t.csv:3:1: the row has 1 fields, must have 2 like the first: complete the row; the file may \
             have been cut off here",
        ),
        (b"time,length\n1,2\n2,\xff\n", "t.csv:3:1: the row is not UTF-8 text: save the file as UTF-8"),
        (long.as_bytes(), "t.csv:2:1: the line is longer than 1048576 bytes: check the file"),
    ];
    for (text, expected) in cases {
        assert_eq!(refusal(text), *expected);
    }
}

#[test]
fn a_column_that_was_asked_for_must_be_there() {
    let format = TraceFormat { class: Some("klass".to_owned()), ..seconds() };
    let error = read(b"time,length,class\n1,2,3\n", &format).expect_err("no such column");
    assert!(
        error.starts_with("t.csv:1:1: klass is not a column of the file: did you mean `class`?"),
        "{error}"
    );
}

#[test]
fn a_source_stretches_time_and_ends() {
    let trace = Arc::new(read(b"time,length\n1,2\n2,9\n4,2\n", &seconds()).expect("valid"));
    let classes = MessageClasses::Lengths(vec![2, 9]);
    let mut source = TraceSource::new(trace, 1.5, classes);
    let mut block = ArrivalBlock::default();
    assert_eq!(source.fill(&mut block, 2), 2);
    assert_eq!((&block.at[..], &block.class[..]), (&[0, 1_500_000_000][..], &[0, 1][..]));
    assert_eq!((source.fill(&mut block, 2), block.at[0], block.class[0]), (1, 4_500_000_000, 0));
    assert_eq!(source.fill(&mut block, 2), 0);
}

#[test]
fn lengths_fill_packets() {
    let mut trace = read(b"time,length\n1,1460\n2,1461\n4,1\n", &seconds()).expect("valid");
    trace.divide_into_packets(1460);
    assert_eq!(trace.lengths(), [1, 2, 1]);
}

/// A Poisson process that is thinned is one, at a part of the rate; what a smaller probability keeps, a larger one keeps too.
#[test]
fn a_thinned_process_has_a_part_of_the_rate() {
    let (mut at, mut text) = (0, "time,length,flow\n".to_owned());
    let key = StreamKey { seed: 5, replication: 0, purpose: Purpose::Test, index: 0 };
    let mut stream = Stream::new(key);
    for row in 0..20_000 {
        at += stream.next_exponential(1e6);
        text.push_str(&format!("{at},{},{row}\n", 1 + row % 7));
    }
    let thinned = |probability: f64| {
        let thinning = Thinning::to(probability);
        read(text.as_bytes(), &TraceFormat { thinning, ..TraceFormat::new(TimeUnit::Ns) }).expect("valid")
    };
    let (all, half, tenth) = (thinned(1.0), thinned(0.5), thinned(0.1));
    assert_eq!(
        (all.len(), all),
        (20_000, read(text.as_bytes(), &TraceFormat::new(TimeUnit::Ns)).expect("valid"))
    );
    for (kept, share) in [(&half, 0.5), (&tenth, 0.1)] {
        // Five standard deviations of a binomial count, and of a mean and a coefficient of variation of exponential gaps.
        let count = kept.len() as f64;
        assert!(
            (count - 20_000.0 * share).abs() < 5.0 * (20_000.0 * share * (1.0 - share)).sqrt(),
            "{count}"
        );
        let gaps: Vec<f64> = kept.times().windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean * share / 1e6 - 1.0).abs() < 5.0 / count.sqrt(), "{mean}");
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance / mean.powi(2) - 1.0).abs() < 5.0 * (8.0 / count).sqrt(), "{variance}");
        assert_eq!((kept.times()[0], kept.flow_names().len()), (0, kept.len()));
    }
    assert!(tenth.flow_names().iter().all(|row| half.flow_names().contains(row)));
}

#[test]
fn a_row_that_is_not_kept_must_be_right_all_the_same() {
    let format = TraceFormat { thinning: Thinning::to(1e-6), ..seconds() };
    for (rows, expected) in [
        ("2,1\n1,1\n", "t.csv:3:1: time 1 is before the time of the row above: sort the rows by time"),
        ("2,0\n", "t.csv:2:2: length is 0, must be"),
        ("2,1\n3,1\n", "t.csv: has 2 rows, none of which is kept: raise `thin`, or remove it"),
    ] {
        let refusal = read(format!("time,length\n{rows}").as_bytes(), &format).expect_err("must be refused");
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}
