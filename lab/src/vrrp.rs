//! A reader of VRRP advertisements for judges.
//!
//! It is written from RFC 9568 section 5.2 and RFC 3768 section 5.3 alone and shares
//! nothing with `vrrp-core`, so that the library is judged by something else. It
//! reports what is on the wire, right or wrong, and refuses only what cannot be read.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use pnet_packet::ip::IpNextHeaderProtocols;

use crate::frame::{Frame, IpHeader};
use crate::host::Mac;

/// A VRRP advertisement as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VrrpSeen {
    /// The IP source.
    pub src: IpAddr,
    /// The IP destination.
    pub dst: IpAddr,
    /// TTL or hop limit.
    pub ttl: u8,
    /// TOS or traffic class.
    pub class: u8,
    /// The Ethernet header's source.
    pub src_mac: Mac,
    /// The Ethernet header's destination.
    pub dst_mac: Mac,
    /// The version field: 2 or 3.
    pub version: u8,
    /// The type field; 1 is the only one there is.
    pub kind: u8,
    /// The virtual router.
    pub vrid: u8,
    /// The priority; 0 gives the addresses up.
    pub priority: u8,
    /// The interval: whole seconds in version 2, centiseconds in version 3.
    pub interval: Duration,
    /// The four reserved bits of version 3, which must be 0; 0 in version 2.
    pub reserved: u8,
    /// The authentication type and data of version 2.
    pub auth: Option<(u8, [u8; 8])>,
    /// The virtual addresses, in order.
    pub addresses: Vec<IpAddr>,
    /// How the checksum was made.
    pub checksum: Checksum,
    /// How many bytes follow the message within the IP packet.
    pub trailing: usize,
}

/// Which rule a checksum follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// None: it is wrong.
    Wrong,
    /// Over the message: version 2, and version 3 over IPv4 by RFC 9568.
    Message,
    /// Over a pseudo-header and the message: version 3 over IPv6, and over IPv4 as many
    /// read RFC 5798.
    PseudoHeader,
    /// Both rules give the same value (once in 65535 sources).
    Either,
}

impl VrrpSeen {
    /// Whether the checksum is right by some rule that its version and family allow.
    pub fn checksum_ok(&self) -> bool {
        match (self.version, self.src) {
            (2, _) => matches!(self.checksum, Checksum::Message | Checksum::Either),
            (_, IpAddr::V6(_)) => {
                matches!(self.checksum, Checksum::PseudoHeader | Checksum::Either)
            }
            (_, IpAddr::V4(_)) => self.checksum != Checksum::Wrong,
        }
    }

    pub(crate) fn from_frame(frame: &Frame) -> Option<Self> {
        let (ip, payload) = frame.ip(IpNextHeaderProtocols::Vrrp)?;
        Self::parse(&ip, &payload, frame.src_mac(), frame.dst_mac())
    }

    fn parse(ip: &IpHeader, payload: &[u8], src_mac: Mac, dst_mac: Mac) -> Option<Self> {
        let (&[first, vrid, priority, count, fifth, sixth, _, _], rest) =
            payload.split_first_chunk::<8>()?;
        let version = first >> 4;
        let width = if ip.src.is_ipv4() { 4 } else { 16 };
        let (listed, rest) = rest.split_at_checked(width * usize::from(count))?;
        let addresses = listed.chunks_exact(width).filter_map(address).collect();

        let (interval, reserved, auth, trailing) = match version {
            2 => {
                let (&data, rest) = rest.split_first_chunk::<8>()?;
                (Duration::from_secs(sixth.into()), 0, Some((fifth, data)), rest.len())
            }
            3 => {
                let centiseconds = u16::from_be_bytes([fifth & 0x0f, sixth]);
                let interval = Duration::from_millis(u64::from(centiseconds) * 10);
                (interval, fifth >> 4, None, rest.len())
            }
            _ => return None,
        };
        let message = &payload[..payload.len() - trailing];
        Some(Self {
            src: ip.src,
            dst: ip.dst,
            ttl: ip.ttl,
            class: ip.class,
            src_mac,
            dst_mac,
            version,
            kind: first & 0x0f,
            vrid,
            priority,
            interval,
            reserved,
            auth,
            addresses,
            checksum: Checksum::of(ip, message),
            trailing,
        })
    }
}

impl Checksum {
    fn of(ip: &IpHeader, message: &[u8]) -> Self {
        // A right checksum makes the sum of all words 0xffff (RFC 1071).
        let plain = sum(&[message]) == 0xffff;
        let length = (message.len() as u32).to_be_bytes();
        let pseudo = match (ip.src, ip.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                sum(&[&src.octets(), &dst.octets(), &[0, 112], &length[2..], message])
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                sum(&[&src.octets(), &dst.octets(), &length, &[0, 0, 0, 112], message])
            }
            _ => 0,
        } == 0xffff;
        match (plain, pseudo) {
            (false, false) => Self::Wrong,
            (true, false) => Self::Message,
            (false, true) => Self::PseudoHeader,
            (true, true) => Self::Either,
        }
    }
}

/// The one's complement sum of parts of even length.
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let total: u32 = words.map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (total & 0xffff) + (total >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(four).into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(|sixteen| Ipv6Addr::from(sixteen).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> IpHeader {
        let src = Ipv4Addr::new(10, 0, 0, 1).into();
        IpHeader { src, dst: Ipv4Addr::new(224, 0, 0, 18).into(), ttl: 255, class: 0xc0 }
    }

    fn parse(message: &[u8]) -> Option<VrrpSeen> {
        VrrpSeen::parse(&header(), message, Mac([0; 6]), Mac([0; 6]))
    }

    // Computed by hand: 3133+c801+0064+0a00+0064 = 103fc, folded 03fd, inverted fc02.
    const V3: [u8; 12] = [0x31, 0x33, 0xc8, 0x01, 0x00, 0x64, 0xfc, 0x02, 0x0a, 0x00, 0x00, 0x64];

    #[test]
    fn reads_version_3() {
        let seen = parse(&V3).unwrap();
        assert_eq!((seen.version, seen.kind, seen.vrid, seen.priority), (3, 1, 0x33, 200));
        assert_eq!(seen.interval, Duration::from_secs(1));
        assert_eq!(seen.addresses, [IpAddr::from(Ipv4Addr::new(10, 0, 0, 100))]);
        assert_eq!(seen.checksum, Checksum::Message);
    }

    #[test]
    fn a_wrong_bit_makes_the_checksum_wrong() {
        let mut message = V3;
        message[2] ^= 1;
        assert_eq!(parse(&message).unwrap().checksum, Checksum::Wrong);
    }

    #[test]
    fn what_is_cut_short_is_not_read() {
        for length in 0..V3.len() {
            assert_eq!(parse(&V3[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn trailing_bytes_are_outside_the_checksum() {
        let mut message = V3.to_vec();
        message.extend([1, 2, 3]);
        let seen = parse(&message).unwrap();
        assert_eq!((seen.trailing, seen.checksum), (3, Checksum::Message));
    }
}
