//! Random numbers of a generator that are its own: a stream for each association and seed.
//!
//! | | |
//! |-|-|
//! | Source | [`weir_core::random`] |
//! | Work per number | O(1) |
//! | Departures | a seed in the script selects a stream that does not depend on the association, as in the simulation; the numbers are others than there |

use weir_core::random::Random as Numbers;
use weir_tg::{BsdRandom, Random, RandomMode, Script};

/// The numbers of a script.
#[derive(Clone, Debug)]
pub enum Draws {
    /// One sequence for every script.
    Compatible(BsdRandom),
    /// A stream of its own.
    Independent {
        /// Its numbers.
        numbers: Numbers,
        /// The seed that it began with.
        began: u64,
        /// The seed of the run, under which those of the script are.
        seed: u64,
    },
}

impl Draws {
    /// The numbers of a script under a seed.
    #[must_use]
    pub fn new(mode: RandomMode, seed: u64, script: &Script) -> Self {
        if mode == RandomMode::Compatible {
            return Self::Compatible(BsdRandom::new());
        }
        let ends = format!("{:?}", script.association.ends);
        let began = ends.bytes().fold(mixed(seed, 0), |key, byte| mixed(key, u64::from(byte)));
        Self::Independent { numbers: Numbers::new(began), began, seed }
    }
}

fn mixed(key: u64, with: u64) -> u64 {
    Numbers::new(key ^ with.rotate_left(32)).bits()
}

impl Random for Draws {
    #[inline]
    fn next_31(&mut self) -> u32 {
        match self {
            Self::Compatible(random) => random.next_31(),
            Self::Independent { numbers, .. } => (numbers.bits() >> 33) as u32,
        }
    }

    fn seed(&mut self, of_script: u64) {
        if let Self::Independent { numbers, began, seed } = self {
            *began = mixed(mixed(*seed, 1), of_script);
            *numbers = Numbers::new(*began);
        }
    }

    fn reset(&mut self) {
        if let Self::Independent { numbers, began, .. } = self {
            *numbers = Numbers::new(*began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(mode: RandomMode, seed: u64, address: &str, of_script: Option<u64>) -> u32 {
        let text = format!("on 1 udp {address} wait");
        let script = weir_tg::parse(&text, "test.tg", &mut |_| Err(String::new())).unwrap();
        let mut draws = Draws::new(mode, seed, &script);
        if let Some(seed) = of_script {
            draws.seed(seed);
        }
        let number = draws.next_31();
        draws.next_31();
        draws.reset();
        if mode == RandomMode::Independent {
            assert_eq!(draws.next_31(), number);
        }
        number
    }

    #[test]
    fn streams_depend_on_what_they_should() {
        use RandomMode::{Compatible, Independent};
        assert_eq!(first(Compatible, 1, "1.2.3.4.5", Some(7)), 2_078_917_053);
        let own = first(Independent, 1, "1.2.3.4.5", None);
        assert_eq!(first(Independent, 1, "1.2.3.4.5", None), own);
        assert_ne!(first(Independent, 2, "1.2.3.4.5", None), own);
        assert_ne!(first(Independent, 1, "1.2.3.4.6", None), own);
        let seeded = first(Independent, 1, "1.2.3.4.5", Some(7));
        assert_eq!(first(Independent, 1, "1.2.3.4.6", Some(7)), seeded);
        assert_ne!(first(Independent, 2, "1.2.3.4.5", Some(7)), seeded);
    }
}
