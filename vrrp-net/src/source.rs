//! Which address a router sends from, and compares in ties.
//!
//! A choice that depended on the order in which addresses appear would flip between restarts, and
//! one that could fall on a VIP would make the VIP's owner advertise from an address that the next
//! owner takes away. So: a fixed rule over the set of addresses, and never a VIP.

use std::net::IpAddr;

use vrrp_core::Family;

use crate::netlink::Address;

/// The source for a router on the interface `ifindex`, among all `addresses` of the node.
///
/// - A configured source is taken when it is on the interface, and nothing else is.
/// - `current`, the source in use, stays as long as it could be chosen at all.
/// - IPv4: the interface's first primary address (the kernel lists them in order of age).
/// - IPv6: the numerically lowest permanent link-local address that is not tentative.
///
/// `is_vip` says whether an address is a VIP of this node or carries a VRRP tag.
pub(crate) fn select(
    addresses: &[Address],
    ifindex: u32,
    family: Family,
    configured: Option<IpAddr>,
    current: Option<IpAddr>,
    is_vip: impl Fn(&Address) -> bool,
) -> Option<IpAddr> {
    let usable = addresses
        .iter()
        .filter(|a| a.ifindex == ifindex && Family::of(a.ip) == family)
        .filter(|a| !a.tentative && !a.dad_failed && !is_vip(a));
    if let Some(configured) = configured {
        return usable.map(|a| a.ip).find(|&ip| ip == configured);
    }
    let choices = usable.filter(|a| match family {
        Family::V4 => !a.secondary,
        Family::V6 => a.permanent && is_link_local(a.ip),
    });
    let mut choices = choices.map(|a| a.ip);
    match (current, family) {
        (Some(current), _) if choices.clone().any(|ip| ip == current) => Some(current),
        (_, Family::V4) => choices.next(),
        (_, Family::V6) => choices.min(),
    }
}

fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(ip: &str) -> Address {
        Address {
            ifindex: 7,
            ip: ip.parse().unwrap(),
            prefix: 24,
            label: None,
            tag: 0,
            secondary: false,
            tentative: false,
            dad_failed: false,
            permanent: true,
        }
    }

    fn chosen(addresses: &[Address], family: Family) -> Option<String> {
        let vip = |a: &Address| ["fe80::50", "10.0.0.50"].contains(&a.ip.to_string().as_str());
        select(addresses, 7, family, None, None, vip).map(|ip| ip.to_string())
    }

    #[test]
    fn b13_the_source_in_use_stays_until_it_cannot_be_used() {
        let current = Some("fe80::2".parse().unwrap());
        let mut list = ["fe80::1", "fe80::2"].map(address);
        let chosen = |list: &[Address]| select(list, 7, Family::V6, None, current, |_| false);
        assert_eq!(chosen(&list), current);
        list[1].dad_failed = true;
        assert_eq!(chosen(&list), Some("fe80::1".parse().unwrap()));

        let current = Some("10.0.0.8".parse().unwrap());
        let mut list = ["10.0.0.7", "10.0.0.8"].map(address);
        let chosen = |list: &[Address]| select(list, 7, Family::V4, None, current, |_| false);
        assert_eq!(chosen(&list), current);
        list[1].secondary = true;
        assert_eq!(chosen(&list), Some("10.0.0.7".parse().unwrap()));
    }

    #[test]
    fn b13_the_ipv6_source_is_the_lowest_link_local_in_any_order_and_never_a_vip() {
        let mut list = ["fe80::50", "fe80::2", "fe80::1:1", "fd00::1", "fe80::1"].map(address);
        for _ in 0..list.len() {
            list.rotate_left(1);
            assert_eq!(chosen(&list, Family::V6).as_deref(), Some("fe80::1"));
        }
        list.iter_mut().for_each(|a| a.tentative = true);
        assert_eq!(chosen(&list, Family::V6), None);
    }

    #[test]
    fn the_ipv4_source_is_the_first_primary_of_the_interface() {
        let mut elsewhere = address("10.0.0.9");
        elsewhere.ifindex = 8;
        let mut secondary = address("10.0.0.2");
        secondary.secondary = true;
        let list = [elsewhere, secondary, address("10.0.0.50"), address("10.0.0.7")];
        assert_eq!(chosen(&list, Family::V4).as_deref(), Some("10.0.0.7"));
        assert_eq!(chosen(&list[..3], Family::V4), None);
    }

    #[test]
    fn b15_a_configured_source_is_taken_when_it_is_there_and_nothing_else_is() {
        let list = [address("10.0.0.7"), address("10.0.0.8")];
        let wanted = |ip: &str| {
            select(&list, 7, Family::V4, Some(ip.parse().unwrap()), None, |_| false).is_some()
        };
        assert!(wanted("10.0.0.8"));
        assert!(!wanted("10.0.0.9"));
    }
}
