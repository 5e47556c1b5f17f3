//! weir-exec beside other executors: rounds in which all take turns, printed as tables of medians.

mod control;
mod counting;
mod env;
mod figures;
mod foreground;
mod hold;
mod machine;
mod mailbox;
mod micro;
mod peers;
mod work;

use std::process::ExitCode;

use control::Control;
use figures::{Table, short};
use foreground::{Background, Foreground};
use peers::Peer;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const USAGE: &str = "usage: weir-bench-exec [--rounds N] [--seconds N] [--only PART_OF_A_NAME] [micro] [control] [foreground] | hold [--light]";

/// What is measured, how often, and for how long a round.
struct Wanted {
    rounds: u64,
    seconds: u64,
    /// Who takes part: those with this in their names, and Tokio.
    only: String,
    parts: Vec<String>,
    /// `hold` has one bursty task beside.
    light: bool,
}

fn wanted() -> Result<Wanted, String> {
    let mut wanted = Wanted { rounds: 5, seconds: 4, only: String::new(), parts: Vec::new(), light: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--only" {
            wanted.only =
                arguments.next().ok_or_else(|| format!("--only takes a part of a name; {USAGE}"))?;
            continue;
        }
        let mut number = || {
            let number = arguments.next().and_then(|number| number.parse().ok()).filter(|&number| number > 0);
            number.ok_or_else(|| format!("{argument} takes a whole number of at least 1; {USAGE}"))
        };
        match argument.as_str() {
            "--rounds" => wanted.rounds = number()?,
            "--seconds" => wanted.seconds = number()?,
            "--light" => wanted.light = true,
            "micro" | "control" | "foreground" | "hold" => wanted.parts.push(argument),
            _ => return Err(format!("unknown argument `{argument}`; {USAGE}")),
        }
    }
    Ok(wanted)
}

impl Wanted {
    fn has(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|one| one == part)
    }
}

fn micro(wanted: &Wanted) {
    println!("\n## Single steps\n");
    let mut table = Table::default();
    (0..wanted.rounds).for_each(|_| micro::round(&mut table));
    table.print();
    let of = |row: &str| table.median(row, "ns");
    let yields = of("yield among 10, weir-exec") / of("yield among 10, LocalSet");
    let parked =
        of("post to a parked worker, until the task runs") / of("bare futex wake, until the thread runs");
    println!(
        "\nA yield is {} of LocalSet's; a post to a parked worker {} of a bare futex wake.",
        short(yields),
        short(parked)
    );
}

fn controls(wanted: &Wanted, peers: &[Peer]) {
    println!("\n## A control task and a handler, next to greedy and bursty tasks\n");
    let mut table = Table::default();
    for _ in 0..wanted.rounds {
        for peer in peers {
            let scene = Control::new(wanted.seconds * 10, control::Background::FULL);
            let events = scene.generate();
            peer.run(&scene);
            events.join().expect("it comes to its end");
            table.add(peer.name(), scene.figures());
        }
    }
    table.print();
}

fn foregrounds(wanted: &Wanted, peers: &[Peer]) {
    println!("\n## Foreground next to a background");
    // Version 0.9 stopped there half way, with all its threads asleep; why is not known.
    let glommio = Peer::Glommio;
    println!(
        "\n{} is left out: next to a background it stopped with all its threads asleep.",
        glommio.name()
    );
    let peers: &[Peer] = &peers.iter().copied().filter(|&peer| peer != glommio).collect::<Vec<_>>();
    let mut tables = [(); 3].map(|()| Table::default());
    for _ in 0..wanted.rounds {
        for peer in peers {
            for (table, background) in tables.iter_mut().zip(BACKGROUNDS) {
                let scene = Foreground::new(background.0, wanted.seconds);
                let arrivals = scene.generate();
                peer.run(&scene);
                arrivals.join().expect("it comes to its end");
                table.add(peer.name(), scene.figures());
            }
        }
    }
    for (table, (_, title)) in tables.iter().zip(BACKGROUNDS) {
        println!("\n### {title}\n");
        table.print();
    }
    against_alone(peers, &tables);
}

const BACKGROUNDS: [(Background, &str); 3] = [
    (Background::None, "The foreground alone"),
    (Background::Whole, "Next to a background that gives way after 100 to 500 us"),
    (Background::InPieces, "Next to a background that asks every 25 us whether to give way"),
];

/// The foreground's wait beside its own without a background, and the background beside Tokio's.
fn against_alone(peers: &[Peer], [alone, whole, pieces]: &[Table; 3]) {
    const DONE: &str = "background, % of a processor";
    println!("\n### Against the foreground alone, and Tokio's background\n");
    let mut table = Table::default();
    for name in peers.iter().map(|peer| peer.name()) {
        let wait = |with: &Table| 100.0 * with.median(name, "p99 us") / alone.median(name, "p99 us");
        let done = |with: &Table| 100.0 * with.median(name, DONE) / whole.median(Peer::Tokio.name(), DONE);
        let figures = vec![
            ("p99 of the wait, %", wait(whole)),
            ("background, %", done(whole)),
            ("in pieces: p99 of the wait, %", wait(pieces)),
            ("in pieces: background, %", done(pieces)),
        ];
        table.add(name, figures);
    }
    table.print();
}

fn hold(wanted: &Wanted) -> ExitCode {
    match hold::run(wanted.seconds, wanted.light) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn main() -> ExitCode {
    let wanted = match wanted() {
        Ok(wanted) => wanted,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    println!("# weir-exec compared with others\n\n{}", machine::describe());
    println!("{} rounds of {} s; medians (least to largest).", wanted.rounds, wanted.seconds);
    println!("A microsecond of work is {:.1} turns of the loop.", work::calibrate());
    if wanted.parts.iter().any(|part| part == "hold") {
        return hold(&wanted);
    }
    let runs = |peer: &Peer| {
        let runs = peer.runs();
        if let Err(why) = &runs {
            println!("{} is left out: {why}.", peer.name());
        }
        runs.is_ok()
    };
    let asked = |peer: &Peer| *peer == Peer::Tokio || peer.name().contains(&wanted.only);
    let peers: Vec<Peer> = Peer::ALL.into_iter().filter(asked).filter(runs).collect();
    if wanted.has("micro") {
        micro(&wanted);
    }
    if wanted.has("control") {
        controls(&wanted, &peers);
    }
    if wanted.has("foreground") {
        foregrounds(&wanted, &peers);
    }
    ExitCode::SUCCESS
}
