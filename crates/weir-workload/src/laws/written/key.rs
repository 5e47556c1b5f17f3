//! The laws that a key takes: those of the textbooks, and its own.

/// Defines the laws of a key whose values are of a quantity: those of the textbooks, in one order and by one name wherever there are
/// any, with those of its own before and after them.
///
/// `textbook` checks a law of the textbooks against what its quantities are counted in; `None` where it is one of the key's own.
#[macro_export]
macro_rules! textbook_laws {
    ($(#[$meta:meta])* pub enum $name:ident $(<$generic:ident>)? of $quantity:ty { before { $($before:tt)* } after { $($after:tt)* } }) => {
        $(#[$meta])*
        pub enum $name $(<$generic>)? {
            $($before)*
            /// Lognormal.
            Lognormal(::weir_document::Located<$crate::laws::written::Lognormal<$quantity>>),
            /// Gamma.
            Gamma(::weir_document::Located<$crate::laws::written::Gamma<$quantity>>),
            /// Erlang.
            Erlang(::weir_document::Located<$crate::laws::written::Erlang<$quantity>>),
            /// Weibull.
            Weibull(::weir_document::Located<$crate::laws::written::Weibull<$quantity>>),
            /// Pareto.
            Pareto(::weir_document::Located<$crate::laws::written::Pareto<$quantity>>),
            /// Bounded Pareto.
            BoundedPareto(::weir_document::Located<$crate::laws::written::BoundedPareto<$quantity>>),
            /// Hyperexponential.
            Hyperexponential(::weir_document::Located<$crate::laws::written::Hyperexponential<$quantity>>),
            /// Coxian.
            Coxian(::weir_document::Located<$crate::laws::written::Coxian<$quantity>>),
            /// Phase type.
            PhaseType(::weir_document::Located<$crate::laws::written::Phases<$quantity>>),
            /// Points of a distribution function with straight lines between them: values, each with the probability of at most as
            /// much, such as `[["1ms", 0.0], ["2ms", 0.5], ["10ms", 1.0]]`.
            Empirical(
                ::weir_document::Located<
                    Vec<(
                        ::weir_document::Located<$quantity>,
                        ::weir_document::Located<f64>,
                    )>,
                >,
            ),
            $($after)*
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// The law, if it is one of the textbooks; `None` where it is one of the key's own.
            ///
            /// # Errors
            /// A parameter is missing, too many, or out of bounds.
            pub fn textbook(
                &self,
                checker: &::weir_document::Checker<'_>,
                counted: &impl $crate::laws::written::Counted<$quantity>,
            ) -> Option<::weir_document::Checked<$crate::ContinuousLaw>> {
                let check = $crate::laws::written::Check { checker, counted };
                Some(match self {
                    Self::Lognormal(law) => check.lognormal(law),
                    Self::Gamma(law) => check.gamma(law),
                    Self::Erlang(law) => check.erlang(law),
                    Self::Weibull(law) => check.weibull(law),
                    Self::Pareto(law) => check.pareto(law),
                    Self::BoundedPareto(law) => check.bounded_pareto(law),
                    Self::Hyperexponential(law) => check.hyperexponential(law),
                    Self::Coxian(law) => check.coxian(law),
                    Self::PhaseType(law) => check.phases(law),
                    Self::Empirical(points) => check.points(points),
                    _ => return None,
                })
            }
        }
    };
}
