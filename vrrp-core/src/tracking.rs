//! Weighted checks to an effective priority: a pure function.
