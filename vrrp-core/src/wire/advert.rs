//! The advertisement message.

use core::net::IpAddr;

use super::{ChecksumStyle, PseudoHeader};
use crate::{AdvertInterval, Family, Password, Priority, Version, Vrid};

/// A view of one message whose length has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertPacket<'a> {
    octets: &'a [u8],
    family: Family,
}

/// The addresses of a message, still in wire form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressList<'a> {
    octets: &'a [u8],
    family: Family,
}

/// One message to emit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertRepr<'a> {
    /// v2 or v3.
    pub version: Version,
    /// The virtual router.
    pub vrid: Vrid,
    /// `None` is priority 0.
    pub priority: Option<Priority>,
    /// The interval to announce. The caller has checked that it fits the version; what does not
    /// is cut to the field's maximum rather than wrapped.
    pub interval: AdvertInterval,
    /// The v2 password (type 1), or `None` (type 0).
    pub password: Option<&'a Password>,
    /// The virtual addresses, 1–255 of one family.
    pub addresses: &'a [IpAddr],
}

impl AdvertRepr<'_> {
    /// The length of the message.
    pub fn message_len(&self) -> usize {
        todo!()
    }

    /// Writes the message and returns its length. `style` matters for v3 over IPv4 only.
    ///
    /// # Errors
    /// `buffer` is shorter than [`message_len`](Self::message_len); it is left as it was.
    pub fn emit(
        &self,
        header: PseudoHeader,
        style: ChecksumStyle,
        buffer: &mut [u8],
    ) -> Result<usize, BufferTooSmall> {
        let _ = (header, style, buffer);
        todo!()
    }
}

/// The caller's buffer cannot take the message. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the advertisement needs {needed} octets and the buffer has {available}")]
pub struct BufferTooSmall {
    /// Octets needed.
    pub needed: usize,
    /// Octets given.
    pub available: usize,
}
