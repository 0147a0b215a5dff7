//! Who holds the lock of a file.

use std::fs::File;

/// The process that holds the lock, where the system tells: Linux does, in `/proc/locks` (`proc_locks(5)`).
#[cfg(target_os = "linux")]
pub(super) fn process(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let inode = file.metadata().ok()?.ino();
    of_inode(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

/// Not asked for elsewhere.
#[cfg(not(target_os = "linux"))]
pub(super) fn process(_file: &File) -> Option<u32> {
    None
}

/// A line is `1: FLOCK  ADVISORY  WRITE 8410 fe:00:10839750 0 EOF`; of one that waits, `->` follows the number. The
/// device is not compared: some file systems show another one than files have. So where several processes hold files of
/// one number, none is named.
#[cfg(target_os = "linux")]
fn of_inode(locks: &str, inode: u64) -> Option<u32> {
    let process = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_held = words.next()? == "FLOCK";
        let (process, place) = (words.nth(2)?, words.next()?);
        let number: u64 = place.rsplit(':').next()?.parse().ok()?;
        // A process that is not visible from here is 0 or less.
        process.parse().ok().filter(|process| is_held && number == inode && *process > 0)
    };
    let mut processes: Vec<u32> = locks.lines().filter_map(process).collect();
    processes.dedup();
    match processes[..] {
        [process] => Some(process),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_named_where_there_is_one() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:11 0 EOF\n2: FLOCK  ADVISORY  WRITE 8 fe:00:12 0 EOF\n\
            2: -> FLOCK  ADVISORY  WRITE 9 fe:00:12 0 EOF\n3: FLOCK  ADVISORY  READ  4 fe:00:13 0 EOF\n\
            4: FLOCK  ADVISORY  READ  5 08:01:13 0 EOF\n5: FLOCK  ADVISORY  WRITE 0 fe:00:14 0 EOF\nnonsense\n6:\n";
        let found = [11, 12, 13, 14, 15].map(|inode| of_inode(locks, inode));
        assert_eq!(found, [None, Some(8), None, None, None]);
    }
}
