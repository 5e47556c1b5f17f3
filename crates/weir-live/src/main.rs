//! `weird`: the disciplines on real packets.

fn main() {}
