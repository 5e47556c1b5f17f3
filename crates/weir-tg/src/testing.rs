//! What the tests share.

use crate::{Random, Script, ScriptError, parse};

/// Reads a script that may include `half`, which has a clause of its own, `loop`, and `deep`.
pub(crate) fn read(text: &str) -> Result<Script, ScriptError> {
    let mut depth = 0;
    parse(text, "test.tg", &mut |name| match name {
        "half" => Ok("on 7\n  udp".to_owned()),
        "wrong" => Ok("on 7\n  upd".to_owned()),
        "loop" => Ok("include \"back\"".to_owned()),
        "back" => Ok("# comment\n include \"loop\"".to_owned()),
        "large" => Ok("#".repeat(1 << 19)),
        "empty" => Ok(String::new()),
        deep if deep.starts_with("deep") => {
            depth += 1;
            Ok(format!("include \"deep{depth}\""))
        }
        _ => Err("no such file".to_owned()),
    })
}

/// Numbers given one by one, then the last for ever.
pub(crate) struct Given {
    numbers: Vec<u32>,
    next: usize,
    /// The calls about seeds.
    pub(crate) told: Vec<String>,
}

impl Given {
    pub(crate) fn new(numbers: &[u32]) -> Self {
        Self { numbers: numbers.to_vec(), next: 0, told: Vec::new() }
    }
}

impl Random for Given {
    fn next_31(&mut self) -> u32 {
        let number = self.numbers[self.next.min(self.numbers.len() - 1)];
        self.next += 1;
        number
    }
    fn seed(&mut self, seed: u64) {
        self.told.push(format!("seed {seed}"));
    }
    fn reset(&mut self) {
        self.told.push("reset".to_owned());
    }
}
