//! The classic capture file with nanoseconds (magic 0xa1b23c4d).

use std::io::{self, Write};
use std::time::Duration;

use crate::frame::Frame;

const NANOSECOND_MAGIC: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;
const SNAP_LENGTH: u32 = 1 << 18;

/// Writes `frames`, whose times count from `started` (since 1970).
pub(crate) fn write(mut to: impl Write, started: Duration, frames: &[Frame]) -> io::Result<()> {
    to.write_all(&NANOSECOND_MAGIC.to_le_bytes())?;
    to.write_all(&2u16.to_le_bytes())?; // format 2.4
    to.write_all(&4u16.to_le_bytes())?;
    to.write_all(&[0; 8])?; // time zone and accuracy: always 0
    to.write_all(&SNAP_LENGTH.to_le_bytes())?;
    to.write_all(&ETHERNET.to_le_bytes())?;
    for frame in frames {
        let at = started + frame.at;
        // Seconds wrap in 2106, as the format has it.
        to.write_all(&(at.as_secs() as u32).to_le_bytes())?;
        to.write_all(&at.subsec_nanos().to_le_bytes())?;
        let length = (frame.data.len() as u32).to_le_bytes();
        to.write_all(&length)?; // kept
        to.write_all(&length)?; // on the wire
        to.write_all(&frame.data)?;
    }
    to.flush()
}
