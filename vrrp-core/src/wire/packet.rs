//! Views of a received message.

use core::net::IpAddr;

use super::{AddressList, HEADER_LEN, PseudoHeader, Sum, trailer_len};
use crate::Family;

/// A view of the eight octets with which every message begins.
///
/// Values are as they stand there: nothing is judged. `v2_` and `v3_` accessors read the octets
/// that the versions use differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AdvertHeader<'a>(&'a [u8; HEADER_LEN]);

impl<'a> AdvertHeader<'a> {
    /// `None` if there are fewer than eight octets.
    #[inline]
    pub fn new(octets: &'a [u8]) -> Option<Self> {
        octets.first_chunk().map(Self)
    }

    /// The version, 0–15.
    pub const fn version(&self) -> u8 {
        self.0[0] >> 4
    }

    /// The message type, 0–15. 1 is ADVERTISEMENT.
    pub const fn message_type(&self) -> u8 {
        self.0[0] & 0x0f
    }

    /// The virtual router identifier.
    pub const fn vrid(&self) -> u8 {
        self.0[1]
    }

    /// The priority.
    pub const fn priority(&self) -> u8 {
        self.0[2]
    }

    /// How many addresses the sender says there are.
    pub const fn count(&self) -> u8 {
        self.0[3]
    }

    /// v2: the authentication type.
    pub const fn v2_auth_type(&self) -> u8 {
        self.0[4]
    }

    /// v2: the interval in seconds.
    pub const fn v2_interval_secs(&self) -> u8 {
        self.0[5]
    }

    /// v3: the reserved four bits.
    pub const fn v3_reserved(&self) -> u8 {
        self.0[4] >> 4
    }

    /// v3: the interval in centiseconds, 0–4095.
    pub const fn v3_interval_centis(&self) -> u16 {
        u16::from_be_bytes([self.0[4] & 0x0f, self.0[5]])
    }

    /// The checksum.
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.0[6], self.0[7]])
    }

    /// The length that a message with this header has.
    pub const fn message_len(&self, family: Family) -> usize {
        HEADER_LEN + self.addresses_len(family) + trailer_len(self.version(), family)
    }

    const fn addresses_len(&self, family: Family) -> usize {
        self.count() as usize * family.address_len()
    }
}

/// A view of one message whose length has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertPacket<'a> {
    header: AdvertHeader<'a>,
    message: &'a [u8],
    addresses: AddressList<'a>,
    auth_data: &'a [u8],
    trailing: &'a [u8],
}

impl<'a> AdvertPacket<'a> {
    /// `octets` is what follows the IP header. `None` if it is shorter than its header says.
    #[inline]
    pub fn new(octets: &'a [u8], family: Family) -> Option<Self> {
        let header = AdvertHeader::new(octets)?;
        let (message, trailing) = octets.split_at_checked(header.message_len(family))?;
        let body = message.get(HEADER_LEN..)?;
        let (addresses, auth_data) = body.split_at_checked(header.addresses_len(family))?;
        Some(Self {
            header,
            message,
            addresses: AddressList::new(addresses, family),
            auth_data,
            trailing,
        })
    }

    /// The first eight octets.
    pub const fn header(&self) -> AdvertHeader<'a> {
        self.header
    }

    /// The addresses.
    pub const fn addresses(&self) -> AddressList<'a> {
        self.addresses
    }

    /// v2 over IPv4: the eight octets of authentication data, whatever the authentication type.
    pub fn v2_auth_data(&self) -> Option<&'a [u8; 8]> {
        self.auth_data.first_chunk()
    }

    /// The message, without what follows it.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.message
    }

    /// Octets beyond the message. They belong to nothing that this crate knows.
    pub const fn trailing(&self) -> &'a [u8] {
        self.trailing
    }

    /// Whether the checksum is right for the message alone: v2, and v3 over IPv4 by RFC 9568.
    #[inline]
    pub fn is_intact(&self) -> bool {
        self.sum().is_intact()
    }

    /// Whether the checksum is right under this pseudo-header: v3 over IPv6, and v3 over IPv4 as
    /// keepalived and FRR send it.
    #[inline]
    pub fn is_intact_under(&self, header: &PseudoHeader) -> bool {
        self.under(self.sum(), &header.source, &header.destination).is_intact()
    }

    /// The sum of the message.
    #[inline]
    pub(crate) fn sum(&self) -> Sum {
        Sum::default().add_octets(self.message)
    }

    /// The sum of the message, `sum`, with that of a pseudo-header.
    #[inline]
    pub(crate) fn under(&self, sum: Sum, source: &IpAddr, destination: &IpAddr) -> Sum {
        sum.plus(Sum::of_pseudo_header(source, destination, self.message.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_short_of_the_message_is_refused() {
        let v2 = [0x21, 1, 2, 1, 0, 1, 0, 0, 192, 0, 2, 1, 9, 9, 9, 9, 9, 9, 9, 9];
        for len in 0..v2.len() {
            assert_eq!(AdvertPacket::new(&v2[..len], Family::V4), None);
        }
        let packet = AdvertPacket::new(&v2, Family::V4).unwrap();
        assert_eq!(packet.v2_auth_data(), Some(&[9; 8]));
        assert_eq!(packet.addresses().len(), 1);
        assert!(packet.trailing().is_empty());
    }

    #[test]
    fn what_follows_the_message_is_set_apart() {
        let v3 = [0x31, 1, 2, 1, 0xf1, 0x02, 0, 0, 192, 0, 2, 1, 7, 7];
        let packet = AdvertPacket::new(&v3, Family::V4).unwrap();
        assert_eq!(packet.as_bytes(), &v3[..12]);
        assert_eq!(packet.trailing(), [7, 7]);
        assert_eq!(packet.v2_auth_data(), None);
        assert_eq!(packet.header().v3_interval_centis(), 0x102);
        assert_eq!(packet.header().v3_reserved(), 0xf);
    }
}
