//! From the rule of a dispatcher to what the programs read.
