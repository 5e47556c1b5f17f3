use super::*;

const SERVICE: Service = Service { mean: 1.0, scv: 0.25 };

fn form(discipline: &str, mode: Mode, load: f64) -> Result<ClosedForm, TheoryError> {
    let service = if mode == Mode::Packets { SERVICE } else { Service::constant(1.0) };
    theory(discipline, mode, &Sizes::alpha_report(), load, service)
}

#[test]
fn every_discipline_with_a_form_has_it_in_its_modes() {
    let cases = [
        ("fifo", true, true),
        ("fcfs", true, true),
        ("alpha:0", true, true),
        ("sf", true, true),
        ("srpt", true, true),
        ("alpha:inf", true, true),
        ("alpha:inf,update=decrement", true, true),
        ("rr", true, false),
        ("rr_head", true, false),
        ("ps", false, true),
        ("sjf", false, true),
        ("psjf", false, true),
        ("las", false, true),
    ];
    for (name, packets, whole) in cases {
        for (mode, expected) in [(Mode::Packets, packets), (Mode::Whole, whole)] {
            let found = form(name, mode, 0.8);
            assert_eq!(found.is_ok(), expected, "{name} {mode}");
            if let Ok(form) = found {
                assert!(form.mean() > 0.0 && form.mean_slowdown() >= 1.0 && !form.formula().is_empty());
                assert!(form.at(20).is_some_and(|latency| latency > 19.0));
                assert!(form.largest_slowdown().is_some_and(|slowdown| slowdown >= 1.0));
            }
        }
    }
}

#[test]
fn the_ends_of_alpha_are_fifo_and_shortest_first() {
    let mean = |name| form(name, Mode::Packets, 0.95).expect("a form").mean();
    assert_eq!(mean("alpha:0").to_bits(), mean("fifo").to_bits());
    assert_eq!(mean("alpha:inf").to_bits(), mean("sf").to_bits());
}

#[test]
fn where_there_is_no_form_the_reason_is_said() {
    let reason = |name, mode| form(name, mode, 0.8).expect_err("no form").to_string();
    assert_eq!(
        reason("alpha:6", Mode::Packets),
        "no closed form for 0 < alpha < infinity (alpha:6); the means lie between fifo and sf"
    );
    assert_eq!(reason("hrrn", Mode::Whole), "no closed form for hrrn");
    assert_eq!(reason("rr", Mode::Whole), "no closed form for rr over whole messages");
    assert_eq!(reason("ps", Mode::Packets), "no closed form for ps packet by packet");
    assert!(reason("alpha:inf,update=recalculate", Mode::Packets).contains("only the plain discipline"));
    assert!(reason("fifo:limit=3", Mode::Packets).contains("fifo:limit=3"));
    assert!(reason("alpha:nan", Mode::Packets).contains("alpha:nan"));
    let random = theory("ps", Mode::Whole, &Sizes::alpha_report(), 0.8, Service::exponential(1.0));
    assert_eq!(random.err(), Some(NoForm::RandomService.into()));
}

#[test]
fn an_unstable_load_is_a_statement_for_every_discipline() {
    for name in ["fifo", "alpha:6", "hrrn", "srpt"] {
        let text = form(name, Mode::Packets, 1.2).expect_err("unstable").to_string();
        assert_eq!(
            text,
            "unstable: load 1.2 must be below 1; the queue grows without bound and has no mean, lower the load"
        );
    }
    let near = form("fifo", Mode::Whole, 0.999_999_999_9).expect_err("too near").to_string();
    assert!(near.contains("must be at most 0.999999999"), "{near}");
    let text = form("fifo", Mode::Whole, f64::NAN).expect_err("no load").to_string();
    assert_eq!(text, "load is NaN, must be above 0 and below 1");
    let none = theory("fifo", Mode::Whole, &Sizes::alpha_report(), 0.5, Service::constant(0.0));
    assert_eq!(none.err(), Some(TheoryError::MeanService(0.0)));
}

#[test]
fn results_are_in_the_unit_of_the_service() {
    for mode in [Mode::Packets, Mode::Whole] {
        let sizes = Sizes::alpha_report();
        let [one, milli] = [1.0, 1000.0]
            .map(|unit| theory("sf", mode, &sizes, 0.8, Service::constant(unit)).expect("a form"));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs();
        assert!(near(milli.mean(), 1000.0 * one.mean()));
        assert!(near(milli.arrival_rate(), one.arrival_rate() / 1000.0));
        assert!(near(milli.mean_slowdown(), one.mean_slowdown()));
        assert!(near(milli.at(5).expect("occurs"), 1000.0 * one.at(5).expect("occurs")));
        assert_eq!(milli.queue_length(), one.queue_length());
        assert_eq!(milli.mean_work(), one.mean_work().map(|work| work * 1000.0));
    }
}

#[test]
fn classes_of_sizes_add_up_to_the_mean() {
    for (name, mode) in
        [("rr", Mode::Packets), ("sf", Mode::Packets), ("sf", Mode::Whole), ("las", Mode::Whole)]
    {
        let form = form(name, mode, 0.8).expect("a form");
        let classes = form.classes(&Sizes::alpha_report().deciles());
        let mean: f64 = classes.iter().flatten().map(|class| class.share * class.mean).sum();
        let slowdown: f64 = classes.iter().flatten().map(|class| class.share * class.slowdown).sum();
        assert_eq!(classes.len(), 6);
        assert!((mean / form.mean() - 1.0).abs() < 1e-9, "{name}: {mean}");
        assert!((slowdown / form.mean_slowdown() - 1.0).abs() < 1e-9, "{name}: {slowdown}");
    }
}

#[test]
fn the_moments_of_a_service_follow_from_its_parts() {
    assert_eq!(Service::shifted_exponential(0.5, 0.5), SERVICE);
    assert_eq!(Service::shifted_exponential(0.0, 2.0), Service::exponential(2.0));
    assert_eq!(Service::shifted_exponential(2.0, 0.0), Service::constant(2.0));
}
