//! The list of addresses of a received message.

use core::fmt;
use core::net::IpAddr;

use crate::Family;

/// The addresses of a message, still in wire form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressList<'a> {
    /// A whole number of addresses.
    octets: &'a [u8],
    family: Family,
}

impl<'a> AddressList<'a> {
    /// `octets` is a whole number of addresses; a partial one at the end would not be seen.
    pub(super) const fn new(octets: &'a [u8], family: Family) -> Self {
        Self { octets, family }
    }

    /// How many addresses there are, at most 255.
    pub const fn len(&self) -> usize {
        self.octets.len() / self.family.address_len()
    }

    /// Whether there are none. Never so in a validated message.
    pub const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// The family of all addresses.
    pub const fn family(&self) -> Family {
        self.family
    }

    /// The first address, which has a meaning of its own in v3 over IPv6 (RFC 9568 section 5.2.9).
    pub fn first(&self) -> Option<IpAddr> {
        self.iter().next()
    }

    /// The addresses in the order of the message.
    pub fn iter(&self) -> AddressIter<'a> {
        AddressIter { octets: self.octets, family: self.family }
    }

    /// Whether `address` is in the list.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.iter().any(|listed| listed == address)
    }

    /// Whether these are the same addresses as `others`, which are distinct, in any order.
    #[inline]
    pub fn is_set_of(&self, others: &[IpAddr]) -> bool {
        // Routers of one group are mostly configured alike, so the order is mostly the same; the
        // quadratic comparison is only for when it is not. Since `others` are distinct and as
        // many, it is enough to find each of them.
        self.len() == others.len()
            && (self.is_sequence_of(others) || others.iter().all(|&other| self.contains(other)))
    }

    /// Whether these are as many addresses as `others`, and the same in the same order.
    #[inline]
    fn is_sequence_of(&self, others: &[IpAddr]) -> bool {
        // Compared as octets: making an `IpAddr` of each takes several times as long.
        match self.family {
            Family::V4 => {
                let mut pairs = self.octets.as_chunks::<4>().0.iter().zip(others);
                pairs.all(|(ours, other)| matches!(other, IpAddr::V4(a) if a.octets() == *ours))
            }
            Family::V6 => {
                let mut pairs = self.octets.as_chunks::<16>().0.iter().zip(others);
                pairs.all(|(ours, other)| matches!(other, IpAddr::V6(a) if a.octets() == *ours))
            }
        }
    }
}

impl<'a> IntoIterator for AddressList<'a> {
    type Item = IpAddr;
    type IntoIter = AddressIter<'a>;

    fn into_iter(self) -> AddressIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for AddressList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over an [`AddressList`].
#[derive(Clone, Debug)]
pub struct AddressIter<'a> {
    octets: &'a [u8],
    family: Family,
}

impl Iterator for AddressIter<'_> {
    type Item = IpAddr;

    #[inline]
    fn next(&mut self) -> Option<IpAddr> {
        match self.family {
            Family::V4 => {
                let (&address, rest) = self.octets.split_first_chunk::<4>()?;
                self.octets = rest;
                Some(address.into())
            }
            Family::V6 => {
                let (&address, rest) = self.octets.split_first_chunk::<16>()?;
                self.octets = rest;
                Some(address.into())
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.octets.len() / self.family.address_len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for AddressIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    const OCTETS: [u8; 12] = [192, 0, 2, 1, 192, 0, 2, 2, 192, 0, 2, 3];

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn reads_addresses_in_their_order() {
        let list = AddressList::new(&OCTETS, Family::V4);
        assert_eq!(list.len(), 3);
        assert_eq!(list.iter().len(), 3);
        assert_eq!(list.first(), Some(ip("192.0.2.1")));
        let read: Vec<_> = list.into_iter().collect();
        assert_eq!(read, [ip("192.0.2.1"), ip("192.0.2.2"), ip("192.0.2.3")]);
        assert_eq!(format!("{list:?}"), "[192.0.2.1, 192.0.2.2, 192.0.2.3]");
    }

    #[test]
    fn compares_as_a_set() {
        let [a, b, c, d] = [1, 2, 3, 4].map(|last| IpAddr::from([192, 0, 2, last]));
        let list = AddressList::new(&OCTETS, Family::V4);
        assert!(list.is_set_of(&[a, b, c]));
        assert!(list.is_set_of(&[c, a, b]));
        assert!(!list.is_set_of(&[a, b, d]));
        assert!(!list.is_set_of(&[a, b]));
        assert!(!list.is_set_of(&[a, b, c, d]));

        // The same address twice on the wire does not stand for two.
        let twice = AddressList::new(&[192, 0, 2, 1, 192, 0, 2, 1], Family::V4);
        assert!(!twice.is_set_of(&[a, b]));
    }
}
