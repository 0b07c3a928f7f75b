//! One virtual address with the prefix length under which it is installed.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use vrrp_core::{AddrsError, Family, VirtualAddrs};

/// A virtual IP address and its prefix length, by default that of a host: /32 or /128.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vip {
    address: IpAddr,
    prefix: u8,
}

impl Vip {
    /// With a host's prefix length.
    ///
    /// # Errors
    /// Refuses an address that no host can own.
    pub fn host(address: IpAddr) -> Result<Self, VipError> {
        Self::new(address, host_prefix(address))
    }

    /// With a prefix length of 1 to 32 (IPv4) or 128 (IPv6).
    ///
    /// # Errors
    /// Refuses other lengths, an address that no host can own, and one that is the network itself
    /// (in IPv6: its anycast address) or the broadcast address under this prefix.
    pub fn new(address: IpAddr, prefix: u8) -> Result<Self, VipError> {
        VirtualAddrs::new(&[address])?;
        let max = host_prefix(address);
        if !(1..=max).contains(&prefix) {
            return Err(VipError::Prefix { max });
        }
        // From two host bits on, the first and (in IPv4) the last address have a meaning of their
        // own; RFC 3021 and RFC 6164 free them on point-to-point prefixes.
        let host_bits = u32::from(max - prefix);
        if host_bits >= 2 {
            let (host, ones) = match address {
                IpAddr::V4(v4) => {
                    let mask = u32::MAX >> prefix;
                    (u128::from(v4.to_bits() & mask), Some(u128::from(mask)))
                }
                IpAddr::V6(v6) => (v6.to_bits() & (u128::MAX >> prefix), None),
            };
            if host == 0 {
                return Err(VipError::Network { prefix });
            }
            if Some(host) == ones {
                return Err(VipError::Broadcast { prefix });
            }
        }
        Ok(Self { address, prefix })
    }

    /// The address.
    pub const fn address(self) -> IpAddr {
        self.address
    }

    /// The prefix length.
    pub const fn prefix(self) -> u8 {
        self.prefix
    }

    /// The family of the address.
    pub const fn family(self) -> Family {
        Family::of(self.address)
    }
}

impl FromStr for Vip {
    type Err = VipError;

    /// `192.0.2.10` or `192.0.2.10/24`; no blanks, no zone.
    fn from_str(text: &str) -> Result<Self, VipError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| VipError::NotAnAddress)?;
        let Some(prefix) = prefix else {
            return Self::host(address);
        };
        let max = host_prefix(address);
        let digits = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_digit());
        match prefix.parse() {
            Ok(prefix) if digits => Self::new(address, prefix),
            _ => Err(VipError::Prefix { max }),
        }
    }
}

impl From<Vip> for IpAddr {
    fn from(vip: Vip) -> Self {
        vip.address
    }
}

impl fmt::Display for Vip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

const fn host_prefix(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Why a virtual address was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VipError {
    /// The text is no address.
    #[error(
        "is not an IP address; allowed: an address such as 192.0.2.10, 192.0.2.10/24 or fd00::10"
    )]
    NotAnAddress,
    /// A prefix length that the family does not have.
    #[error("has no usable prefix length; allowed: /1 to /{max}")]
    Prefix {
        /// The longest of the family.
        max: u8,
    },
    /// All host bits are zero.
    #[error("is the address of the /{prefix} network itself; allowed: the address of a host in it")]
    Network {
        /// The prefix length.
        prefix: u8,
    },
    /// All host bits are one.
    #[error("is the broadcast address of its /{prefix}; allowed: the address of a host in it")]
    Broadcast {
        /// The prefix length.
        prefix: u8,
    },
    /// No host can own the address.
    #[error("{0}")]
    Unusable(#[from] AddrsError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vip_is_an_address_with_a_prefix_length() {
        for (text, shown) in [
            ("192.0.2.10", "192.0.2.10/32"),
            ("192.0.2.10/24", "192.0.2.10/24"),
            ("192.0.2.0/32", "192.0.2.0/32"),
            ("192.0.2.0/31", "192.0.2.0/31"),
            ("10.0.0.255/8", "10.0.0.255/8"),
            ("FD00:0::1", "fd00::1/128"),
            ("fd00::/127", "fd00::/127"),
            ("fd00::ffff:ffff:ffff:ffff/64", "fd00::ffff:ffff:ffff:ffff/64"),
            ("1.2.3.4/1", "1.2.3.4/1"),
        ] {
            assert_eq!(text.parse::<Vip>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_no_host_can_own_is_refused() {
        use VipError::*;
        for (text, error) in [
            ("", NotAnAddress),
            ("vip.example", NotAnAddress),
            ("192.0.2.10 ", NotAnAddress),
            ("192.0.2.010", NotAnAddress),
            ("fe80::1%eth0", NotAnAddress),
            ("/24", NotAnAddress),
            ("192.0.2.10/", Prefix { max: 32 }),
            ("192.0.2.10/+8", Prefix { max: 32 }),
            ("192.0.2.10/0", Prefix { max: 32 }),
            ("192.0.2.10/33", Prefix { max: 32 }),
            ("192.0.2.10/24/24", Prefix { max: 32 }),
            ("fd00::1/129", Prefix { max: 128 }),
            ("fd00::1/999", Prefix { max: 128 }),
            ("192.0.2.0/24", Network { prefix: 24 }),
            ("fd00::/64", Network { prefix: 64 }),
            ("192.0.2.255/24", Broadcast { prefix: 24 }),
            ("192.0.2.11/30", Broadcast { prefix: 30 }),
        ] {
            assert_eq!(text.parse::<Vip>(), Err(error), "{text:?}");
        }
        for text in
            ["0.0.0.0", "127.0.0.1/32", "::1", "::", "224.0.0.18", "ff02::12", "::ffff:192.0.2.1"]
        {
            assert!(matches!(text.parse::<Vip>(), Err(Unusable(_))), "{text:?}");
        }
    }
}
