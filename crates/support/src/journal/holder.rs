//! Finds the process that holds the lock of a file.

use std::fs::File;

/// The process that holds the lock, if the system tells: Linux does, in `/proc/locks` (`proc_locks(5)`).
#[cfg(target_os = "linux")]
pub(super) fn process(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let inode = file.metadata().ok()?.ino();
    of_inode(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

/// Only Linux tells which process holds a lock.
#[cfg(not(target_os = "linux"))]
pub(super) fn process(_file: &File) -> Option<u32> {
    None
}

/// The process that holds the lock of the file with this number. A line is `1: FLOCK  ADVISORY  WRITE 8410
/// fe:00:10839750 0 EOF`; if a process waits for the lock, `->` follows the first number. The device is not compared,
/// because some file systems show another one there than files have. If several processes hold files with the same
/// number, none is returned.
#[cfg(target_os = "linux")]
fn of_inode(locks: &str, inode: u64) -> Option<u32> {
    let process = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_held = words.next()? == "FLOCK";
        let (process, place) = (words.nth(2)?, words.next()?);
        let number: u64 = place.rsplit(':').next()?.parse().ok()?;
        // The number is 0 or negative if the process is not visible from here.
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
        let holders = [11, 12, 13, 14, 15].map(|inode| of_inode(locks, inode));
        assert_eq!(holders, [None, Some(8), None, None, None]);
    }
}
