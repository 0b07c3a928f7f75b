//! The advertisement on the wire, v2 and v3.
//!
//! Two types per format: [`AdvertPacket`] is a view whose length has been checked, so that its
//! accessors cannot panic; [`AdvertRepr`] is the value to emit.

mod advert;
mod checksum;

pub use advert::{AddressList, AdvertPacket, AdvertRepr, BufferTooSmall};
pub use checksum::{ChecksumStyle, PseudoHeader};
