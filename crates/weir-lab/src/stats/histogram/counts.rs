//! Counts in as few bytes as the number of values permits: a count is at most that number.
//!
//! | values counted | bytes a count |
//! |-|-|
//! | below 2^16 | 2 |
//! | below 2^32 | 4 |
//! | more | 8 |
//!
//! Whoever counts [makes room](Counts::make_room) for a number of values first, once for a block of them, so that no addition has
//! to look whether it fits.

/// A number that counts.
pub(super) trait Count: Copy + Default + 'static {
    /// The largest.
    const MOST: u64;
    /// Adds `more`, for which room was made.
    fn add(&mut self, more: u64);
    /// The number.
    fn get(self) -> u64;
    /// The counts, where they are of this width; none otherwise.
    fn all(counts: &mut Counts) -> &mut [Self];
}

macro_rules! count {
    ($number:ty, $width:ident) => {
        impl Count for $number {
            const MOST: u64 = <$number>::MAX as u64;
            #[inline(always)]
            fn add(&mut self, more: u64) {
                *self = self.wrapping_add(more as Self);
            }
            #[inline(always)]
            fn get(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn all(counts: &mut Counts) -> &mut [Self] {
                if let Counts::$width(all) = counts { all } else { &mut [] }
            }
        }
    };
}

count!(u16, Narrow);
count!(u32, Middle);
count!(u64, Wide);

/// How wide counts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    Narrow,
    Middle,
    Wide,
}

impl Width {
    /// The narrowest that holds counts of `values` values.
    #[inline]
    fn of(values: u64) -> Self {
        if values <= u16::MOST {
            Self::Narrow
        } else if values <= u32::MOST {
            Self::Middle
        } else {
            Self::Wide
        }
    }
}

/// A row of counts.
#[derive(Clone, Debug)]
pub(super) enum Counts {
    Narrow(Vec<u16>),
    Middle(Vec<u32>),
    Wide(Vec<u64>),
}

/// Does the same with counts of whatever width.
macro_rules! each_width {
    ($counts:expr, $all:ident => $work:expr) => {
        match $counts {
            Counts::Narrow($all) => $work,
            Counts::Middle($all) => $work,
            Counts::Wide($all) => $work,
        }
    };
}

impl Counts {
    /// None, which take no memory.
    pub(super) const NONE: Self = Self::Narrow(Vec::new());

    #[inline]
    pub(super) fn len(&self) -> usize {
        each_width!(self, all => all.len())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How wide they are.
    #[inline]
    pub(super) fn width(&self) -> Width {
        match self {
            Self::Narrow(_) => Width::Narrow,
            Self::Middle(_) => Width::Middle,
            Self::Wide(_) => Width::Wide,
        }
    }

    /// The count at `place`.
    #[inline]
    pub(super) fn get(&self, place: usize) -> u64 {
        each_width!(self, all => all[place].get())
    }

    /// Adds to the count at `place`, for which room was made.
    #[inline]
    pub(super) fn add(&mut self, place: usize, more: u64) {
        each_width!(self, all => all[place].add(more));
    }

    /// Adds to the count at `place` if there is one and these are wide enough for counts of `values` values; returns whether
    /// it did.
    #[inline]
    pub(super) fn adds(&mut self, place: usize, more: u64, values: u64) -> bool {
        #[inline(always)]
        fn adds<T: Count>(all: &mut [T], place: usize, more: u64, values: u64) -> bool {
            let Some(count) = all.get_mut(place).filter(|_| values <= T::MOST) else { return false };
            count.add(more);
            true
        }
        each_width!(self, all => adds(all, place, more, values))
    }

    /// Whether one of these is above 0.
    #[inline]
    pub(super) fn any(&self, places: std::ops::Range<usize>) -> bool {
        each_width!(self, all => all[places].iter().fold(0, |any, &count| any | count) > 0)
    }

    /// Makes them wide enough for counts of `values` values in all.
    #[inline]
    pub(super) fn make_room(&mut self, values: u64) {
        self.widen(Width::of(values));
    }

    /// Makes them as wide as that, unless they are.
    #[inline]
    pub(super) fn widen(&mut self, width: Width) {
        if self.width() < width {
            *self = self.laid_out(0, self.len(), width);
        }
    }

    /// Lays out `length` counts, of which the present ones begin at `from`.
    pub(super) fn lay_out(&mut self, from: usize, length: usize) {
        *self = self.laid_out(from, length, self.width());
    }

    #[cold]
    fn laid_out(&self, from: usize, length: usize, width: Width) -> Self {
        fn copied<T: Count>(counts: &Counts, from: usize, length: usize) -> Vec<T> {
            let mut all = vec![T::default(); length];
            let to = all[from..].iter_mut();
            each_width!(counts, before => to.zip(before).for_each(|(own, count)| own.add(count.get())));
            all
        }
        match width {
            Width::Narrow => Self::Narrow(copied(self, from, length)),
            Width::Middle => Self::Middle(copied(self, from, length)),
            Width::Wide => Self::Wide(copied(self, from, length)),
        }
    }

    /// Adds others, of which the first belongs to the count at `from`; room was made for all.
    pub(super) fn merge(&mut self, from: usize, others: &Self) {
        each_width!(self, all => {
            let own = all[from..].iter_mut();
            each_width!(others, others => own.zip(others).for_each(|(own, count)| own.add(count.get())));
        });
    }
}
