//! Whether a JPEG is complete: the decoder silently fills missing parts with gray.

/// The marker of the end of an image.
const END: u8 = 0xd9;

/// Whether the marker that ends the image follows its segments and scans (ITU-T T.81, annex B). Bytes after it do not
/// matter.
pub(super) fn jpeg_has_end(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(2..).unwrap_or_default();
    loop {
        // Every marker is 0xff and a byte that is neither 0 nor 0xff; 0xff may be repeated before it. Anything else,
        // mostly pixels, is skipped.
        let Some(start) = rest.windows(2).position(|pair| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff))
        else {
            return false;
        };
        let marker = rest[start + 1];
        rest = &rest[start + 2..];
        match marker {
            END => return true,
            // Markers without a segment: restarts within a scan, starts, the temporary one.
            0xd0..=0xd8 | 0x01 => {}
            _ => {
                let length = match rest {
                    [high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
                    _ => return false,
                };
                // The pixels follow the header of a scan.
                let Some(after) = rest.get(length..) else { return false };
                rest = after;
            }
        }
    }
}
