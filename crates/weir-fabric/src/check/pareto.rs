//! The shape of a bounded Pareto law from its mean.
//!
//! With the least value `m`, the largest `M`, their ratio `r = M / m` and the shape `a`, the means are
//!
//! | law | mean over `m` |
//! |---|---|
//! | truncated: conditioned on the bounds | `a / (a - 1) * (1 - r^(1 - a)) / (1 - r^-a)` |
//! | capped: what is above `M` moved to it | `1 + (1 - r^(1 - a)) / (a - 1)` |
//!
//! where `(1 - r^(1 - a)) / (a - 1)` is `ln r` at `a = 1`. Both fall as the shape rises, so bisection finds the shape;
//! the bounds of the shape bound the means that are possible.

/// The least and the largest shape.
pub(super) const SHAPES: (f64, f64) = (0.01, 100.0);
/// Halvings of the bounds: more than a double can tell apart.
const HALVINGS: u32 = 200;

/// The mean of a bounded Pareto law.
pub(super) fn mean((least, largest): (f64, f64), shape: f64, truncated: bool) -> f64 {
    let range = libm::log(largest / least);
    let rest = shape - 1.0;
    let above = if rest.abs() < 1e-12 { range } else { -libm::expm1(-rest * range) / rest };
    if truncated { least * shape * above / -libm::expm1(-shape * range) } else { least * (1.0 + above) }
}

/// The means between which that of such a law lies, for all shapes.
pub(super) fn means(bounds: (f64, f64), truncated: bool) -> (f64, f64) {
    (mean(bounds, SHAPES.1, truncated), mean(bounds, SHAPES.0, truncated))
}

/// The shape that gives this mean; `None` where no shape does.
pub(super) fn shape_of(bounds: (f64, f64), wanted: f64, truncated: bool) -> Option<f64> {
    let (lowest, highest) = means(bounds, truncated);
    if !(lowest..=highest).contains(&wanted) {
        return None;
    }
    let (mut low, mut high) = SHAPES;
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if mean(bounds, middle, truncated) > wanted { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOADS: (f64, f64) = (56.0, 2040.0);

    #[test]
    fn the_shapes_of_the_specified_payloads() {
        let truncated = shape_of(PAYLOADS, 176.0, true).expect("possible");
        let capped = shape_of(PAYLOADS, 176.0, false).expect("possible");
        assert!((truncated - 1.190_291).abs() < 1e-6, "{truncated}");
        assert!((capped - 1.317_813).abs() < 1e-6, "{capped}");
    }

    #[test]
    fn the_shape_of_the_unbounded_law_makes_a_smaller_mean() {
        // Its mean of 176 needs what is above 2040.
        assert!((mean(PAYLOADS, 176.0 / 120.0, true) - 143.9).abs() < 0.05);
    }

    #[test]
    fn means_fall_as_the_shape_rises_through_one() {
        for truncated in [true, false] {
            let shapes = [0.01, 0.5, 0.999_999, 1.0, 1.000_001, 1.5, 3.0, 10.0, 100.0];
            let means = shapes.map(|shape| mean(PAYLOADS, shape, truncated));
            assert!(means.is_sorted_by(|a, b| a > b), "{means:?}");
            assert!(means.iter().all(|mean| (56.0..=2040.0).contains(mean)), "{means:?}");
        }
    }

    #[test]
    fn a_mean_that_no_shape_gives_has_none() {
        assert_eq!(shape_of(PAYLOADS, 56.0, true), None);
        assert_eq!(shape_of(PAYLOADS, 1000.0, true), None);
        assert!(shape_of(PAYLOADS, 1000.0, false).is_some());
        assert_eq!(shape_of(PAYLOADS, 2040.0, false), None);
    }

    #[test]
    fn means_agree_with_a_sum_over_slices() {
        // The law conditioned on its bounds, by its inverse at the middles of a million equal parts.
        let (shape, slices) = (1.3, 1_000_000);
        let kept = 1.0 - (PAYLOADS.0 / PAYLOADS.1).powf(shape);
        let value = |u: f64| PAYLOADS.0 * (1.0 - u * kept).powf(-1.0 / shape);
        let sum: f64 = (0..slices).map(|k| value((f64::from(k) + 0.5) / f64::from(slices))).sum();
        let direct = mean(PAYLOADS, shape, true);
        assert!((sum / f64::from(slices) - direct).abs() < 1e-3, "{direct}");
    }
}
