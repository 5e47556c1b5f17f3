//! by_hand
