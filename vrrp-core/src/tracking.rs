//! Weighted checks to an effective priority: a pure function.
//!
//! Whoever runs checks (a daemon, an embedder) turns each one's present state into a
//! [`Contribution`] and asks for the [`effective_priority`] of them all, from scratch, whenever
//! one of them changed. Nothing is remembered between two calls: what a check or a setting was
//! before cannot leave a trace in the result. The result goes to the router as
//! [`Input::PriorityChanged`](crate::Input::PriorityChanged), or as not being eligible in
//! [`Facts`](crate::Facts).
//!
//! | weight | up | down | not yet known |
//! |---|---|---|---|
//! | none | 0 | not allowed to run | not allowed to run |
//! | w > 0 | + w | 0 | 0 |
//! | w < 0 | 0 | − abs(w) | 0 |

use core::fmt;
use core::num::NonZeroI16;

use crate::Priority;

/// The priority that a base and all checks lead to; `None` if a check forbids running (FAULT).
///
/// The sum is taken unclamped and then clamped to 1–254, so that the order of the checks does not
/// matter. A base of 255, the address owner's, is never changed, but a check can forbid an owner
/// to run as well.
///
/// ```
/// use vrrp_core::Priority;
/// use vrrp_core::tracking::{Check, CheckState, Weight, effective_priority};
///
/// let base = Priority::new(40).unwrap();
/// let load_balancer = Check::weighted(Weight::new(20).unwrap());
/// let server = Check::required();
///
/// let all_up = [load_balancer, server].map(|check| check.contribution(CheckState::Up));
/// assert_eq!(effective_priority(base, all_up), Priority::new(60));
///
/// let server_down = [
///     load_balancer.contribution(CheckState::Up),
///     server.contribution(CheckState::Down),
/// ];
/// assert_eq!(effective_priority(base, server_down), None);
/// ```
pub fn effective_priority(
    base: Priority,
    checks: impl IntoIterator<Item = Contribution>,
) -> Option<Priority> {
    let mut sum = i64::from(base.value());
    for contribution in checks {
        match contribution {
            Contribution::Forbids => return None,
            // No number of checks that fits into memory can overflow 64 bits.
            Contribution::Adds(number) => sum += i64::from(number),
        }
    }
    if base.is_owner() {
        return Some(base);
    }
    let highest = i64::from(Priority::MAX_BACKUP.value());
    let lowest = i64::from(Priority::MIN.value());
    Priority::new(sum.clamp(lowest, highest) as u8)
}

/// What one check means for the priority at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contribution {
    /// The router may not run.
    Forbids,
    /// This is added to the base. May be negative or zero.
    Adds(i16),
}

/// How the outcome of one check counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    /// `None`: the check is required, and its failure forbids running.
    pub weight: Option<Weight>,
    /// Up counts as down, and down as up. Not yet known stays that.
    pub reverse: bool,
}

impl Check {
    /// A check whose failure forbids running.
    pub const fn required() -> Self {
        Self { weight: None, reverse: false }
    }

    /// A check that adds a positive weight while up, or takes off a negative one while down.
    pub const fn weighted(weight: Weight) -> Self {
        Self { weight: Some(weight), reverse: false }
    }

    /// The same check reversed.
    pub const fn reversed(self) -> Self {
        Self { weight: self.weight, reverse: !self.reverse }
    }

    /// What the check means in this state.
    pub const fn contribution(self, state: CheckState) -> Contribution {
        use CheckState::{Down, Unknown, Up};

        let state = match (state, self.reverse) {
            (Up, false) | (Down, true) => Up,
            (Down, false) | (Up, true) => Down,
            (Unknown, _) => Unknown,
        };
        match (self.weight, state) {
            (None, Up) => Contribution::Adds(0),
            (None, Down | Unknown) => Contribution::Forbids,
            (Some(weight), Up) if weight.value() > 0 => Contribution::Adds(weight.value()),
            (Some(weight), Down) if weight.value() < 0 => Contribution::Adds(weight.value()),
            (Some(_), _) => Contribution::Adds(0),
        }
    }
}

/// The present judgement on a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CheckState {
    /// There has been no result yet.
    #[default]
    Unknown,
    /// Good.
    Up,
    /// Bad.
    Down,
}

/// How much a check counts: −253 to 253, and not 0.
///
/// 253 is what separates the lowest from the highest priority; more could not mean more. A check
/// of weight 0 would do nothing, which is never what was meant: a required check has no weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(NonZeroI16);

impl Weight {
    /// The largest weight; the smallest is its negative.
    pub const MAX: i16 = 253;

    /// `None` for 0 and outside −253 to 253.
    pub const fn new(value: i16) -> Option<Self> {
        match NonZeroI16::new(value) {
            Some(weight) if value >= -Self::MAX && value <= Self::MAX => Some(Self(weight)),
            _ => None,
        }
    }

    /// The weight as a number.
    pub const fn value(self) -> i16 {
        self.0.get()
    }

    /// What a number contributes (a file's value, a queue's length): number · weight, clamped to
    /// −254 to 254. A check that is up or down is the same with 1 and 0, or 0 and 1.
    ///
    /// It is always a number: unlike in keepalived, −254 does not forbid running. A caller that
    /// wants that says [`Contribution::Forbids`].
    pub const fn times(self, number: i64) -> Contribution {
        let product = number.saturating_mul(self.0.get() as i64);
        Contribution::Adds(if product > 254 {
            254
        } else if product < -254 {
            -254
        } else {
            product as i16
        })
    }
}

impl fmt::Display for Weight {
    /// With its sign: `+20`, `-5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::CheckState::{Down, Unknown, Up};
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn weight(value: i16) -> Weight {
        Weight::new(value).unwrap()
    }

    fn priority(value: u8) -> Priority {
        Priority::new(value).unwrap()
    }

    /// The value of the effective priority; `None` is FAULT.
    fn effective(base: u8, checks: impl IntoIterator<Item = Contribution>) -> Option<u8> {
        effective_priority(priority(base), checks).map(Priority::value)
    }

    #[test]
    fn one_check_counts_as_in_the_table() {
        let table = [
            (None, Up, Some(100)),
            (None, Down, None),
            (None, Unknown, None),
            (Some(7), Up, Some(107)),
            (Some(7), Down, Some(100)),
            (Some(7), Unknown, Some(100)),
            (Some(-7), Up, Some(100)),
            (Some(-7), Down, Some(93)),
            (Some(-7), Unknown, Some(100)),
        ];
        for (value, state, expected) in table {
            let check = Check { weight: value.map(weight), reverse: false };
            assert_eq!(
                effective(100, [check.contribution(state)]),
                expected,
                "weight {value:?}, {state:?}"
            );
            let opposite = match state {
                Up => Down,
                Down => Up,
                Unknown => Unknown,
            };
            assert_eq!(
                effective(100, [check.reversed().contribution(opposite)]),
                expected,
                "reversed, weight {value:?}, {opposite:?}"
            );
        }
    }

    /// The deployed configuration: an API router with three weighted checks, an ingress router
    /// with one required and two weighted ones. Both results for all outcomes, written out.
    #[test]
    fn all_outcomes_of_the_deployed_checks() {
        // Indexed by lb · 4 + both · 2 + mcs.
        const API: [u8; 8] = [40, 43, 45, 48, 60, 63, 65, 68];
        // Indexed by ingress · 4 + ready · 2 + default router.
        const INGRESS: [Option<u8>; 8] =
            [None, None, None, None, Some(20), Some(70), Some(30), Some(80)];

        let api = [20, 5, 3].map(|w| Check::weighted(weight(w)));
        let ingress = [Check::required(), Check::weighted(weight(10)), Check::weighted(weight(50))];
        let outcomes = |checks: [Check; 3], bits: usize| {
            [(0, 4), (1, 2), (2, 1)].map(|(check, bit)| {
                checks[check].contribution(if bits & bit != 0 { Up } else { Down })
            })
        };
        for all_six in 0..64 {
            let (api_bits, ingress_bits) = (all_six >> 3, all_six & 7);
            assert_eq!(effective(40, outcomes(api, api_bits)), Some(API[api_bits]));
            assert_eq!(effective(20, outcomes(ingress, ingress_bits)), INGRESS[ingress_bits]);
        }
        // The bootstrap host has no checks.
        assert_eq!(effective(70, []), Some(70));
    }

    #[test]
    fn a_weight_changed_while_its_check_was_down_leaves_no_trace() {
        let old = Check::weighted(weight(-7));
        assert_eq!(effective(50, [old.contribution(Down)]), Some(43));
        let new = Check::weighted(weight(-11));
        assert_eq!(effective(110, [new.contribution(Down)]), Some(99));
        assert_eq!(effective(110, [new.contribution(Up)]), Some(110));
    }

    #[test]
    fn a_number_that_went_out_of_range_and_came_back_leaves_no_trace() {
        let file = weight(-1);
        assert_eq!(effective(100, [file.times(10)]), Some(90));
        assert_eq!(effective(100, [file.times(300)]), Some(1));
        assert_eq!(effective(100, [file.times(20)]), Some(80));
    }

    #[test]
    fn down_counts_from_the_start() {
        let check = Check::weighted(weight(-20));
        assert_eq!(effective(100, [check.contribution(Down)]), Some(80));
        assert_eq!(effective(100, [check.contribution(Up)]), Some(100));
    }

    #[test]
    fn the_sum_is_clamped_once_and_at_the_end() {
        // Clamping after each step would give 54 and 201.
        let (up, down) = (Contribution::Adds(200), Contribution::Adds(-200));
        assert_eq!(effective(100, [up, down]), Some(100));
        assert_eq!(effective(100, [down, up]), Some(100));
        assert_eq!(effective(254, [Contribution::Adds(1)]), Some(254));
        assert_eq!(effective(1, [Contribution::Adds(-1)]), Some(1));
    }

    #[test]
    fn an_owner_keeps_its_priority_but_can_be_forbidden_to_run() {
        assert_eq!(effective(255, [Contribution::Adds(-200)]), Some(255));
        assert_eq!(effective(255, [Contribution::Forbids]), None);
    }

    #[test]
    fn weights_have_bounds() {
        for value in [0, 254, -254, i16::MAX, i16::MIN] {
            assert_eq!(Weight::new(value), None, "{value}");
        }
        for value in [1, -1, 253, -253] {
            assert_eq!(weight(value).value(), value);
        }
        assert_eq!(weight(20).to_string(), "+20");
        assert_eq!(weight(-5).to_string(), "-5");
    }

    #[test]
    fn a_product_is_clamped_and_cannot_overflow() {
        assert_eq!(weight(253).times(i64::MAX), Contribution::Adds(254));
        assert_eq!(weight(253).times(i64::MIN), Contribution::Adds(-254));
        assert_eq!(weight(-253).times(i64::MIN), Contribution::Adds(254));
        assert_eq!(weight(-253).times(0), Contribution::Adds(0));
        for number in -300..=300 {
            let clamped = number.clamp(-254, 254);
            assert_eq!(weight(1).times(number.into()), Contribution::Adds(clamped));
            assert_eq!(weight(-1).times(number.into()), Contribution::Adds(-clamped));
        }
    }

    fn contributions() -> impl Strategy<Value = Vec<Contribution>> {
        let check = (-253..=253i16, any::<bool>(), 0..3u8).prop_map(|(value, reverse, state)| {
            let state = [Up, Down, Unknown][usize::from(state)];
            let weight = Weight::new(value);
            Check { weight, reverse }.contribution(state)
        });
        let number = (-253..=253i16, any::<i32>())
            .prop_filter_map("0 is no weight", |(value, number)| {
                Some(Weight::new(value)?.times(number.into()))
            });
        proptest::collection::vec(prop_oneof![check, number], 0..20)
    }

    proptest! {
        #[test]
        fn is_base_plus_sum_within_bounds(base in 1..=254u8, checks in contributions()) {
            let forbidden = checks.contains(&Contribution::Forbids);
            let sum: i64 = checks.iter().map(|c| match c {
                Contribution::Forbids => 0,
                Contribution::Adds(number) => i64::from(*number),
            }).sum();
            let expected = (i64::from(base) + sum).clamp(1, 254) as u8;
            prop_assert_eq!(effective(base, checks), (!forbidden).then_some(expected));
        }

        #[test]
        fn does_not_depend_on_order(base in 1..=255u8, checks in contributions()) {
            let backwards = checks.iter().rev().copied().collect::<Vec<_>>();
            prop_assert_eq!(effective(base, checks), effective(base, backwards));
        }

        #[test]
        fn a_check_that_comes_up_never_lowers_the_priority(
            base in 1..=255u8,
            others in contributions(),
            value in -253..=253i16,
        ) {
            let check = Check { weight: Weight::new(value), reverse: false };
            let with = |state| {
                let all = others.iter().copied().chain([check.contribution(state)]);
                effective(base, all).unwrap_or(0)
            };
            prop_assert!(with(Up) >= with(Down));
        }
    }
}
