//! What the executor does, seen from outside.

mod differential;
