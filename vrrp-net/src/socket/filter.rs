//! Classic BPF filters: what can never be ours is dropped before it is queued.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use vrrp_core::Family;

use super::Reach;

/// Takes the whole packet.
const ACCEPT: libc::sock_filter = ret(u32::MAX);
const DROP: libc::sock_filter = ret(0);

/// Lets a multicast socket have group packets only and a unicast socket the others.
///
/// Everything else is judged by the core, which counts what it discards; a filter that judged
/// would hide a flood from the counters. IPv6 raw sockets start at the message, without the
/// header, so their destination is judged after reading.
pub(super) fn attach(socket: BorrowedFd<'_>, family: Family, reach: Reach) -> io::Result<()> {
    if family == Family::V6 {
        return Ok(());
    }
    // First octet of the destination's high nibble: 0xe is multicast.
    let (group, other) = match reach {
        Reach::Multicast => (ACCEPT, DROP),
        Reach::Unicast => (DROP, ACCEPT),
    };
    attach_program(socket, &[load_byte(16), and(0xf0), jump_if_equal(0xe0, 0, 1), group, other])
}

/// Announcements only: gratuitous ARP (sender is target) of either operation, and unsolicited
/// neighbour advertisements. For a socket that sees whole Ethernet frames.
pub(super) fn attach_claims(socket: BorrowedFd<'_>) -> io::Result<()> {
    attach_program(
        socket,
        &[
            load_half(12),
            jump_if_equal(0x0806, 0, 5),
            // ARP: sender protocol address equals target protocol address.
            load_word(28),
            TAX,
            load_word(38),
            JUMP_IF_EQUAL_X, // next: drop; else skip
            ret(0),
            // IPv6 with next header ICMPv6 and type 136.
            jump_if_equal(0x86dd, 0, 4),
            load_byte(20),
            jump_if_equal(58, 0, 2),
            load_byte(54),
            jump_if_equal(136, 1, 0),
            DROP,
            ACCEPT,
        ],
    )
}

const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

const fn ret(k: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, k)
}

const fn load_byte(at: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, at)
}

const fn load_half(at: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, at)
}

const fn load_word(at: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at)
}

const fn and(k: u32) -> libc::sock_filter {
    statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, k)
}

const TAX: libc::sock_filter = statement(libc::BPF_MISC | libc::BPF_TAX, 0);

const JUMP_IF_EQUAL_X: libc::sock_filter = libc::sock_filter {
    code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_X) as u16,
    jt: 7,
    jf: 0,
    k: 0,
};

const fn jump_if_equal(k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt, jf, k }
}

fn attach_program(socket: BorrowedFd<'_>, program: &[libc::sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog {
        // Programs here have a dozen instructions.
        len: program.len() as libc::c_ushort,
        filter: program.as_ptr().cast_mut(),
    };
    let length = size_of::<libc::sock_fprog>() as libc::socklen_t;
    // SAFETY: the descriptor is open; `filter` and the program it points to live through the call,
    // and the kernel only reads and copies them.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            std::ptr::from_ref(&filter).cast(),
            length,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
