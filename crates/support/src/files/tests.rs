//! Files are written whole or not at all, whatever their path leads to.

use super::*;

#[cfg(unix)]
#[test]
fn a_new_file_replaces_nothing_and_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a"), folder.path().join("link"));
    let is_taken = |path: &Path| {
        write_new_atomically(path, b"second").unwrap_err().kind() == io::ErrorKind::AlreadyExists
    };
    write_new_atomically(&path, b"first").unwrap();
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).unwrap();
    assert!(is_taken(&path) && is_taken(&link));
    assert_eq!(std::fs::read(&path).unwrap(), b"first");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn links_are_followed_to_their_end_and_stay() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let is_link = |name: &str| std::fs::symlink_metadata(at(name)).unwrap().is_symlink();
    std::fs::create_dir(at("inner")).unwrap();
    symlink("second", at("first")).unwrap();
    // Relative to the folder of the link.
    symlink("inner/third", at("second")).unwrap();
    symlink("../end", at("inner/third")).unwrap();
    for content in [b"made", b"anew"] {
        write_atomically(&at("first"), content).unwrap();
        assert_eq!(std::fs::read(at("end")).unwrap(), content);
        assert!(!is_link("end") && ["first", "second", "inner/third"].into_iter().all(is_link));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    assert_eq!(std::fs::read_dir(at("inner")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_without_an_end_are_refused_and_stay() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink("round", at("round")).unwrap();
    symlink("b", at("a")).unwrap();
    symlink("a", at("b")).unwrap();
    symlink("none/file", at("nowhere")).unwrap();
    for name in ["round", "a", "nowhere"] {
        write_atomically(&at(name), b"new").unwrap_err();
        assert!(std::fs::symlink_metadata(at(name)).unwrap().is_symlink(), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// Opens descriptors of this process for a file and for a pipe, and writes through every path that names them.
#[cfg(target_os = "linux")]
#[test]
fn what_a_descriptor_leads_to_is_written_behind_what_it_holds() {
    use std::io::Read as _;
    use std::os::fd::AsRawFd as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "before ").unwrap();
    let log = File::options().append(true).open(&path).unwrap();
    let (mut reader, writer) = io::pipe().unwrap();
    for place in ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"] {
        for number in [log.as_raw_fd(), writer.as_raw_fd()] {
            let name = Path::new(place).join(number.to_string());
            write_atomically(&name, b"new ").unwrap();
            assert!(!is_plain(&name));
        }
    }
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(format!("/proc/self/fd/{}", log.as_raw_fd()), &link).unwrap();
    write_atomically(&link, b"end").unwrap();
    drop(writer);
    let mut piped = String::new();
    reader.read_to_string(&mut piped).unwrap();
    assert_eq!(piped, "new new new ");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before new new new end");
    assert!(is_plain(&path) && is_plain(&folder.path().join("none")) && !is_plain(folder.path()));
    assert!(!is_plain(Path::new("/dev/null")) && !is_plain(Path::new("/dev/stdout")));
}

#[cfg(unix)]
#[test]
fn a_file_in_a_folder_that_is_not_to_be_written_is_written_over() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, "a longer one").unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    write_atomically(&path, b"new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    // A user who is not bound by permissions, such as root, can create the file; others get an error.
    if let Err(cause) = write_atomically(&folder.path().join("b"), b"new") {
        assert_eq!(cause.kind(), io::ErrorKind::PermissionDenied);
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Tests directly what happens in a folder without write permission, so that it is also tested for root, who is not
/// bound by permissions.
#[test]
fn a_file_that_is_written_over_has_the_new_content_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, "a longer one").unwrap();
    for content in ["new", "", "a much longer one than before"] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        write_over(file, &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn an_abandoned_file_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    write_atomically(&path, b"old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    write_atomically(&path, b"new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_new_file_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    write_new_atomically(&path, b"first").unwrap();
    let error = write_new_atomically(&path, b"second").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"first");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
