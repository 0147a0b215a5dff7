use super::*;

fn vocabulary(names: &[&str]) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for name in names {
        vocabulary.add(name);
    }
    vocabulary
}

fn recognized(predicted: &[&str], known: &[&str]) -> RecognizedNames {
    recognize(&vocabulary(predicted), &vocabulary(known), &Vocabulary::default())
}

#[test]
fn one_tool_is_found_in_every_writing() {
    for writing in [
        "image__crop",
        "image.crop",
        "image-crop",
        "image:crop",
        "image_crop",
        "Image/Crop",
        "imageCrop",
        " image/crop",
        "mcp__image__crop",
        "mcp.image.crop",
        "functions.image__crop",
        "functions.mcp__image__crop",
        "default_api.image_crop",
        "functions.crop",
        "crop",
        "mcp__crop",
    ] {
        let found = recognized(&[writing], &["image/crop", "image/rotate", "video/cut"]);
        assert_eq!(found.mapping.get(writing).map(String::as_str), Some("image/crop"), "{writing}");
        assert!(found.ambiguous.is_empty());
        // The references may have the other spelling.
        let found = recognized(&["image/crop"], &[writing, "rotate"]);
        assert_eq!(found.mapping.get("image/crop").map(String::as_str), Some(writing), "{writing}");
    }
}

#[test]
fn other_tools_and_other_servers_stay_what_they_are() {
    for (name, known) in [
        ("image/crops", "image/crop"),
        ("video/crop", "image/crop"),
        ("mcp__video__crop", "image/crop"),
        ("video/crop", "image/video_crop"),
        ("wikipedia/search", "research/wikipedia_search"),
        ("image/video_crop", "video/crop"),
        ("compile/c++", "compile/c"),
        ("math/a*b", "math/ab"),
        ("image/v1-1", "image/v11"),
        ("image", "image/crop"),
        ("///", "image/crop"),
        ("", "image/crop"),
        ("mcp", "image/crop"),
    ] {
        assert_eq!(recognized(&[name], &[known]), RecognizedNames::default(), "{name}");
    }
    // A known name means itself, whatever else looks like it.
    assert_eq!(recognized(&["image_crop"], &["image_crop", "image/crop"]), RecognizedNames::default());
}

#[test]
fn what_could_mean_several_is_listed_and_not_mapped_and_the_rest_is_mapped() {
    let found = recognized(&["crop"], &["image/crop", "video/crop"]);
    assert!(found.mapping.is_empty());
    assert_eq!(found.ambiguous["crop"], ["image/crop", "video/crop"]);
    // One odd writing does not switch the others off.
    let found = recognized(&["image__crop", "image.crop", "image/crop"], &["image/crop"]);
    assert!(found.ambiguous.is_empty(), "{found:?}");
    assert_eq!(found.mapping.into_values().collect::<Vec<_>>(), ["image/crop", "image/crop"]);
    let found = recognized(&["image__crop", "crop"], &["image/crop"]);
    assert_eq!(found.mapping.keys().collect::<Vec<_>>(), ["image__crop"]);
    assert_eq!(found.ambiguous["crop"], ["image/crop"]);
    // Two tools with the same parts, and two servers with a tool of one name.
    for (predicted, known) in
        [(["a_b/c", "a/b_c"], "a.b.c.d"), (["a/t", "b/t"], "t"), (["a_b/c", "a/b_c"], "a_b_c")]
    {
        assert!(recognized(&predicted, &[known]).mapping.is_empty(), "{predicted:?}");
    }
    // The whole name is surer than the tool alone.
    let found = recognized(&["image_crop"], &["image/crop", "fs/image_crop"]);
    assert_eq!(found.mapping["image_crop"], "image/crop");
    // A server may have the name of a prefix.
    let found = recognized(&["mcp__fetch"], &["mcp/fetch", "web/fetch"]);
    assert_eq!(found.mapping["mcp__fetch"], "mcp/fetch");
}

#[test]
fn a_catalog_switches_nothing_off_and_comes_after_the_references() {
    let found = |predicted: &str, references: &str, catalog: &[&str]| {
        let found = recognize(&vocabulary(&[predicted]), &vocabulary(&[references]), &vocabulary(catalog));
        assert!(found.ambiguous.is_empty());
        found.mapping.get(predicted).cloned()
    };
    // The references' spelling counts.
    assert_eq!(found("image/crop", "image__crop", &["image/crop"]).as_deref(), Some("image__crop"));
    assert_eq!(found("image.crop", "image__crop", &["image/crop"]).as_deref(), Some("image__crop"));
    // A name that is not in the references may stand for one in the catalog, unless the catalog has it as written.
    assert_eq!(found("video__cut", "image/crop", &["image/crop", "video/cut"]).as_deref(), Some("video/cut"));
    assert_eq!(found("video__cut", "image/crop", &["video__cut", "video/cut"]), None);
    assert_eq!(found("image/crop", "crop", &["image/crop"]).as_deref(), Some("crop"));
    // A tool of the catalog may be meant as well as one of the references.
    let found = recognize(
        &vocabulary(&["crop"]),
        &vocabulary(&["image/crop"]),
        &vocabulary(&["image/crop", "video/crop"]),
    );
    assert_eq!(found.ambiguous["crop"], ["image/crop", "video/crop"]);
}

/// All 2^14 names on each side match all of the other side: 2^28 pairs.
#[test]
fn names_that_all_meet_take_no_more_room_than_names() {
    let many = |sign: char| {
        let mut vocabulary = Vocabulary::default();
        for bits in 0..1_u32 << 14 {
            let letter = |bit: u32| if bits >> bit & 1 == 1 { '_' } else { sign };
            let name: String = (0..14)
                .flat_map(|bit| [char::from_u32(u32::from(b'a') + bit).unwrap(), letter(bit)])
                .collect();
            vocabulary.add(&name);
        }
        vocabulary
    };
    let found = recognize(&many('-'), &many('.'), &Vocabulary::default());
    // All names except the one that both sides have, in which the only sign is `_`.
    assert_eq!((found.mapping.len(), found.ambiguous.len()), (0, (1 << 14) - 1));
    assert!(found.ambiguous.values().all(|candidates| candidates.len() == MOST_CANDIDATES));
}
