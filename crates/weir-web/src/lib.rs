//! The engine in a page of a browser: the models of `weir-sim`, called with JSON and answering with JSON.
//!
//! | file | |
//! |-|-|
//! | `engine` | what may be asked, and the answers |
//! | `growth` | a run that shows what is known so far |
//! | `first_rows` | the first items of a run, one by one |
//! | `abi` | the functions that the module exports, and those that it needs of the page |
//!
//! A result is the text that the native engine writes for the same scenario and seed, byte for byte: draws and figures are made by
//! the same code, without a function of the system's mathematics (`weir_lab::special`), and the number of threads, here
//! none, changes nothing. `tests/test_web.py` holds both to it.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | that of the models, on one thread |
//! | Units | text is UTF-8; times and lengths as in results |
//! | Departure | an interface in C and no generated one: three exports and two imports are less than a tool that makes them, of its own version |

#![deny(missing_docs)]

#[cfg(target_family = "wasm")]
pub mod abi;
mod engine;
mod first_rows;
mod growth;

pub use engine::{Engine, Progress};
