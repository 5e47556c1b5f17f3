//! What the loop answers to requests.
