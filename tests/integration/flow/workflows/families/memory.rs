//! Entities of the server of memory: created, related, described and opened by names that workflows choose.

use serde_json::json;

use super::super::plan::{Argument, named};
use super::super::scenes::scene;
use super::codes::{scan, with_codes};
use super::draft::{Draft, Picture};

fn text(words: &str) -> Argument {
    Argument::value(words)
}

/// An entity as it is created.
fn entity(name: usize, kind: &str, observations: Vec<Argument>) -> Argument {
    Argument::Object(named([
        ("name", Argument::Entity(name)),
        ("entityType", text(kind)),
        ("observations", Argument::List(observations)),
    ]))
}

fn create(draft: &mut Draft<'_>, entities: Vec<Argument>) {
    draft.plan.call("memory/create_entities", named([("entities", Argument::List(entities))]));
    draft.plan.step();
}

fn relate(draft: &mut Draft<'_>, relations: &[(usize, &str, usize)]) {
    let relation = |(from, kind, to): &(usize, &str, usize)| {
        Argument::Object(named([
            ("from", Argument::Entity(*from)),
            ("relationType", text(kind)),
            ("to", Argument::Entity(*to)),
        ]))
    };
    let relations = Argument::List(relations.iter().map(relation).collect());
    draft.plan.call("memory/create_relations", named([("relations", relations)]));
    draft.plan.step();
}

fn observe(draft: &mut Draft<'_>, entity: usize, contents: Vec<Argument>) {
    let observation = Argument::Object(named([
        ("entityName", Argument::Entity(entity)),
        ("contents", Argument::List(contents)),
    ]));
    let observations = Argument::List(vec![observation]);
    draft.plan.call("memory/add_observations", named([("observations", observations)]));
    draft.plan.step();
}

fn open(draft: &mut Draft<'_>, names: &[usize]) {
    let names = Argument::List(names.iter().copied().map(Argument::Entity).collect());
    draft.plan.call("memory/open_nodes", named([("names", names)]));
}

/// Ids in one of the ways in which workflows choose them.
fn ids(draft: &mut Draft<'_>, words: &[&str]) -> Vec<usize> {
    let style = draft.random.within(0, 3);
    let first = draft.random.within(11, 80);
    let name = |index: usize, word: &str| match style {
        0 => word.to_owned(),
        1 => format!("{}_{}", word, index + 1),
        2 => format!("node-{}", first + i64::try_from(index).unwrap()),
        _ => format!("{}", 100 * first + i64::try_from(index).unwrap()),
    };
    words.iter().enumerate().map(|(index, word)| draft.plan.entity(&name(index, word), false)).collect()
}

/// Codes of two badges become persons of an event.
pub(super) fn people(draft: &mut Draft<'_>) {
    let regions = loop {
        let regions = with_codes(draft);
        if draft.plan.image == "images/badges.png" {
            break draft.random.some(&regions, 2);
        }
    };
    let parts: Vec<Picture> = regions.iter().map(|region| draft.cut_out(region)).collect();
    draft.plan.step();
    let read = scan(draft, &parts);
    draft.plan.step();
    let ids = ids(draft, &[regions[0].name, regions[1].name, "event"]);
    draft.say(&format!(
        "Remember the holders of {} and {} as persons, each with one note: what the code on the badge says. Both attend a \
         conference, without notes. The first introduces the second. Then show me the first.",
        regions[0].words, regions[1].words
    ));
    let code = |index: usize| vec![Argument::answer(read, &format!("/images/{index}/results/0/data"))];
    create(
        draft,
        vec![
            entity(ids[0], "person", code(0)),
            entity(ids[1], "person", code(1)),
            entity(ids[2], "conference", Vec::new()),
        ],
    );
    relate(
        draft,
        &[(ids[0], "attends", ids[2]), (ids[1], "attends", ids[2]), (ids[0], "introduces", ids[1])],
    );
    open(draft, &ids[..1]);
}

/// Rooms of the plan with their areas, which are computed.
pub(super) fn rooms(draft: &mut Draft<'_>) {
    draft.plan.image = "images/plan.png";
    let rooms =
        draft.random.some(&[("kitchen", 5.0, 3.5), ("living room", 7.0, 3.25), ("bath", 3.0, 3.25)], 2);
    let areas: Vec<usize> = rooms
        .iter()
        .map(|(_, width, depth)| {
            draft.compute(
                "multiply",
                named([("firstNumber", Argument::value(*width)), ("SecondNumber", Argument::value(*depth))]),
            )
        })
        .collect();
    draft.plan.step();
    let words: Vec<String> = rooms.iter().map(|(name, ..)| name.replace(' ', "-")).collect();
    let ids = ids(draft, &[&words[0], &words[1]]);
    let link = *draft.random.one(&["leads to", "is beside"]);
    draft.say(&format!(
        "Remember the {} and the {} of this plan, both of the type room, the one with the note `first`, the other with \
         `second`. The {} {link} the {}. Then add to each its area in square metres, only the number, and show me the {}.",
        rooms[0].0, rooms[1].0, rooms[0].0, rooms[1].0, rooms[1].0
    ));
    create(
        draft,
        vec![entity(ids[0], "room", vec![text("first")]), entity(ids[1], "room", vec![text("second")])],
    );
    relate(draft, &[(ids[0], link, ids[1])]);
    for (id, area) in ids.iter().zip(areas) {
        observe(draft, *id, vec![Argument::Text(vec![Argument::answer(area, "")])]);
    }
    open(draft, &ids[1..]);
}

/// Things of one type, told apart by their notes and links alone.
pub(super) fn things(draft: &mut Draft<'_>) {
    draft.plan.image = "images/shapes.png";
    let shapes = draft.random.some(&["red disc", "blue square", "yellow triangle", "green box"], 3);
    let words: Vec<String> = shapes.iter().map(|name| name.replace(' ', "-")).collect();
    let ids = if draft.random.chance(0.3) {
        draft.say(&format!("Their names are {}.", words.join(", ")));
        words.iter().map(|word| draft.plan.entity(word, true)).collect()
    } else {
        ids(draft, &[&words[0], &words[1], &words[2]])
    };
    draft.say(&format!(
        "Remember the {}, the {} and the {} as shapes, each with its colour and form as a note, such as `{}`. The first is \
         left of the second, the second left of the third. Note at the third that it is the last, as `last`, and show me \
         the second.",
        shapes[0], shapes[1], shapes[2], shapes[0]
    ));
    let entities =
        ids.iter().zip(&shapes).map(|(id, shape)| entity(*id, "shape", vec![text(shape)])).collect();
    create(draft, entities);
    relate(draft, &[(ids[0], "left of", ids[1]), (ids[1], "left of", ids[2])]);
    observe(draft, ids[2], vec![text("last")]);
    open(draft, &ids[1..2]);
}

/// Pictures that are made and remembered by their files.
pub(super) fn picture_of(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 2);
    draft.plan.image = image;
    let parts: Vec<Picture> = regions.iter().map(|region| draft.cut_out(region)).collect();
    draft.plan.step();
    let angle = *draft.random.one(&[90, 180]);
    let files: Vec<Argument> = parts
        .iter()
        .map(|part| {
            let output = draft.output(&format!("{}-turned", part.name));
            let call = draft.plan.call(
                "image/rotate",
                named([
                    ("input_path", part.file.clone()),
                    ("angle", Argument::value(json!(angle))),
                    ("output_path", Argument::Path(output)),
                ]),
            );
            Argument::File(call)
        })
        .collect();
    draft.plan.step();
    let ids = ids(draft, &[regions[0].name, regions[1].name]);
    draft.say(&format!(
        "Turn {} and {} by {angle} degrees. Remember each as a picture with two notes, its number (`1` or `2`) and its \
         file; the second follows the first. Show me what is known of the second.",
        regions[0].words, regions[1].words
    ));
    let entities = ids
        .iter()
        .zip(files)
        .enumerate()
        .map(|(index, (id, file))| entity(*id, "picture", vec![text(&(index + 1).to_string()), file]))
        .collect();
    create(draft, entities);
    relate(draft, &[(ids[1], "follows", ids[0])]);
    open(draft, &ids[1..]);
}
