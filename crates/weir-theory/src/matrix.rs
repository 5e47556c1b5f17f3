//! Small dense square matrices: products and inverses, as matrix-geometric solutions need them.
//!
//! Gauss–Jordan elimination with partial pivoting, Golub and Van Loan, *Matrix Computations*, section 3.4. O(n³) in time.

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) order: usize,
    entries: Vec<f64>,
}

impl Matrix {
    pub(super) fn from_fn(order: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let entries = (0..order * order).map(|i| entry(i / order, i % order)).collect();
        Self { order, entries }
    }

    /// `value` on the diagonal and 0 elsewhere.
    pub(super) fn diagonal(order: usize, value: f64) -> Self {
        Self::from_fn(order, |i, j| if i == j { value } else { 0.0 })
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.order + column]
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self::from_fn(self.order, |i, j| self.at(i, j) + other.at(i, j))
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        Self::from_fn(self.order, |i, j| self.at(i, j) - other.at(i, j))
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let entry = |i, j| (0..self.order).map(|k| self.at(i, k) * other.at(k, j)).sum();
        Self::from_fn(self.order, entry)
    }

    /// The largest entry without its sign.
    pub(super) fn largest(&self) -> f64 {
        self.entries.iter().fold(0.0, |most, entry| f64::max(most, entry.abs()))
    }

    /// A row vector times this.
    pub(super) fn after(&self, row: &[f64]) -> Vec<f64> {
        (0..self.order).map(|j| (0..self.order).map(|i| row[i] * self.at(i, j)).sum()).collect()
    }

    /// The sum of each row.
    pub(super) fn row_sums(&self) -> Vec<f64> {
        self.entries.chunks(self.order).map(|row| row.iter().sum()).collect()
    }

    /// The inverse, `None` where there is none.
    pub(super) fn inverse(&self) -> Option<Self> {
        let order = self.order;
        let (mut left, mut right) = (self.clone(), Self::diagonal(order, 1.0));
        for column in 0..order {
            let size = |row: &usize| left.at(*row, column).abs();
            let pivot = (column..order).max_by(|a, b| size(a).total_cmp(&size(b)))?;
            let value = left.at(pivot, column);
            if !(value.is_normal()) {
                return None;
            }
            for matrix in [&mut left, &mut right] {
                matrix.swap(pivot, column);
                matrix.scale(column, 1.0 / value);
            }
            for row in (0..order).filter(|row| *row != column) {
                let factor = left.at(row, column);
                left.subtract(row, column, factor);
                right.subtract(row, column, factor);
            }
        }
        Some(right)
    }

    fn swap(&mut self, one: usize, other: usize) {
        for column in 0..self.order {
            self.entries.swap(one * self.order + column, other * self.order + column);
        }
    }

    fn scale(&mut self, row: usize, factor: f64) {
        self.entries[row * self.order..(row + 1) * self.order].iter_mut().for_each(|entry| *entry *= factor);
    }

    fn subtract(&mut self, row: usize, other: usize, factor: f64) {
        for column in 0..self.order {
            self.entries[row * self.order + column] -= factor * self.at(other, column);
        }
    }
}

/// The row vector `x` with `x A = 0` and `x w = 1`, `None` where it is not the only one.
pub(super) fn null_vector(matrix: &Matrix, weights: &[f64]) -> Option<Vec<f64>> {
    // One equation says what the others say; the condition takes its place.
    let system = Matrix::from_fn(matrix.order, |i, j| if j == 0 { weights[i] } else { matrix.at(i, j) });
    let unit: Vec<f64> = (0..matrix.order).map(|j| if j == 0 { 1.0 } else { 0.0 }).collect();
    Some(system.inverse()?.after(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_is_one() {
        // Hilbert's matrix with its first row moved down, so that a pivot must be sought; its inverse has whole entries.
        let hilbert = Matrix::from_fn(4, |i, j| 1.0 / ((i + 3) % 4 + j + 1) as f64);
        let product = hilbert.times(&hilbert.inverse().expect("an inverse"));
        assert!(product.minus(&Matrix::diagonal(4, 1.0)).largest() < 1e-10);
        assert_eq!(Matrix::from_fn(2, |_, j| j as f64).inverse(), None);
        assert_eq!(Matrix::diagonal(2, f64::NAN).inverse(), None);
    }

    #[test]
    fn a_chain_of_two_states_by_hand() {
        let rates = [[-2.0, 2.0], [3.0, -3.0]];
        let found = null_vector(&Matrix::from_fn(2, |i, j| rates[i][j]), &[1.0, 1.0]).expect("a chain");
        assert!((found[0] - 0.6).abs() < 1e-15 && (found[1] - 0.4).abs() < 1e-15);
    }
}
