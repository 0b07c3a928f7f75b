//! The Internet checksum (RFC 1071) over a message, with or without a pseudo-header.

use core::net::IpAddr;

/// What a v3 checksum over IPv4 covers. See [`ChecksumMode`](crate::ChecksumMode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumStyle {
    /// The message alone.
    MessageOnly,
    /// A pseudo-header and the message.
    PseudoHeader,
}

/// The addresses of the IP header, from which a pseudo-header is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PseudoHeader {
    /// Source address, of the same family as `destination`.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
}

/// A one's complement sum in the making.
///
/// The words are added as the machine reads them, four octets at a time, into 64 bits: a one's
/// complement sum may be taken in either byte order, in wider words and with its carries
/// deferred, as long as the result is folded and swapped at the end (RFC 1071 section 2). Up to
/// 2³² additions cannot overflow it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum(u64);

impl Sum {
    /// The sum of the pseudo-header of a message of `len` octets.
    ///
    /// One formula serves both families. The two layouts place the length and the protocol
    /// differently (RFC 793 section 3.1, RFC 8200 section 8.1), but a sum of 16-bit words does
    /// not see where a word stands.
    #[inline]
    pub(crate) fn of_pseudo_header(source: &IpAddr, destination: &IpAddr, len: usize) -> Self {
        Self::default()
            .add_address(source)
            .add_address(destination)
            .add_number(len as u32)
            .add_number(super::PROTOCOL.into())
    }

    /// Adds octets that start at an even offset of what is summed. An odd last octet counts as the
    /// high half of a word, so nothing may follow it.
    #[inline]
    pub(crate) fn add_octets(self, octets: &[u8]) -> Self {
        let (quads, rest) = octets.as_chunks::<4>();
        let mut sum = self;
        for &quad in quads {
            sum = sum.add_quad(quad);
        }
        if rest.is_empty() {
            return sum; // always so in a message
        }
        let mut last = [0; 4];
        for (to, &from) in last.iter_mut().zip(rest) {
            *to = from;
        }
        sum.add_quad(last)
    }

    #[inline]
    fn add_quad(self, quad: [u8; 4]) -> Self {
        Self(self.0 + u64::from(u32::from_ne_bytes(quad)))
    }

    /// Adds a number that stands in the summed data in network order.
    #[inline]
    fn add_number(self, number: u32) -> Self {
        self.add_quad(number.to_be_bytes())
    }

    #[inline]
    fn add_address(self, address: &IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => self.add_quad(address.octets()),
            IpAddr::V6(address) => self.add_octets(&address.octets()),
        }
    }

    /// Both sums together.
    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// The 16-bit sum as the machine read it, carries folded in.
    #[inline]
    fn fold(self) -> u16 {
        // A carry out of the top comes back in at the bottom.
        let (sum, carry) = (self.0 as u32).overflowing_add((self.0 >> 32) as u32);
        let sum = sum + u32::from(carry);
        // The lower half's carry lands in the upper half, which is then the whole sum.
        (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
    }

    /// The checksum of what was summed, its checksum field being zero.
    #[inline]
    pub(crate) fn checksum(self) -> u16 {
        !u16::from_be(self.fold())
    }

    /// Whether what was summed, its checksum included, is intact. Sums rather than compares:
    /// 0x0000 and 0xffff are the same number in one's complement, and senders differ.
    #[inline]
    pub(crate) fn is_intact(self) -> bool {
        self.fold() == 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// RFC 1071 section 4.1, its C text word for word.
    fn rfc1071(octets: &[u8]) -> u16 {
        let (mut count, mut addr, mut sum) = (octets.len(), 0, 0u32);
        while count > 1 {
            sum += u32::from(u16::from_be_bytes([octets[addr], octets[addr + 1]]));
            addr += 2;
            count -= 2;
        }
        if count > 0 {
            sum += u32::from(octets[addr]) << 8;
        }
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    /// The pseudo-header as octets, written out from the two layouts.
    fn pseudo_octets(header: &PseudoHeader, len: usize) -> Vec<u8> {
        let mut octets = Vec::new();
        match (header.source, header.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                octets.extend(source.octets());
                octets.extend(destination.octets());
                octets.extend([0, 112]);
                octets.extend((len as u16).to_be_bytes());
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                octets.extend(source.octets());
                octets.extend(destination.octets());
                octets.extend((len as u32).to_be_bytes());
                octets.extend([0, 0, 0, 112]);
            }
            _ => unreachable!("the strategies below keep to one family"),
        }
        octets
    }

    fn pseudo_header() -> impl Strategy<Value = PseudoHeader> {
        prop_oneof![
            any::<([u8; 4], [u8; 4])>().prop_map(|(source, destination)| PseudoHeader {
                source: source.into(),
                destination: destination.into(),
            }),
            any::<([u8; 16], [u8; 16])>().prop_map(|(source, destination)| PseudoHeader {
                source: source.into(),
                destination: destination.into(),
            }),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_rfc_1071(octets in proptest::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(Sum::default().add_octets(&octets).checksum(), rfc1071(&octets));
        }

        #[test]
        fn agrees_with_rfc_1071_under_a_pseudo_header(
            header in pseudo_header(),
            octets in proptest::collection::vec(any::<u8>(), 0..2000),
        ) {
            let mut whole = pseudo_octets(&header, octets.len());
            whole.extend(&octets);
            let PseudoHeader { source, destination } = header;
            let sum = Sum::of_pseudo_header(&source, &destination, octets.len())
                .plus(Sum::default().add_octets(&octets));
            prop_assert_eq!(sum.checksum(), rfc1071(&whole));
        }
    }

    #[test]
    fn agrees_with_rfc_1071_where_carries_pile_up() {
        for len in 0..200 {
            for fill in [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff] {
                let octets = alloc::vec![fill; len];
                assert_eq!(
                    Sum::default().add_octets(&octets).checksum(),
                    rfc1071(&octets),
                    "{len} octets of {fill:#04x}"
                );
            }
        }
        // A sum whose halves carry once more when they are added.
        for ones in 0..20 {
            for at in 0..4 {
                for value in 1..=0xff {
                    let mut octets = alloc::vec![0xff; ones * 4];
                    octets.extend([0; 4]);
                    octets[ones * 4 + at] = value;
                    assert_eq!(Sum::default().add_octets(&octets).checksum(), rfc1071(&octets));
                }
            }
        }
        let largest = alloc::vec![0xff; 65_535];
        assert_eq!(Sum::default().add_octets(&largest).checksum(), rfc1071(&largest));
    }

    #[test]
    fn both_representations_of_zero_are_intact() {
        for checksum in [[0x00, 0x00], [0xff, 0xff]] {
            let octets = [0xff, 0xff, checksum[0], checksum[1]];
            assert!(Sum::default().add_octets(&octets).is_intact());
        }
        assert!(!Sum::default().add_octets(&[0xff, 0xfe, 0, 0]).is_intact());
    }
}
