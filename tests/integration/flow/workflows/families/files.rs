//! Files and folders of the server of files: made, written, moved, changed and read.

use super::super::plan::{Argument, named};
use super::super::scenes::scene;
use super::codes::{scan, with_codes};
use super::draft::{Draft, Picture, numbers};

/// Folders that questions ask for, and folders that workflows choose.
const FOLDERS: [&str; 4] = ["for-anna", "archive", "parts", "week-12"];

fn text(words: &str) -> Argument {
    Argument::value(words)
}

/// A folder; whether the question names it.
fn make_folder(draft: &mut Draft<'_>) -> (usize, &'static str) {
    let name = *draft.random.one(&FOLDERS);
    let folder = draft.asked(name, None);
    draft.plan.call("files/create_directory", named([("path", Argument::Path(folder))]));
    (folder, name)
}

fn write(draft: &mut Draft<'_>, path: usize, content: Vec<Argument>) -> usize {
    draft.plan.call(
        "files/write_file",
        named([("path", Argument::Path(path)), ("content", Argument::Text(content))]),
    )
}

/// Two pictures, of which each is moved into a folder.
pub(super) fn folder(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 2);
    draft.plan.image = image;
    let (folder, name) = make_folder(draft);
    let mut parts: Vec<Picture> = regions.iter().map(|region| draft.cut_out(region)).collect();
    draft.plan.step();
    let edit = draft.choose(&parts[0]);
    draft.say(&format!(
        "Make a folder {name} and move two pictures into it: {}, where you {}, as first.png, and {} as second.png.",
        regions[0].words, edit.words, regions[1].words
    ));
    let output = draft.output(&format!("{}-{}", parts[0].name, edit.suffix));
    parts[0] = draft.make(&parts[0].clone(), edit, output);
    draft.plan.step();
    for (part, name) in parts.iter().zip(["first.png", "second.png"]) {
        let destination = draft.asked(name, Some(folder));
        draft.plan.call(
            "files/move_file",
            named([("source", part.file.clone()), ("destination", Argument::Path(destination))]),
        );
    }
}

/// Numbers that are computed, noted and read again.
pub(super) fn note(draft: &mut Draft<'_>) {
    draft.plan.image = "images/dice.png";
    let total = draft.compute("sum", named([("numbers", numbers(&[6.0, 2.0, 5.0, 5.0, 3.0]))]));
    let median = draft.compute("median", named([("numbers", numbers(&[6.0, 2.0, 5.0, 5.0, 3.0]))]));
    draft.plan.step();
    let factor = draft.random.within(2, 9);
    let points = draft.compute(
        "multiply",
        named([("firstNumber", Argument::answer(total, "")), ("SecondNumber", Argument::value(factor))]),
    );
    draft.plan.step();
    draft.say(&format!(
        "A throw counts {factor} points for each pip. Note the points and the median of the dice in a text file, as \
         `points: N` and `median: N` on two lines."
    ));
    let path = if draft.random.chance(0.5) {
        draft.say("The file is called throw.txt.");
        draft.asked("throw.txt", None)
    } else {
        draft.plan.path("note-1.txt", None)
    };
    let content = vec![
        text("points: "),
        Argument::answer(points, ""),
        text("\nmedian: "),
        Argument::answer(median, ""),
        text("\n"),
    ];
    let written = write(draft, path, content);
    draft.plan.step();
    draft.say("Then read it back to me.");
    draft.plan.call("files/read_text_file", named([("path", Argument::File(written))]));
}

/// What codes say, in a file for each.
pub(super) fn list_of_codes(draft: &mut Draft<'_>) {
    let regions = with_codes(draft);
    let regions = draft.random.some(&regions, 2);
    let parts: Vec<Picture> = regions.iter().map(|region| draft.cut_out(region)).collect();
    draft.plan.step();
    let reads: Vec<usize> = parts.iter().map(|part| scan(draft, std::slice::from_ref(part))).collect();
    draft.plan.step();
    draft.say(&format!(
        "Write what the code of {} says into a text file of its own, and what that of {} says into another. Nothing else \
         in them but, after ` at `, how many pixels the code is from the left edge of the part. Then read both together.",
        regions[0].words, regions[1].words
    ));
    let files: Vec<usize> = reads
        .iter()
        .zip(&regions)
        .map(|(read, region)| {
            let path = draft.plan.path(&format!("{}.txt", region.name), None);
            let part = |place: &str| Argument::answer(*read, &format!("/images/0/results/0/{place}"));
            write(
                draft,
                path,
                vec![
                    part("data"),
                    text(" at "),
                    Argument::whole(*read, "/images/0/results/0/rect/x", 1.0, 0.0),
                ],
            )
        })
        .collect();
    draft.plan.step();
    let paths = files.into_iter().map(Argument::File).collect();
    draft.plan.call("files/read_multiple_files", named([("paths", Argument::List(paths))]));
}

/// A text that is written, changed, moved and read.
pub(super) fn draft_of_text(draft: &mut Draft<'_>) {
    draft.plan.image = "images/poster.png";
    let (folder, name) = make_folder(draft);
    let path = draft.plan.path("invitation-draft.md", None);
    let written = write(draft, path, vec![text("# Night of Science\nSaturday 9 May\nRoom: open\n")]);
    draft.plan.step();
    let room = draft.random.within(101, 480);
    let edits = |old: &str, new: &str| {
        Argument::List(vec![Argument::Object(named([("oldText", text(old)), ("newText", text(new))]))])
    };
    let edited = draft.plan.call(
        "files/edit_file",
        named([("path", Argument::File(written)), ("edits", edits("Room: open", &format!("Room: {room}")))]),
    );
    draft.plan.step();
    draft.say(&format!(
        "Draft an invitation with three lines: `# Night of Science`, `Saturday 9 May`, `Room: open`. Then set the room to \
         {room}, move the file into a new folder {name} as invitation.md, and show me the file."
    ));
    let destination = draft.asked("invitation.md", Some(folder));
    let moved = draft.plan.call(
        "files/move_file",
        named([("source", Argument::File(edited)), ("destination", Argument::Path(destination))]),
    );
    draft.plan.step();
    draft.plan.call("files/read_text_file", named([("path", Argument::File(moved))]));
}

/// Pictures, and a list that names the file of each.
pub(super) fn index(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 2);
    draft.plan.image = image;
    let parts: Vec<Picture> = regions.iter().map(|region| draft.cut_out(region)).collect();
    draft.plan.step();
    let edit = draft.choose(&parts[1]);
    draft.say(&format!(
        "I want {} as it is, and {}, where you {}. List both in index.txt: a line `1: FILE` and a line `2: FILE`.",
        regions[0].words, regions[1].words, edit.words
    ));
    let output = draft.output(&format!("{}-{}", parts[1].name, edit.suffix));
    let edited = draft.make(&parts[1].clone(), edit, output);
    draft.plan.step();
    let path = draft.asked("index.txt", None);
    let content = vec![text("1: "), parts[0].file.clone(), text("\n2: "), edited.file, text("\n")];
    write(draft, path, content);
}
