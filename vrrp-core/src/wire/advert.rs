//! The advertisement to emit.

use core::net::IpAddr;

use super::{
    AUTH_LEN, AUTH_NONE, AUTH_PASS, ChecksumStyle, HEADER_LEN, PseudoHeader, Sum,
    TYPE_ADVERTISEMENT, trailer_len,
};
use crate::{AdvertInterval, Family, Password, Priority, Version, VirtualAddrs, Vrid};

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
    /// The virtual addresses, 1–255 of one family. What is beyond the 255th is not sent.
    pub addresses: &'a [IpAddr],
}

impl AdvertRepr<'_> {
    /// The length of the message, 12–4088 octets.
    pub fn message_len(&self) -> usize {
        let addresses = self.addresses().iter();
        let addresses: usize = addresses.map(|&a| Family::of(a).address_len()).sum();
        HEADER_LEN + addresses + self.trailer_len()
    }

    /// Writes the message and returns its length. `style` matters for v3 over IPv4 only: v3 over
    /// IPv6 always has a pseudo-header in its checksum, and v2 over IPv4 never.
    ///
    /// # Errors
    /// `buffer` is shorter than [`message_len`](Self::message_len); it is left as it was.
    pub fn emit(
        &self,
        header: PseudoHeader,
        style: ChecksumStyle,
        buffer: &mut [u8],
    ) -> Result<usize, BufferTooSmall> {
        let (needed, available) = (self.message_len(), buffer.len());
        let Some(message) = buffer.get_mut(..needed) else {
            return Err(BufferTooSmall { needed, available });
        };

        let mut rest = Writer(message);
        rest.put(&self.header_octets());
        for &address in self.addresses() {
            match address {
                IpAddr::V4(address) => rest.put(&address.octets()),
                IpAddr::V6(address) => rest.put(&address.octets()),
            }
        }
        if self.trailer_len() != 0 {
            rest.put(self.password.map_or(&[0; AUTH_LEN], Password::octets));
        }

        let sum = Sum::default().add_octets(message);
        let sum = match (Family::of(header.source), self.version, style) {
            (Family::V4, Version::V2, _)
            | (Family::V4, Version::V3, ChecksumStyle::MessageOnly) => sum,
            (Family::V4, Version::V3, ChecksumStyle::PseudoHeader) | (Family::V6, ..) => {
                let PseudoHeader { source, destination } = &header;
                sum.plus(Sum::of_pseudo_header(source, destination, needed))
            }
        };
        if let Some(field) = message.get_mut(6..8) {
            field.copy_from_slice(&sum.checksum().to_be_bytes());
        }
        Ok(needed)
    }

    /// The first eight octets, with a checksum of zero.
    fn header_octets(&self) -> [u8; HEADER_LEN] {
        let priority = self.priority.map_or(0, Priority::value);
        let [high, low] = match self.version {
            Version::V2 => {
                let auth = if self.password.is_some() { AUTH_PASS } else { AUTH_NONE };
                // At most 255, the type's own maximum; never 0, which no receiver accepts.
                let seconds = (self.interval.centis() / 100).max(1) as u8;
                [auth, seconds]
            }
            Version::V3 => {
                let interval = self.interval.min(AdvertInterval::MAX_V3);
                interval.centis().to_be_bytes()
            }
        };
        [
            self.version_nibble() << 4 | TYPE_ADVERTISEMENT,
            self.vrid.value(),
            priority,
            self.addresses().len() as u8,
            high,
            low,
            0,
            0,
        ]
    }

    fn addresses(&self) -> &[IpAddr] {
        &self.addresses[..self.addresses.len().min(VirtualAddrs::MAX)]
    }

    fn trailer_len(&self) -> usize {
        let first = self.addresses.first();
        trailer_len(self.version_nibble(), first.map_or(Family::V4, |&first| Family::of(first)))
    }

    const fn version_nibble(&self) -> u8 {
        match self.version {
            Version::V2 => 2,
            Version::V3 => 3,
        }
    }
}

/// The part of a message that is still to be written.
struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    /// Writes what there is room for, which is all of it: the message was measured before.
    #[inline]
    fn put<const N: usize>(&mut self, octets: &[u8; N]) {
        if let Some((to, rest)) = core::mem::take(&mut self.0).split_first_chunk_mut::<N>() {
            *to = *octets;
            self.0 = rest;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SOURCE: IpAddr = IpAddr::V4(core::net::Ipv4Addr::new(192, 0, 2, 2));
    const HEADER: PseudoHeader =
        PseudoHeader { source: SOURCE, destination: super::super::group(Family::V4) };

    fn advert(addresses: &[IpAddr]) -> AdvertRepr<'_> {
        AdvertRepr {
            version: Version::V3,
            vrid: Vrid::new(7).unwrap(),
            priority: Some(Priority::DEFAULT),
            interval: AdvertInterval::DEFAULT,
            password: None,
            addresses,
        }
    }

    #[test]
    fn a_short_buffer_is_left_as_it_was() {
        let addresses = [SOURCE; 3];
        let advert = advert(&addresses);
        for available in 0..advert.message_len() {
            let mut buffer = alloc::vec![0xaa; available];
            let needed = advert.message_len();
            assert_eq!(
                advert.emit(HEADER, ChecksumStyle::MessageOnly, &mut buffer),
                Err(BufferTooSmall { needed, available })
            );
            assert!(buffer.iter().all(|&octet| octet == 0xaa));
        }
    }

    #[test]
    fn a_long_buffer_keeps_its_rest() {
        let addresses = [SOURCE];
        let mut buffer = [0xaa; 64];
        let len = advert(&addresses).emit(HEADER, ChecksumStyle::PseudoHeader, &mut buffer);
        assert_eq!(len, Ok(12));
        assert!(buffer[12..].iter().all(|&octet| octet == 0xaa));
    }

    #[test]
    fn an_interval_too_long_for_the_version_is_cut() {
        let addresses = [SOURCE];
        let mut buffer = [0; 20];
        let mut advert = advert(&addresses);
        advert.interval = AdvertInterval::MAX_V2;
        advert.emit(HEADER, ChecksumStyle::MessageOnly, &mut buffer).unwrap();
        assert_eq!(buffer[4..6], [0x0f, 0xff]);

        advert.version = Version::V2;
        advert.emit(HEADER, ChecksumStyle::MessageOnly, &mut buffer).unwrap();
        assert_eq!(buffer[5], 255);

        advert.interval = AdvertInterval::MIN;
        advert.emit(HEADER, ChecksumStyle::MessageOnly, &mut buffer).unwrap();
        assert_eq!(buffer[5], 1);
    }

    #[test]
    fn addresses_beyond_the_255th_are_not_sent() {
        let addresses: Vec<IpAddr> =
            (0..300u16).map(|n| [10, 0, (n >> 8) as u8, n as u8].into()).collect();
        let mut buffer = [0; 2000];
        let len = advert(&addresses).emit(HEADER, ChecksumStyle::MessageOnly, &mut buffer).unwrap();
        assert_eq!(len, 8 + 255 * 4);
        assert_eq!(buffer[3], 255);
    }
}
