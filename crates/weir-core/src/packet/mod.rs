//! Disciplines over packets at a link: each is served whole. One algorithm a file.
