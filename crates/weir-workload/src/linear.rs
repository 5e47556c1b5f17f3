//! Systems of linear equations of a few dozen unknowns, by elimination with partial pivots.
//!
//! Source: Golub and Van Loan, *Matrix Computations*, section 3.4, in the form of Gauss and Jordan. Work: O(n³).

/// Pivots below this are none.
const LEAST: f64 = 1e-12;

/// `x` of `A x = b`: rows of `A`, each with its entry of `b` behind. `None` where `A` has no inverse, as far as numbers of the
/// size of 1 tell.
pub(crate) fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        rows.swap(column, pivot.unwrap_or(column));
        if rows[column][column].abs() < LEAST {
            return None;
        }
        let top = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column] / top[column];
            row.iter_mut().zip(&top).for_each(|(entry, top)| *entry -= factor * top);
        }
    }
    Some((0..n).map(|i| rows[i][n] / rows[i][i]).collect())
}
