//! What the tests of promises share: the segment that the fault reports use, the daemons on it,
//! and judges that believe packets and kernels only.
//!
//! Everything here panics when the lab fails: it is for tests.
#![allow(clippy::unwrap_used, missing_debug_implementations)]

mod advert;
mod inject;
mod routers;
mod segment;

pub use advert::{Advert, Style, adverts, adverts_of, wait_for_advert};
pub use inject::{Injector, Message};
pub use routers::{Router, node, parse, restricted};
pub use segment::{Family, SOON, Segment};

/// The `vipd` that was built beside the test.
#[macro_export]
macro_rules! vipd {
    () => {
        ::lab::peers::Vipd::new(env!("CARGO_BIN_EXE_vipd-under-test"))
    };
}
