//! What the jobs of a run leave, put together cell by cell in the order of the replications.
//!
//! A cell is what one replication is of: a discipline, or a discipline at a load. A replication counts where all its cells
//! have come; then what is large of them is merged and given up, and a few numbers of each are kept. Merging is the same
//! in any order, so the number of threads does not show. Work O(cells) a job. Memory: linear in cells, and in
//! replications times cells for the few numbers.

/// One cell over the replications that are finished.
pub trait Cell {
    /// What a job leaves.
    type Left;
    /// The few numbers that are kept of it.
    type Summary;

    /// Merges what is large of a replication, `is_first` of the first one, and leaves the few numbers.
    fn merge(&mut self, left: Self::Left, is_first: bool) -> Self::Summary;

    /// Keeps the few numbers of the next replication.
    fn push(&mut self, summary: Self::Summary);
}

/// All cells in the making.
#[derive(Debug)]
pub struct Gathered<C: Cell> {
    /// Replication by replication, cell by cell: what has come.
    waiting: Vec<Vec<Option<C::Left>>>,
    /// Replication by replication, cell by cell, where all have come.
    finished: Vec<Option<Vec<C::Summary>>>,
    /// Cell by cell; nothing was pushed to them yet.
    cells: Vec<C>,
}

impl<C: Cell> Gathered<C> {
    /// Nothing yet; `cells` are empty.
    #[must_use]
    pub fn new(replications: u32, cells: Vec<C>) -> Self {
        Self {
            waiting: (0..replications).map(|_| Vec::new()).collect(),
            finished: (0..replications).map(|_| None).collect(),
            cells,
        }
    }

    /// The job of a replication and of the cell at `place` has left this.
    pub fn add(&mut self, replication: u32, place: usize, left: C::Left) {
        let replication = replication as usize;
        let waiting = &mut self.waiting[replication];
        waiting.resize_with(self.cells.len(), || None);
        waiting[place] = Some(left);
        if waiting.iter().any(Option::is_none) {
            return;
        }
        let whole = std::mem::take(waiting).into_iter().flatten();
        let merged = whole.zip(&mut self.cells).map(|(left, cell)| cell.merge(left, replication == 0));
        self.finished[replication] = Some(merged.collect());
    }

    /// The cells over the replications that are finished.
    #[must_use]
    pub fn into_cells(self) -> Vec<C> {
        let mut cells = self.cells;
        for replication in self.finished.into_iter().flatten() {
            cells.iter_mut().zip(replication).for_each(|(cell, summary)| cell.push(summary));
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges to a sum, remembers the first, keeps one number a replication.
    #[derive(Debug, Default, PartialEq)]
    struct Sum {
        sum: u64,
        first: Option<u64>,
        kept: Vec<u64>,
    }

    impl Cell for Sum {
        type Left = u64;
        type Summary = u64;

        fn merge(&mut self, left: u64, is_first: bool) -> u64 {
            self.sum += left;
            self.first = if is_first { Some(left) } else { self.first };
            left
        }

        fn push(&mut self, summary: u64) {
            self.kept.push(summary);
        }
    }

    fn gathered(jobs: &[(u32, usize, u64)]) -> Vec<Sum> {
        let mut gathered = Gathered::new(3, vec![Sum::default(), Sum::default()]);
        jobs.iter().for_each(|&(replication, place, left)| gathered.add(replication, place, left));
        gathered.into_cells()
    }

    #[test]
    fn the_order_of_the_jobs_does_not_show() {
        let mut jobs = [(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 4), (2, 0, 5), (2, 1, 6)];
        let cells = gathered(&jobs);
        assert_eq!(cells[0], Sum { sum: 9, first: Some(1), kept: vec![1, 3, 5] });
        jobs.reverse();
        assert_eq!(gathered(&jobs), cells);
    }

    #[test]
    fn a_replication_counts_where_all_its_cells_have_come() {
        let cells = gathered(&[(1, 1, 4), (0, 0, 1), (1, 0, 3)]);
        assert_eq!(cells[0], Sum { sum: 3, first: None, kept: vec![3] });
        assert_eq!(cells[1], Sum { sum: 4, first: None, kept: vec![4] });
    }
}
