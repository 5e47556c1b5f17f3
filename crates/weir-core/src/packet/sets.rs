//! The search of a set-associative hash: where in its set something is, or may be put.
//!
//! | | |
//! |-|-|
//! | Source | Høiland-Jørgensen, Täht and Morton, *Piece of CAKE: a comprehensive queue management solution for home gateways*, LANMAN 2018 |
//! | Work | O(ways) |

/// Where something belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is there.
    Known(u32),
    /// This place is free.
    Free(u32),
    /// All are taken; what does not fit shares its home.
    Full,
}

/// Searches a set, its first place and the number of its ways, from `home` on.
#[inline]
pub(super) fn find(
    home: u32,
    (start, ways): (u32, u32),
    is_own: impl Fn(u32) -> bool,
    is_free: impl Fn(u32) -> bool,
) -> Found {
    let from_home = || (0..ways).map(|way| start + (home - start + way) % ways);
    let known = from_home().find(|&at| is_own(at)).map(Found::Known);
    known.or_else(|| from_home().find(|&at| is_free(at)).map(Found::Free)).unwrap_or(Found::Full)
}
