//! Whether a TIFF has more pages than the one that is decoded.

/// Whether another image file directory follows the first one, where each page has one (TIFF 6.0, section 2; the
/// `BigTIFF` proposal of 2004 for offsets of 8 bytes). A directory that is cut off does not count.
pub(super) fn has_more(bytes: &[u8]) -> bool {
    next_directory(bytes).is_some_and(|next| next != 0)
}

/// The offset of the second directory; 0 if there is none.
fn next_directory(bytes: &[u8]) -> Option<u64> {
    let is_little = match bytes.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let number = |offset: u64, size: usize| -> Option<u64> {
        let offset = usize::try_from(offset).ok()?;
        let digits = bytes.get(offset..offset.checked_add(size)?)?;
        let append = |sum: u64, digit: &u8| sum << 8 | u64::from(*digit);
        Some(if is_little { digits.iter().rev().fold(0, append) } else { digits.iter().fold(0, append) })
    };
    // The place of the first offset, and the sizes in bytes of offsets, counts of entries and entries.
    let (place, offset_size, count_size, entry_size) = match number(2, 2)? {
        42 => (4, 4, 2, 12),
        43 => (8, 8, 8, 20),
        _ => return None,
    };
    let first = number(place, offset_size)?;
    let entries = number(first, count_size)?.checked_mul(entry_size)?;
    number(first.checked_add(count_size as u64)?.checked_add(entries)?, offset_size)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat};

    use super::super::{Picture, PictureLimits};
    use super::*;

    const LIMITS: PictureLimits = PictureLimits { max_side: 100, max_bytes: 1 << 20 };

    /// A TIFF with one page, and a TIFF with this page twice.
    fn files() -> (Vec<u8>, Vec<u8>) {
        let mut one = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(4, 3).write_to(&mut one, ImageFormat::Tiff).unwrap();
        let one = one.into_inner();
        assert!(one.starts_with(b"II*\0"));
        let first = u32::from_le_bytes(one[4..8].try_into().unwrap()) as usize;
        let entries = usize::from(u16::from_le_bytes(one[first..first + 2].try_into().unwrap()));
        let end = first + 2 + entries * 12;
        let mut two = one.clone();
        let second = u32::try_from(two.len()).unwrap().to_le_bytes();
        two.extend_from_slice(&one[first..end + 4]);
        two[end..end + 4].copy_from_slice(&second);
        (one, two)
    }

    #[test]
    fn pages_that_are_not_shown_are_told() {
        let (one, two) = files();
        let changes = |bytes| Picture::from_bytes("a.tiff", bytes, &LIMITS).unwrap().changes;
        assert_eq!(changes(one), ["re-encoded as image/png"]);
        assert_eq!(changes(two), ["only the first of its pages", "re-encoded as image/png"]);
    }

    /// Built by hand after the two specifications: a directory without entries, and the offset of the next.
    #[test]
    fn both_orders_of_bytes_and_both_sizes_of_offsets_are_read() {
        let big_endian = |next: u8| [b"MM\0\x2a\0\0\0\x08\0\0\0\0\0".as_slice(), &[next]].concat();
        let big_tiff = |next: u8| {
            let header = b"II\x2b\0\x08\0\0\0\x10\0\0\0\0\0\0\0";
            [header.as_slice(), &[0; 8], &[next, 0, 0, 0, 0, 0, 0, 0]].concat()
        };
        assert!(has_more(&big_endian(9)) && has_more(&big_tiff(9)));
        assert!(!has_more(&big_endian(0)) && !has_more(&big_tiff(0)));
        for file in [big_endian(9), big_tiff(9), files().1] {
            for length in 0..file.len() {
                let _ = has_more(&file[..length]);
            }
        }
        // Counts and offsets that point outside of the file.
        assert!(!has_more(&[&big_tiff(9)[..8], &[0xff; 24]].concat()));
    }
}
