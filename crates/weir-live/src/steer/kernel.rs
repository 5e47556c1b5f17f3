//! The programs of an interface that is steered: loaded, attached, told the rule in force, read, and taken away.
