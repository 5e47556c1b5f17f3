//! How many instructions the first program executes for a request, beyond those of the baseline.
//!
//! The listing of the disassembler is followed, instruction by instruction, over a frame, with the registers and the memory
//! that a program has. What helpers of the kernel do inside is not counted, a call is one instruction.

use std::collections::HashMap;
use std::process::Command;

use weir_core::pool::{Part, Rule, ServerId};

use super::super::decision::Decision;
use super::super::layout::Rules;
use super::super::setup::{ClassRule, Setup, Traffic};
use super::bytes;

/// What round robin may cost, at most.
const MOST: usize = 64;

/// Where things are in the memory of the machine.
const CONTEXT: u64 = 0x1000;
const FRAME: u64 = 0x2000;
const STACK: u64 = 0x8000;
const SYMBOLS: [(&str, u64); 7] = [
    ("setup", 0x9000),
    ("spread", 0x9000),
    ("rules", 0x10000),
    ("counts", 0x20000),
    ("processors", 0x60000),
    ("turns", 0x61000),
    ("queues_id", 0x62000),
];
const MEMORY: usize = 0x70000;

fn at(symbol: &str) -> u64 {
    SYMBOLS.iter().find(|(name, _)| *name == symbol).expect(symbol).1
}

/// A program as the disassembler lists it: by its place, with the symbol that a place refers to.
type Listing = HashMap<usize, (String, Option<String>)>;

/// The listing of a program; `None`: there is no disassembler.
fn listing(object: &str, section: &str) -> Option<Listing> {
    let program = std::env::var("LLVM_OBJDUMP").unwrap_or_else(|_| "llvm-objdump".into());
    let arguments = ["-d", "-r", "--no-show-raw-insn", "-j", section, object];
    let listed = Command::new(program).args(arguments).output().ok()?;
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let (mut all, mut last) = (Listing::new(), 0);
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let Some((place, rest)) = line.trim().split_once(':') else { continue };
        if let Some((_, symbol)) = rest.trim().split_once("R_BPF_64_64") {
            all.get_mut(&last).expect("a place before it").1 = Some(symbol.trim().into());
        } else if let Ok(number) = place.parse() {
            last = number;
            all.insert(last, (rest.trim().into(), None));
        }
    }
    Some(all)
}

/// A processor that runs a program.
struct Machine {
    registers: [u64; 11],
    memory: Vec<u8>,
    executed: usize,
}

impl Machine {
    fn new(frame: &[u8]) -> Self {
        let mut machine = Self { registers: [0; 11], memory: vec![0; MEMORY], executed: 0 };
        machine.write(FRAME, frame);
        let end = FRAME + frame.len() as u64;
        machine.write(CONTEXT, &[FRAME, end, FRAME].map(|at| (at as u32).to_le_bytes()).concat());
        (machine.registers[1], machine.registers[10]) = (CONTEXT, STACK);
        machine
    }

    fn write(&mut self, to: u64, bytes: &[u8]) {
        self.memory[to as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn read(&self, from: u64, length: usize) -> u64 {
        let mut number = [0; 8];
        number[..length].copy_from_slice(&self.memory[from as usize..][..length]);
        u64::from_le_bytes(number)
    }

    /// The number of a register and whether it is its lower half.
    fn register(text: &str) -> Option<(usize, bool)> {
        let half = text.starts_with('w');
        text.strip_prefix(['r', 'w'])?.parse().ok().map(|number| (number, half))
    }

    fn value(&self, text: &str) -> u64 {
        match Self::register(text) {
            Some((number, true)) => self.registers[number] & u64::from(u32::MAX),
            Some((number, false)) => self.registers[number],
            None => text.parse::<i64>().unwrap_or_else(|_| panic!("no value: {text}")) as u64,
        }
    }

    fn set(&mut self, text: &str, value: u64) {
        let (number, half) = Self::register(text).expect(text);
        self.registers[number] = if half { value & u64::from(u32::MAX) } else { value };
    }

    /// The length and the address of `*(u32 *)(r1 + 4)`.
    fn address(&self, text: &str) -> Option<(usize, u64)> {
        let (size, place) = text.strip_prefix("*(u")?.split_once(" *)(")?;
        let words: Vec<&str> = place.trim_end_matches(')').split(' ').collect();
        let &[base, sign, offset] = &words[..] else { panic!("no address: {text}") };
        let (base, offset) = (self.value(base), self.value(offset));
        let at = if sign == "-" { base.wrapping_sub(offset) } else { base.wrapping_add(offset) };
        Some((size.parse::<usize>().expect(size) / 8, at))
    }

    /// Runs the program to its end; what it returns.
    fn run(&mut self, listing: &Listing) -> u64 {
        let mut place = 0;
        loop {
            let (text, symbol) = &listing[&place];
            self.executed += 1;
            assert!(self.executed < 10_000, "it does not end");
            // Behind a place to go to stands its name.
            let text = text.split(" <L").next().expect("some");
            match text.split_once("goto ") {
                _ if text == "exit" => return self.registers[0],
                Some((condition, by)) => {
                    let by: isize = by.trim().trim_start_matches('+').parse().expect(by);
                    place = place.wrapping_add_signed(1 + if self.holds(condition.trim()) { by } else { 0 });
                }
                None => {
                    self.execute(text, symbol.as_deref());
                    place += if text.ends_with(" ll") { 2 } else { 1 };
                }
            }
        }
    }

    fn holds(&self, condition: &str) -> bool {
        let words: Vec<&str> = condition.split(' ').collect();
        let &["if", one, comparison, other] = &words[..] else { return condition.is_empty() };
        let half = one.starts_with('w');
        let of = |text| if half { self.value(text) & u64::from(u32::MAX) } else { self.value(text) };
        let (one, other) = (of(one), of(other));
        match comparison {
            "==" => one == other,
            "!=" => one != other,
            ">" => one > other,
            ">=" => one >= other,
            "<" => one < other,
            "<=" => one <= other,
            other => panic!("no comparison: {other}"),
        }
    }

    fn execute(&mut self, text: &str, symbol: Option<&str>) {
        if let Some(helper) = text.strip_prefix("call ") {
            return self.call(helper.parse().expect("a helper of the kernel"));
        }
        if let Some(text) = text.strip_prefix("lock ") {
            let (to, by) = text.split_once(" += ").expect("an addition");
            let (length, at) = self.address(to).expect(to);
            let sum = self.read(at, length).wrapping_add(self.value(by));
            return self.write(at, &sum.to_le_bytes()[..length]);
        }
        if let Some((to, from)) = text.split_once(" = ") {
            return self.assign(to, from, symbol);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let &[to, operation, by] = &words[..] else { panic!("no instruction: {text}") };
        let (one, other) = (self.value(to), self.value(by));
        let result = match operation {
            "+=" => one.wrapping_add(other),
            "-=" => one.wrapping_sub(other),
            "*=" => one.wrapping_mul(other),
            "/=" => one / other,
            "%=" => one % other,
            "&=" => one & other,
            "|=" => one | other,
            "^=" => one ^ other,
            "<<=" => one << other,
            ">>=" => one >> other,
            _ => panic!("no operation: {text}"),
        };
        self.set(to, result);
    }

    fn assign(&mut self, to: &str, from: &str, symbol: Option<&str>) {
        if let Some((length, at)) = self.address(to) {
            let value = self.value(from).to_le_bytes();
            return self.write(at, &value[..length]);
        }
        let value = if let Some((length, at)) = self.address(from) {
            self.read(at, length)
        } else if let Some(offset) = from.strip_suffix(" ll") {
            self.value(offset) + symbol.map_or(0, at)
        } else if let Some(swapped) = from.strip_prefix("be16 ") {
            (self.value(swapped) as u16).swap_bytes().into()
        } else {
            self.value(from)
        };
        self.set(to, value);
    }

    /// What the helpers of this path do.
    fn call(&mut self, helper: u32) {
        self.registers[0] = match helper {
            // The value of a map, of which there is one.
            1 => self.registers[1] + 8,
            // The time.
            5 => 1_000_000,
            // The processor.
            8 => 1,
            // A redirection, which succeeds.
            51 => 4,
            // Room before the frame.
            54 => {
                let room = self.registers[2] as i32;
                let at = (FRAME as u32).wrapping_add_signed(room);
                self.write(CONTEXT + 8, &at.to_le_bytes());
                0
            }
            other => panic!("helper {other} is not of this path"),
        };
    }
}

/// A request to port 9000 over IPv4, without tags.
fn request() -> Vec<u8> {
    let mut frame = vec![0; 64];
    frame[12] = 8;
    frame[14] = 0x45;
    frame[23] = 17;
    frame[36..38].copy_from_slice(&9000_u16.to_be_bytes());
    frame[39] = 30;
    frame
}

/// How many instructions the program executes for a request, under a rule.
fn executed(listing: &Listing, class_rule: ClassRule, rule: &Rule<'_>) -> usize {
    let setup = Setup { traffic: Traffic::Udp, class_rule, ports: vec![9000], flow_seed: 1, service: None };
    let mut machine = Machine::new(&request());
    machine.write(at("setup"), bytes(&setup.layout()));
    let decision = Decision::of(rule, &[Some(2), Some(3)]);
    machine.write(at("rules") + core::mem::offset_of!(Rules, decisions) as u64, bytes(&decision));
    assert_eq!(machine.run(listing), 4, "it was redirected");
    let queue = core::mem::offset_of!(super::super::layout::Counted, queues) as u64;
    assert_eq!(machine.read(at("counts") + queue + 2 * 64, 8), 1, "to processor 2");
    machine.executed
}

#[test]
fn round_robin_executes_few_instructions_beyond_the_baseline() {
    let folder = env!("OUT_DIR");
    let Some(bare) = listing(&format!("{folder}/bare.bpf.o"), "xdp") else {
        println!("skipped: there is no llvm-objdump (apt install llvm)");
        return;
    };
    let steer = listing(&format!("{folder}/steer.bpf.o"), "xdp").expect("as before");
    let mut machine = Machine::new(&request());
    machine.write(at("spread"), &[2_u32, 2, 3].map(u32::to_le_bytes).concat());
    assert_eq!(machine.run(&bare), 4, "it was redirected");
    let places = [Some(ServerId(0)), Some(ServerId(1))];
    let all = Part { first: 0, count: 2, turn: 0 };
    let rr = Rule::Cycle { places: &places, strict: false, parts: [all; 2] };
    let apart = [Part { first: 0, count: 1, turn: 0 }, Part { first: 1, count: 1, turn: 1 }];
    let separated = Rule::Cycle { places: &places, strict: false, parts: apart };
    let byte = ClassRule::Byte { offset: 3, at_least: 10 };
    let beyond = |class_rule, rule| executed(&steer, class_rule, rule) - machine.executed;
    let (rr, separated) = (beyond(ClassRule::One, &rr), beyond(byte, &separated));
    println!("baseline {}; beyond it rr {rr}, classes by a byte {separated}", machine.executed);
    assert!(rr < MOST, "{rr} instructions beyond the baseline, must be below {MOST}");
}
