use std::path::{Path, PathBuf};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sizes")
}

fn file(name: &str) -> Sizes {
    Sizes::from_cdf_file(&folder().join(name)).expect("a CDF file")
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs()
}

/// SplitMix64: words for the tests of sampling.
fn words(count: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(|n| {
        let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

fn mixed() -> Sizes {
    Sizes::mixture(&[
        Run { first: 3, last: 12, share: 0.25 },
        Run { first: 8, last: 30, share: 0.25 },
        Run::atom(8, 0.3),
        Run::atom(100, 0.2),
    ])
    .expect("a distribution")
}

#[test]
fn the_mixture_of_the_report_has_its_published_moments() {
    let sizes = Sizes::alpha_report();
    assert!(near(sizes.mean(), 4.7, 1e-14));
    assert!(near(sizes.second_moment(), 0.18 * 55.0 + 40.0, 1e-14));
    assert_eq!(sizes.support(), (1, Some(20)));
    let atoms = sizes.atoms(6).expect("six lengths");
    assert_eq!(atoms.iter().map(|atom| atom.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 20]);
    assert!(near(atoms[4].1, 0.18, 1e-15));
    assert_eq!(sizes.atoms(5), None);
}

#[test]
fn moments_are_those_of_the_listed_sizes() {
    let sizes = mixed();
    let atoms = sizes.atoms(1000).expect("few");
    assert!(near(atoms.iter().map(|atom| atom.1).sum(), 1.0, 1e-14));
    for k in 0..=3u32 {
        for bound in [0, 2, 3, 8, 11, 30, 31, 99, 100, 1000] {
            let below = atoms.iter().filter(|atom| atom.0 <= bound);
            let expected: f64 = below.map(|atom| atom.1 * (atom.0 as f64).powi(k as i32)).sum();
            assert!(near(sizes.partial_moment(k, bound), expected, 1e-13), "moment {k} up to {bound}");
        }
        assert!(near(sizes.moment(k), sizes.partial_moment(k, 100), 1e-14));
    }
    let fourth: f64 = atoms.iter().map(|atom| atom.1 * (atom.0 as f64).powi(4)).sum();
    assert!(near(sizes.moment(4), fourth, 1e-13));
}

#[test]
fn quantiles_invert_the_distribution() {
    for sizes in [mixed(), Sizes::exponential(50.0).expect("a mean"), file("homa-w3.csv")] {
        for k in 1..200 {
            let p = f64::from(k) / 200.0;
            let size = sizes.quantile(p);
            assert!(sizes.cdf(size) >= p - 1e-12 && sizes.cdf(size - 1) < p + 1e-12, "p {p}, size {size}");
        }
    }
    assert_eq!((mixed().quantile(0.0), mixed().quantile(f64::NAN), mixed().quantile(7.0)), (3, 3, 100));
}

#[test]
fn the_memoryless_law_has_the_moments_of_its_sum() {
    let sizes = Sizes::exponential(4.7).expect("a mean");
    let share = |n: i32| (1.0 - 1.0 / 4.7f64).powi(n - 1) / 4.7;
    for k in 0..=3u32 {
        let upto = |bound: i32| (1..=bound).map(|n| share(n) * f64::from(n).powi(k as i32)).sum::<f64>();
        assert!(near(sizes.moment(k), upto(400), 1e-12), "moment {k}");
        assert!(near(sizes.partial_moment(k, 7), upto(7), 1e-12), "moment {k} up to 7");
    }
    let fourth: f64 = (1..=600).map(|n| share(n) * f64::from(n).powi(4)).sum();
    assert!(near(sizes.moment(4), fourth, 1e-11));
    assert_eq!(sizes.support(), (1, None));
    assert_eq!(Sizes::exponential(1.0).expect("a mean").sampler().sample(5), 1);
}

#[test]
fn packets_are_counted_as_if_size_by_size() {
    let sizes = mixed();
    for packet in [1, 2, 7, 10, 64, 100, 1000, u64::MAX] {
        let packets = sizes.in_packets(packet).expect("packets");
        for (size, _) in sizes.atoms(1000).expect("few") {
            let count = size.div_ceil(packet);
            let expected = sizes.cdf(count.saturating_mul(packet));
            assert!(near(packets.cdf(count), expected, 1e-12), "packet {packet}, size {size}");
        }
    }
    assert_eq!(sizes.in_packets(0), Err(SizesError::ZeroSize));
    let memoryless = Sizes::exponential(1000.0).expect("a mean");
    let packets = memoryless.in_packets(64).expect("packets");
    assert!(near(1.0 - packets.cdf(20), 1.0 - memoryless.cdf(1280), 1e-11));
}

#[test]
fn files_have_the_statistics_of_their_description() {
    // Mean, p50, p99, largest; linear files lie half a byte above their interpolation.
    let cases = [
        ("homa-w1.csv", 189.2, 27, 1876, 100_000),
        ("homa-w2.csv", 441.6, 269, 3151, 3_529_904),
        ("homa-w3.csv", 2927.7, 268, 31_013, 15_158_197),
        ("homa-w4.csv", 127_796.6, 662, 3_430_822, 10_000_000),
        ("homa-w5.csv", 2_564_689.7, 72_030, 27_440_490, 29_400_000),
        ("websearch-hpcc.csv", 1_711_250.5, 73_077, 23_333_334, 30_000_000),
        ("fb-hadoop-hpcc.csv", 120_421.3, 700, 2_000_000, 10_000_000),
        ("ali-storage-2019.csv", 40_870.3, 6_340, 1_293_928, 2_000_000),
        ("datamining-vl2.csv", 12_658_199.1, 1_100, 550_000_000, 1_000_000_000),
        ("fb-cache.csv", 342.7, 75, 6_326, 1_000_000),
        ("websearch-opera.csv", 1_490_033.2, 67_037, 19_893_234, 28_589_215),
        ("datamining-opera.csv", 5_036_535.7, 975, 100_000_000, 1_000_000_000),
        ("fb-hadoop-interrack.csv", 3_423_728.9, 72_853, 146_000_024, 223_092_956),
    ];
    for (name, mean, p50, p99, largest) in cases {
        let sizes = file(name);
        assert!((sizes.mean() - mean).abs() <= 0.06 + 1e-8 * mean, "{name}: mean {}", sizes.mean());
        assert!(sizes.quantile(0.5).abs_diff(p50) <= 1, "{name}: p50 {}", sizes.quantile(0.5));
        assert!(sizes.quantile(0.99).abs_diff(p99) <= 1, "{name}: p99 {}", sizes.quantile(0.99));
        assert_eq!(sizes.support().1, Some(largest), "{name}");
    }
    assert!(near(file("homa-w2.csv").scv(), 283.0, 1e-3));
    assert_eq!(file("websearch-dctcp.csv"), file("websearch-hpcc.csv"));
}

#[test]
fn samples_follow_the_distribution() {
    let laws = [
        Sizes::alpha_report(),
        mixed(),
        Sizes::exponential(50.0).expect("a mean"),
        Sizes::uniform(1, 1_000_000).expect("a distribution"),
        file("homa-w1.csv"),
        file("fb-cache.csv"),
        file("datamining-vl2.csv"),
    ];
    for sizes in laws {
        let sampler = sizes.sampler();
        let mut drawn: Vec<u64> = words(200_000).map(|word| sampler.sample(word)).collect();
        drawn.sort_unstable();
        let mut counted = 0;
        let mut distance: f64 = 0.0;
        for group in drawn.chunk_by(|a, b| a == b) {
            counted += group.len();
            distance = distance.max((counted as f64 / drawn.len() as f64 - sizes.cdf(group[0])).abs());
        }
        // Kolmogorov and Smirnov: 1.95 / sqrt(n) is passed once in a thousand.
        assert!(distance * (drawn.len() as f64).sqrt() < 1.95, "{distance} for {:?}", sizes.support());
        assert!(drawn[0] >= sizes.support().0);
        assert!(sizes.support().1.is_none_or(|largest| *drawn.last().expect("draws") <= largest));
    }
}

#[test]
fn the_first_and_the_last_word_are_sizes_too() {
    for sizes in [mixed(), file("datamining-vl2.csv"), Sizes::exponential(1e9).expect("a mean")] {
        let sampler = sizes.sampler();
        for word in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            assert!(sizes.cdf(sampler.sample(word)) > 0.0);
        }
    }
}

#[test]
fn fixed_words_give_fixed_sizes() {
    let drawn = |sizes: &Sizes| {
        let sampler = sizes.sampler();
        words(8).map(|word| sampler.sample(word)).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&Sizes::alpha_report()), [20, 3, 1, 5, 1, 1, 2, 5]);
    assert_eq!(drawn(&Sizes::exponential(50.0).expect("a mean")), [7, 42, 180, 2, 111, 56, 87, 13]);
    assert_eq!(drawn(&file("fb-cache.csv")), [264, 341, 2, 698, 1, 304, 2, 135]);
}

#[test]
fn deciles_never_leave_a_class_empty() {
    let classes = file("homa-w1.csv").deciles();
    assert_eq!(classes.bounds()[0], 8);
    assert!(classes.bounds().len() < 10 && classes.bounds().is_sorted());
    assert_eq!((classes.class_of(1), classes.class_of(8), classes.class_of(9)), (0, 0, 1));
    assert_eq!(classes.class_of(u64::MAX), classes.bounds().len() - 1);
    let memoryless = Sizes::exponential(1e6).expect("a mean").deciles();
    assert_eq!((memoryless.bounds().len(), memoryless.bounds()[9]), (10, u64::MAX));
    assert_eq!(Sizes::constant(7).expect("a size").deciles().bounds(), [7]);
}

#[test]
fn what_was_observed_is_as_likely_as_it_was_frequent() {
    let sizes = Sizes::observed(&[5, 1, 5, 9]).expect("sizes");
    assert_eq!(sizes.atoms(9), Some(vec![(1, 0.25), (5, 0.5), (9, 0.25)]));
    assert_eq!(Sizes::observed(&[]), Err(SizesError::Empty));
    assert_eq!(Sizes::observed(&[3, 0]), Err(SizesError::ZeroSize));
}

#[test]
fn what_is_no_distribution_is_refused() {
    use SizesError as E;
    assert_eq!(Sizes::constant(0), Err(E::ZeroSize));
    assert_eq!(Sizes::constant(u64::MAX), Err(E::TooLarge(u64::MAX)));
    assert_eq!(Sizes::uniform(5, 3), Err(E::Reversed(5, 3)));
    assert_eq!(Sizes::list(&[]), Err(E::Empty));
    assert_eq!(Sizes::list(&[(1, 0.0)]), Err(E::Empty));
    assert_eq!(Sizes::list(&[(1, 0.5), (2, 0.25)]), Err(E::Sum(0.75)));
    assert_eq!(Sizes::list(&[(1, 1.5), (2, -0.5)]), Err(E::Probability(1.5)));
    assert!(matches!(Sizes::list(&[(1, f64::NAN)]), Err(E::Probability(_))));
    assert_eq!(Sizes::exponential(0.5), Err(E::Mean(0.5)));
    assert!(matches!(Sizes::exponential(f64::NAN), Err(E::Mean(_))));
    assert!(Sizes::exponential(f64::INFINITY).is_err());
    assert!(matches!(Sizes::mixture(&vec![Run::atom(1, 0.0); MAX_RUNS + 1]), Err(E::TooMany(_))));
    assert_eq!(E::Sum(0.75).to_string(), "probabilities sum to 0.75, must sum to 1; scale them");
}

/// The message of a file that is refused.
fn refusal(text: &str) -> String {
    Sizes::parse_cdf(text, "sizes.csv").expect_err("a fault").to_string()
}

#[test]
fn faults_of_a_file_are_named_with_their_place_and_remedy() {
    let linear = |points: &str| refusal(&format!("# comment\nsize_bytes,cdf\n{points}"));
    let step = |points: &str| refusal(&format!("size_bytes,prob,cdf\n{points}"));
    let cases = [
        (refusal(""), "sizes.csv: no points"),
        (refusal("# only a comment\n"), "sizes.csv: no points"),
        (refusal("size,cdf\n1,1\n"), "sizes.csv, line 1: header is \"size,cdf\", must be"),
        (linear(""), "sizes.csv, line 2: no points"),
        (linear("0,0\n10,0.5\n20,0.4\n30,1\n"), "line 5, column cdf: 0.4 is below 0.5 of the previous point"),
        (linear("0,0\n10,0.5\n10,1\n"), "line 5, column size_bytes: size 10 is not above 10"),
        (linear("0,0\n10,0.5\n"), "line 4, column cdf: last value is 0.5, must be 1; add the largest size"),
        (linear("0,0\n10\n"), "line 4: line has 1 fields, must have 2; is the file truncated?"),
        (linear("0,0\n10,NaN\n"), "line 4, column cdf: \"NaN\" must be a number from 0 to 1"),
        (linear("0,0\n10,1.5\n"), "line 4, column cdf: \"1.5\" must be a number from 0 to 1"),
        (linear("0,0\n-10,1\n"), "line 4, column size_bytes: \"-10\" must be a whole number"),
        (linear("0,0\n1.5,1\n"), "line 4, column size_bytes: \"1.5\" must be a whole number"),
        (linear("0,0\n99999999999999999,1\n"), "column size_bytes: \"99999999999999999\" must be"),
        (linear("0,0.5\n10,1\n"), "line 3, column size_bytes: size 0 has probability 0.5, must have none"),
        (step("1,-0.5,0.5\n"), "line 2, column prob: \"-0.5\" must be a number from 0 to 1"),
        (step("1,0.5,0.5\n2,0.4,1\n"), "line 3, column cdf: 1 must be 0.9, the sum of the probabilities"),
        (step("1,0.5\n"), "line 2: line has 2 fields, must have 3"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found}\nlacks\n{expected}");
    }
}

#[test]
fn first_points_and_line_ends_are_read_as_documented() {
    let atom = Sizes::parse_cdf("size_bytes,cdf\r\n10,0.5\r\n20,1\r\n", "x").expect("a CDF");
    assert_eq!(atom.atoms(20).map(|atoms| (atoms.len(), atoms[0])), Some((11, (10, 0.5))));
    let flat = Sizes::parse_cdf("size_bytes,cdf\n1,0\n5,0.5\n9,0.5\n10,1", "x").expect("a CDF");
    assert!(near(flat.cdf(9), 0.5, 1e-15) && near(flat.cdf(5), 0.5, 1e-15));
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let folder = std::env::temp_dir().join(format!("weir-sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let missing = Sizes::from_cdf_file(&folder.join("missing.csv")).expect_err("no file");
    assert!(matches!(missing.fault, CdfFault::Unreadable(_)) && missing.to_string().contains("missing.csv"));
    assert!(Sizes::from_cdf_file(&folder).is_err());
    let binary = folder.join("binary.csv");
    std::fs::write(&binary, b"size_bytes,cdf\n\xff\xfe\n").expect("a file");
    let error = Sizes::from_cdf_file(&binary).expect_err("no text");
    assert_eq!((error.line, error.fault), (2, CdfFault::NotText));
    let huge = folder.join("huge.csv");
    let length = 65 << 20;
    std::fs::File::create(&huge).and_then(|file| file.set_len(length)).expect("a file");
    assert_eq!(Sizes::from_cdf_file(&huge).expect_err("too long").fault, CdfFault::TooLong(length));
    std::fs::remove_dir_all(&folder).expect("removal");
}

#[test]
fn a_table_of_more_than_a_million_points_is_refused() {
    let lines: String = (1..=MAX_RUNS + 1).map(|size| format!("{size},0\n")).collect();
    let error = Sizes::parse_cdf(&format!("size_bytes,cdf\n{lines}"), "x").expect_err("too many");
    assert_eq!(error.fault, CdfFault::TooManyPoints);
}

#[test]
fn many_draws_are_as_each() {
    let sizes =
        [Sizes::exponential(1e4), Sizes::exponential(1.5), Sizes::uniform(1, 30_000), Sizes::uniform(3, 9)];
    let ends = [0, 1, u64::MAX - 1, u64::MAX];
    let words: Vec<u64> = (1..300_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).chain(ends).collect();
    for sizes in sizes {
        let sampler = sizes.expect("valid").sampler();
        let mut all = vec![0; words.len()];
        sampler.sample_all(&words, &mut all);
        assert_eq!(all, words.iter().map(|&word| sampler.sample(word)).collect::<Vec<_>>());
    }
}
