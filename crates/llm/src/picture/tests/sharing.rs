//! Tests of pictures that several workers share.

use std::sync::Arc;

use super::*;

#[test]
fn each_image_is_decoded_once_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    std::fs::write(&path, encoded(&two_colors(40, 20), ImageFormat::Png)).unwrap();
    let pictures = Pictures::new();
    let all: Vec<Arc<Picture>> = std::thread::scope(|scope| {
        let get = || pictures.clone().get(&path, &WIDE).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(get)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|picture| Arc::ptr_eq(picture, &all[0])));
    let small = pictures.get(&path, &limits(20, 5 << 20)).unwrap();
    assert_eq!((small.width, pictures.size().0), (20, 2));
    std::fs::write(&path, encoded(&two_colors(44, 20), ImageFormat::Png)).unwrap();
    assert_eq!(pictures.get(&path, &WIDE).unwrap().width, 44);
    std::fs::write(&path, "no image").unwrap();
    assert!(matches!(pictures.get(&path, &WIDE), Err(PictureError::NotAnImage { .. })));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(pictures.get(&path, &WIDE), Err(PictureError::Unreadable { .. })));
    assert_eq!(pictures.size().0, 3);
}

#[test]
fn pictures_used_last_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = ["a", "b", "c"].map(|name| folder.path().join(name)).into();
    let bytes = encoded(&noise(30, 30, false), ImageFormat::Png);
    for path in &paths {
        std::fs::write(path, &bytes).unwrap();
    }
    let pictures = Pictures::keeping(2 * (bytes.len() + 1_100));
    let get = |index: usize| pictures.get(&paths[index], &WIDE).unwrap();
    let (a, b) = (get(0), get(1));
    assert!(Arc::ptr_eq(&a, &get(0)));
    get(2);
    assert!(Arc::ptr_eq(&a, &get(0)) && !Arc::ptr_eq(&b, &get(1)));
    assert_eq!(pictures.size(), (2, 2 * (bytes.len() + 1_024)));
    let none = Pictures::keeping(10);
    assert_eq!(none.get(&paths[0], &WIDE).unwrap().bytes, bytes);
    assert_eq!(none.size(), (0, 0));
}
